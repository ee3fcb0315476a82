//! Calling the checker as a reader would.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tempfile::TempDir;

/// The repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The built checker, and an empty workspace to run it in, so that nobody's `kernel.cu` is touched.
pub(crate) struct Checker {
    program: PathBuf,
    workspace: TempDir,
}

impl Checker {
    /// The checker in `program`, or a freshly built one.
    pub(crate) fn new(program: Option<PathBuf>) -> Result<Checker> {
        let program = match program {
            Some(program) => program,
            None => build()?,
        };
        let workspace = TempDir::new()?;
        for folder in ["exercises", "kernels"] {
            std::fs::create_dir(workspace.path().join(folder))?;
        }
        std::fs::write(workspace.path().join("Cargo.toml"), "[workspace]\n")?;
        Ok(Checker { program, workspace })
    }

    /// Runs one kernel of the file `source`, relative to the repository, with `arguments`, and gives the counters.
    pub(crate) fn run(&self, source: &str, arguments: &[&str]) -> Result<Counters> {
        let path = Path::new(ROOT).join(source);
        let path = path.to_str().context("the repository's path is not UTF-8")?;
        let output = self.output(&[&["run", path, "--json"], arguments].concat())?;
        let json: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
        if json["verdict"] != "clean" {
            bail!("{source} is not clean: {json:#}");
        }
        Ok(Counters(json["counters"].clone()))
    }

    /// Judges the file `source`, relative to the repository, as exercise `number`, and gives the JSON.
    pub(crate) fn judge(&self, number: &str, source: &str) -> Result<Value> {
        let path = Path::new(ROOT).join(source);
        let path = path.to_str().context("the repository's path is not UTF-8")?;
        let output = self.output(&[number, "--file", path, "--engine", "sim", "--json"])?;
        serde_json::from_slice(&output.stdout)
            .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// What a person reads who has `kernel` as their kernel of the exercise in `folder`.
    pub(crate) fn judge_for_people(&self, number: &str, folder: &str, kernel: &str) -> Result<String> {
        let place = self.workspace.path().join("exercises").join(folder);
        std::fs::create_dir_all(&place)?;
        std::fs::write(place.join("kernel.cu"), kernel)?;
        let output = self.output(&[number, "--engine", "sim"])?;
        Ok(String::from_utf8(output.stdout)? + &String::from_utf8(output.stderr)?)
    }

    /// What `look` shows of the file `source`, relative to the repository, as exercise `number`.
    pub(crate) fn look(&self, number: &str, source: &str) -> Result<String> {
        let path = Path::new(ROOT).join(source);
        let path = path.to_str().context("the repository's path is not UTF-8")?;
        let output = self.output(&["look", number, "--file", path])?;
        if !output.status.success() {
            bail!("look {number} fails: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    fn output(&self, arguments: &[&str]) -> Result<Output> {
        Command::new(&self.program)
            .args(arguments)
            .current_dir(&self.workspace)
            .env("NO_COLOR", "1")
            // So that it names commands as a reader types them.
            .env("CARGO", "cargo")
            .output()
            .context("the checker does not start")
    }
}

/// Builds the checker with the cargo that runs this program, and gives its path.
fn build() -> Result<PathBuf> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let cargo = trust::program::Program::find(&cargo).context("cargo is not installed")?;
    let output = Command::new(cargo.path())
        .args(["build", "--quiet", "--package", "checker", "--message-format", "json-render-diagnostics"])
        .current_dir(ROOT)
        .output()
        .context("cargo does not start")?;
    if !output.status.success() {
        bail!("the checker does not build:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout)?
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|message| {
            let is_checker = message["target"]["name"] == "checker";
            message["executable"].as_str().filter(|_| is_checker).map(PathBuf::from)
        })
        .context("cargo does not say where it put the checker")
}

/// The counters of one run, by name.
pub(crate) struct Counters(Value);

impl Counters {
    /// One of them.
    pub(crate) fn get(&self, name: &str) -> Result<u64> {
        self.0[name].as_u64().with_context(|| format!("there is no counter {name}"))
    }
}
