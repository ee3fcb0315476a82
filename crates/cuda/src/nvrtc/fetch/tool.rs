//! The user's own tools for packages.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use trust::program;

/// The commands that can download, in the order in which they are tried.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tool<'a> {
    /// The Python that has pip.
    Pip(&'a str),
    Uv,
}

pub(super) const TOOLS: [Tool<'static>; 3] = [Tool::Pip("python3"), Tool::Pip("python"), Tool::Uv];

impl Tool<'_> {
    pub(super) fn name(self) -> String {
        match self {
            Self::Pip(python) => format!("{python} -m pip"),
            Self::Uv => "uv".into(),
        }
    }

    /// Downloads what `requirements` lists into the folder `into`. Nothing that lies in the current folder takes part:
    /// `python -m pip` by itself would run a `pip.py` from there, and uv the Python of a `.venv` there or above.
    ///
    /// # Errors
    ///
    /// If the program is not installed, or its folder can't be made.
    pub(super) fn command(self, requirements: &Path, into: &Path) -> io::Result<Command> {
        let mut command = match self {
            Self::Pip(python) => {
                let mut command = program::command(python)?;
                // -I: neither the current folder, nor the user's packages, nor PYTHON* variables.
                command.args(["-I", "-m", "pip", "--disable-pip-version-check", "download", "--no-deps"]);
                // Without a network the default of five retries takes most of a minute.
                command.args(["--quiet", "--retries", "1", "--timeout", "20"]);
                command.args(["--only-binary", ":all:", "--require-hashes", "--dest"]).arg(into);
                command
            }
            Self::Uv => {
                let mut command = program::command("uv")?;
                // No uv.toml, pyproject.toml or .venv of the folder or of those above it.
                command.args(["pip", "install", "--no-config", "--system"]);
                command.args(["--quiet", "--no-deps", "--only-binary", ":all:"]);
                command.args(["--require-hashes", "--target"]).arg(into);
                command.env("UV_HTTP_RETRIES", "1");
                command
            }
        };
        let empty = into.with_extension("empty");
        std::fs::create_dir_all(&empty)?;
        command.envs(mirrors()).current_dir(empty).arg("-r").arg(requirements).stdin(Stdio::null());
        Ok(command)
    }

    /// Whether this failure means that the tool is not there, so that the next may be tried.
    pub(super) fn is_missing(self, result: &io::Result<Output>) -> bool {
        match result {
            Err(_) => true,
            Ok(output) => {
                !output.status.success()
                    && String::from_utf8_lossy(&output.stderr).contains("No module named pip")
            }
        }
    }
}

/// Variables that say where packages come from, in companies with a mirror. The hashes hold whatever brings the files.
fn mirrors() -> impl Iterator<Item = (&'static str, OsString)> {
    const NAMES: [&str; 9] = [
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "PIP_CERT",
        "PIP_PROXY",
        "PIP_TRUSTED_HOST",
        "UV_DEFAULT_INDEX",
        "UV_INDEX",
        "UV_INDEX_URL",
        "UV_EXTRA_INDEX_URL",
    ];
    NAMES.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// The last lines of an error output, indented, without pip's repeated retry warnings.
pub(super) fn last_words(stderr: &str) -> String {
    let lines: Vec<_> = stderr
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("WARNING: Retrying"))
        .collect();
    let tail = &lines[lines.len().saturating_sub(4)..];
    tail.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pips_last_words_are_kept_and_its_retries_are_not() {
        let stderr = "WARNING: Retrying (Retry(total=0))\n\nERROR: No matching distribution found for x\n";
        assert_eq!(last_words(stderr), "  ERROR: No matching distribution found for x");
    }

    /// Runs the test named `child` of this module in `folder`, as if the checker had been started there.
    #[cfg(unix)]
    fn start_in(folder: &Path) {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "nvrtc::fetch::tool::tests::child"])
            .current_dir(folder)
            // A package index that answers at once, with a refusal.
            .envs(["PIP_INDEX_URL", "UV_DEFAULT_INDEX"].map(|name| (name, "http://127.0.0.1:9/")))
            .env("PYTHONPATH", ".")
            .env("PATH", format!(".:{}", std::env::var("PATH").unwrap()))
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success());
    }

    #[test]
    #[ignore = "a helper of the test below, which runs it in another folder"]
    fn child() {
        let into = tempfile::tempdir().unwrap();
        let requirements = into.path().join("requirements.txt");
        std::fs::write(&requirements, "nothing==1 --hash=sha256:00\n").unwrap();
        for tool in TOOLS {
            if let Ok(mut command) = tool.command(&requirements, &into.path().join("download")) {
                let _ = command.output();
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn nothing_in_the_current_folder_is_run() {
        use crate::worker::fake;

        let class = tempfile::tempdir().unwrap();
        let ran = class.path().join("ran");
        let python = format!("open({ran:?}, 'a').write(__file__ + '\\n')\n");
        let shell = format!("echo $0 >> '{}'", ran.display());
        std::fs::create_dir_all(class.path().join("pip")).unwrap();
        std::fs::create_dir_all(class.path().join(".venv/bin")).unwrap();
        for file in ["pip.py", "pip/__init__.py", "pip/__main__.py", "sitecustomize.py", "runpy.py"] {
            std::fs::write(class.path().join(file), &python).unwrap();
        }
        std::fs::write(class.path().join(".venv/pyvenv.cfg"), "home = /usr/bin\n").unwrap();
        for file in ["python3", "python", "uv", ".venv/bin/python3", ".venv/bin/python"] {
            fake::executable(&class.path().join(file), &shell);
        }
        start_in(class.path());
        let ran = std::fs::read_to_string(ran).unwrap_or_default();
        assert_eq!(ran, "", "code of the current folder was run");
    }
}
