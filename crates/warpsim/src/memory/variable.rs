//! The module's variables: allocations of a device, and constant memory.

use std::sync::Arc;

use super::{Buffer, Device, window};
use crate::name::source_name;
use crate::program::{Constant, GlobalVariable, Program, Relocation};

/// Makes the module's variables allocations of the device, unless they are. Gives back where they begin.
pub(crate) fn load(program: &Program, device: &mut Device) -> usize {
    if let Some(first) = device.first_variable(program) {
        return first;
    }
    let first = device.buffers.len();
    device.buffers.extend(globals(program, first));
    device.loaded.push((Arc::clone(&program.identity), first));
    first
}

/// The names, as in the source, of the module variables that hold something else than when `program` was loaded.
pub(crate) fn changed_variables(program: &Program, device: &Device) -> Vec<String> {
    let Some(first) = device.first_variable(program) else { return Vec::new() };
    let variables = program.heap.map_or(program.globals.len(), |heap| heap as usize);
    let now = &device.buffers[first..first + variables];
    let changed = |(now, then): &(&Buffer, Buffer)| now.data != then.data;
    now.iter().zip(globals(program, first)).filter(changed).map(|(now, _)| source_name(&now.name)).collect()
}

/// The module's global variables, as buffers.
fn globals(program: &Program, first: usize) -> Vec<Buffer> {
    let fill = |variable: &GlobalVariable| {
        // Zeros that nobody touches cost the host no memory.
        let mut data = vec![0; variable.bytes];
        data[..variable.data.len()].copy_from_slice(&variable.data);
        relocate(&mut data, &variable.relocations, first);
        let valid = variable.is_heap.then(|| vec![0; variable.bytes]);
        Buffer { name: variable.name.clone(), data, valid }
    };
    program.globals.iter().map(fill).collect()
}

/// The module's constant variables.
pub(crate) fn constant_memory(program: &Program, first_global: usize) -> Vec<u8> {
    let mut data = program.constant.clone();
    relocate(&mut data, &program.constant_relocations, first_global);
    data
}

/// Fills in the addresses that initial values name.
fn relocate(data: &mut [u8], relocations: &[Relocation], first_global: usize) {
    for relocation in relocations {
        let value = match relocation.target {
            Constant::Global { variable, offset } => {
                window::buffer_address(first_global + variable as usize).wrapping_add(offset as u64)
            }
            Constant::Bits(bits) => bits,
            Constant::Special(_) | Constant::Param { .. } | Constant::Shared { .. } => 0,
        };
        let bytes = relocation.bytes;
        data[relocation.at..relocation.at + bytes]
            .copy_from_slice(&(value >> relocation.shift).to_le_bytes()[..bytes]);
    }
}
