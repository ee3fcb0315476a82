//! Lowering of memory instructions.

use ptx::{Instruction, Operand, Type};

use super::function::{Draft, FunctionLowerer};
use super::instruction::memory_space;
use super::layout::Location;
use super::operand::{Target, space_of, space_of_modifier};
use crate::fault::Space;
use crate::isa;
use crate::observer::{Order, Scope};
use crate::program::{AsyncCopy, AsyncSize, Constant, FlowRule, LowerError, Memory, Register, Step};
use crate::registers::{Kind, Operands, RegisterFile};

impl FunctionLowerer<'_, '_> {
    /// In a device function, `.param` is memory of the frame.
    pub(super) fn frame_space(&self, space: Space) -> Space {
        if space == Space::Param && !self.is_entry() { Space::Local } else { space }
    }

    pub(super) fn load(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let [to, from] = self.exactly(instruction)?;
        let target = self.target(from)?;
        let (mut memory, ty) = self.memory(instruction, &target)?;
        let parts = self.parts(to, &memory)?;
        if let (Some(Location::Param { .. }), [part]) = (target.variable, parts)
            && memory.space == Some(Space::Param)
        {
            return self.load_param(part, &memory, ty, target.offset);
        }
        let bits = self.declared_bits(to);
        memory.class = if bits == Some(64) { RegisterFile::Wide } else { RegisterFile::Word };
        if memory.bytes == 8 && memory.class != RegisterFile::Wide {
            return Err(self.error("the destination is too narrow for 64 bits"));
        }
        if matches!(ty, Type::S8 | Type::S16 | Type::S32) {
            memory.sign_extend = bits;
        }
        let mut draft = Draft::default();
        let mut ops = Operands::default();
        self.base_operand(&target, &mut ops, &mut draft);
        for part in parts {
            draft.writes.push(Register { file: memory.class, index: self.destination(part, memory.class)? });
        }
        ops.dst[0] = draft.writes[0].index;
        let writes = draft.writes.clone();
        ops.imm = if writes.len() > 1 { self.list(&writes) } else { 0 };
        self.emit(Step::Load(memory), ops, draft);
        Ok(())
    }

    /// A kernel parameter at a fixed place is a constant of the launch.
    fn load_param(&mut self, to: &Operand, memory: &Memory, ty: Type, offset: i64) -> Result<(), LowerError> {
        let end = self.builder.program.params.last().map_or(0, |p| p.offset + p.bytes) as i64;
        if offset < 0 || offset.saturating_add(i64::from(memory.bytes)) > end {
            return Err(self.error("this reads outside the kernel's parameters"));
        }
        let class = if self.declared_bits(to) == Some(64) { RegisterFile::Wide } else { RegisterFile::Word };
        let signed = matches!(ty, Type::S8 | Type::S16 | Type::S32);
        let constant = Constant::Param { offset: offset as u32, bytes: memory.bytes, signed };
        self.copy_from_constant(to, constant, class)
    }

    pub(super) fn store(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let [to, from] = self.exactly(instruction)?;
        let target = self.target(to)?;
        let (mut memory, ty) = self.memory(instruction, &target)?;
        let parts = self.parts(from, &memory)?;
        let narrow = memory.bytes < 8 && self.declared_bits(from) != Some(64);
        memory.class = if narrow { RegisterFile::Word } else { RegisterFile::Wide };
        let kind = if narrow { kind_of(ty) } else { Kind::Bits(64) };
        let kind = if !narrow && ty == Type::F64 { Kind::F64 } else { kind };
        let mut draft = Draft::default();
        let mut ops = Operands::default();
        self.base_operand(&target, &mut ops, &mut draft);
        let mut values = Vec::new();
        for part in parts {
            values.push(Register { file: memory.class, index: self.source(part, kind)? });
        }
        ops.src[1] = values[0].index;
        ops.imm = if values.len() > 1 { self.list(&values) } else { 0 };
        draft.reads.extend(values);
        self.emit(Step::Store(memory), ops, draft);
        Ok(())
    }

    pub(super) fn atomic(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        const OPERATIONS: [&str; 10] = ["add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"];
        let returns = instruction.opcode == "atom";
        let (to, rest) = match instruction.operands.split_first() {
            Some((to, rest)) if returns => (Some(to), rest),
            _ => (None, instruction.operands.as_slice()),
        };
        let Some((address, values)) = rest.split_first().filter(|(_, values)| !values.is_empty()) else {
            return Err(self.error("operands are missing"));
        };
        let operation = instruction.modifiers.iter().find(|m| OPERATIONS.contains(&m.as_str()));
        let function = operation.zip(instruction.modifiers.last()).and_then(|(operation, ty)| {
            // Outside shared memory the hardware adds singles without subnormals.
            let flushes = operation == "add" && ty == "f32" && !instruction.has("shared");
            isa::atomic(if flushes { "add.ftz" } else { operation }, ty)
        });
        let Some(function) = function else { return Err(self.unsupported()) };
        let wanted = if operation.is_some_and(|o| o == "cas") { 2 } else { 1 };
        if values.len() < wanted {
            return Err(self.error(format!("it needs {wanted} values")));
        }
        let target = self.target(address)?;
        let (mut memory, ty) = self.memory(instruction, &target)?;
        if memory.count != 1 || memory.bytes > 8 {
            return Err(self.unsupported());
        }
        if memory.order == Order::Weak {
            memory.order = Order::Relaxed;
        }
        self.builder.program.communicates |= !matches!(memory.space, Some(Space::Shared));
        memory.class = if memory.bytes == 8 { RegisterFile::Wide } else { RegisterFile::Word };
        let mut draft = Draft::default();
        let mut ops = Operands::default();
        self.base_operand(&target, &mut ops, &mut draft);
        for (slot, value) in values.iter().take(wanted).enumerate() {
            ops.src[slot + 1] = self.source(value, kind_of(ty))?;
            draft.reads.push(Register { file: memory.class, index: ops.src[slot + 1] });
        }
        let to = match to {
            Some(to) => self.destination(to, memory.class)?,
            None => self.temporary(memory.class).index,
        };
        ops.dst[0] = to;
        draft.writes.push(Register { file: memory.class, index: to });
        self.emit(Step::Atomic(memory, function), ops, draft);
        Ok(())
    }

    /// `cp.async` in its forms; bulk and tensor copies belong to later devices.
    pub(super) fn async_copy(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let has = |m: &str| instruction.has(m);
        if !has("async") || has("bulk") || has("mbarrier") {
            return Err(self.unsupported());
        }
        if has("commit_group") {
            self.emit(Step::AsyncCommit, Operands::default(), Draft::default());
            return Ok(());
        }
        if has("wait_all") || has("wait_group") {
            let pending = match instruction.operands.first() {
                Some(Operand::Integer(n)) if has("wait_group") && *n >= 0 => {
                    Some(u32::try_from(*n).unwrap_or(u32::MAX))
                }
                None if has("wait_all") => None,
                _ => return Err(self.error("it takes the number of groups that may stay pending")),
            };
            self.emit(Step::AsyncWait(pending), Operands::default(), Draft::default());
            return Ok(());
        }
        let [to, from, size, rest @ ..] = instruction.operands.as_slice() else {
            return Err(self.error("operands are missing"));
        };
        let bytes = match size {
            Operand::Integer(n @ (4 | 8 | 16)) => *n as u8,
            _ => return Err(self.error("the size must be 4, 8 or 16")),
        };
        let shared = self.target(to)?;
        let global = self.target(from)?;
        let mut ops = Operands::default();
        let mut draft = Draft::default();
        self.base_operand(&shared, &mut ops, &mut draft);
        if let Some(base) = global.base {
            ops.src[1] = base.index;
            draft.reads.push(base);
        }
        let size = match rest {
            // A cache policy is a 64-bit operand under a `cache_hint` modifier.
            [] | [Operand::Name(_)]
                if rest.is_empty() || instruction.modifiers.iter().any(|m| m.ends_with("cache_hint")) =>
            {
                AsyncSize::All
            }
            [operand, ..] => {
                let is_pred = matches!(operand, Operand::Not(_)) || self.declared_bits(operand) == Some(1);
                let (kind, size) = if is_pred {
                    (Kind::Pred, AsyncSize::IgnoreIf)
                } else {
                    (Kind::Bits(32), AsyncSize::Register)
                };
                ops.src[2] = self.source(operand, kind)?;
                draft.reads.push(Register { file: kind.class(), index: ops.src[2] });
                size
            }
            [] => AsyncSize::All,
        };
        let side = |space, target: &Target| Memory {
            space: Some(space),
            base: target.base.map(|r| r.file),
            in_frame: false,
            offset: target.offset,
            bytes,
            count: 1,
            sign_extend: None,
            class: RegisterFile::Wide,
            order: Order::Weak,
            scope: Scope::Block,
        };
        let copy =
            AsyncCopy { bytes, to: side(Space::Shared, &shared), from: side(Space::Global, &global), size };
        let copies = &mut self.builder.program.copies;
        copies.push(copy);
        let number = copies.len() as u32 - 1;
        self.emit(Step::AsyncCopy(number), ops, draft);
        Ok(())
    }

    pub(super) fn load_matrix(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let [to, from] = self.exactly(instruction)?;
        let count = match instruction.modifiers.iter().find_map(|m| m.strip_prefix('x')) {
            Some("1") => 1,
            Some("2") => 2,
            Some("4") => 4,
            _ => return Err(self.unsupported()),
        };
        if !instruction.has("m8n8") || !instruction.has("b16") {
            return Err(self.unsupported());
        }
        let target = self.target(from)?;
        let (mut memory, _) = self.memory(instruction, &target)?;
        (memory.bytes, memory.count, memory.class) = (4, count, RegisterFile::Word);
        let mut draft = Draft::default();
        let mut ops = Operands::default();
        self.base_operand(&target, &mut ops, &mut draft);
        let parts = self.parts(to, &memory)?;
        for part in parts {
            draft.writes.push(Register {
                file: RegisterFile::Word,
                index: self.destination(part, RegisterFile::Word)?,
            });
        }
        let writes = draft.writes.clone();
        ops.imm = self.list(&writes);
        self.emit(Step::LoadMatrix { memory, transposed: instruction.has("trans") }, ops, draft);
        Ok(())
    }

    /// What the modifiers of a memory instruction say.
    pub(super) fn memory(
        &mut self,
        instruction: &Instruction,
        target: &Target,
    ) -> Result<(Memory, Type), LowerError> {
        let modifiers = &instruction.modifiers;
        let Some(ty) = modifiers.last().and_then(|m| Type::from_name(m)) else {
            return Err(self.error("the type is missing"));
        };
        if !matches!(ty.size_bytes(), 1 | 2 | 4 | 8) || ty == Type::Pred {
            return Err(self.unsupported());
        }
        let named = modifiers.iter().find_map(|m| space_of_modifier(m)).and_then(memory_space);
        let mut space = named.map(|s| self.frame_space(s));
        let mut in_frame = false;
        if let Some(location) = target.variable {
            // The name of a variable is an address in its own space, also for a generic access.
            space = Some(space_of(location));
            in_frame = matches!(location, Location::Local { .. });
        }
        let has = |m: &str| instruction.has(m);
        let order = match () {
            () if has("volatile") => Order::Volatile,
            () if has("relaxed") || has("mmio") => Order::Relaxed,
            () if has("acquire") => Order::Acquire,
            () if has("release") => Order::Release,
            () if has("acq_rel") || has("sc") => Order::AcquireRelease,
            () => Order::Weak,
        };
        let scope = match () {
            () if has("cta") => Scope::Block,
            () if has("sys") || has("volatile") => Scope::System,
            () => Scope::Device,
        };
        let count = match () {
            () if has("v2") => 2,
            () if has("v4") => 4,
            () if has("v8") => 8,
            () => 1,
        };
        let bytes = ty.size_bytes() as u8;
        if u32::from(bytes) * u32::from(count) > 32 {
            return Err(self.error("a lane moves at most 32 bytes at once"));
        }
        if order != Order::Weak && !matches!(space, Some(Space::Shared | Space::Local | Space::Param)) {
            self.builder.program.communicates = true;
        }
        let memory = Memory {
            space,
            base: target.base.map(|r| r.file),
            in_frame,
            offset: target.offset,
            bytes,
            count,
            sign_extend: None,
            class: RegisterFile::Word,
            order,
            scope,
        };
        Ok((memory, ty))
    }

    /// The registers of a vector operand, as many as the instruction moves.
    fn parts<'o>(&self, operand: &'o Operand, memory: &Memory) -> Result<&'o [Operand], LowerError> {
        let parts = match operand {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        if parts.len() != usize::from(memory.count) {
            return Err(self.error(format!(
                "it moves {} values, and {} registers are named",
                memory.count,
                parts.len()
            )));
        }
        Ok(parts)
    }

    pub(super) fn base_operand(&self, target: &Target, ops: &mut Operands, draft: &mut Draft) {
        if let Some(base) = target.base {
            ops.src[0] = base.index;
            draft.reads.push(base);
        }
        if let Some(Location::Shared(at)) = target.variable {
            draft.object = Some(self.shared_variable(at));
        }
        draft.rule = FlowRule::Any;
    }
}

/// How an immediate of this type is encoded.
fn kind_of(ty: Type) -> Kind {
    match ty {
        Type::F32 => Kind::F32,
        Type::F64 => Kind::F64,
        _ => Kind::Bits((ty.size_bytes() * 8) as u8),
    }
}
