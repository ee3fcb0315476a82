//! Questions that readers of a module ask of it.

use crate::{Function, Instruction, Module, StateSpace, Statement, Type, Variable};

impl Module {
    /// The function called `name`, or of which `name` is an alias; its definition rather than a declaration.
    pub fn function(&self, name: &str) -> Option<&Function> {
        let name = self.aliases.get(name).map_or(name, String::as_str);
        let mut found = self.functions.iter().filter(|function| function.name == name);
        let first = found.clone().next();
        found.find(|function| function.body.is_some()).or(first)
    }

    /// The kernels that have a body, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.is_entry && function.body.is_some())
    }

    /// The module-scope variable called `name`; its definition rather than an `.extern` declaration.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        let mut found = self.variables.iter().filter(|variable| variable.name == name);
        let first = found.clone().next();
        found.find(|variable| !variable.is_extern).or(first)
    }
}

impl Function {
    /// The instructions of the body, in order; none for a declaration.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.body.iter().flatten().filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        })
    }
}

impl Variable {
    /// Size in bytes: of an element, times the vector's length, times the dimensions. An array with an open
    /// dimension has 0. [`parse`](crate::parse) rejects what would overflow.
    pub fn size_bytes(&self) -> u64 {
        let element = u64::from(self.ty.size_bytes()) * u64::from(self.vector);
        if self.dims.contains(&0) {
            return 0;
        }
        self.dims.iter().fold(element, |size, &dim| size.saturating_mul(dim))
    }

    /// Alignment in bytes: as declared, else the natural one of the element or vector.
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or_else(|| self.ty.size_bytes() * self.vector)
    }
}

impl Instruction {
    /// Whether `modifier`, without its dot, is one of the modifiers.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|found| found == modifier)
    }

    /// The opcode with its modifiers, as written: `ld.global.f32`.
    pub fn full_opcode(&self) -> String {
        let mut text = self.opcode.clone();
        for modifier in &self.modifiers {
            text.push('.');
            text.push_str(modifier);
        }
        text
    }
}

impl Type {
    /// The type that PTX spells `.name`, given without the dot.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "b8" => Type::B8,
            "b16" => Type::B16,
            "b32" => Type::B32,
            "b64" => Type::B64,
            "b128" => Type::B128,
            "u8" => Type::U8,
            "u16" => Type::U16,
            "u32" => Type::U32,
            "u64" => Type::U64,
            "s8" => Type::S8,
            "s16" => Type::S16,
            "s32" => Type::S32,
            "s64" => Type::S64,
            "f16" => Type::F16,
            "f16x2" => Type::F16x2,
            "bf16" => Type::Bf16,
            "bf16x2" => Type::Bf16x2,
            "tf32" => Type::Tf32,
            "f32" => Type::F32,
            "f64" => Type::F64,
            "pred" => Type::Pred,
            _ => return None,
        })
    }

    /// Size in bytes; a predicate counts as 1.
    pub fn size_bytes(self) -> u32 {
        match self {
            Type::B8 | Type::U8 | Type::S8 | Type::Pred => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 => 4,
            Type::F16x2 | Type::Bf16x2 | Type::Tf32 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 8,
            Type::B128 => 16,
        }
    }
}

impl StateSpace {
    /// The space that PTX spells `.name`, given without the dot.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "reg" => StateSpace::Register,
            "global" => StateSpace::Global,
            "shared" => StateSpace::Shared,
            "local" => StateSpace::Local,
            "const" => StateSpace::Constant,
            "param" => StateSpace::Param,
            _ => return None,
        })
    }
}
