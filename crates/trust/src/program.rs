//! Starting other programs, so that the current folder decides nothing: neither which program runs nor what it does.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

/// A program, by its absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
}

/// Variables that a started program gets as they are: who and where the user is, and how the network is reached.
const PASSED: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "SystemRoot",
    "SystemDrive",
    "ComSpec",
    "PATHEXT",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ProgramFiles",
    "TEMP",
    "TMP",
    "TMPDIR",
];

/// Variables that are lists of folders. An empty or relative entry means the current folder, so it is left out.
const LISTS: &[&str] = &["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

impl Program {
    /// The program that `name` means to a shell: a file of that absolute path, or of that name in one of the absolute
    /// folders of `PATH`.
    pub fn find(name: &str) -> Option<Program> {
        if Path::new(name).is_absolute() {
            return is_executable(Path::new(name)).then(|| Program { path: name.into() });
        }
        let file = format!("{name}{}", env::consts::EXE_SUFFIX);
        let folders = folders("PATH");
        folders
            .iter()
            .map(|folder| folder.join(&file))
            .find(|path| is_executable(path))
            .map(|path| Program { path })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A command that starts it in the root folder, where nobody but the system's owner puts files and which has no
    /// folders above it, with those variables of this process that say who the user is and nothing about what to run.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.env_clear().envs(environment()).current_dir(root());
        command
    }
}

/// The command of [`Program::command`] for the program that `name` means.
///
/// # Errors
///
/// `NotFound`, with the name of the program.
pub fn command(name: &str) -> io::Result<Command> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("`{name}` is not installed"));
    Program::find(name).map(|program| program.command()).ok_or_else(missing)
}

/// The absolute folders that the variable `name` lists.
pub fn folders(name: &str) -> Vec<PathBuf> {
    env::var_os(name).map(|list| absolute(&list)).unwrap_or_default()
}

/// The folder at the top, where commands are started.
pub fn root() -> PathBuf {
    if cfg!(windows) {
        // Users may write to the top of a drive; not to this.
        env::var_os("SystemRoot").map_or_else(env::temp_dir, PathBuf::from)
    } else {
        PathBuf::from("/")
    }
}

fn absolute(list: &OsStr) -> Vec<PathBuf> {
    env::split_paths(list).filter(|folder| folder.is_absolute()).collect()
}

/// What a started program gets of this one's environment.
fn environment() -> Vec<(&'static str, OsString)> {
    let passed = PASSED.iter().filter_map(|name| Some((*name, env::var_os(name)?)));
    let lists = LISTS.iter().filter_map(|name| {
        let list = env::join_paths(folders(name)).ok()?;
        (!list.is_empty()).then_some((*name, list))
    });
    passed.chain(lists).collect()
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_mean_the_current_folder_are_left_out() {
        let list = env::join_paths(["", ".", "bin", "../bin", "/usr/bin", "./x", "/bin"]).expect("a list");
        let expected: &[&str] = if cfg!(unix) { &["/usr/bin", "/bin"] } else { &[] };
        assert_eq!(absolute(&list), expected.iter().map(PathBuf::from).collect::<Vec<_>>());
    }

    #[cfg(unix)]
    #[test]
    fn a_command_sees_neither_the_current_folder_nor_what_steers_an_interpreter() {
        let output = command("sh").expect("a shell").args(["-c", "pwd; env"]).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.starts_with("/\n"), "{text}");
        // Cargo sets CARGO_MANIFEST_DIR for tests; nothing of that kind goes on.
        for name in ["CARGO", "PYTHON", "LD_PRELOAD", "PIP_", "UV_"] {
            assert!(!text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
        }
        assert!(text.contains("\nPATH=/"), "{text}");
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = command("no-such-program").map(|_| ()).expect_err("none").to_string();
        assert_eq!(error, "`no-such-program` is not installed");
    }
}
