//! Where module variables live.

use std::collections::{HashMap, HashSet};

use ptx::{Initializer, Module, Operand, StateSpace, Statement, Type, Variable};

use super::{Builder, invalid};
use crate::fault::Space;
use crate::memory::window;
use crate::program::{Constant, GlobalVariable, LowerError, Relocation, SharedVariable};

/// Largest variable: keeps a module from asking for all memory there is.
const MAX_BYTES: u64 = 1 << 30;

/// A variable of the module or of a function body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// Address in shared memory.
    Shared(u64),
    /// Index of a global variable.
    Global(u32),
    /// Address in constant memory.
    Constant(u64),
    /// Offset in the kernel's parameters.
    Param { offset: u32, bytes: u32 },
    /// Offset in the frame's local memory.
    Local { offset: u32, bytes: u32 },
}

/// Addresses of the module's variables.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) shared: Vec<SharedVariable>,
    pub(crate) static_shared: u64,
    pub(crate) constant: Vec<u8>,
    names: HashMap<String, Location>,
    globals: Vec<Variable>,
}

/// Bytes of a variable; 0 for an array of open length.
pub(super) fn size(variable: &Variable) -> Result<u64, LowerError> {
    let mut bytes = u64::from(element_bytes(variable.ty)) * u64::from(variable.vector.max(1));
    for &dim in &variable.dims {
        bytes = bytes.checked_mul(dim).filter(|&b| b <= MAX_BYTES).ok_or_else(|| {
            invalid(variable.position.line, format!("`{}` is larger than 1 GiB", variable.name))
        })?;
    }
    Ok(bytes)
}

/// Alignment in bytes: as declared, else natural.
pub(super) fn align(variable: &Variable) -> u64 {
    let natural = u64::from(element_bytes(variable.ty)) * u64::from(variable.vector.max(1));
    u64::from(variable.align.unwrap_or(0)).max(1).next_power_of_two().max(natural.max(1)).min(1 << 20)
}

pub(super) fn element_bytes(ty: Type) -> u32 {
    ty.size_bytes().max(1)
}

impl Layout {
    /// Places the shared and constant variables that the kernel `entry` can reach, and numbers the global ones.
    pub(crate) fn new(module: &Module, entry: &ptx::Function) -> Result<Layout, LowerError> {
        let mut layout = Layout::default();
        let used = reachable_names(module, entry);
        let mut dynamic = Vec::new();
        for variable in &module.variables {
            match variable.space {
                StateSpace::Shared if !used.contains(variable.name.as_str()) => {}
                StateSpace::Shared if variable.dims.contains(&0) || variable.is_extern => {
                    dynamic.push(variable)
                }
                StateSpace::Shared => layout.place_shared(variable)?,
                StateSpace::Constant => layout.place_constant(variable)?,
                StateSpace::Global => {
                    let number = layout.globals.len() as u32;
                    layout.names.insert(variable.name.clone(), Location::Global(number));
                    layout.globals.push(variable.clone());
                }
                _ => {
                    let message =
                        format!("`{}` cannot be declared at module scope in this space", variable.name);
                    return Err(invalid(variable.position.line, message));
                }
            }
        }
        // Variables of function bodies come before the dynamic arrays, which take the rest of shared memory.
        for function in &module.functions {
            let reached = std::ptr::eq(function, entry) || used.contains(function.name.as_str());
            for statement in function.body.iter().flatten() {
                if let Statement::Variable(v) = statement
                    && v.space == StateSpace::Shared
                    && reached
                {
                    if v.dims.contains(&0) { dynamic.push(v) } else { layout.place_shared(v)? }
                }
            }
        }
        let start = dynamic.iter().map(|v| align(v)).fold(layout.static_shared, u64::next_multiple_of);
        for variable in dynamic {
            layout.names.insert(variable.name.clone(), Location::Shared(start));
            layout.shared.push(SharedVariable { name: variable.name.clone(), offset: start, bytes: 0 });
        }
        layout.static_shared = start;
        Ok(layout)
    }

    /// Where a name is.
    pub(crate) fn find(&self, name: &str) -> Option<Location> {
        self.names.get(name).copied()
    }

    fn place_shared(&mut self, variable: &Variable) -> Result<(), LowerError> {
        let (offset, bytes) = (self.static_shared.next_multiple_of(align(variable)), size(variable)?);
        self.names.insert(variable.name.clone(), Location::Shared(offset));
        self.shared.push(SharedVariable { name: variable.name.clone(), offset, bytes });
        self.static_shared = offset + bytes;
        Ok(())
    }

    fn place_constant(&mut self, variable: &Variable) -> Result<(), LowerError> {
        let offset = (self.constant.len() as u64).next_multiple_of(align(variable));
        let bytes = size(variable)?;
        if offset + bytes > 1 << 24 {
            return Err(invalid(variable.position.line, "constant memory holds more than 16 MiB"));
        }
        self.constant.resize((offset + bytes) as usize, 0);
        let (data, relocations) = initial_bytes(variable, bytes as usize, |_| None)?;
        if !relocations.is_empty() {
            let message = format!("`{}`: addresses in constant memory are not supported", variable.name);
            return Err(invalid(variable.position.line, message));
        }
        self.constant[offset as usize..].copy_from_slice(&data);
        self.names.insert(variable.name.clone(), Location::Constant(offset));
        Ok(())
    }
}

/// Every name that the kernel, or a function it can reach, mentions.
fn reachable_names<'m>(module: &'m Module, entry: &'m ptx::Function) -> HashSet<&'m str> {
    let mut names = HashSet::new();
    let mut queue = vec![entry];
    let mut seen: HashSet<&str> = HashSet::from([entry.name.as_str()]);
    while let Some(function) = queue.pop() {
        let mut found = Vec::new();
        for statement in function.body.iter().flatten() {
            if let Statement::Instruction(instruction) = statement {
                instruction.operands.iter().for_each(|o| operand_names(o, &mut found));
            }
        }
        for name in found {
            names.insert(name);
            if let Some(callee) = module.functions.iter().find(|f| f.name == name && f.body.is_some())
                && seen.insert(&callee.name)
            {
                queue.push(callee);
            }
        }
    }
    names
}

fn operand_names<'m>(operand: &'m Operand, names: &mut Vec<&'m str>) {
    match operand {
        Operand::Name(name) | Operand::Not(name) | Operand::Offset(name, _) => names.push(name),
        Operand::Address(address) => names.extend(address.base.as_deref()),
        Operand::Vector(list) | Operand::List(list) => list.iter().for_each(|o| operand_names(o, names)),
        Operand::Pair(a, b) => [a, b].iter().for_each(|o| operand_names(o, names)),
        _ => {}
    }
}

/// Initial bytes of a variable, and the places that hold addresses.
fn initial_bytes(
    variable: &Variable,
    bytes: usize,
    mut resolve: impl FnMut(&str) -> Option<Constant>,
) -> Result<(Vec<u8>, Vec<Relocation>), LowerError> {
    let line = variable.position.line;
    let element = element_bytes(variable.ty) as usize;
    let mut data = vec![0; bytes];
    let mut relocations = Vec::new();
    let mut at = 0;
    for value in &variable.init {
        let bits = match value {
            Initializer::Integer(v) => *v as u64,
            Initializer::Float(v) if variable.ty == Type::F32 => u64::from((*v as f32).to_bits()),
            Initializer::Float(v) => v.to_bits(),
            Initializer::Symbol { name, offset, .. } => {
                let mut target = resolve(name).ok_or_else(|| {
                    invalid(line, format!("`{}` refers to `{name}`, which is not here", variable.name))
                })?;
                if let Constant::Global { offset: into, .. } = &mut target {
                    *into += offset;
                }
                if at + 8 > bytes {
                    return Err(invalid(line, format!("`{}` is too small for an address", variable.name)));
                }
                relocations.push(Relocation { at, target });
                at += element.max(8);
                continue;
            }
        };
        let encoded = bits.to_le_bytes();
        let Some(place) = data.get_mut(at..at + element) else {
            return Err(invalid(line, format!("`{}` has more initial values than elements", variable.name)));
        };
        let length = element.min(8);
        place[..length].copy_from_slice(&encoded[..length]);
        at += element;
    }
    Ok((data, relocations))
}

/// Fills in the global variables, once every function has been met.
pub(super) fn fill_globals(builder: &mut Builder<'_>) -> Result<(), LowerError> {
    let variables = std::mem::take(&mut builder.layout.globals);
    let mut filled = Vec::new();
    for variable in &variables {
        let bytes = size(variable)? as usize;
        let (data, relocations) = initial_bytes(variable, bytes, |name| {
            match builder.layout.find(name) {
                Some(Location::Global(number)) => {
                    return Some(Constant::Global { variable: number, offset: 0 });
                }
                Some(Location::Constant(at)) => {
                    return Some(Constant::Bits(at + window::generic_base(Space::Constant)));
                }
                Some(_) => return None,
                None => {}
            }
            builder.function_number(name).map(|number| Constant::Bits(u64::from(number) + 1))
        })?;
        filled.push(GlobalVariable { name: variable.name.clone(), data, relocations });
    }
    builder.program.globals = filled;
    builder.layout.globals = variables;
    Ok(())
}
