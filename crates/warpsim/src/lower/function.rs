//! Lowering one function: scopes, registers, labels, and what each instruction reads and writes.

use std::collections::HashMap;
use std::sync::Arc;

use ptx::{StateSpace, Statement, Type};

use super::layout::{self, Location};
use super::lines::Lines;
use super::operand::{special, unknown_name};
use super::{Builder, MAX_REGISTERS, confirm, graph, invalid, object};
use crate::program::{
    Constant, Flow, FlowRule, FrameSize, Function, Guard, Inst, Instruction, LowerError, Place, Register,
    Step,
};
use crate::registers::{Operands, RegisterFile};

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    /// A register, and how many bits it was declared with.
    Register(Register, u8),
    Special(Constant),
    Clock,
    Variable(Location),
    Function(u32),
}

/// Registers an instruction reads and writes, before frames have their final size.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// The variable of shared memory that its address names outright.
    pub(super) object: Option<u32>,
    pub(super) reads: Vec<Register>,
    pub(super) writes: Vec<Register>,
    pub(super) rule: FlowRule,
}

impl Draft {
    /// What is never set flows from any register that is read.
    pub(super) fn new(reads: Vec<Register>, writes: Vec<Register>) -> Draft {
        Draft { reads, writes, ..Draft::default() }
    }
}

/// A function being lowered.
pub(super) struct FunctionLowerer<'b, 'm> {
    pub(super) builder: &'b mut Builder<'m>,
    source: &'m ptx::Function,
    frame: Function,
    scopes: Vec<Scope<'m>>,
    /// Scopes in order of their opening brace: labels declared in them, and the scope around.
    label_scopes: Vec<(HashMap<&'m str, u32>, Option<usize>)>,
    current_scope: usize,
    next_scope: usize,
    /// The instruction each label stands before, once it is met.
    labels: Vec<Option<u32>>,
    /// Instructions whose branch target is still a label number.
    fixups: Vec<u32>,
    pub(super) branch_lists: HashMap<&'m str, &'m [String]>,
    constants: HashMap<(Constant, RegisterFile), u16>,
    carry: Option<Register>,
    /// How "never set" flows through each instruction.
    rules: Vec<FlowRule>,
    first: u32,
    lines: Lines<'m>,
    line: u32,
    opcode: Arc<str>,
    guard: Guard,
}

#[derive(Default)]
struct Scope<'m> {
    registers: HashMap<&'m str, (Type, u32, Option<u32>)>,
    assigned: HashMap<String, (Register, u8)>,
    variables: HashMap<&'m str, Location>,
    label_scope: usize,
}

impl<'b, 'm> FunctionLowerer<'b, 'm> {
    /// Appends `function` to the program.
    pub(super) fn lower(builder: &'b mut Builder<'m>, function: &'m ptx::Function) -> Result<(), LowerError> {
        let body = function.body.as_deref().unwrap_or_default();
        let first = builder.program.code.len() as u32;
        let mut lowerer = FunctionLowerer {
            lines: Lines::new(&builder.module.files, body),
            source: function,
            frame: Function { entry: first, ..Function::default() },
            scopes: vec![Scope::default()],
            label_scopes: label_scopes(body)?,
            current_scope: 0,
            next_scope: 1,
            labels: Vec::new(),
            fixups: Vec::new(),
            branch_lists: HashMap::new(),
            constants: HashMap::new(),
            carry: None,
            rules: Vec::new(),
            first,
            line: function.position.line,
            opcode: Arc::default(),
            guard: Guard::Always,
            builder,
        };
        let count: usize = lowerer.label_scopes.iter().map(|(labels, _)| labels.len()).sum();
        lowerer.labels = vec![None; count];
        lowerer.declare_params()?;
        for statement in body {
            if let Statement::BranchTargets(name, targets, _) = statement {
                lowerer.branch_lists.insert(name, targets);
            }
        }
        for statement in body {
            lowerer.statement(statement)?;
        }
        lowerer.finish()
    }

    /// Parameters of the kernel are constants; those of a device function live in its local memory or registers.
    fn declare_params(&mut self) -> Result<(), LowerError> {
        if self.source.is_entry {
            for param in self.builder.program.params.clone() {
                let location = Location::Param { offset: param.offset as u32, bytes: param.bytes as u32 };
                let name = self.source.params.iter().find(|v| v.name == param.name);
                if let Some(variable) = name {
                    self.scopes[0].variables.insert(&variable.name, location);
                }
            }
            return Ok(());
        }
        let source = self.source;
        let mut place = |variable: &'m ptx::Variable| -> Result<Place, LowerError> {
            if variable.space == StateSpace::Register {
                let (class, bits) = class_of(variable.ty);
                let reg = self.temporary(class);
                self.scopes[0].assigned.insert(variable.name.clone(), (reg, bits));
                return Ok(Place::Register(reg));
            }
            let location = self.place_local(variable)?;
            self.scopes[0].variables.insert(&variable.name, location);
            let Location::Local { offset, bytes } = location else {
                unreachable!("place_local gives local places")
            };
            Ok(Place::Local { offset, bytes })
        };
        let returns = source.returns.iter().map(&mut place).collect::<Result<_, _>>()?;
        let params = source.params.iter().map(&mut place).collect::<Result<_, _>>()?;
        (self.frame.returns, self.frame.params) = (returns, params);
        Ok(())
    }

    fn place_local(&mut self, variable: &ptx::Variable) -> Result<Location, LowerError> {
        let bytes = layout::size(variable)?;
        let align = layout::align(variable).max(8);
        let offset = u64::from(self.frame.local_bytes).next_multiple_of(align);
        if offset + bytes > 512 * 1024 {
            return Err(invalid(variable.position.line, "a thread has at most 512 KB of local memory"));
        }
        self.frame.local_bytes = (offset + bytes) as u32;
        Ok(Location::Local { offset: offset as u32, bytes: bytes as u32 })
    }

    fn statement(&mut self, statement: &'m Statement) -> Result<(), LowerError> {
        match statement {
            Statement::Instruction(instruction) => {
                self.line = instruction.position.line;
                self.opcode = instruction.full_opcode().into();
                self.guard = Guard::Always;
                if let Some(guard) = &instruction.guard {
                    let index = self.register(&guard.register, RegisterFile::Pred)?.index;
                    self.guard = if guard.negated { Guard::Unless(index) } else { Guard::If(index) };
                }
                self.instruction(instruction)
            }
            Statement::Label(name, _) => {
                let number = self.label_number(name)?;
                self.labels[number as usize] = Some(self.builder.program.code.len() as u32);
                Ok(())
            }
            Statement::Registers(declaration) => {
                let scope = self.scopes.last_mut().expect("the outermost scope stays");
                let entry = (declaration.ty, declaration.vector, declaration.range);
                scope.registers.insert(&declaration.name, entry);
                Ok(())
            }
            Statement::Variable(variable) => {
                let location = match variable.space {
                    StateSpace::Local | StateSpace::Param => self.place_local(variable)?,
                    // Already placed with the module's variables.
                    _ => match self.builder.layout.find(&variable.name) {
                        Some(location) => location,
                        None => return Err(unknown_name(variable.position.line, &variable.name)),
                    },
                };
                let scope = self.scopes.last_mut().expect("the outermost scope stays");
                scope.variables.insert(&variable.name, location);
                Ok(())
            }
            Statement::Location(location) => {
                self.lines.enter(location, &mut self.builder.program.line_table);
                Ok(())
            }
            Statement::BlockStart(_) => {
                self.current_scope = self.next_scope;
                self.next_scope += 1;
                self.scopes.push(Scope { label_scope: self.current_scope, ..Scope::default() });
                Ok(())
            }
            Statement::BlockEnd(position) => {
                if self.scopes.len() == 1 {
                    return Err(invalid(position.line, "this `}` closes nothing"));
                }
                self.scopes.pop();
                self.current_scope = self.scopes.last().map_or(0, |s| s.label_scope);
                Ok(())
            }
            Statement::BranchTargets(..) | Statement::CallPrototype { .. } | Statement::CallTargets(..) => {
                Ok(())
            }
        }
    }

    /// What `name` stands for here.
    pub(super) fn resolve(&mut self, name: &str) -> Result<Name, LowerError> {
        for depth in (0..self.scopes.len()).rev() {
            if let Some(&(reg, bits)) = self.scopes[depth].assigned.get(name) {
                return Ok(Name::Register(reg, bits));
            }
            if let Some((ty, _)) = declared(&self.scopes[depth].registers, name) {
                let (class, bits) = class_of(ty);
                let reg = self.temporary(class);
                self.scopes[depth].assigned.insert(name.to_owned(), (reg, bits));
                return Ok(Name::Register(reg, bits));
            }
            if let Some(&location) = self.scopes[depth].variables.get(name) {
                return Ok(Name::Variable(location));
            }
        }
        if let Some(constant) = special(name) {
            return Ok(Name::Special(constant));
        }
        if matches!(
            name,
            "%clock" | "%clock_hi" | "%clock64" | "%globaltimer" | "%globaltimer_lo" | "%globaltimer_hi"
        ) {
            return Ok(Name::Clock);
        }
        if let Some(location) = self.builder.layout.find(name) {
            return Ok(Name::Variable(location));
        }
        match self.builder.function_number(name) {
            Some(number) => Ok(Name::Function(number)),
            None => Err(unknown_name(self.line, name)),
        }
    }

    /// A fresh register.
    pub(super) fn temporary(&mut self, class: RegisterFile) -> Register {
        let size = &mut self.frame.registers;
        let count = match class {
            RegisterFile::Pred => &mut size.pred,
            RegisterFile::Word => &mut size.word,
            RegisterFile::Wide => &mut size.wide,
        };
        // `finish` refuses functions that would need more than an index can say.
        let index = (*count).min(MAX_REGISTERS) as u16;
        *count += 1;
        Register { file: class, index }
    }

    /// The register that holds a constant.
    pub(super) fn constant(&mut self, constant: Constant, class: RegisterFile) -> u16 {
        if let Some(&index) = self.constants.get(&(constant, class)) {
            return index;
        }
        let reg = self.temporary(class);
        self.frame.constants.push((reg, constant));
        self.constants.insert((constant, class), reg.index);
        reg.index
    }

    /// The carry flag.
    pub(super) fn carry(&mut self) -> Register {
        let reg = match self.carry {
            Some(reg) => reg,
            None => self.temporary(RegisterFile::Pred),
        };
        self.carry = Some(reg);
        reg
    }

    /// A register holding `!reg`.
    pub(super) fn negate(&mut self, reg: Register) -> u16 {
        let out = self.temporary(RegisterFile::Pred);
        let not = super::instruction::not_pred();
        let ops = Operands { dst: [out.index, 0], src: [reg.index, 0, 0, 0], imm: 0 };
        let guard = std::mem::replace(&mut self.guard, Guard::Always);
        self.emit(Step::Alu(not), ops, Draft::new(vec![reg], vec![out]));
        self.guard = guard;
        out.index
    }

    /// Appends an instruction under the current guard.
    pub(super) fn emit(&mut self, step: Step, ops: Operands, draft: Draft) {
        let program = &mut self.builder.program;
        program.code.push(Inst {
            step,
            guard: self.guard,
            ops,
            #[cfg(feature = "fuse")]
            superblock: crate::program::NOWHERE,
        });
        let predicate = |index| Register { file: RegisterFile::Pred, index };
        program.instructions.push(Instruction {
            ptx_line: self.line,
            opcode: Arc::clone(&self.opcode),
            guard: match self.guard {
                Guard::Always => None,
                Guard::If(index) => Some((predicate(index), false)),
                Guard::Unless(index) => Some((predicate(index), true)),
            },
            reads: draft.reads,
            writes: draft.writes,
            fp32_flops: 0,
            is_fp64: false,
            is_multiply_add: false,
            object: draft.object,
        });
        program.lines.push(self.lines.of(self.line, &mut program.line_table));
        self.rules.push(draft.rule);
    }

    /// Appends an instruction that only writes a register, whatever the guard of the one it prepares.
    pub(super) fn emit_write(&mut self, step: Step, ops: Operands, reg: Register) {
        let guard = std::mem::replace(&mut self.guard, Guard::Always);
        self.emit(step, ops, Draft { writes: vec![reg], ..Draft::default() });
        self.guard = guard;
    }

    /// Says what the last instruction counts as.
    pub(super) fn set_facts(&mut self, fp32_flops: u32, is_fp64: bool, is_multiply_add: bool) {
        if let Some(last) = self.builder.program.instructions.last_mut() {
            (last.fp32_flops, last.is_fp64) = (fp32_flops, is_fp64);
            last.is_multiply_add = is_multiply_add;
        }
    }

    /// The number of the label that `name` means here.
    pub(super) fn label_number(&self, name: &str) -> Result<u32, LowerError> {
        let mut scope = Some(self.current_scope);
        while let Some(index) = scope {
            let (labels, around) = &self.label_scopes[index];
            if let Some(&number) = labels.get(name) {
                return Ok(number);
            }
            scope = *around;
        }
        Err(invalid(self.line, format!("there is no label `{name}` in this function")))
    }

    /// Remembers that the last instruction's branch targets are label numbers.
    pub(super) fn fix_later(&mut self) {
        self.fixups.push(self.builder.program.code.len() as u32 - 1);
    }

    /// An error at the current instruction.
    pub(super) fn error(&self, message: impl std::fmt::Display) -> LowerError {
        invalid(self.line, format!("`{}`: {message}", self.opcode))
    }

    /// "Not supported" at the current instruction.
    pub(super) fn unsupported(&mut self) -> LowerError {
        let program = &mut self.builder.program;
        let line = self.lines.of(self.line, &mut program.line_table);
        let source_line =
            program.line_table.get(line as usize).filter(|l| l.file != super::lines::PTX).cloned();
        LowerError::Unsupported { opcode: self.opcode.to_string(), line: self.line, source_line }
    }

    fn finish(mut self) -> Result<(), LowerError> {
        self.guard = Guard::Always;
        self.emit(Step::Return, Operands::default(), Draft::default());
        let size = self.frame.registers;
        if size.pred.max(size.word).max(size.wide) > MAX_REGISTERS {
            let message = format!("`{}` uses more than {MAX_REGISTERS} registers", self.source.name);
            return Err(invalid(self.source.position.line, message));
        }
        let labels = std::mem::take(&mut self.labels);
        let end = self.builder.program.code.len() as u32 - 1;
        // A label before the closing brace stands before the implicit return.
        let place = |number: u32| labels[number as usize].unwrap_or(end);
        for &at in &self.fixups {
            match &mut self.builder.program.code[at as usize].step {
                Step::Branch { target, .. } => *target = place(*target),
                Step::BranchTable { table, .. } => {
                    let table = *table as usize;
                    for target in &mut self.builder.program.jump_tables[table] {
                        *target = place(*target);
                    }
                }
                _ => {}
            }
        }
        let program = &mut self.builder.program;
        confirm::relax(program, self.first, &self.frame.constants);
        let mut unset = graph::analyse(program, self.first, &self.frame.returns);
        // Constants and parameters are set before the function runs.
        unset.retain(|reg| {
            !self.frame.constants.iter().any(|(constant, _)| constant == reg)
                && !self.frame.params.contains(&Place::Register(*reg))
        });
        self.frame.unset = unset;
        let first = self.first as usize;
        let instructions = program.instructions[first..].iter().zip(&self.rules);
        program.flow.extend(instructions.map(|(instruction, &rule)| flow(instruction, rule, size)));
        let objects = object::find(program, first, &self.frame.constants, size);
        for (instruction, object) in program.instructions[first..].iter_mut().zip(objects) {
            instruction.object = object;
        }
        self.builder.program.functions.push(self.frame);
        Ok(())
    }

    /// The width in bits that a register was declared with.
    pub(super) fn declared_bits(&mut self, operand: &ptx::Operand) -> Option<u8> {
        match operand {
            ptx::Operand::Name(name) => match self.resolve(name) {
                Ok(Name::Register(_, bits)) => Some(bits),
                _ => None,
            },
            ptx::Operand::Vector(list) => list.iter().find_map(|o| self.declared_bits(o)),
            _ => None,
        }
    }

    /// Whether this is the kernel, not a device function.
    pub(super) fn is_entry(&self) -> bool {
        self.source.is_entry
    }

    /// Names the function that a `call` cannot reach.
    pub(super) fn name_callee(&mut self, name: &str) {
        self.opcode = format!("call to `{name}`, which is not in this module").into();
    }
}

/// Finds the declaration of `name`: itself, a range (`%r<5>` declares `%r0` to `%r4`), or a vector's component.
fn declared(registers: &HashMap<&str, (Type, u32, Option<u32>)>, name: &str) -> Option<(Type, u32)> {
    if let Some(&(ty, vector, None)) = registers.get(name) {
        return (vector == 1).then_some((ty, 1));
    }
    if let Some((stem, component)) = name.rsplit_once('.') {
        let index = ["x", "y", "z", "w"].iter().position(|&c| c == component)? as u32;
        let &(ty, vector, _) = registers.get(stem)?;
        return (index < vector).then_some((ty, vector));
    }
    let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
    // `%r12` may be number 12 of `%r`, or number 2 of `%r1`.
    (digits..name.len()).find_map(|at| {
        let (stem, number) = name.split_at(at);
        let &(ty, vector, Some(count)) = registers.get(stem)? else { return None };
        let canonical = number == "0" || !number.starts_with('0');
        (canonical && number.parse::<u32>().ok()? < count).then_some((ty, vector))
    })
}

/// The register file and width of a type.
pub(super) fn class_of(ty: Type) -> (RegisterFile, u8) {
    match ty {
        Type::Pred => (RegisterFile::Pred, 1),
        Type::B64 | Type::U64 | Type::S64 | Type::F64 => (RegisterFile::Wide, 64),
        Type::B8 | Type::U8 | Type::S8 => (RegisterFile::Word, 8),
        Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => (RegisterFile::Word, 16),
        _ => (RegisterFile::Word, 32),
    }
}

fn flow(instruction: &Instruction, rule: FlowRule, size: FrameSize) -> Flow {
    let number = |reg: &Register| size.unified(*reg);
    let mut flow = Flow { rule, ..Flow::default() };
    flow.reads.iter_mut().zip(&instruction.reads).for_each(|(slot, reg)| *slot = number(reg));
    flow.writes.iter_mut().zip(&instruction.writes).for_each(|(slot, reg)| *slot = number(reg));
    flow
}

/// Numbers the labels of each scope; scopes are in order of their opening brace.
#[allow(clippy::type_complexity)]
fn label_scopes(body: &[Statement]) -> Result<Vec<(HashMap<&str, u32>, Option<usize>)>, LowerError> {
    let mut scopes = vec![(HashMap::new(), None)];
    let mut open = vec![0];
    let mut count = 0;
    for statement in body {
        match statement {
            Statement::BlockStart(_) => {
                scopes.push((HashMap::new(), open.last().copied()));
                open.push(scopes.len() - 1);
            }
            Statement::BlockEnd(position) => {
                open.pop();
                if open.is_empty() {
                    return Err(invalid(position.line, "this `}` closes nothing"));
                }
            }
            Statement::Label(name, position) => {
                let scope = *open.last().expect("checked at every brace");
                if scopes[scope].0.insert(name.as_str(), count).is_some() {
                    return Err(invalid(position.line, format!("the label `{name}` is there twice")));
                }
                count += 1;
            }
            _ => {}
        }
    }
    Ok(scopes)
}
