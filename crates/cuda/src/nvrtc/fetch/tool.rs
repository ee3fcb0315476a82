//! The user's own tools for packages.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

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

    pub(super) fn command(self, requirements: &Path, into: &Path) -> Command {
        let mut command = match self {
            Self::Pip(python) => {
                let mut command = Command::new(python);
                command.args(["-m", "pip", "--disable-pip-version-check", "download", "--no-deps"]);
                // Without a network the default of five retries takes most of a minute.
                command.args(["--quiet", "--retries", "1", "--timeout", "20"]);
                command.args(["--only-binary", ":all:", "--require-hashes", "--dest"]).arg(into);
                command
            }
            Self::Uv => {
                let mut command = Command::new("uv");
                command.args(["pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]);
                command.args(["--require-hashes", "--target"]).arg(into);
                command.env("UV_HTTP_RETRIES", "1");
                command
            }
        };
        command.arg("-r").arg(requirements).stdin(Stdio::null());
        command
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
}
