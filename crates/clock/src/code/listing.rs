//! Instructions of a kernel, with numbers for registers.

use foldhash::{HashMap, HashMapExt as _};
use ptx::{Function, Instruction, Module, Operand, Statement};

/// A register of the listing; 0 is none.
pub(crate) type Reg = u32;

/// What a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Predicate,
    /// 32 bits or fewer.
    Word,
    /// 64 bits.
    Wide,
}

/// One instruction.
#[derive(Debug)]
pub(super) struct Line<'m> {
    pub(super) instruction: &'m Instruction,
    pub(super) reads: Vec<Reg>,
    pub(super) writes: Vec<Reg>,
    /// Where a jump goes.
    pub(super) target: Option<usize>,
    /// The function that it is part of.
    function: usize,
}

/// A kernel and the functions it may call, one after another.
#[derive(Debug)]
pub(super) struct Listing<'m> {
    pub(super) lines: Vec<Line<'m>>,
    /// For each register, what it is.
    pub(super) kinds: Vec<Kind>,
    /// For each register, the instructions that write it.
    pub(super) definitions: Vec<Vec<usize>>,
    /// For each register, the instructions that read it.
    pub(super) uses: Vec<Vec<usize>>,
    numbers: HashMap<(usize, &'m str), Reg>,
}

impl<'m> Listing<'m> {
    pub(super) fn new(module: &'m Module, kernel: &str) -> Listing<'m> {
        let mut listing = Listing {
            lines: Vec::new(),
            kinds: vec![Kind::Word],
            definitions: vec![Vec::new()],
            uses: vec![Vec::new()],
            numbers: HashMap::new(),
        };
        let others = module.functions.iter().filter(|f| !f.is_entry && f.body.is_some());
        for (number, function) in module.function(kernel).into_iter().chain(others).enumerate() {
            listing.append(number, function);
        }
        for (at, line) in listing.lines.iter().enumerate() {
            line.writes.iter().for_each(|reg| listing.definitions[*reg as usize].push(at));
            line.reads.iter().for_each(|reg| listing.uses[*reg as usize].push(at));
        }
        listing
    }

    /// How many of the lines are the kernel's own; those of other functions come after them.
    pub(super) fn kernel_lines(&self) -> usize {
        self.lines.iter().position(|line| line.function > 0).unwrap_or(self.lines.len())
    }

    /// The register called `name` where the instruction `at` stands.
    pub(super) fn register(&self, at: usize, name: &str) -> Option<Reg> {
        self.numbers.get(&(self.lines[at].function, name)).copied()
    }

    /// The only instruction that writes a register.
    pub(super) fn definition(&self, reg: Reg) -> Option<&'m Instruction> {
        match self.definitions[reg as usize].as_slice() {
            [only] => Some(self.lines[*only].instruction),
            _ => None,
        }
    }

    /// Whether exactly one instruction writes a register and exactly one reads it.
    pub(super) fn is_single_use(&self, reg: Reg) -> bool {
        self.definitions[reg as usize].len() == 1 && self.uses[reg as usize].len() == 1
    }

    fn append(&mut self, function: usize, body: &'m Function) {
        let first = self.lines.len();
        let (mut labels, mut declared) = (HashMap::new(), Declared::default());
        let mut next = first;
        for statement in body.body.iter().flatten() {
            match statement {
                Statement::Instruction(_) => next += 1,
                Statement::Label(name, _) => drop(labels.insert(name.as_str(), next)),
                Statement::Registers(registers) => declared.add(registers),
                _ => {}
            }
        }
        for instruction in body.instructions() {
            let (reads, writes) = self.operands(function, instruction, &declared);
            let target = match (instruction.opcode.as_str(), instruction.operands.first()) {
                ("bra", Some(Operand::Name(label))) => labels.get(label.as_str()).copied(),
                _ => None,
            };
            self.lines.push(Line { instruction, reads, writes, target, function });
        }
    }

    /// Registers that an instruction reads and writes. One whose guard may fail keeps what it would have written.
    fn operands(
        &mut self,
        function: usize,
        instruction: &'m Instruction,
        declared: &Declared<'_>,
    ) -> (Vec<Reg>, Vec<Reg>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let has_result = has_result(instruction);
        for (index, operand) in instruction.operands.iter().enumerate() {
            names(operand, if index == 0 && has_result { &mut writes } else { &mut reads });
        }
        if let Some(guard) = &instruction.guard {
            reads.push(&guard.register);
            reads.extend_from_slice(&writes);
        }
        let mut number = |names: Vec<&'m str>| -> Vec<Reg> {
            names.into_iter().filter_map(|name| self.number(function, name, declared)).collect()
        };
        (number(reads), number(writes))
    }

    fn number(&mut self, function: usize, name: &'m str, declared: &Declared<'_>) -> Option<Reg> {
        let kind = declared.kind(name)?;
        let next = self.kinds.len() as Reg;
        let number = *self.numbers.entry((function, name)).or_insert(next);
        if number == next {
            self.kinds.push(kind);
            self.definitions.push(Vec::new());
            self.uses.push(Vec::new());
        }
        Some(number)
    }
}

/// The registers that a function declares.
#[derive(Default)]
struct Declared<'m> {
    names: HashMap<&'m str, Kind>,
    stems: Vec<(&'m str, Kind)>,
}

impl<'m> Declared<'m> {
    fn add(&mut self, registers: &'m ptx::RegisterDeclaration) {
        let kind = match registers.ty {
            ptx::Type::Pred => Kind::Predicate,
            ty if ty.size_bytes() > 4 => Kind::Wide,
            _ => Kind::Word,
        };
        match registers.range {
            Some(_) => self.stems.push((&registers.name, kind)),
            None => drop(self.names.insert(&registers.name, kind)),
        }
    }

    fn kind(&self, name: &str) -> Option<Kind> {
        if let Some(kind) = self.names.get(name) {
            return Some(*kind);
        }
        let of_stem = |stem: &str| {
            let number = name.strip_prefix(stem);
            number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
        };
        self.stems.iter().find(|(stem, _)| of_stem(stem)).map(|(_, kind)| *kind)
    }
}

/// Whether the first operand is a result.
fn has_result(instruction: &Instruction) -> bool {
    let without = ["st", "bra", "bar", "barrier", "ret", "exit", "red", "membar", "fence", "cp", "trap"];
    let stores_matrix = instruction.opcode == "wmma" && instruction.has("store");
    !(stores_matrix || without.contains(&instruction.opcode.as_str()))
}

fn names<'m>(operand: &'m Operand, found: &mut Vec<&'m str>) {
    match operand {
        Operand::Name(name) | Operand::Not(name) | Operand::Offset(name, _) => found.push(name),
        Operand::Pair(first, second) => {
            names(first, found);
            names(second, found);
        }
        Operand::Address(address) => found.extend(address.base.as_deref()),
        Operand::Vector(all) | Operand::List(all) | Operand::Bracketed(all) => {
            all.iter().for_each(|operand| names(operand, found));
        }
        Operand::Integer(_) | Operand::Single(_) | Operand::Double(_) | Operand::Sink => {}
    }
}
