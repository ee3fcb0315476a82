//! From a source file to kernels that can be run: NVRTC, then the PTX parser.

use anyhow::Context;
use cuda::device::Image;
use cuda::nvrtc::{self, Arch, CompileError, CompileRequest, Compiled, Diagnostic, Severity, Toolchain};

use crate::exit::usage;
use crate::{directive, message};

/// The course's launch macros, for `#include "warplings.cuh"`.
pub(crate) const HEADERS: &[(&str, &str)] = &[("warplings.cuh", include_str!("../../kernels/warplings.cuh"))];

/// What one compile gave.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The module to simulate.
    pub(crate) module: ptx::Module,
    /// Registers and memory of each kernel, by mangled name. Empty for hand-written PTX.
    pub(crate) resources: Vec<(String, Resources)>,
    /// For a GPU: machine code for the architecture that was asked for, or the PTX that was given.
    pub(crate) image: Image,
    /// What the compiler warned of.
    pub(crate) warnings: Vec<Diagnostic>,
    /// The symbols of the instances that were asked for.
    pub(crate) instances: Vec<String>,
    /// Headers that are not here and were passed over.
    pub(crate) left_out: Vec<String>,
}

/// CUDA source on its way to the compiler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    /// For messages.
    pub(crate) name: &'a str,
    /// Instances of kernel templates to make.
    pub(crate) instances: &'a [&'a str],
    /// Whether it is what is left of a program without its host code. As under nvcc, members of classes may then be for
    /// the host only, and what a header of the host has, the host code needed.
    pub(crate) is_program: bool,
}

impl<'a> Source<'a> {
    /// A file that holds kernels and nothing else.
    pub(crate) fn kernel(text: &'a str, name: &'a str) -> Source<'a> {
        Source { text, name, instances: &[], is_program: false }
    }
}

impl Unit {
    /// What the kernel `symbol` occupies; zeros if that is not known.
    pub(crate) fn resources_of(&self, symbol: &str) -> Resources {
        self.resources
            .iter()
            .find(|(name, _)| name == symbol)
            .map(|(_, resources)| *resources)
            .unwrap_or_default()
    }
}

/// What a kernel occupies on a multiprocessor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Resources {
    pub(crate) registers_per_thread: u32,
    pub(crate) static_shared_bytes: u32,
    pub(crate) spill_bytes: u32,
}

/// Why a source can't be run.
#[derive(Debug)]
pub(crate) enum Rejection {
    /// The compiler refused it.
    Diagnostics(Vec<Diagnostic>),
    /// It makes no kernel that could be run. The line, if one is to blame, is one of the file that was given.
    Refused { line: Option<u32>, message: String },
    /// No device could start the launch it asks for.
    Launch(String),
    /// It uses something that is not supported.
    Unsupported { line: Option<u32>, message: String },
}

/// Compiles CUDA source for `arch` and reads the PTX.
///
/// # Errors
/// The outer one if the environment is to blame, the inner one if the source is.
pub(crate) fn cuda(
    toolchain: &Toolchain,
    source: Source<'_>,
    arch: Arch,
) -> anyhow::Result<Result<Unit, Rejection>> {
    let compiled = match compile(toolchain, source, arch)? {
        Ok(compiled) => compiled,
        Err(rejection) => return Ok(Err(rejection)),
    };
    Ok(match ptx::parse(&compiled.ptx) {
        Ok(module) => Ok(Unit {
            module,
            resources: by_kernel(&compiled),
            image: Image::Cubin(compiled.cubin),
            warnings: compiled.warnings,
            instances: compiled.instances,
            left_out: compiled.left_out,
        }),
        // The compiler wrote it, so this is the simulator's shortcoming.
        Err(error) => Err(Rejection::Unsupported { line: None, message: error.to_string() }),
    })
}

/// Compiles CUDA source for `arch` only to learn what each kernel occupies there.
///
/// # Errors
/// As [`fn@cuda`].
pub(crate) fn resources(
    toolchain: &Toolchain,
    source: Source<'_>,
    arch: Arch,
) -> anyhow::Result<Result<Vec<(String, Resources)>, Rejection>> {
    Ok(compile(toolchain, source, arch)?.map(|compiled| by_kernel(&compiled)))
}

fn compile(
    toolchain: &Toolchain,
    source: Source<'_>,
    arch: Arch,
) -> anyhow::Result<Result<Compiled, Rejection>> {
    let text = directive::without_line_directives(source.text);
    let request = CompileRequest {
        headers: HEADERS,
        instances: source.instances,
        leaves_out_headers: source.is_program,
        options: if source.is_program { &["-default-device"] } else { &[] },
        ..CompileRequest::new(&text, source.name, arch)
    };
    let error = match nvrtc::compile(toolchain, &request) {
        Ok(compiled) => return Ok(Ok(compiled)),
        Err(error) => error,
    };
    let is_cut_short = matches!(
        error,
        CompileError::Timeout { .. } | CompileError::OutOfMemory { .. } | CompileError::Crashed { .. }
    );
    if is_cut_short {
        // Where the machine is to blame, it fails on nothing as well.
        let nothing = CompileRequest::new("__global__ void nothing() {}", source.name, arch);
        nvrtc::compile(toolchain, &nothing).context(message::COMPILER_FAILS)?;
    }
    rejection(error).map(Err)
}

/// Reads hand-written PTX. Its faults are told in lines of the PTX, whatever its `.loc` directives say.
///
/// # Errors
/// If it is malformed or newer than what is known.
pub(crate) fn ptx(source: &str) -> Result<Unit, Rejection> {
    let mut module = ptx::parse(source)
        .map_err(|error| Rejection::Refused { line: Some(error.position.line), message: error.message })?;
    for function in &mut module.functions {
        if let Some(body) = &mut function.body {
            body.retain(|statement| !matches!(statement, ptx::Statement::Location(_)));
        }
    }
    if module.version > NEWEST_PTX {
        let (major, minor) = module.version;
        let message = format!(
            "PTX version {major}.{minor} is newer than {}.{}, the newest that is known",
            NEWEST_PTX.0, NEWEST_PTX.1
        );
        return Err(Rejection::Unsupported { line: None, message });
    }
    Ok(Unit {
        module,
        resources: Vec::new(),
        image: Image::Ptx(source.to_owned()),
        warnings: Vec::new(),
        instances: Vec::new(),
        left_out: Vec::new(),
    })
}

/// The newest PTX whose instructions were looked at: CUDA 13's.
const NEWEST_PTX: (u32, u32) = (9, 9);

fn by_kernel(compiled: &Compiled) -> Vec<(String, Resources)> {
    let of = |kernel: &nvrtc::KernelResources| Resources {
        registers_per_thread: kernel.registers_per_thread,
        static_shared_bytes: kernel.static_shared_bytes,
        spill_bytes: kernel.spill_store_bytes + kernel.spill_load_bytes,
    };
    compiled.kernels.iter().map(|kernel| (kernel.name.clone(), of(kernel))).collect()
}

fn rejection(error: CompileError) -> anyhow::Result<Rejection> {
    match error {
        CompileError::Diagnostics(diagnostics) => Ok(Rejection::Diagnostics(diagnostics)),
        CompileError::UnsupportedArch { .. } => usage(format!("--arch: {error}")),
        CompileError::NotLoaded { .. }
        | CompileError::Refused { .. }
        | CompileError::Worker(_)
        | CompileError::Stalled { .. }
        | CompileError::Killed => Err(error.into()),
        CompileError::TooMuchSharedMemory { kernel, used, limit } => Ok(Rejection::Refused {
            line: None,
            message: format!(
                "`{}` declares {used} bytes of static shared memory, and a block has at most {limit}; \
                 make its tiles smaller, or use dynamic shared memory",
                crate::kernel::base_name(&kernel)
            ),
        }),
        CompileError::Timeout { .. }
        | CompileError::OutOfMemory { .. }
        | CompileError::TooLarge { .. }
        | CompileError::Crashed { .. } => Ok(Rejection::Refused { line: None, message: error.to_string() }),
    }
}

/// Whether a diagnostic stopped the compile.
pub(crate) fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}
