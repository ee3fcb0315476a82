//! The file that is run: divided into kernels and host code, compiled, and the kernel chosen.

use anyhow::Result;
use clap::ArgMatches;
use cuda::nvrtc::{Arch, Diagnostic};
use exercise::GpuModel;

use crate::command::toolchain;
use crate::compile::{self, Rejection, Source, Unit};
use crate::engine::gpu::Gpu;
use crate::exit::usage;
use crate::kernel::{self, NameError};
use crate::message;
use crate::report::Note;
use crate::source::{self, Division, Launch};
use crate::submission::Submission;

/// A file, and what can be told of it before it is compiled.
pub(super) struct Program<'a> {
    pub(super) submission: &'a Submission,
    /// `None` for PTX, which has no host code.
    pub(super) division: Option<Division>,
    /// How its host code launches kernels.
    pub(super) launches: Vec<Launch>,
}

/// The kernel that was asked for, and the unit it is in.
pub(super) struct Chosen {
    pub(super) unit: Unit,
    pub(super) symbol: String,
}

impl<'a> Program<'a> {
    pub(super) fn new(submission: &'a Submission) -> Program<'a> {
        let is_ptx = super::is_ptx(&submission.path);
        let division = (!is_ptx).then(|| source::divide(&submission.text));
        let launches = if is_ptx { Vec::new() } else { source::launches(&submission.text) };
        Program { submission, division, launches }
    }

    /// What is worth saying whatever comes of it.
    pub(super) fn notes(&self) -> Vec<Note> {
        let host = self.division.as_ref().map(|division| division.host.clone()).unwrap_or_default();
        if host.is_empty() { Vec::new() } else { vec![Note::HostCode(host)] }
    }

    /// Compiles the file and finds the kernel.
    ///
    /// # Errors
    /// The outer one if the machine or the command line is to blame, the inner one if the file is.
    pub(super) fn compile(
        &self,
        matches: &ArgMatches,
        gpu: Option<&Gpu>,
    ) -> Result<Result<Chosen, Rejection>> {
        let name = matches.get_one::<String>("kernel").map(String::as_str);
        let unit = match &self.division {
            None => compile::ptx(&self.submission.text),
            Some(division) => {
                let without = name.map(kernel::without_parameters);
                let instances = source::instances(division, &self.launches, without);
                self.compile_cuda(division, &instances, matches, gpu)?
            }
        };
        let unit = match unit {
            Ok(unit) => unit,
            Err(rejection) => return Ok(Err(rejection)),
        };
        // Of the instances, only one that was named by its arguments is sure to be meant.
        let named = unit.instances.first().filter(|_| name.is_some_and(|name| name.contains('<')));
        if let Some(symbol) = named.cloned() {
            return Ok(Ok(Chosen { unit, symbol }));
        }
        match kernel::choose(&unit.module, name) {
            Ok(symbol) => Ok(Ok(Chosen { unit, symbol })),
            Err(error @ NameError::NoKernels) => Ok(Err(self.no_kernels(&error))),
            Err(error @ NameError::Several { .. }) => usage(error.to_string()),
            Err(error) => usage(format!("--kernel: {error}")),
        }
    }

    /// Nothing was compiled to a kernel: there is none, or only templates that nothing instantiates.
    fn no_kernels(&self, error: &NameError) -> Rejection {
        let kernels = self.division.as_ref().map(|division| division.kernels.as_slice()).unwrap_or_default();
        match kernels.iter().find(|kernel| kernel.template.is_some()) {
            Some(template) => Rejection::Refused {
                line: Some(template.line),
                message: message::run::template_without_instance(template),
            },
            None => Rejection::Refused { line: None, message: error.to_string() },
        }
    }

    /// A GPU needs its own machine code. The simulator always runs the code for compute capability 8.0; another `--arch`
    /// changes what is said of registers and spills.
    fn compile_cuda(
        &self,
        division: &Division,
        instances: &[String],
        matches: &ArgMatches,
        gpu: Option<&Gpu>,
    ) -> Result<Result<Unit, Rejection>> {
        let toolchain = toolchain::ready()?;
        let name = self.submission.name();
        let instances: Vec<&str> = instances.iter().map(String::as_str).collect();
        let source = Source {
            text: &division.device,
            name: &name,
            instances: &instances,
            is_program: division.is_program(),
        };
        let model = matches.get_one::<GpuModel>("occupancy");
        let of_model = model.map(|gpu| Arch::new(gpu.sm.capability.0, gpu.sm.capability.1));
        let wanted = matches.get_one::<Arch>("arch").copied().or(of_model);
        let arch = gpu.map_or(Arch::SM_80, |gpu| gpu.info.arch());
        let unit = compile::cuda(&toolchain, source, arch)?;
        match (unit, wanted.filter(|wanted| *wanted != arch)) {
            (Ok(unit), Some(wanted)) => {
                let resources = compile::resources(&toolchain, source, wanted)?;
                Ok(resources.map(|resources| Unit { resources, ..unit }))
            }
            (unit, _) => Ok(unit.map_err(|rejection| explain(rejection, division))),
        }
    }
}

impl Chosen {
    /// What is worth saying of what was compiled.
    pub(super) fn notes(&self) -> Vec<Note> {
        let left_out = self.unit.left_out.clone();
        if left_out.is_empty() { Vec::new() } else { vec![Note::LeftOut(left_out)] }
    }
}

/// Says of what is missing that it is there, for the host.
fn explain(rejection: Rejection, division: &Division) -> Rejection {
    let Rejection::Diagnostics(mut diagnostics) = rejection else { return rejection };
    for diagnostic in &mut diagnostics {
        let name = undefined(diagnostic);
        let host = name.and_then(|name| division.host.iter().find(|aside| aside.name == name));
        if let Some(aside) = host {
            diagnostic.message = message::run::host_name(aside);
        }
    }
    Rejection::Diagnostics(diagnostics)
}

/// The name that the compiler misses.
fn undefined(diagnostic: &Diagnostic) -> Option<&str> {
    diagnostic.message.strip_prefix("identifier \"")?.strip_suffix("\" is undefined")
}
