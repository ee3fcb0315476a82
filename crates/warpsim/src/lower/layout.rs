//! Where module variables live.

use std::collections::{HashMap, HashSet};

use ptx::{Initializer, Module, Operand, StateSpace, Statement, Type, Variable};

use super::{Builder, invalid};
use crate::fault::Space;
use crate::memory::window;
use crate::program::{Constant, GlobalVariable, LowerError, Relocation, SharedVariable};

/// Largest variable, and largest sum of the global ones: keeps a module from asking for all memory there is.
const MAX_BYTES: u64 = 1 << 30;
/// Most bytes of constant variables. A GPU has 64 KB, but for tables that the compiler itself puts there.
const MAX_CONSTANT_BYTES: u64 = 1 << 24;

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
    pub(crate) constant_bytes: u64,
    names: HashMap<String, Location>,
    globals: Vec<Variable>,
    constants: Vec<(Variable, u64)>,
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
        let offset = self.constant_bytes.next_multiple_of(align(variable));
        self.constant_bytes = offset + size(variable)?;
        if self.constant_bytes > MAX_CONSTANT_BYTES {
            return Err(invalid(variable.position.line, "the constant variables take more than 16 MiB"));
        }
        self.constants.push((variable.clone(), offset));
        self.names.insert(variable.name.clone(), Location::Constant(offset));
        Ok(())
    }
}

/// Every name that the kernel, or a function it can reach, mentions.
fn reachable_names<'m>(module: &'m Module, entry: &'m ptx::Function) -> HashSet<&'m str> {
    let mut names = HashSet::new();
    let mut queue = vec![entry];
    // Functions that tables of pointers name.
    let initial = module.variables.iter().flat_map(|v| &v.init);
    let mut found: Vec<&str> = initial
        .filter_map(|value| match value {
            Initializer::Symbol { name, .. } => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let mut seen: HashSet<&str> = HashSet::from([entry.name.as_str()]);
    let functions: HashMap<&str, &ptx::Function> =
        module.functions.iter().filter(|f| f.body.is_some()).map(|f| (f.name.as_str(), f)).collect();
    while let Some(function) = queue.pop() {
        for statement in function.body.iter().flatten() {
            if let Statement::Instruction(instruction) = statement {
                instruction.operands.iter().for_each(|o| operand_names(o, &mut found));
            }
        }
        for name in found.drain(..) {
            names.insert(name);
            if let Some(callee) = functions.get(name)
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

/// What a variable of `bytes` bytes begins with, and the places that hold addresses.
fn initial_bytes(
    variable: &Variable,
    bytes: usize,
    mut resolve: impl FnMut(&str) -> Option<Constant>,
) -> Result<(Vec<u8>, Vec<Relocation>), LowerError> {
    let line = variable.position.line;
    let element = element_bytes(variable.ty) as usize;
    let mut data = vec![0; bytes.min(variable.init.len().saturating_mul(element.max(8)))];
    let mut relocations = Vec::new();
    let mut at = 0;
    for value in &variable.init {
        let bits = match value {
            Initializer::Integer(v) => *v as u64,
            Initializer::Float(v) if variable.ty == Type::F32 => u64::from((*v as f32).to_bits()),
            Initializer::Float(v) => v.to_bits(),
            Initializer::Symbol { name, offset, mask, .. } => {
                let mut target = resolve(name).ok_or_else(|| {
                    invalid(line, format!("`{}` refers to `{name}`, which is not here", variable.name))
                })?;
                match &mut target {
                    Constant::Global { offset: into, .. } => *into = into.wrapping_add(*offset),
                    Constant::Bits(bits) => *bits = bits.wrapping_add(*offset as u64),
                    _ => {}
                }
                // A mask picks the bits that go into one element.
                let (length, shift) = match mask {
                    Some(mask) => (element.min(8), mask.trailing_zeros() % 64),
                    None => (8, 0),
                };
                if at + length > data.len() {
                    return Err(invalid(line, format!("`{}` is too small for an address", variable.name)));
                }
                relocations.push(Relocation { at, bytes: length, shift, target });
                at += element.max(length);
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

/// Fills in the global and constant variables. Functions whose address they hold are met by that.
pub(super) fn fill_variables(builder: &mut Builder<'_>) -> Result<(), LowerError> {
    let mut total = 0;
    for variable in std::mem::take(&mut builder.layout.globals) {
        let bytes = size(&variable)?;
        total += bytes;
        if total > MAX_BYTES {
            let message = "the module's variables take more than 1 GiB";
            return Err(invalid(variable.position.line, message));
        }
        let bytes = bytes as usize;
        let (data, relocations) = initial_bytes(&variable, bytes, |name| address_of(builder, name))?;
        builder.program.globals.push(GlobalVariable {
            name: variable.name,
            bytes,
            data,
            relocations,
            is_heap: false,
        });
    }
    let mut constant = vec![0; builder.layout.constant_bytes as usize];
    for (variable, offset) in std::mem::take(&mut builder.layout.constants) {
        let (bytes, offset) = (size(&variable)? as usize, offset as usize);
        let (data, relocations) = initial_bytes(&variable, bytes, |name| address_of(builder, name))?;
        constant[offset..offset + data.len()].copy_from_slice(&data);
        let moved = relocations.into_iter().map(|r| Relocation { at: offset + r.at, ..r });
        builder.program.constant_relocations.extend(moved);
    }
    builder.program.constant = constant;
    Ok(())
}

/// What an initial value that names something is.
fn address_of(builder: &mut Builder<'_>, name: &str) -> Option<Constant> {
    match builder.layout.find(name) {
        Some(Location::Global(number)) => Some(Constant::Global { variable: number, offset: 0 }),
        Some(Location::Constant(at)) => Some(Constant::Bits(at + window::generic_base(Space::Constant))),
        Some(_) => None,
        None => builder.function_number(name).map(|number| Constant::Bits(u64::from(number) + 1)),
    }
}
