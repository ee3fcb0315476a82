//! A folder that looks like a checkout of the course, and the program running in it.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// A workspace without any kernel in it.
pub(crate) struct Scratch {
    folder: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        // Blanks and letters beyond ASCII are part of people's paths.
        let folder = tempfile::Builder::new().prefix("커널 scratch ").tempdir().expect("a folder");
        for sub in ["exercises", "kernels"] {
            std::fs::create_dir(folder.path().join(sub)).expect("created");
        }
        std::fs::write(folder.path().join("Cargo.toml"), "[workspace]\n").expect("written");
        Scratch { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, given by its path in the workspace.
    pub(crate) fn write(&self, path: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        std::fs::write(&path, contents).expect("written");
        path
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).expect("readable")
    }

    /// The same of a file that may not be there yet.
    #[cfg(target_os = "linux")]
    pub(crate) fn read_if_any(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap_or_default()
    }

    /// The program, started in the workspace as a user without cargo would.
    pub(crate) fn checker(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_checker"));
        command.current_dir(self.path()).args(arguments).env_remove("CARGO").env("NO_COLOR", "1");
        command
    }

    /// Runs it and gives back the exit code, standard output and standard error.
    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        finish(&mut self.checker(arguments))
    }

    /// Judges `source` as exercise 00 and gives back exit code and report.
    pub(crate) fn judge_vector_add(&self, source: impl AsRef<[u8]>) -> (i32, String) {
        self.write("kernel.cu", source);
        let (code, out, err) = self.run(&["00", "--file", "kernel.cu", "--engine", "sim"]);
        (code, out + &err)
    }
}

/// Runs a command to its end; a panic of the program, which its hook announces, fails the test.
pub(crate) fn finish(command: &mut Command) -> (i32, String, String) {
    let output = command.output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(!err.contains("internal error"), "{err}");
    (output.status.code().expect("an exit code"), out, err)
}

/// A text as if it were set in one line: where its lines break depends on the paths in it.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A right kernel for exercise 00, with `body` in the place of its assignment.
pub(crate) fn vector_add(body: &str) -> String {
    format!(
        "#include \"warplings.cuh\"\n\
         LAUNCH(256, 1, 1, 256, 1, 1);\n\
         __global__ void vector_add(const float* a, const float* b, float* c, int n)\n\
         {{\n    \
             int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
             {body}\n\
         }}\n"
    )
}
