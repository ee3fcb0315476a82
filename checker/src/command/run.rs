//! `checker run FILE`: runs any kernel under all checks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use cuda::nvrtc::Arch;
use exercise::{BlockResources, GpuModel};
use warpsim::Checks;

use super::toolchain;
use crate::argument::{Dims, Dump, Sink, Spec};
use crate::compile::{self, Rejection, Resources, Unit};
use crate::engine::gpu::{self, Gpu};
use crate::engine::{self, Observation, Task, sim};
use crate::exit::{Exit, UsageError, usage};
use crate::kernel::{self, NameError};
use crate::report::{self, Run, RunVerdict};
use crate::source;
use crate::submission::Submission;

/// Longest run before it is stopped.
const WALL_LIMIT: Duration = Duration::from_secs(30);

pub(super) fn make_command() -> Command {
    let dims = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("X[,Y[,Z]]")
            .required(true)
            .value_parser(parse::<Dims>)
            .allow_hyphen_values(true)
            .help(help)
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("run")
        .about("Run any .cu or .ptx kernel under all checks")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("CUDA source, or PTX if its name ends in .ptx"),
        )
        .arg(
            Arg::new("kernel")
                .long("kernel")
                .value_name("NAME")
                .help("Which kernel, if the file has several"),
        )
        .arg(dims("grid", "Blocks"))
        .arg(dims("block", "Threads per block"))
        .arg(
            Arg::new("shared")
                .long("shared")
                .allow_hyphen_values(true)
                .value_name("BYTES")
                .value_parser(value_parser!(u32))
                .default_value("0")
                .help("Dynamic shared memory"),
        )
        .arg(
            Arg::new("arg")
                .long("arg")
                .value_name("SPEC")
                .action(ArgAction::Append)
                .value_parser(parse::<Spec>)
                .allow_hyphen_values(true)
                .help("The next argument: i32:V, u32:V, i64:V, u64:V, f32:V, f64:V or buf:TYPE:COUNT[:INIT]")
                .long_help(
                    "The next argument: i32:V, u32:V, i64:V, u64:V, f32:V, f64:V or buf:TYPE:COUNT[:INIT],\n\
                     TYPE = u8, i32, u32, i64, u64, f16, f32, f64\n\
                     INIT = uninit (default), zero, iota, rand[:SEED], fill:V, @PATH (raw, little-endian)",
                ),
        )
        .arg(
            Arg::new("dump")
                .long("dump")
                .value_name("I=PATH")
                .action(ArgAction::Append)
                .value_parser(parse::<Dump>)
                .help("Write argument I's buffer (from 0) to PATH after the run, raw"),
        )
        .arg(flag("force", "Let --dump overwrite files that hold something"))
        .arg(
            Arg::new("arch")
                .long("arch")
                .value_name("SM")
                .value_parser(parse_arch)
                .help("The GPU that registers and spills are told for: sm_80 unless it runs on another"),
        )
        .arg(
            Arg::new("occupancy")
                .long("occupancy")
                .value_name("GPU")
                .value_parser(parse_gpu)
                .conflicts_with("arch")
                .help("Tell how many of its blocks and warps fit an SM of this GPU: A100, \"RTX 4090\", H200, ..."),
        )
        .arg(
            Arg::new("engine")
                .long("engine")
                .value_name("ENGINE")
                .value_parser(["sim", "gpu"])
                .default_value("sim")
                .help("Where to run it; only the simulator looks for faults and counts"),
        )
        .arg(
            Arg::new("fuel")
                .long("fuel")
                .allow_hyphen_values(true)
                .value_name("N")
                .value_parser(value_parser!(u64))
                .default_value("4294967296")
                .help("The most warp instructions to execute"),
        )
        .arg(flag(
            "no-checks",
            "Only keep to the bounds of the buffers; count, but don't look for races and the like",
        ))
        .arg(flag("no-counters", "Don't count"))
        .arg(flag("json", "Print one JSON object"))
}

fn parse<T: std::str::FromStr>(text: &str) -> Result<T, T::Err> {
    text.parse()
}

fn parse_arch(text: &str) -> Result<Arch, String> {
    text.parse().map_err(|error: cuda::nvrtc::ParseArchError| error.to_string())
}

fn parse_gpu(text: &str) -> Result<GpuModel, String> {
    GpuModel::named(text).ok_or_else(|| {
        let known = GpuModel::ALL.map(|gpu| gpu.name).join(", ");
        format!("the occupancy of that GPU is not known; these are: {known}")
    })
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let path = matches.get_one::<PathBuf>("file").context("clap requires it")?;
    if is_ptx(path) && matches.contains_id("occupancy") {
        return usage(
            "--occupancy: only compiling tells how many registers a kernel takes; give it the .cu file",
        );
    }
    let submission = Submission::read(path).map_err(|error| UsageError(error.to_string()))?;
    // Whatever can be wrong with the command line is found before anything runs.
    let specs: Vec<Spec> = matches.get_many("arg").unwrap_or_default().cloned().collect();
    let contents = read_buffers(&specs)?;
    let dumps = open_dumps(matches, &specs)?;
    let gpu = gpu_to_use(matches)?;
    let run = match compile(&submission, matches, gpu.as_ref())? {
        Err(rejection) => Run::rejected(rejection),
        Ok(chosen) => {
            let names = buffer_names(&submission, &chosen, specs.len());
            launch(matches, &chosen, gpu.as_ref(), arguments(specs, contents, names))?
        }
    };
    for (argument, path, sink) in dumps {
        if let Some(buffer) = run.buffers.get(argument).and_then(Option::as_ref) {
            sink.write(&buffer.bytes)
                .with_context(|| format!("--dump: {} cannot be written", path.display()))?;
        }
    }
    let exit = exit(run.verdict);
    report::run(&submission, &run, matches.get_flag("json"));
    Ok(exit)
}

/// The contents of each buffer argument.
fn read_buffers(specs: &[Spec]) -> Result<Vec<Option<Vec<u8>>>> {
    let contents = |(index, spec): (usize, &Spec)| match spec {
        Spec::Scalar(_) => Ok(None),
        Spec::Buffer(buffer) => {
            buffer.contents().map_err(|error| UsageError(format!("--arg number {index}: {error}")).into())
        }
    };
    specs.iter().enumerate().map(contents).collect()
}

fn open_dumps(matches: &ArgMatches, specs: &[Spec]) -> Result<Vec<(usize, PathBuf, Sink)>> {
    let mut sinks = Vec::new();
    for dump in matches.get_many::<Dump>("dump").unwrap_or_default() {
        let Dump { argument, path } = dump;
        match specs.get(*argument) {
            Some(Spec::Buffer(_)) => {}
            Some(Spec::Scalar(_)) => {
                return usage(format!("--dump {argument}: that argument is a value, not a buffer"));
            }
            None => {
                return usage(format!("--dump {argument}: there are only {} arguments, from 0", specs.len()));
            }
        }
        let sink = Sink::open(path, matches.get_flag("force")).map_err(|error| {
            UsageError(format!("--dump {argument}: {} cannot be written: {error}", path.display()))
        })?;
        sinks.push((*argument, path.clone(), sink));
    }
    Ok(sinks)
}

fn is_ptx(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ptx"))
}

/// The GPU to run on; `None` for the simulator.
fn gpu_to_use(matches: &ArgMatches) -> Result<Option<Gpu>> {
    if matches.get_one::<String>("engine").is_none_or(|engine| engine == "sim") {
        return Ok(None);
    }
    Ok(Some(Gpu::first()?))
}

/// The kernel that was asked for, and the unit it is in.
struct Chosen {
    unit: Unit,
    symbol: String,
}

fn compile(
    submission: &Submission,
    matches: &ArgMatches,
    gpu: Option<&Gpu>,
) -> Result<Result<Chosen, Rejection>> {
    let unit = if is_ptx(&submission.path) {
        compile::ptx(&submission.text)
    } else {
        compile_cuda(submission, matches, gpu)?
    };
    let unit = match unit {
        Ok(unit) => unit,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let name = matches.get_one::<String>("kernel").map(String::as_str);
    match kernel::choose(&unit.module, name) {
        Ok(symbol) => Ok(Ok(Chosen { unit, symbol })),
        Err(error @ NameError::NoKernels) => {
            Ok(Err(Rejection::Refused { line: None, message: error.to_string() }))
        }
        Err(error @ NameError::Several { .. }) => usage(error.to_string()),
        Err(error) => usage(format!("--kernel: {error}")),
    }
}

/// A GPU needs its own machine code. The simulator always runs the code for compute capability 8.0; another `--arch`
/// changes what is said of registers and spills.
fn compile_cuda(
    submission: &Submission,
    matches: &ArgMatches,
    gpu: Option<&Gpu>,
) -> Result<Result<Unit, Rejection>> {
    let toolchain = toolchain::ready()?;
    let name = submission.name();
    let model = matches.get_one::<GpuModel>("occupancy");
    let of_model = model.map(|gpu| Arch::new(gpu.sm.capability.0, gpu.sm.capability.1));
    let wanted = matches.get_one::<Arch>("arch").copied().or(of_model);
    let arch = gpu.map_or(Arch::SM_80, |gpu| gpu.info.arch());
    let unit = compile::cuda(&toolchain, &submission.text, &name, arch)?;
    match (unit, wanted.filter(|wanted| *wanted != arch)) {
        (Ok(unit), Some(wanted)) => {
            let resources = compile::resources(&toolchain, &submission.text, &name, wanted)?;
            Ok(resources.map(|resources| Unit { resources, ..unit }))
        }
        (unit, _) => Ok(unit),
    }
}

/// What to call each argument's buffer: the parameter's name in the source if that can be told.
fn buffer_names(submission: &Submission, chosen: &Chosen, count: usize) -> Vec<String> {
    let declared = kernel::parameters(&chosen.unit.module, &chosen.symbol).len();
    let written = source::kernel_parameters(&submission.text, &kernel::base_name(&chosen.symbol))
        .filter(|all| !is_ptx(&submission.path) && all.len() == declared);
    let name = |index: usize| {
        written.as_ref().and_then(|all| all.get(index)).map(|parameter| parameter.name.clone())
    };
    (0..count).map(|index| name(index).unwrap_or_else(|| format!("argument {index}"))).collect()
}

fn arguments(specs: Vec<Spec>, contents: Vec<Option<Vec<u8>>>, names: Vec<String>) -> Vec<engine::Arg> {
    let argument = |((spec, contents), name)| match spec {
        Spec::Scalar(bytes) => engine::Arg::Value(bytes),
        Spec::Buffer(buffer) => engine::Arg::Buffer { name, bytes: buffer.bytes(), contents },
    };
    specs.into_iter().zip(contents).zip(names).map(argument).collect()
}

fn launch(matches: &ArgMatches, chosen: &Chosen, gpu: Option<&Gpu>, args: Vec<engine::Arg>) -> Result<Run> {
    let dims = |name: &str| {
        let dims = matches.get_one::<Dims>(name).context("clap requires it")?;
        Ok::<_, anyhow::Error>(dims.to_launch(name))
    };
    let resources = chosen.unit.resources_of(&chosen.symbol);
    let rejected = |rejection| Run { resources, ..Run::rejected(rejection) };
    let (grid, block) = match (dims("grid")?, dims("block")?) {
        (Ok(grid), Ok(block)) => (grid, block),
        (Err(message), _) | (_, Err(message)) => return Ok(rejected(Rejection::Launch(message))),
    };
    let counters = gpu.is_none() && !matches.get_flag("no-counters");
    let checks = if matches.get_flag("no-checks") { Checks::NONE } else { Checks::ALL };
    let task = Task {
        grid,
        block,
        shared_bytes: matches.get_one("shared").copied().unwrap_or(0),
        args,
        checks: Checks { counters, ..checks },
        fuel: matches.get_one("fuel").copied().unwrap_or(1 << 32),
        wall_limit: WALL_LIMIT,
        relaunch: false,
    };
    let observed = match gpu {
        Some(gpu) => {
            let code = gpu::Code { image: &chosen.unit.image, symbol: &chosen.symbol };
            gpu.run(code, &task, &[], gpu::LIMIT)?
        }
        None => simulate(chosen, &task),
    };
    let occupancy = matches.get_one::<GpuModel>("occupancy").map(|&gpu| {
        let block = BlockResources {
            threads: block.iter().product(),
            registers_per_thread: resources.registers_per_thread,
            shared_bytes: resources.static_shared_bytes.saturating_add(task.shared_bytes),
        };
        (gpu, gpu.sm.occupancy(block))
    });
    Ok(match observed {
        Ok(observation) => {
            let gpu = gpu.map(|gpu| gpu.info.name.clone());
            Run { gpu, occupancy, ..finished(observation, resources, counters) }
        }
        Err(rejection) => rejected(rejection),
    })
}

fn simulate(chosen: &Chosen, task: &Task) -> Result<Observation, Rejection> {
    let program = kernel::lower(&chosen.unit.module, &chosen.symbol)?;
    let threads = task.block.iter().fold(1_u32, |product, dim| product.saturating_mul(*dim));
    kernel::check_registers(chosen.unit.resources_of(&chosen.symbol), threads).map_err(Rejection::Launch)?;
    sim::run(&program, task).map_err(|error| Rejection::Launch(error.to_string()))
}

fn finished(observation: Observation, resources: Resources, has_counters: bool) -> Run {
    let verdict = match observation.outcome {
        engine::Outcome::Timeout => RunVerdict::Timeout,
        engine::Outcome::Aborted => RunVerdict::Faults,
        engine::Outcome::Completed if observation.findings.iter().any(|finding| finding.is_error) => {
            RunVerdict::Faults
        }
        engine::Outcome::Completed => RunVerdict::Clean,
    };
    Run {
        verdict,
        rejection: None,
        findings: observation.findings,
        buffers: observation.buffers,
        counters: has_counters.then_some(observation.counters),
        resources,
        occupancy: None,
        printed: observation.printed,
        seconds: observation.seconds,
        gpu: None,
    }
}

fn exit(verdict: RunVerdict) -> Exit {
    match verdict {
        RunVerdict::Clean => Exit::Passed,
        RunVerdict::Unsupported => Exit::NotJudged,
        RunVerdict::Faults | RunVerdict::CompileError | RunVerdict::LaunchError | RunVerdict::Timeout => {
            Exit::KernelAtFault
        }
    }
}
