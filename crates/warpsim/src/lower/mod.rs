//! From a parsed module to a dense program.
//!
//! Names become register indices and addresses, instructions become steps, branches learn where their lanes meet
//! again (the immediate post-dominator).

mod confirm;
mod control;
mod function;
mod graph;
mod instruction;
mod layout;
mod lines;
mod matrix;
mod mbarrier;
mod memory;
mod object;
mod operand;
#[cfg(test)]
mod table;

use std::collections::HashMap;
use std::sync::Arc;

use ptx::Module;

use crate::launch::limits;
use crate::program::{LowerError, NOWHERE, Param, Program};
use function::FunctionLowerer;
use layout::Layout;
pub(crate) use lines::PTX;

/// Registers of one class that a frame may have: indices are 16 bits.
const MAX_REGISTERS: usize = u16::MAX as usize;

/// What all functions of the program share while it is built.
pub(crate) struct Builder<'m> {
    pub(crate) module: &'m Module,
    pub(crate) layout: Layout,
    pub(crate) program: Program,
    /// Numbers of the functions met so far, in the order in which they will be lowered.
    function_numbers: HashMap<&'m str, u32>,
    queue: Vec<&'m ptx::Function>,
}

impl<'m> Builder<'m> {
    /// The number of a device function; it will be lowered too. `None` if it has no body in this module.
    pub(crate) fn function_number(&mut self, name: &str) -> Option<u32> {
        if let Some(&number) = self.function_numbers.get(name) {
            return Some(number);
        }
        let function = self.module.functions.iter().find(|f| f.name == name && f.body.is_some())?;
        let number = self.function_numbers.len() as u32;
        self.function_numbers.insert(&function.name, number);
        self.queue.push(function);
        Some(number)
    }
}

pub(crate) fn invalid(line: u32, message: impl Into<String>) -> LowerError {
    LowerError::Invalid { line, message: message.into() }
}

/// See [`Program::new`].
pub(crate) fn lower(module: &Module, kernel: &str) -> Result<Program, LowerError> {
    let entries = || module.functions.iter().filter(|f| f.is_entry && f.body.is_some());
    let Some(entry) = entries().find(|f| f.name == kernel) else {
        let kernels = entries().map(|f| f.name.clone()).collect();
        return Err(LowerError::NoKernel { name: kernel.to_owned(), kernels });
    };
    let layout = Layout::new(module, entry)?;
    let (params, _) = params(entry)?;
    let threads = |dims: [u32; 3]| dims.iter().fold(1u64, |all, &d| all.saturating_mul(u64::from(d)));
    let program = Program {
        identity: Arc::default(),
        kernel: kernel.to_owned(),
        code: Vec::new(),
        #[cfg(feature = "fuse")]
        superblocks: Vec::new(),
        flow: Vec::new(),
        instructions: Vec::new(),
        lines: Vec::new(),
        line_table: Vec::new(),
        lists: Vec::new(),
        jump_tables: Vec::new(),
        calls: Vec::new(),
        copies: Vec::new(),
        matrices: Vec::new(),
        tiles: Vec::new(),
        functions: Vec::new(),
        params,
        shared: layout.shared.clone(),
        static_shared: layout.static_shared,
        globals: Vec::new(),
        heap: None,
        constant: Vec::new(),
        constant_relocations: Vec::new(),
        dynamic_shared: layout
            .shared
            .iter()
            .filter(|v| v.bytes == 0)
            .map(|v| (v.name.clone(), None))
            .collect(),
        max_threads: entry.max_block.map(threads),
        required_block: entry.required_block,
        communicates: false,
        takes_locks: false,
    };
    let mut builder =
        Builder { module, layout, program, function_numbers: HashMap::new(), queue: vec![entry] };
    builder.function_numbers.insert(&entry.name, 0);

    layout::fill_variables(&mut builder)?;
    let mut next = 0;
    while next < builder.queue.len() {
        let function = builder.queue[next];
        FunctionLowerer::lower(&mut builder, function)?;
        next += 1;
    }
    // A branch out of a function's range would already be an error; joins of other functions do not exist.
    debug_assert!(
        builder
            .program
            .lines
            .iter()
            .all(|&l| l == NOWHERE || (l as usize) < builder.program.line_table.len())
    );
    Ok(builder.program)
}

/// Offsets of kernel parameters, each at its natural alignment, and their total size.
fn params(entry: &ptx::Function) -> Result<(Vec<Param>, usize), LowerError> {
    let mut offset = 0usize;
    let mut params = Vec::new();
    for variable in &entry.params {
        let bytes = layout::size(variable)? as usize;
        offset = offset.next_multiple_of(layout::align(variable) as usize);
        params.push(Param { name: variable.name.clone(), offset, bytes });
        offset += bytes;
        if offset > limits::PARAM_BYTES {
            let message = format!("the kernel's parameters take more than {} bytes", limits::PARAM_BYTES);
            return Err(invalid(variable.position.line, message));
        }
    }
    Ok((params, offset))
}
