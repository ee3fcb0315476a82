//! Finding NVRTC on this machine.

mod surroundings;

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use surroundings::Surroundings;
use trust::owner::{self, Exposed};

use super::Arch;
use super::fetch::{PINNED, Package};

/// An NVRTC that can be called: the library and the builtins library that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// `libnvrtc.so.12` or its like.
    pub library: PathBuf,
    /// `libnvrtc-builtins.so.12.9` or its like, of the same version.
    pub builtins: PathBuf,
    /// Major and minor version.
    pub version: (u32, u32),
    /// Where it was found.
    pub origin: Origin,
}

impl Toolchain {
    /// Folders of device headers that belong to this NVRTC: a toolkit's, those of the wheels beside it, or those that
    /// were fetched with it. Empty if it came alone.
    pub fn include_dirs(&self) -> Vec<PathBuf> {
        let Some(libraries) = self.library.parent() else { return Vec::new() };
        // In this order: fetched; toolkit and CUDA 13's wheels, with libcu++ below since CUDA 13; CUDA 12's wheels.
        ["include", "../include", "../include/cccl", "../../cuda_runtime/include", "../../cuda_cccl/include"]
            .iter()
            .filter_map(|sub| fs::canonicalize(libraries.join(sub)).ok())
            // `../include` of a system's library folder is none of CUDA's.
            .filter(|dir| ["cuda_fp16.h", "nv/target"].iter().any(|header| dir.join(header).is_file()))
            .collect()
    }
}

/// The places that are searched, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// `WARPLINGS_NVRTC`: a library or a folder that holds one.
    Environment,
    /// A CUDA toolkit: `CUDA_HOME`, `CUDA_PATH` or `/usr/local/cuda`.
    CudaHome,
    /// The system's loader: `LD_LIBRARY_PATH` and its cache; `PATH` on Windows.
    Loader,
    /// The active Python environment.
    Python,
    /// What [`find_or_fetch`](super::find_or_fetch) downloaded earlier.
    Cache,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Environment => "WARPLINGS_NVRTC",
            Self::CudaHome => "CUDA toolkit",
            Self::Loader => "system libraries",
            Self::Python => "Python environment",
            Self::Cache => "cache folder",
        })
    }
}

/// The oldest NVRTC that is used: older ones lack C++17 details and options.
const OLDEST: (u32, u32) = (12, 0);

/// No usable NVRTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// What was looked at and why it did not do, one line each.
    pub searched: Vec<String>,
    /// `WARPLINGS_NVRTC` is set, and wrongly: nothing else was tried.
    pub wrong_variable: bool,
}

impl NotFound {
    /// That it is not here, and where it was looked for, without what would help.
    pub(super) fn search(&self) -> String {
        let head = if self.wrong_variable {
            "WARPLINGS_NVRTC does not lead to NVRTC, the compiler for CUDA kernels:"
        } else {
            "NVRTC, the compiler for CUDA kernels, is not on this machine. Searched:"
        };
        let searched: String = self.searched.iter().map(|line| format!("\n  {line}")).collect();
        format!("{head}{searched}\n")
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.search())?;
        if self.wrong_variable {
            f.write_str("Point it at libnvrtc.so or at the folder that holds it, or unset it.")
        } else {
            f.write_str(super::fetch::HELP)
        }
    }
}

impl std::error::Error for NotFound {}

/// Finds NVRTC; see [`Origin`] for the places and their order. Nothing is loaded and no network is touched.
///
/// # Errors
///
/// [`NotFound`] says what was searched and what would help.
pub fn find() -> Result<Toolchain, NotFound> {
    find_for(Arch::SM_80)
}

/// As [`find`], passing over an NVRTC that cannot compile for `arch`: version 13 has left old GPUs behind.
///
/// # Errors
///
/// As [`find`].
pub fn find_for(arch: Arch) -> Result<Toolchain, NotFound> {
    search(&Surroundings::of_this_process(), arch)
}

fn search(surroundings: &Surroundings, arch: Arch) -> Result<Toolchain, NotFound> {
    let mut searched = Vec::new();
    let look_in = |dir: &Path, wanted: Option<&Path>, origin: Origin, searched: &mut Vec<String>| {
        let found = look_in(dir, wanted, origin, searched)?;
        if !arch.is_supported_by(found.version) {
            let (major, minor) = found.version;
            searched.push(format!("{}: version {major}.{minor} has no {arch}", found.library.display()));
            return None;
        }
        Some(found)
    };
    if let Some(path) = &surroundings.variable {
        let dir = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(path) };
        let file = (!path.is_dir()).then_some(path.as_path());
        return look_in(dir, file, Origin::Environment, &mut searched).ok_or_else(|| {
            if searched.is_empty() {
                searched.push(format!("{}: no NVRTC there", path.display()));
            }
            NotFound { searched, wrong_variable: true }
        });
    }
    for home in &surroundings.cuda_homes {
        for sub in ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "bin", "bin/x64"] {
            if let Some(found) = look_in(&home.join(sub), None, Origin::CudaHome, &mut searched) {
                return Ok(found);
            }
        }
    }
    describe("CUDA toolkit (CUDA_HOME, CUDA_PATH)", &surroundings.cuda_homes, &mut searched);
    for dir in &surroundings.loader_dirs {
        if let Some(found) = look_in(dir, None, Origin::Loader, &mut searched) {
            return Ok(found);
        }
    }
    let variable = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH and the system's" };
    searched.push(format!("libraries on the loader's path ({variable}): none"));
    for prefix in &surroundings.python_dirs {
        for dir in site_packages(prefix) {
            // Where the wheels put it: CUDA 12's own package, CUDA 13's common folder; Windows uses bin.
            for sub in ["cuda_nvrtc/lib", "cu13/lib", "cuda_nvrtc/bin", "cu13/bin"] {
                if let Some(found) =
                    look_in(&dir.join("nvidia").join(sub), None, Origin::Python, &mut searched)
                {
                    return Ok(found);
                }
            }
        }
    }
    describe(
        "Python environments (VIRTUAL_ENV, CONDA_PREFIX, site)",
        &surroundings.python_dirs,
        &mut searched,
    );
    match &surroundings.cache {
        Some(cache) => {
            let dir = cached(cache, &PINNED);
            match look_in(&dir, None, Origin::Cache, &mut searched).map(|found| (check(&found), found)) {
                Some((Ok(()), found)) => return Ok(found),
                Some((Err(exposed), _)) => {
                    searched.push(format!("cache folder {}: left alone, since {exposed}", cache.display()));
                }
                None => searched.push(format!("cache folder {}: nothing yet", cache.display())),
            }
        }
        None => searched.push("cache folder: none, since HOME is not set".into()),
    }
    Err(NotFound { searched, wrong_variable: false })
}

/// Whether nobody else may have put these libraries there: they are run.
///
/// # Errors
///
/// What others may change.
pub(super) fn check(found: &Toolchain) -> Result<(), Exposed> {
    owner::check_with_parents(&found.library)?;
    owner::check_with_parents(&found.builtins)
}

/// Where a fetched package lies in the cache.
pub(super) fn cached(cache: &Path, package: &Package) -> PathBuf {
    cache.join(format!("cuda-{}", package.version))
}

fn describe(what: &str, places: &[PathBuf], searched: &mut Vec<String>) {
    let list: Vec<_> = places.iter().map(|path| path.display().to_string()).collect();
    searched.push(if list.is_empty() {
        format!("{what}: none")
    } else {
        format!("{what}: not in {}", list.join(", "))
    });
}

fn site_packages(prefix: &Path) -> Vec<PathBuf> {
    let mut found = vec![prefix.join("Lib").join("site-packages")];
    if let Ok(entries) = fs::read_dir(prefix.join("lib")) {
        let mut versions: Vec<_> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
            .map(|entry| entry.path())
            .collect();
        versions.sort();
        for version in versions.iter().rev() {
            found.extend([version.join("site-packages"), version.join("dist-packages")]);
        }
    }
    found
}

/// The NVRTC of one folder.
///
/// # Errors
///
/// What is missing.
pub(super) fn in_folder(dir: &Path, origin: Origin) -> Result<Toolchain, String> {
    let mut searched = Vec::new();
    look_in(dir, None, origin, &mut searched)
        .ok_or_else(|| searched.pop().unwrap_or_else(|| format!("{}: no NVRTC there", dir.display())))
}

/// The newest pair of libraries in one folder. `wanted` asks for a certain file.
fn look_in(
    dir: &Path,
    wanted: Option<&Path>,
    origin: Origin,
    searched: &mut Vec<String>,
) -> Option<Toolchain> {
    // Absolute, since the worker starts in another folder.
    let dir = fs::canonicalize(dir).ok()?;
    let names: Vec<String> = match fs::read_dir(&dir).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Ok(entries) => entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect(),
        Err(error) => {
            searched.push(format!("{}: {error}", dir.display()));
            return None;
        }
    };
    let mut builtins: Vec<_> =
        names.iter().filter_map(|name| Some((builtins_version(name)?, name.as_str()))).collect();
    builtins.sort();
    let mut libraries: Vec<_> =
        names.iter().filter_map(|name| Some((library_major(name)?, name.as_str()))).collect();
    libraries.sort();
    if let Some(file) = wanted {
        let file = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        libraries.retain(|(_, name)| *name == file);
    }
    for (major, library) in libraries.iter().rev() {
        // A bare `libnvrtc.so` does not tell its version; what it links to does.
        let real = fs::canonicalize(dir.join(library)).ok();
        let real_name =
            real.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let major = major.or_else(|| library_major(&real_name?).flatten());
        let fits = |version: &(u32, u32)| major.is_none_or(|major| major == version.0);
        match builtins.iter().rev().find(|(version, _)| fits(version)) {
            Some((version, _)) if *version < OLDEST => searched.push(format!(
                "{}: version {}.{} is older than {}.{}, the oldest that works",
                dir.join(library).display(),
                version.0,
                version.1,
                OLDEST.0,
                OLDEST.1
            )),
            Some((version, name)) => {
                return Some(Toolchain {
                    library: dir.join(library),
                    builtins: dir.join(name),
                    version: *version,
                    origin,
                });
            }
            None => searched.push(format!(
                "{}: its companion libnvrtc-builtins is missing beside it",
                dir.join(library).display()
            )),
        }
    }
    None
}

/// `Some(major)` for an NVRTC library's name, with `None` inside for a bare `libnvrtc.so`.
fn library_major(name: &str) -> Option<Option<u32>> {
    if let Some(rest) = name.strip_prefix("libnvrtc.so") {
        if rest.is_empty() {
            return Some(None);
        }
        return rest.strip_prefix('.')?.split('.').next()?.parse().ok().map(Some);
    }
    // nvrtc64_120_0.dll
    let digits = name.strip_prefix("nvrtc64_")?.strip_suffix("_0.dll")?;
    digits.parse::<u32>().ok().map(|number| Some(number / 10))
}

fn builtins_version(name: &str) -> Option<(u32, u32)> {
    if let Some(rest) = name.strip_prefix("libnvrtc-builtins.so.") {
        let mut numbers = rest.split('.').map(str::parse);
        return Some((numbers.next()?.ok()?, numbers.next()?.ok()?));
    }
    // nvrtc-builtins64_129.dll
    let number: u32 = name.strip_prefix("nvrtc-builtins64_")?.strip_suffix(".dll")?.parse().ok()?;
    Some((number / 10, number % 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(root: &Path, dir: &str, files: &[&str]) -> PathBuf {
        let dir = root.join(dir);
        fs::create_dir_all(&dir).unwrap();
        for file in files {
            fs::write(dir.join(file), b"").unwrap();
        }
        fs::canonicalize(dir).unwrap()
    }

    const PAIR_12: &[&str] = &["libnvrtc.so.12", "libnvrtc-builtins.so.12.9"];

    /// One NVRTC in every place.
    fn everywhere(root: &Path) -> Surroundings {
        folder(root, "home/lib64", PAIR_12);
        folder(root, "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib", PAIR_12);
        folder(root, &format!("cache/cuda-{}", PINNED.version), PAIR_12);
        Surroundings {
            variable: Some(folder(root, "own", PAIR_12)),
            cuda_homes: vec![root.join("home")],
            loader_dirs: vec![folder(root, "loader", PAIR_12)],
            python_dirs: vec![root.join("venv")],
            cache: Some(root.join("cache")),
        }
    }

    #[test]
    fn places_are_searched_in_order() {
        let root = tempfile::tempdir().unwrap();
        let mut around = everywhere(root.path());
        let origin = |around: &Surroundings| search(around, Arch::SM_80).map(|found| found.origin);
        assert_eq!(origin(&around), Ok(Origin::Environment));
        around.variable = None;
        assert_eq!(origin(&around), Ok(Origin::CudaHome));
        around.cuda_homes.clear();
        assert_eq!(origin(&around), Ok(Origin::Loader));
        around.loader_dirs.clear();
        assert_eq!(origin(&around), Ok(Origin::Python));
        around.python_dirs.clear();
        assert_eq!(origin(&around), Ok(Origin::Cache));
        around.cache = Some(root.path().join("empty"));
        let text = search(&around, Arch::SM_80).unwrap_err().to_string();
        assert!(text.contains("not on this machine") && text.contains("pip install"), "{text}");
    }

    /// Anybody may set `WARPLINGS_CACHE=/tmp/cache`, and anybody else may have been there first.
    #[cfg(unix)]
    #[test]
    fn a_cache_that_others_may_write_to_is_left_alone() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let dir = folder(root.path(), &format!("cache/cuda-{}", PINNED.version), PAIR_12);
        let around = Surroundings { cache: Some(root.path().join("cache")), ..Default::default() };
        assert!(search(&around, Arch::SM_80).is_ok());
        for path in [root.path().join("cache"), dir.clone(), dir.join(PAIR_12[0]), dir.join(PAIR_12[1])] {
            let before = path.metadata().unwrap().permissions();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
            let text = search(&around, Arch::SM_80).unwrap_err().to_string();
            assert!(text.contains("left alone") && text.contains("chmod go-w"), "{text}");
            fs::set_permissions(&path, before).unwrap();
        }
        assert!(search(&around, Arch::SM_80).is_ok());
    }

    #[test]
    fn a_wrong_variable_is_an_error_and_not_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let mut around = everywhere(root.path());
        around.variable = Some(root.path().join("nowhere"));
        let error = search(&around, Arch::SM_80).unwrap_err();
        assert!(error.wrong_variable);
        assert!(error.to_string().contains("nowhere"), "{error}");
    }

    #[test]
    fn the_variable_may_name_the_file() {
        let root = tempfile::tempdir().unwrap();
        let files =
            ["libnvrtc.so.12", "libnvrtc-builtins.so.12.9", "libnvrtc.so.13", "libnvrtc-builtins.so.13.0"];
        let dir = folder(root.path(), "both", &files);
        let with = |file: &str| Surroundings { variable: Some(dir.join(file)), ..Surroundings::default() };
        assert_eq!(search(&with("libnvrtc.so.12"), Arch::SM_80).unwrap().version, (12, 9));
        assert_eq!(search(&with("libnvrtc.so.13"), Arch::SM_80).unwrap().version, (13, 0));
        assert_eq!(search(&with(""), Arch::SM_80).unwrap().version, (13, 0), "a folder gives its newest");
        assert!(search(&with("libnvrtc.so.11"), Arch::SM_80).is_err());
    }

    #[test]
    fn a_version_that_has_left_the_gpu_behind_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let new = folder(root.path(), "new", &["libnvrtc.so.13", "libnvrtc-builtins.so.13.0"]);
        let good = folder(root.path(), "good", PAIR_12);
        let around = Surroundings { loader_dirs: vec![new, good], ..Default::default() };
        assert_eq!(search(&around, Arch::new(7, 5)).unwrap().version, (13, 0));
        assert_eq!(search(&around, Arch::new(7, 0)).unwrap().version, (12, 9));
        let text = search(&around, Arch::new(3, 5)).unwrap_err().to_string();
        assert!(text.contains("13.0 has no sm_35") && text.contains("12.9 has no sm_35"), "{text}");
    }

    #[test]
    fn a_half_or_old_toolkit_is_passed_over_with_a_reason() {
        let root = tempfile::tempdir().unwrap();
        let half = folder(root.path(), "half", &["libnvrtc.so.12", "libnvrtc-builtins.so.11.8"]);
        let old = folder(root.path(), "old", &["libnvrtc.so.11.2", "libnvrtc-builtins.so.11.8"]);
        let good = folder(root.path(), "good", PAIR_12);
        let around =
            Surroundings { loader_dirs: vec![half.clone(), old.clone(), good.clone()], ..Default::default() };
        assert_eq!(search(&around, Arch::SM_80).unwrap().library, good.join("libnvrtc.so.12"));
        let around = Surroundings { loader_dirs: vec![half, old], ..Default::default() };
        let text = search(&around, Arch::SM_80).unwrap_err().to_string();
        assert!(text.contains("companion") && text.contains("11.8 is older"), "{text}");
    }

    #[test]
    fn names_of_both_systems_are_read() {
        assert_eq!(library_major("libnvrtc.so"), Some(None));
        assert_eq!(library_major("libnvrtc.so.12.9.86"), Some(Some(12)));
        assert_eq!(library_major("nvrtc64_120_0.dll"), Some(Some(12)));
        assert_eq!(library_major("libnvrtc.alt.so.12"), None);
        assert_eq!(library_major("nvrtc64_120_0.alt.dll"), None);
        assert_eq!(builtins_version("libnvrtc-builtins.so.12.9"), Some((12, 9)));
        assert_eq!(builtins_version("nvrtc-builtins64_129.dll"), Some((12, 9)));
        assert_eq!(builtins_version("libnvrtc-builtins.alt.so.12.9"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_bare_name_takes_its_version_from_what_it_links_to() {
        let root = tempfile::tempdir().unwrap();
        let files = ["libnvrtc.so.12", "libnvrtc-builtins.so.12.9", "libnvrtc-builtins.so.13.0"];
        let dir = folder(root.path(), "bare", &files);
        std::os::unix::fs::symlink("libnvrtc.so.12", dir.join("libnvrtc.so")).unwrap();
        let around = Surroundings { variable: Some(dir.join("libnvrtc.so")), ..Default::default() };
        assert_eq!(search(&around, Arch::SM_80).unwrap().version, (12, 9));
    }
}
