//! `checker doctor`: what works on this machine, what does not, and what would help.

use std::process::{Command as Process, Stdio};

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command};
use cuda::nvrtc::{self, Arch, CompileRequest, SandboxLevel, Toolchain};

use crate::ceiling;
use crate::exit::Exit;
use crate::message;
use crate::report::{self, Examined, Health};
use crate::workspace::Workspace;

pub(super) fn make_command() -> Command {
    Command::new("doctor")
        .about("Say what works on this machine, what does not, and what would help")
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON array"))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let toolchain = nvrtc::find();
    let mut rows = vec![workspace(), compiler(toolchain.as_ref())];
    if let Ok(toolchain) = &toolchain {
        rows.extend(sandbox(toolchain));
    }
    rows.push(installer(toolchain.is_ok()));
    rows.push(gpu());
    report::examined(&rows, matches.get_flag("json"));
    let is_well = rows.iter().all(|row| row.state != Health::Broken);
    Ok(if is_well { Exit::Passed } else { Exit::NotJudged })
}

fn workspace() -> Examined {
    match Workspace::find() {
        Ok(workspace) if workspace.is_here() => works("course", workspace.root().display().to_string()),
        Ok(workspace) => works("course", message::course_elsewhere(workspace.root())),
        Err(error) => broken("course", error.to_string(), "run it in the folder that has `exercises` in it"),
    }
}

fn compiler(toolchain: Result<&Toolchain, &nvrtc::NotFound>) -> Examined {
    match toolchain {
        Ok(toolchain) => {
            let (major, minor) = toolchain.version;
            works("NVRTC", format!("{major}.{minor}, {} ({})", toolchain.library.display(), toolchain.origin))
        }
        // Nothing is fetched then: whoever sets it wants that one and no other.
        Err(error) if error.wrong_variable => broken(
            "NVRTC",
            format!("WARPLINGS_NVRTC is set and does not lead to it: {}", error.searched.join("; ")),
            "point it at libnvrtc.so or at the folder that holds it, or unset it",
        ),
        Err(error) => Examined {
            what: "NVRTC",
            state: Health::Absent,
            found: "not on this machine; the first exercise fetches it".into(),
            help: Some(error.to_string()),
        },
    }
}

/// Compiles a tiny kernel, which shows whether NVRTC runs at all and how well it is shut in.
fn sandbox(toolchain: &Toolchain) -> Vec<Examined> {
    let source = "extern \"C\" __global__ void nothing() {}";
    let request = CompileRequest::new(source, "nothing.cu", Arch::SM_80);
    match nvrtc::compile(toolchain, &request) {
        Ok(compiled) => {
            let state =
                if compiled.sandbox == SandboxLevel::LimitsOnly { Health::Broken } else { Health::Works };
            vec![
                works("compiling", "a test kernel compiles".into()),
                Examined { what: "sandbox", state, found: compiled.sandbox.to_string(), help: None },
            ]
        }
        Err(error) => vec![broken(
            "compiling",
            error.to_string(),
            "reinstall NVRTC, or point WARPLINGS_NVRTC at another copy",
        )],
    }
}

/// What could fetch NVRTC.
fn installer(is_needed_no_more: bool) -> Examined {
    let candidates: [(&str, &[&str]); 4] = [
        ("python3", &["-m", "pip", "--version"]),
        ("python", &["-m", "pip", "--version"]),
        ("uv", &["--version"]),
        ("pip", &["--version"]),
    ];
    let found = candidates.iter().find_map(|(program, arguments)| first_line(program, arguments));
    match found {
        Some(version) => works("pip or uv", version),
        None if is_needed_no_more => Examined {
            what: "pip or uv",
            state: Health::Absent,
            found: "neither is here; not needed, since NVRTC is".into(),
            help: None,
        },
        None => broken(
            "pip or uv",
            "neither is here, so NVRTC cannot be fetched".into(),
            "sudo apt-get install python3-pip",
        ),
    }
}

fn gpu() -> Examined {
    match cuda::device::probe() {
        Ok(devices) => {
            let is_measured = devices.iter().all(|device| ceiling::load(device).is_some());
            let described = devices.iter().map(|device| {
                let ((major, minor), cuda) = (device.compute_capability, device.driver_version);
                format!(
                    "{} (compute capability {major}.{minor}, driver for CUDA {}.{})",
                    device.name, cuda.0, cuda.1
                )
            });
            let help = (!is_measured)
                .then(|| format!("{} measures what it reaches at best", message::command("probe")));
            Examined { help, ..works("GPU", described.collect::<Vec<_>>().join(", ")) }
        }
        Err(error) => Examined {
            what: "GPU",
            state: Health::Absent,
            found: format!("{error}; not needed, kernels are judged on warpsim"),
            help: None,
        },
    }
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Process::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next().map(str::trim).filter(|line| !line.is_empty())?;
    output.status.success().then(|| line.to_owned())
}

fn works(what: &'static str, found: String) -> Examined {
    Examined { what, state: Health::Works, found, help: None }
}

fn broken(what: &'static str, found: String, help: &str) -> Examined {
    Examined { what, state: Health::Broken, found, help: Some(help.into()) }
}
