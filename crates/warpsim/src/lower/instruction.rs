//! Lowering one instruction: by opcode to the step it becomes.

use ptx::{Instruction, Operand};

use super::function::{Draft, FunctionLowerer};
use super::operand::space_of_modifier;
use crate::alu::{Alu, AluFn, alu};
use crate::fault::Space;
use crate::isa;
use crate::memory::window;
use crate::program::{Constant, FlowRule, LowerError, Register, Step};
use crate::registers::{Kind, Operands, RegisterFile};

/// `not.pred`, for operands written `!p`.
pub(super) fn not_pred() -> AluFn {
    alu!(|a: bool| !a).select()
}

/// How an instruction uses the carry flag, which the text does not mention.
#[derive(Clone, Copy)]
struct Carry {
    reads: bool,
    writes: bool,
}

impl FunctionLowerer<'_, '_> {
    /// Appends what `instruction` becomes.
    pub(super) fn instruction(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        match instruction.opcode.as_str() {
            "ld" | "ldu" => self.load(instruction),
            "st" => self.store(instruction),
            "atom" | "red" => self.atomic(instruction),
            "cp" => self.async_copy(instruction),
            "ldmatrix" => self.load_matrix(instruction),
            "mov" => self.mov(instruction),
            "cvta" => self.cvta(instruction),
            "isspacep" => self.is_space(instruction),
            "bra" => self.branch(instruction),
            "brx" => self.branch_table(instruction),
            "call" => self.call(instruction),
            "ret" => self.plain(Step::Return),
            "exit" => self.plain(Step::Exit),
            "trap" | "brkpt" => self.plain(Step::Trap),
            "bar" | "barrier" => self.barrier(instruction),
            "mbarrier" => self.mbarrier(instruction),
            "membar" | "fence" => self.fence(instruction),
            "shfl" => self.shuffle(instruction),
            "vote" => self.vote(instruction),
            "match" => self.match_sync(instruction),
            "redux" => self.redux(instruction),
            "elect" => self.elect(instruction),
            "activemask" => self.active_mask(instruction),
            // Hints, without an effect on results.
            "prefetch" | "prefetchu" | "discard" | "applypriority" | "nanosleep" | "pmevent" => {
                self.plain(Step::Nothing)
            }
            "mma" => self.multiply(instruction),
            "wmma" => match instruction.modifiers.first().map(String::as_str) {
                Some("load" | "store") => self.tile(instruction),
                _ => self.multiply(instruction),
            },
            "createpolicy" => self.copy_constant(instruction, 0),
            _ => self.register_instruction(instruction),
        }
    }

    pub(super) fn plain(&mut self, step: Step) -> Result<(), LowerError> {
        self.emit(step, Operands::default(), Draft::default());
        Ok(())
    }

    /// An instruction from registers to registers.
    fn register_instruction(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let mut modifiers: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
        if instruction.opcode == "setp" && matches!(instruction.operands.first(), Some(Operand::Pair(..))) {
            modifiers.push(isa::SECOND_PREDICATE);
        }
        let carry = Carry {
            reads: matches!(instruction.opcode.as_str(), "addc" | "subc" | "madc"),
            writes: instruction.has("cc"),
        };
        let Some(found) = isa::find(&instruction.opcode, &modifiers) else {
            return Err(self.unsupported());
        };
        let mut ops = Operands { imm: found.imm, ..Operands::default() };
        let mut operands: Vec<&Operand> = instruction.operands.iter().collect();
        if let Some(position) = isa::immediate_operand(&instruction.opcode) {
            // Sources follow the destination.
            if position + 1 >= operands.len() {
                return Err(self.error("an operand is missing"));
            }
            let Operand::Integer(value) = operands.remove(position + 1) else {
                return Err(self.error(format!("operand {} must be a constant", position + 2)));
            };
            ops.imm = *value as u32;
        }
        // Only `cvt` may have registers that are wider than its types.
        let converts = instruction.opcode == "cvt";
        let wide = match operands.first() {
            Some(to)
                if converts
                    && found.signature.dst[0].is_some_and(|kind| kind.class() == RegisterFile::Word) =>
            {
                let is_wide = self.declared_bits(to) == Some(64);
                if is_wide {
                    Some(Register {
                        file: RegisterFile::Wide,
                        index: self.destination(to, RegisterFile::Wide)?,
                    })
                } else {
                    None
                }
            }
            _ => None,
        };
        if wide.is_some() {
            operands[0] = &Operand::Sink;
        }
        let draft = self.operands(&found, &operands, carry, converts, &mut ops)?;
        let same = draft.reads.len() == 2 && draft.reads[0] == draft.reads[1];
        let rule = match instruction.opcode.as_str() {
            "and" if modifiers.contains(&"pred") => FlowRule::And,
            "or" if modifiers.contains(&"pred") => FlowRule::Or,
            "selp" => FlowRule::Select,
            "xor" | "sub" if same => FlowRule::Never,
            _ => FlowRule::Any,
        };
        self.emit(Step::Alu(found.select()), ops, Draft { rule, ..draft });
        let has = |ty: &str| modifiers.contains(&ty);
        let flops = match instruction.opcode.as_str() {
            "add" | "sub" | "mul" if has("f32") => 1,
            "fma" | "mad" if has("f32") => 2,
            _ => 0,
        };
        self.set_facts(flops, has("f64") && instruction.opcode != "selp", found.is_multiply_add);
        if let Some(wide) = wide {
            let is_signed = instruction.modifiers.iter().rev().nth(1).is_some_and(|ty| ty.starts_with('s'));
            self.extend(ops.dst[0], wide, is_signed);
        }
        Ok(())
    }

    /// Puts a 32-bit value into a 64-bit register.
    fn extend(&mut self, from: u16, to: Register, is_signed: bool) {
        let alu = if is_signed { alu!(|a: i32| i64::from(a)) } else { alu!(|a: u32| u64::from(a)) };
        let reads = vec![Register { file: RegisterFile::Word, index: from }];
        let ops = Operands { dst: [to.index, 0], src: [from, 0, 0, 0], imm: 0 };
        self.emit(Step::Alu(alu.select()), ops, Draft::new(reads, vec![to]));
    }

    /// As [`Self::source`], but a register may be wider: its lower bits count.
    fn lower_bits(&mut self, operand: &Operand, kind: Kind) -> Result<u16, LowerError> {
        if kind.class() != RegisterFile::Word || self.declared_bits(operand) != Some(64) {
            return self.source(operand, kind);
        }
        let from = Register { file: RegisterFile::Wide, index: self.source(operand, Kind::Bits(64))? };
        let to = self.temporary(RegisterFile::Word);
        let ops = Operands { dst: [to.index, 0], src: [from.index, 0, 0, 0], imm: 0 };
        let draft = Draft::new(vec![from], vec![to]);
        self.emit(Step::Alu(alu!(|a: u64| a as u32).select()), ops, draft);
        Ok(to.index)
    }

    /// Fills in the registers of `alu`'s operands, destinations first; a carry flag that the text does not
    /// mention comes last on either side.
    fn operands(
        &mut self,
        alu: &Alu,
        operands: &[&Operand],
        carry: Carry,
        converts: bool,
        ops: &mut Operands,
    ) -> Result<Draft, LowerError> {
        let wanted_dst: Vec<Kind> = alu.signature.dst.iter().flatten().copied().collect();
        let wanted_src: Vec<Kind> = alu.signature.src.iter().flatten().copied().collect();
        let (destinations, sources): (Vec<&Operand>, &[&Operand]) = match operands.split_first() {
            Some((Operand::Pair(a, b), rest)) => (vec![a, b], rest),
            Some((first, rest)) if !wanted_dst.is_empty() => (vec![first], rest),
            _ => (Vec::new(), operands),
        };
        let mut draft = Draft::default();
        let given = sources.len() + usize::from(carry.reads);
        if given != wanted_src.len() || destinations.len() > wanted_dst.len() {
            let takes = wanted_src.len() - usize::from(carry.reads) + 1;
            return Err(self.error(format!("it takes {takes} operands and has {}", operands.len())));
        }
        // Sources first: they may need instructions of their own.
        for (slot, &kind) in wanted_src.iter().enumerate() {
            let index = match sources.get(slot) {
                Some(operand) if converts => self.lower_bits(operand, kind)?,
                Some(operand) => self.source(operand, kind)?,
                None => self.carry().index,
            };
            ops.src[slot] = index;
            draft.reads.push(Register { file: kind.class(), index });
        }
        for (slot, &kind) in wanted_dst.iter().enumerate() {
            let index = match destinations.get(slot) {
                Some(operand) => self.destination(operand, kind.class())?,
                None if carry.writes && slot + 1 == wanted_dst.len() => self.carry().index,
                None => self.temporary(kind.class()).index,
            };
            ops.dst[slot] = index;
            draft.writes.push(Register { file: kind.class(), index });
        }
        Ok(draft)
    }

    /// Puts registers side by side in the program's lists; returns where they begin.
    pub(super) fn list(&mut self, regs: &[Register]) -> u32 {
        let lists = &mut self.builder.program.lists;
        lists.extend_from_slice(regs);
        (lists.len() - regs.len()) as u32
    }

    fn mov(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let [to, from] = self.exactly(instruction)?;
        match (to, from) {
            (Operand::Vector(parts), _) if parts.len() > 1 => self.unpack(instruction, parts, from),
            (_, Operand::Vector(parts)) if parts.len() > 1 => self.pack(instruction, to, parts),
            _ => {
                let (alu, kind) = match instruction.modifiers.last().map(String::as_str) {
                    Some("pred") => (alu!(|a: bool| a), Kind::Pred),
                    Some("f32") => (alu!(|a: u32| a), Kind::F32),
                    Some("f64") => (alu!(|a: u64| a), Kind::F64),
                    Some("b64" | "u64" | "s64") => (alu!(|a: u64| a), Kind::Bits(64)),
                    Some("b16" | "u16" | "s16" | "f16" | "bf16") => (alu!(|a: u16| a), Kind::Bits(16)),
                    Some("b32" | "u32" | "s32") => (alu!(|a: u32| a), Kind::Bits(32)),
                    _ => return Err(self.unsupported()),
                };
                let from = self.source(from, kind)?;
                self.copy(&alu, to, from, kind.class())
            }
        }
    }

    fn copy(&mut self, alu: &Alu, to: &Operand, from: u16, class: RegisterFile) -> Result<(), LowerError> {
        let to = self.destination(to, class)?;
        let draft = Draft::new(
            vec![Register { file: class, index: from }],
            vec![Register { file: class, index: to }],
        );
        let ops = Operands { dst: [to, 0], src: [from, 0, 0, 0], imm: 0 };
        self.emit(Step::Alu(alu.select()), ops, draft);
        Ok(())
    }

    /// Copies a constant register to where an operand says.
    pub(super) fn copy_from_constant(
        &mut self,
        to: &Operand,
        constant: Constant,
        class: RegisterFile,
    ) -> Result<(), LowerError> {
        let from = self.constant(constant, class);
        match class {
            RegisterFile::Wide => self.copy(&alu!(|a: u64| a), to, from, class),
            RegisterFile::Word => self.copy(&alu!(|a: u32| a), to, from, class),
            RegisterFile::Pred => self.copy(&alu!(|a: bool| a), to, from, class),
        }
    }

    fn copy_constant(&mut self, instruction: &Instruction, value: u64) -> Result<(), LowerError> {
        let Some(to) = instruction.operands.first() else {
            return Err(self.error("an operand is missing"));
        };
        self.copy_from_constant(to, Constant::Bits(value), RegisterFile::Wide)
    }

    /// The width of `mov`'s type, which both sides of a pack or unpack share.
    fn total_bits(&mut self, instruction: &Instruction) -> Result<u8, LowerError> {
        match instruction.modifiers.last().map(String::as_str) {
            Some("b64" | "u64" | "s64" | "f64") => Ok(64),
            Some("b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2") => Ok(32),
            Some("b16" | "u16" | "s16" | "f16" | "bf16") => Ok(16),
            _ => Err(self.unsupported()),
        }
    }

    fn parts_bits(&mut self, total: u8, parts: &[Operand]) -> Result<u8, LowerError> {
        let count = parts.len();
        if !matches!(count, 2 | 4) || total / (count as u8) < 8 {
            return Err(self.error(format!("{total} bits cannot be split into {count}")));
        }
        Ok(total / count as u8)
    }

    fn unpack(
        &mut self,
        instruction: &Instruction,
        parts: &[Operand],
        from: &Operand,
    ) -> Result<(), LowerError> {
        let total = self.total_bits(instruction)?;
        let bits = self.parts_bits(total, parts)?;
        let kind = Kind::Bits(total);
        let from = Register { file: kind.class(), index: self.source(from, kind)? };
        let mut regs = Vec::new();
        for part in parts {
            regs.push(Register {
                file: RegisterFile::Word,
                index: self.destination(part, RegisterFile::Word)?,
            });
        }
        let imm = self.list(&regs);
        let ops = Operands { src: [from.index, 0, 0, 0], imm, ..Operands::default() };
        let wide = from.file == RegisterFile::Wide;
        let step = Step::Unpack { bits, count: parts.len() as u8, wide };
        self.emit(step, ops, Draft::new(vec![from], regs));
        Ok(())
    }

    fn pack(&mut self, instruction: &Instruction, to: &Operand, parts: &[Operand]) -> Result<(), LowerError> {
        let total = self.total_bits(instruction)?;
        let bits = self.parts_bits(total, parts)?;
        let mut regs = Vec::new();
        for part in parts {
            regs.push(Register { file: RegisterFile::Word, index: self.source(part, Kind::Bits(bits))? });
        }
        let class = Kind::Bits(total).class();
        let to = Register { file: class, index: self.destination(to, class)? };
        let imm = self.list(&regs);
        let ops = Operands { dst: [to.index, 0], imm, ..Operands::default() };
        let step = Step::Pack { bits, count: parts.len() as u8, wide: class == RegisterFile::Wide };
        self.emit(step, ops, Draft::new(regs, vec![to]));
        Ok(())
    }

    /// `cvta.SPACE` adds the start of the space's window, `cvta.to.SPACE` takes it away.
    fn cvta(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let [to, from] = self.exactly(instruction)?;
        let Some(space) =
            instruction.modifiers.iter().find_map(|m| space_of_modifier(m)).and_then(memory_space)
        else {
            return Err(self.unsupported());
        };
        if !instruction.has("u64") {
            return Err(self.unsupported());
        }
        let base = window::generic_base(self.frame_space(space));
        let base = if instruction.has("to") { base.wrapping_neg() } else { base };
        let kind = Kind::Bits(64);
        let a = self.source(from, kind)?;
        let b = self.constant(Constant::Bits(base), RegisterFile::Wide);
        let to = self.destination(to, RegisterFile::Wide)?;
        let wide = |index| Register { file: RegisterFile::Wide, index };
        let draft = Draft::new(vec![wide(a)], vec![wide(to)]);
        let add = alu!(|a: u64, b: u64| a.wrapping_add(b)).select();
        self.emit(Step::Alu(add), Operands { dst: [to, 0], src: [a, b, 0, 0], imm: 0 }, draft);
        Ok(())
    }

    fn is_space(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let [to, from] = self.exactly(instruction)?;
        let Some(space) =
            instruction.modifiers.iter().find_map(|m| space_of_modifier(m)).and_then(memory_space)
        else {
            return Err(self.unsupported());
        };
        let alu = match space {
            Space::Global => alu!(|a: u64| window::generic(a).0 == Space::Global),
            Space::Shared => alu!(|a: u64| window::generic(a).0 == Space::Shared),
            Space::Local => alu!(|a: u64| window::generic(a).0 == Space::Local),
            Space::Constant => alu!(|a: u64| window::generic(a).0 == Space::Constant),
            Space::Param => alu!(|a: u64| window::generic(a).0 == Space::Param),
        };
        let from = self.source(from, Kind::Bits(64))?;
        let to = self.destination(to, RegisterFile::Pred)?;
        let draft = Draft::new(
            vec![Register { file: RegisterFile::Wide, index: from }],
            vec![Register { file: RegisterFile::Pred, index: to }],
        );
        self.emit(Step::Alu(alu.select()), Operands { dst: [to, 0], src: [from, 0, 0, 0], imm: 0 }, draft);
        Ok(())
    }

    /// The operands, if there are exactly N.
    pub(super) fn exactly<'i, const N: usize>(
        &self,
        instruction: &'i Instruction,
    ) -> Result<[&'i Operand; N], LowerError> {
        let operands: Vec<&Operand> = instruction.operands.iter().collect();
        let given = operands.len();
        operands.try_into().map_err(|_| self.error(format!("it takes {N} operands and has {given}")))
    }
}

/// The memory that a PTX state space names.
pub(super) fn memory_space(space: ptx::StateSpace) -> Option<Space> {
    match space {
        ptx::StateSpace::Global => Some(Space::Global),
        ptx::StateSpace::Shared => Some(Space::Shared),
        ptx::StateSpace::Local => Some(Space::Local),
        ptx::StateSpace::Constant => Some(Space::Constant),
        ptx::StateSpace::Param => Some(Space::Param),
        ptx::StateSpace::Register => None,
    }
}
