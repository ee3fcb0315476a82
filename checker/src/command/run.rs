//! `checker run FILE`: runs any kernel under all checks.

mod execution;
mod offer;
mod program;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use cuda::nvrtc::Arch;
use exercise::GpuModel;
use program::{Chosen, Program};

use crate::argument::{Dims, Dump, Sink, Spec};
use crate::engine;
use crate::engine::gpu::Gpu;
use crate::exit::{Exit, UsageError, usage};
use crate::kernel;
use crate::report::{self, Run};
use crate::source;
use crate::submission::Submission;

pub(super) fn make_command() -> Command {
    let dims = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("X[,Y[,Z]]")
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
    let program = Program::new(&submission);
    let kernel = matches.get_one::<String>("kernel").map(String::as_str);
    if !(matches.contains_id("grid") && matches.contains_id("block")) {
        return usage(offer::without_extents(&program, kernel));
    }
    let gpu = gpu_to_use(matches)?;
    let mut notes = program.notes();
    let run = match program.compile(matches, gpu.as_ref())? {
        Err(rejection) => Run::rejected(rejection),
        Ok(chosen) => {
            let names = buffer_names(&submission, &chosen, specs.len());
            notes.extend(chosen.notes());
            execution::launch(matches, &chosen, gpu.as_ref(), arguments(specs, contents, names))?
        }
    };
    let run = Run { notes, ..run };
    for (argument, path, sink) in dumps {
        if let Some(buffer) = run.buffers.get(argument).and_then(Option::as_ref) {
            sink.write(&buffer.bytes)
                .with_context(|| format!("--dump: {} cannot be written", path.display()))?;
        }
    }
    let exit = execution::exit(run.verdict);
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
