//! Lowering of branches, calls, barriers and instructions in which lanes meet.

use ptx::{Instruction, Operand};

use super::function::{Draft, FunctionLowerer, Name};
use super::layout::Location;
use crate::isa;
use crate::observer::Scope;
use crate::program::{
    Barrier, BarrierKind, BarrierReduction, Call, Callee, GlobalVariable, LowerError, NOWHERE, Place,
    Register, ShuffleMode, Step, VoteMode,
};
use crate::registers::{Kind, Operands, RegisterFile};

/// Bytes of the device heap: more than a program may hold at a time (`exec/heap.rs`), since no place is given twice.
const HEAP_BYTES: usize = 1 << 26;

impl FunctionLowerer<'_, '_> {
    pub(super) fn branch(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let [Operand::Name(label)] = self.exactly(instruction)? else {
            return Err(self.error("it needs a label"));
        };
        let target = self.label_number(label)?;
        self.emit(Step::Branch { target, join: NOWHERE }, Operands::default(), Draft::default());
        self.fix_later();
        Ok(())
    }

    pub(super) fn branch_table(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let [index, Operand::Name(list)] = self.exactly(instruction)? else {
            return Err(self.error("it needs an index and the name of a list of labels"));
        };
        let index = self.source(index, Kind::Bits(32))?;
        let Some(&labels) = self.branch_lists.get(list.as_str()) else {
            return Err(self.error(format!("there is no `.branchtargets` named `{list}`")));
        };
        let targets = labels.iter().map(|l| self.label_number(l)).collect::<Result<Vec<_>, _>>()?;
        let tables = &mut self.builder.program.jump_tables;
        tables.push(targets);
        let table = tables.len() as u32 - 1;
        let draft = Draft { reads: vec![Register { file: RegisterFile::Word, index }], ..Draft::default() };
        let ops = Operands { src: [index, 0, 0, 0], ..Operands::default() };
        self.emit(Step::BranchTable { table, join: NOWHERE }, ops, draft);
        self.fix_later();
        Ok(())
    }

    /// `call [(results),] function [, (arguments)] [, prototype]`.
    pub(super) fn call(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let mut operands = instruction.operands.as_slice();
        let mut draft = Draft::default();
        let mut results = Vec::new();
        if let [Operand::List(list), rest @ ..] = operands {
            for operand in list {
                let place = self.call_place(operand)?;
                if let Place::Register(reg) = place {
                    draft.writes.push(reg);
                }
                results.push(place);
            }
            operands = rest;
        }
        let [Operand::Name(name), rest @ ..] = operands else {
            return Err(self.error("the function to call is missing"));
        };
        let mut arguments = Vec::new();
        if let [Operand::List(list), ..] = rest {
            for operand in list {
                let place = self.call_place(operand)?;
                if let Place::Register(reg) = place {
                    draft.reads.push(reg);
                }
                arguments.push(place);
            }
        }
        let target = match name.as_str() {
            "vprintf" => Callee::Printf,
            "__assertfail" | "__assert_fail" => Callee::AssertFail,
            _ => match self.resolve(name) {
                Ok(Name::Function(number)) => Callee::Function(number),
                Ok(Name::Register(reg, 64)) => {
                    draft.reads.push(reg);
                    Callee::Indirect(reg)
                }
                _ if name == "malloc" => self.on_heap(Callee::Malloc),
                _ if name == "free" => self.on_heap(Callee::Free),
                _ => {
                    self.name_callee(name);
                    return Err(self.unsupported());
                }
            },
        };
        let calls = &mut self.builder.program.calls;
        calls.push(Call { target, arguments, results });
        let number = calls.len() as u32 - 1;
        self.emit(Step::Call(number), Operands::default(), draft);
        Ok(())
    }

    /// Sees to it that there is a heap. Which addresses a thread gets depends on those before it.
    fn on_heap(&mut self, callee: Callee) -> Callee {
        let program = &mut self.builder.program;
        program.communicates = true;
        if program.heap.is_none() {
            program.heap = Some(program.globals.len() as u32);
            program.globals.push(GlobalVariable {
                name: "device heap".to_owned(),
                bytes: HEAP_BYTES,
                data: Vec::new(),
                relocations: Vec::new(),
                is_heap: true,
            });
        }
        callee
    }

    fn call_place(&mut self, operand: &Operand) -> Result<Place, LowerError> {
        if let Operand::Name(name) = operand {
            match self.resolve(name)? {
                Name::Variable(Location::Local { offset, bytes }) => {
                    return Ok(Place::Local { offset, bytes });
                }
                Name::Register(reg, _) => return Ok(Place::Register(reg)),
                _ => {}
            }
        }
        if let Operand::Integer(_) | Operand::Single(_) | Operand::Double(_) = operand {
            let class =
                if matches!(operand, Operand::Double(_)) { RegisterFile::Wide } else { RegisterFile::Word };
            let kind = if class == RegisterFile::Wide { Kind::F64 } else { Kind::Bits(32) };
            return Ok(Place::Register(Register { file: class, index: self.source(operand, kind)? }));
        }
        Err(self.error("arguments and results must be parameters or registers of this function"))
    }

    pub(super) fn barrier(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let has = |m: &str| instruction.has(m);
        if has("cluster") {
            return Err(self.unsupported());
        }
        if has("warp") {
            let [mask] = self.exactly(instruction)?;
            let index = self.source(mask, Kind::Bits(32))?;
            let draft =
                Draft { reads: vec![Register { file: RegisterFile::Word, index }], ..Draft::default() };
            self.emit(Step::WarpSync, Operands { src: [index, 0, 0, 0], ..Operands::default() }, draft);
            return Ok(());
        }
        let aligned = instruction.opcode == "bar" || has("aligned");
        let mut ops = Operands::default();
        let mut draft = Draft::default();
        let mut operands = instruction.operands.as_slice();
        let mut kind = if has("arrive") { BarrierKind::Arrive } else { BarrierKind::Sync };
        if has("red") {
            let reduction = match () {
                () if has("popc") => BarrierReduction::Count,
                () if has("and") => BarrierReduction::And,
                () if has("or") => BarrierReduction::Or,
                () => return Err(self.unsupported()),
            };
            let ([to, rest @ ..], Some(predicate)) = (operands, operands.last()) else {
                return Err(self.error("operands are missing"));
            };
            let class =
                if reduction == BarrierReduction::Count { RegisterFile::Word } else { RegisterFile::Pred };
            let (register, negated) = self.predicate(predicate)?;
            kind = BarrierKind::Reduce(reduction, negated);
            ops.src[2] = register;
            draft.reads.push(Register { file: RegisterFile::Pred, index: register });
            ops.dst[0] = self.destination(to, class)?;
            draft.writes.push(Register { file: class, index: ops.dst[0] });
            operands = rest.split_last().map_or(&[], |(_, rest)| rest);
        }
        let (id, count) = match operands {
            [id] => (id, None),
            [id, count] => (id, Some(count)),
            _ => {
                return Err(
                    self.error("it takes the number of a barrier and, perhaps, how many threads take part")
                );
            }
        };
        if kind == BarrierKind::Arrive && count.is_none() {
            return Err(self.error("it needs to know how many threads take part"));
        }
        if let Operand::Integer(n) = id
            && !(0..16).contains(n)
        {
            return Err(self.error("a block has barriers 0 to 15"));
        }
        ops.src[0] = self.source(id, Kind::Bits(32))?;
        draft.reads.push(Register { file: RegisterFile::Word, index: ops.src[0] });
        if let Some(Operand::Integer(n)) = count
            && (*n <= 0 || n % 32 != 0)
        {
            return Err(self.error("the number of threads must be a multiple of the warp size, 32"));
        }
        if let Some(count) = count {
            ops.src[1] = self.source(count, Kind::Bits(32))?;
            draft.reads.push(Register { file: RegisterFile::Word, index: ops.src[1] });
        }
        self.emit(Step::Barrier(Barrier { kind, aligned, counted: count.is_some() }), ops, draft);
        Ok(())
    }

    pub(super) fn fence(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let has = |m: &str| instruction.has(m);
        let scope = match () {
            () if has("cta") => Scope::Block,
            () if has("gl") || has("gpu") || has("cluster") => Scope::Device,
            () if has("sys") => Scope::System,
            // Fences between proxies order what is in order here anyway.
            () if has("proxy") || has("mbarrier_init") => Scope::Block,
            () => return Err(self.unsupported()),
        };
        self.emit(Step::Fence(scope), Operands::default(), Draft::default());
        Ok(())
    }

    /// `shfl[.sync].mode.b32 d[|p], a, b, c[, mask]`.
    pub(super) fn shuffle(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let has = |m: &str| instruction.has(m);
        let mode = match () {
            () if has("up") => ShuffleMode::Up,
            () if has("down") => ShuffleMode::Down,
            () if has("bfly") => ShuffleMode::Butterfly,
            () if has("idx") => ShuffleMode::Index,
            () => return Err(self.unsupported()),
        };
        let has_mask = has("sync");
        let (to, sources) = self.to_and_sources(instruction, if has_mask { 4 } else { 3 })?;
        let (value, found) = match to {
            Operand::Pair(value, found) => (&**value, Some(&**found)),
            value => (value, None),
        };
        let mut ops = Operands::default();
        let mut draft = Draft::default();
        for (slot, source) in sources.iter().enumerate() {
            ops.src[slot] = self.source(source, Kind::Bits(32))?;
            draft.reads.push(Register { file: RegisterFile::Word, index: ops.src[slot] });
        }
        ops.dst[0] = self.destination(value, RegisterFile::Word)?;
        ops.dst[1] = match found {
            Some(found) => self.destination(found, RegisterFile::Pred)?,
            None => self.temporary(RegisterFile::Pred).index,
        };
        draft.writes = vec![
            Register { file: RegisterFile::Word, index: ops.dst[0] },
            Register { file: RegisterFile::Pred, index: ops.dst[1] },
        ];
        self.emit(Step::Shuffle { mode, has_mask }, ops, draft);
        Ok(())
    }

    /// `vote[.sync].mode.type d, [!]p[, mask]`.
    pub(super) fn vote(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let has = |m: &str| instruction.has(m);
        let (mode, class) = match () {
            () if has("ballot") => (VoteMode::Ballot, RegisterFile::Word),
            () if has("all") => (VoteMode::All, RegisterFile::Pred),
            () if has("any") => (VoteMode::Any, RegisterFile::Pred),
            () if has("uni") => (VoteMode::Uniform, RegisterFile::Pred),
            () => return Err(self.unsupported()),
        };
        let has_mask = has("sync");
        let (to, sources) = self.to_and_sources(instruction, if has_mask { 2 } else { 1 })?;
        let (predicate, negated) = self.predicate(&sources[0])?;
        let mut ops = Operands { src: [predicate, 0, 0, 0], ..Operands::default() };
        let mut draft = Draft {
            reads: vec![Register { file: RegisterFile::Pred, index: predicate }],
            ..Draft::default()
        };
        if has_mask {
            ops.src[1] = self.source(&sources[1], Kind::Bits(32))?;
            draft.reads.push(Register { file: RegisterFile::Word, index: ops.src[1] });
        }
        ops.dst[0] = self.destination(to, class)?;
        draft.writes.push(Register { file: class, index: ops.dst[0] });
        self.emit(Step::Vote { mode, negated, has_mask }, ops, draft);
        Ok(())
    }

    /// `match.any.sync.type d, a, mask` and `match.all.sync.type d[|p], a, mask`.
    pub(super) fn match_sync(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let (to, sources) = self.to_and_sources(instruction, 2)?;
        let (value, found) = match to {
            Operand::Pair(value, found) => (&**value, Some(&**found)),
            value => (value, None),
        };
        let wide = instruction.has("b64");
        let kind = Kind::Bits(if wide { 64 } else { 32 });
        let a = self.source(&sources[0], kind)?;
        let mask = self.source(&sources[1], Kind::Bits(32))?;
        let d = self.destination(value, RegisterFile::Word)?;
        let p = match found {
            Some(found) => self.destination(found, RegisterFile::Pred)?,
            None => self.temporary(RegisterFile::Pred).index,
        };
        let draft = Draft::new(
            vec![
                Register { file: kind.class(), index: a },
                Register { file: RegisterFile::Word, index: mask },
            ],
            vec![
                Register { file: RegisterFile::Word, index: d },
                Register { file: RegisterFile::Pred, index: p },
            ],
        );
        let step = Step::Match { all: instruction.has("all"), wide };
        self.emit(step, Operands { dst: [d, p], src: [a, mask, 0, 0], imm: 0 }, draft);
        Ok(())
    }

    /// `redux.sync.op.type d, a, mask`.
    pub(super) fn redux(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let operation = instruction
            .modifiers
            .iter()
            .find(|m| matches!(m.as_str(), "add" | "min" | "max" | "and" | "or" | "xor"));
        let function = operation.zip(instruction.modifiers.last()).and_then(|(o, ty)| isa::atomic(o, ty));
        let Some(function) = function.filter(|_| !instruction.has("f32")) else {
            return Err(self.unsupported());
        };
        let (to, sources) = self.to_and_sources(instruction, 2)?;
        let word = |index| Register { file: RegisterFile::Word, index };
        let a = self.source(&sources[0], Kind::Bits(32))?;
        let mask = self.source(&sources[1], Kind::Bits(32))?;
        let d = self.destination(to, RegisterFile::Word)?;
        let draft = Draft::new(vec![word(a), word(mask)], vec![word(d)]);
        self.emit(Step::Redux(function), Operands { dst: [d, 0], src: [a, mask, 0, 0], imm: 0 }, draft);
        Ok(())
    }

    /// `elect.sync d|p, mask`.
    pub(super) fn elect(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let (to, sources) = self.to_and_sources(instruction, 1)?;
        let Operand::Pair(lane, elected) = to else {
            return Err(self.error("it has two destinations, `d|p`"));
        };
        let mask = self.source(&sources[0], Kind::Bits(32))?;
        let d = self.destination(lane, RegisterFile::Word)?;
        let p = self.destination(elected, RegisterFile::Pred)?;
        let draft = Draft::new(
            vec![Register { file: RegisterFile::Word, index: mask }],
            vec![
                Register { file: RegisterFile::Word, index: d },
                Register { file: RegisterFile::Pred, index: p },
            ],
        );
        self.emit(Step::Elect, Operands { dst: [d, p], src: [mask, 0, 0, 0], imm: 0 }, draft);
        Ok(())
    }

    pub(super) fn active_mask(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let [to] = self.exactly(instruction)?;
        let d = self.destination(to, RegisterFile::Word)?;
        let draft =
            Draft { writes: vec![Register { file: RegisterFile::Word, index: d }], ..Draft::default() };
        self.emit(Step::ActiveMask, Operands { dst: [d, 0], ..Operands::default() }, draft);
        Ok(())
    }

    /// The destination operand, and exactly `count` sources.
    fn to_and_sources<'i>(
        &self,
        instruction: &'i Instruction,
        count: usize,
    ) -> Result<(&'i Operand, &'i [Operand]), LowerError> {
        match instruction.operands.split_first() {
            Some((to, sources)) if sources.len() == count => Ok((to, sources)),
            _ => {
                let given = instruction.operands.len();
                Err(self.error(format!("it takes {} operands and has {given}", count + 1)))
            }
        }
    }
}
