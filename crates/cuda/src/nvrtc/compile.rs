//! One source in, PTX, cubin and resources out.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use super::diagnostic::{self, Diagnostic, Severity};
use super::header::{self, Collected};
use super::resource::{self, KernelResources};
use super::sandbox::SandboxLevel;
use super::serve::{Job, Outcome, TASK};
use super::{Arch, Toolchain};
use crate::worker::{self, CPU_LIMIT, Call, KILLED, WorkerError};

/// A source and what it is compiled for.
#[derive(Debug, Clone, Copy)]
pub struct CompileRequest<'a> {
    /// CUDA C++.
    pub source: &'a str,
    /// The name that messages and line information carry, `kernel.cu`; only the part after the last `/` counts.
    pub name: &'a str,
    /// A real architecture: its PTX is that of the virtual one of the same number.
    pub arch: Arch,
    /// Headers that the source may include: name and text. They come before this crate's own.
    pub headers: &'a [(&'a str, &'a str)],
    /// Instances of kernel templates to make, as their author would write them: `tile::twice<float, 2>`.
    pub instances: &'a [&'a str],
    /// Whether an `#include` of a header that is nowhere is passed over instead of being an error.
    pub leaves_out_headers: bool,
    /// More options for NVRTC.
    pub options: &'a [&'a str],
    /// Time, memory and log.
    pub limits: Limits,
}

impl<'a> CompileRequest<'a> {
    /// A source without headers of its own, for `arch`.
    pub fn new(source: &'a str, name: &'a str, arch: Arch) -> Self {
        Self {
            source,
            name,
            arch,
            headers: &[],
            instances: &[],
            leaves_out_headers: false,
            options: &[],
            limits: Limits::default(),
        }
    }
}

/// What a compilation may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Processor time, in whole seconds: what a source that expands without end runs into, however busy the machine.
    pub cpu: Duration,
    /// Wall-clock time, the worker's start included.
    pub wall: Duration,
    /// Address space of the worker, in bytes, NVRTC's own 0.2 GiB included.
    pub memory_bytes: u64,
    /// How much of the log is kept, in bytes.
    pub log_bytes: usize,
}

impl Default for Limits {
    /// 15 s of a processor, 90 s in all, 1 GiB, 256 KiB; a large kernel needs half a second, a quarter of the memory
    /// and a hundredth of the log.
    fn default() -> Self {
        Self {
            cpu: Duration::from_secs(15),
            wall: Duration::from_secs(90),
            memory_bytes: 1 << 30,
            log_bytes: 256 << 10,
        }
    }
}

/// A compiled source.
#[derive(Clone)]
pub struct Compiled {
    /// PTX with line information.
    pub ptx: String,
    /// Machine code for the requested architecture.
    pub cubin: Vec<u8>,
    /// Every kernel's resources, in the assembler's order.
    pub kernels: Vec<KernelResources>,
    /// The symbol of each instance that was asked for.
    pub instances: Vec<String>,
    /// Headers that were passed over.
    pub left_out: Vec<String>,
    /// Warnings and remarks.
    pub warnings: Vec<Diagnostic>,
    /// How well the compiler was shut in.
    pub sandbox: SandboxLevel,
}

impl fmt::Debug for Compiled {
    /// Sizes instead of the code, which fills screens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("ptx_bytes", &self.ptx.len())
            .field("cubin_bytes", &self.cubin.len())
            .field("kernels", &self.kernels)
            .field("warnings", &self.warnings)
            .field("sandbox", &self.sandbox)
            .finish()
    }
}

/// Why there is no compiled source.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The source is wrong. At least one is an error; warnings may be among them.
    #[error("{}", first_error(.0))]
    Diagnostics(Vec<Diagnostic>),
    /// A kernel declares more static shared memory than a block can have.
    #[error("kernel `{kernel}` declares {used} bytes of static shared memory, and a block can have {limit}")]
    TooMuchSharedMemory {
        /// The kernel's symbol.
        kernel: String,
        /// Bytes it declares.
        used: u64,
        /// Bytes there are.
        limit: u64,
    },
    /// The compiler did not finish.
    #[error(
        "the compiler did not finish within {seconds} s and was stopped; the source may expand without end"
    )]
    Timeout {
        /// The limit.
        seconds: f64,
    },
    /// The compiler was slow to use up its processor time: the machine is busy. Not the source's fault.
    #[error(
        "the compiler did not finish within {seconds} s, and had too little of the processor; try again on a less busy machine"
    )]
    Stalled {
        /// The limit.
        seconds: f64,
    },
    /// Somebody ended the compiler: the system for want of memory, or a person. Not the source's fault.
    #[error("the compiler was ended from outside; this machine may be short of memory")]
    Killed,
    /// The compiler ran out of memory.
    #[error("the compiler needed more than {mib} MiB of memory and was stopped; the source may expand without end", mib = limit_bytes >> 20)]
    OutOfMemory {
        /// The limit.
        limit_bytes: u64,
    },
    /// The result is too large to be a kernel.
    #[error("the compiled code is {mib} MiB long, which is more than is accepted", mib = bytes >> 20)]
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// The compiler crashed on this source.
    #[error("the compiler crashed on this source ({how})")]
    Crashed {
        /// Signal, exit code or last words.
        how: String,
    },
    /// The architecture is not one that this NVRTC knows.
    #[error("NVRTC {}.{} cannot compile for {arch}", version.0, version.1)]
    UnsupportedArch {
        /// What was asked for.
        arch: Arch,
        /// The compiler's version.
        version: (u32, u32),
    },
    /// The libraries could not be loaded; not the source's fault.
    #[error("NVRTC could not be loaded: {message}")]
    NotLoaded {
        /// The loader's message.
        message: String,
    },
    /// The request is wrong, by an option NVRTC does not know for one; not the source's fault.
    #[error("NVRTC refused the request ({code}): {message}")]
    Refused {
        /// NVRTC's name for it.
        code: String,
        /// What the log says.
        message: String,
    },
    /// The worker process failed; not the source's fault.
    #[error("{0}")]
    Worker(#[source] WorkerError),
}

fn first_error(diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    let Some(first) = diagnostics.iter().find(|d| d.severity == Severity::Error) else {
        return "the source does not compile".into();
    };
    let place = first.line.map(|line| format!("{}:{line}: ", first.file)).unwrap_or_default();
    let more = if errors > 1 { format!(" (and {} more)", errors - 1) } else { String::new() };
    format!("{place}{}{more}", first.message)
}

/// Compiles in a worker that is this program, started again.
///
/// # Errors
///
/// See [`CompileError`]: the source's faults, bombs that hit a limit, and trouble of the environment are told apart.
pub fn compile(toolchain: &Toolchain, request: &CompileRequest<'_>) -> Result<Compiled, CompileError> {
    compile_with(&worker::Command::this_program(), toolchain, request)
}

/// Compiles in a worker started by `command`.
///
/// # Errors
///
/// As [`compile`].
pub fn compile_with(
    command: &worker::Command,
    toolchain: &Toolchain,
    request: &CompileRequest<'_>,
) -> Result<Compiled, CompileError> {
    let limits = request.limits;
    let Prepared { job, left_out } = prepare(toolchain, request);
    let call = Call {
        task: TASK,
        wall: limits.wall,
        reply_bytes: (128 << 20) + limits.log_bytes as u64,
        log_bytes: limits.log_bytes,
        env: &[],
    };
    let outcome = worker::call(command, &call, &job).map_err(|error| match error {
        WorkerError::Timeout { seconds } => CompileError::Stalled { seconds },
        WorkerError::OutOfMemory { bytes } => CompileError::OutOfMemory { limit_bytes: bytes },
        WorkerError::Died { how, .. } if how.contains(CPU_LIMIT) => {
            CompileError::Timeout { seconds: limits.cpu.as_secs_f64() }
        }
        // The loader and the standard library's allocator say so before they give up.
        WorkerError::Died { stderr, .. } if ran_out(&stderr) => {
            CompileError::OutOfMemory { limit_bytes: limits.memory_bytes }
        }
        WorkerError::Died { how, .. } if how.contains(KILLED) => CompileError::Killed,
        WorkerError::Died { how, .. } => CompileError::Crashed { how },
        other => CompileError::Worker(other),
    })?;
    match outcome {
        Outcome::NotLoaded { message } => Err(CompileError::NotLoaded { message }),
        Outcome::TooLarge { bytes } => Err(CompileError::TooLarge { bytes: bytes as u64 }),
        Outcome::Ran { code, code_name, log, ptx, cubin, instances, sandbox } => {
            let context = diagnostic::Context {
                file: &job.name,
                source: request.source,
                headers: job.headers.iter().map(|(name, _)| name.as_str()).collect(),
                given: request.headers,
                has_cuda_headers: !toolchain.include_dirs().is_empty(),
                ptx: &ptx,
            };
            let mut diagnostics = diagnostic::parse(&log, &context);
            diagnostic::blame_left_out(&mut diagnostics, &left_out);
            let kernels = resource::parse(&log);
            if code != 0 {
                let failure = Failure { code, code_name, log: &log, diagnostics, kernels: &kernels };
                return Err(failure.explain(toolchain, request));
            }
            Ok(Compiled { ptx, cubin, kernels, instances, left_out, warnings: diagnostics, sandbox })
        }
    }
}

/// What goes to the worker, and what is known beside it.
struct Prepared {
    job: Job,
    left_out: Vec<String>,
}

fn prepare(toolchain: &Toolchain, request: &CompileRequest<'_>) -> Prepared {
    let Collected { mut headers, missing } =
        header::collect(request.source, request.headers, &toolchain.include_dirs());
    let mut left_out = Vec::new();
    if request.leaves_out_headers {
        left_out = missing.into_iter().filter(|name| Path::new(name).is_relative()).collect();
        headers.extend(left_out.iter().map(|name| (name.clone(), String::new())));
    }
    let arch = format!("--gpu-architecture={}", request.arch);
    let prelude = format!("--pre-include={}", header::PRELUDE);
    let mut options: Vec<String> =
        [arch.as_str(), &prelude, "-lineinfo", "--ptxas-options=-v", "--std=c++17"].map(str::to_owned).into();
    options.extend(request.options.iter().map(|option| (*option).to_owned()));
    let name = request.name.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or("kernel.cu");
    let job = Job {
        library: toolchain.library.clone(),
        builtins: toolchain.builtins.clone(),
        source: request.source.to_owned(),
        name: name.replace(|c: char| c.is_control() || c == '"', "_"),
        headers,
        instances: request.instances.iter().map(|instance| (*instance).to_owned()).collect(),
        options,
        memory_bytes: request.limits.memory_bytes,
        cpu_seconds: request.limits.cpu.as_secs().max(1),
        log_bytes: request.limits.log_bytes,
    };
    Prepared { job, left_out }
}

fn ran_out(stderr: &str) -> bool {
    ["bad_alloc", "out of memory", "memory allocation of"].iter().any(|words| stderr.contains(words))
}

/// `NVRTC_ERROR_OUT_OF_MEMORY`.
const CODE_OUT_OF_MEMORY: i32 = 1;
/// `NVRTC_ERROR_INVALID_OPTION`.
const CODE_INVALID_OPTION: i32 = 5;
/// `NVRTC_ERROR_COMPILATION`.
const CODE_COMPILATION: i32 = 6;

/// `NVRTC_ERROR_INTERNAL_ERROR`.
const CODE_INTERNAL_ERROR: i32 = 11;

/// A compilation that NVRTC called failed.
struct Failure<'a> {
    code: i32,
    code_name: String,
    log: &'a str,
    diagnostics: Vec<Diagnostic>,
    kernels: &'a [KernelResources],
}

/// Static shared memory per block on every architecture so far.
const STATIC_SHARED_LIMIT: u64 = 48 << 10;

impl Failure<'_> {
    fn explain(self, toolchain: &Toolchain, request: &CompileRequest<'_>) -> CompileError {
        if let Some(error) = self.too_much_shared_memory() {
            return error;
        }
        if self.code == CODE_OUT_OF_MEMORY || self.log.contains("out of memory") {
            return CompileError::OutOfMemory { limit_bytes: request.limits.memory_bytes };
        }
        if self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
            && self.code == CODE_COMPILATION
        {
            return CompileError::Diagnostics(self.diagnostics);
        }
        if self.code == CODE_INVALID_OPTION && self.log.contains("--gpu-architecture") {
            return CompileError::UnsupportedArch { arch: request.arch, version: toolchain.version };
        }
        let message = self.log.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no message");
        if [CODE_COMPILATION, CODE_INTERNAL_ERROR].contains(&self.code) {
            return CompileError::Crashed { how: format!("it gave up: {message}") };
        }
        CompileError::Refused { code: self.code_name, message: message.to_owned() }
    }

    /// The assembler says so in a message, or only by failing after it reported the size.
    fn too_much_shared_memory(&self) -> Option<CompileError> {
        let message = self.diagnostics.iter().find_map(|diagnostic| {
            let (_, rest) = diagnostic.message.split_once("Entry function '")?;
            let (kernel, rest) = rest.split_once("' uses too much shared data (")?;
            let mut numbers = rest.split("0x").skip(1).filter_map(|text| {
                let digits = text.split(|c: char| !c.is_ascii_hexdigit()).next()?;
                u64::from_str_radix(digits, 16).ok()
            });
            Some((kernel.to_owned(), numbers.next()?, numbers.next()?))
        });
        let no_errors = || !self.diagnostics.iter().any(|d| d.severity == Severity::Error);
        let report = || {
            let kernel =
                self.kernels.iter().find(|k| u64::from(k.static_shared_bytes) > STATIC_SHARED_LIMIT)?;
            Some((kernel.name.clone(), kernel.static_shared_bytes.into(), STATIC_SHARED_LIMIT))
        };
        let found = message.or_else(|| no_errors().then(report).flatten());
        found.map(|(kernel, used, limit)| CompileError::TooMuchSharedMemory { kernel, used, limit })
    }
}
