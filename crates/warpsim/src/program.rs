//! A kernel decoded once, ready to run.

use ptx::Module;

use crate::fault::SourceLine;

/// A kernel and the device functions it calls, lowered to a dense program.
#[derive(Debug)]
pub struct Program {}

impl Program {
    /// Lowers the entry point `kernel` of `module` and what it calls.
    ///
    /// # Errors
    /// [`LowerError`] for an unknown kernel, an instruction that is not supported, and PTX that makes no sense.
    pub fn new(module: &Module, kernel: &str) -> Result<Program, LowerError> {
        let _ = (module, kernel);
        todo!()
    }

    /// The source line of an instruction: the innermost one in the main file.
    pub fn source_line(&self, pc: u32) -> Option<&SourceLine> {
        let _ = pc;
        todo!()
    }

    /// Static shared memory, in bytes.
    pub fn static_shared_bytes(&self) -> u64 {
        todo!()
    }

    /// Sizes of the kernel's parameters, in bytes.
    pub fn param_sizes(&self) -> Vec<usize> {
        todo!()
    }
}

/// PTX that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum LowerError {
    #[error("there is no kernel `{name}`; the module has: {}", kernels.join(", "))]
    NoKernel { name: String, kernels: Vec<String> },
    #[error("unsupported: {opcode} at PTX line {line}")]
    Unsupported { opcode: String, line: u32, source_line: Option<SourceLine> },
    #[error("PTX line {line}: {message}")]
    Invalid { line: u32, message: String },
}
