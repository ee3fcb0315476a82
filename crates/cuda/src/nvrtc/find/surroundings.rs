//! Where NVRTC may lie on this machine.

use std::env;
use std::path::{Path, PathBuf};

use trust::program;

use crate::nvrtc::cache;

/// What the search depends on, gathered in one place so that tests can make their own.
#[derive(Debug, Clone, Default)]
pub(in crate::nvrtc) struct Surroundings {
    pub(in crate::nvrtc) variable: Option<PathBuf>,
    pub(in crate::nvrtc) cuda_homes: Vec<PathBuf>,
    pub(in crate::nvrtc) loader_dirs: Vec<PathBuf>,
    pub(in crate::nvrtc) python_dirs: Vec<PathBuf>,
    pub(in crate::nvrtc) cache: Option<PathBuf>,
}

impl Surroundings {
    pub(in crate::nvrtc) fn of_this_process() -> Self {
        let path = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // A library is run: what a relative path leads to depends on the folder that the user happens to be in.
        let absolute = |name: &str| path(name).filter(|path| path.is_absolute());
        let mut cuda_homes: Vec<_> =
            ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(|name| absolute(name)).collect();
        let mut loader_dirs = program::folders(if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" });
        if cfg!(unix) {
            cuda_homes.extend(["/usr/local/cuda", "/opt/cuda"].map(PathBuf::from));
            loader_dirs.extend(loader_cache());
            for dir in ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"] {
                loader_dirs.push(dir.into());
            }
        }
        let mut python_dirs: Vec<PathBuf> = Vec::new();
        let prefixes = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|name| absolute(name));
        let sites = absolute("HOME").map(|home| home.join(".local")).into_iter();
        for dir in
            prefixes.chain(python_on_path()).chain(sites).chain(["/usr/local", "/usr"].map(PathBuf::from))
        {
            if !python_dirs.contains(&dir) {
                python_dirs.push(dir);
            }
        }
        Self {
            variable: path("WARPLINGS_NVRTC"),
            cuda_homes,
            loader_dirs,
            python_dirs,
            cache: cache::cache_dir(),
        }
    }
}

/// The prefix of the `python3` that a shell would start. A virtual environment's is a link, which is not followed.
fn python_on_path() -> Option<PathBuf> {
    let bin = program::folders("PATH").into_iter().find(|dir| dir.join("python3").is_file())?;
    bin.parent().map(Path::to_path_buf)
}

/// Folders of the loader's cache that hold an NVRTC. Without `ldconfig` there are none.
fn loader_cache() -> Vec<PathBuf> {
    let output = ["/sbin/ldconfig", "/usr/sbin/ldconfig"]
        .iter()
        .find_map(|name| program::command(name).ok()?.arg("-p").output().ok());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines()
        .filter(|line| line.trim_start().starts_with("libnvrtc.so"))
        .filter_map(|line| line.split_once("=> ").and_then(|(_, path)| Path::new(path.trim()).parent()))
        .map(Path::to_path_buf)
        .collect()
}
