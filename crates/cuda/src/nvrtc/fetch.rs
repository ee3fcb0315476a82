//! Downloading a pinned NVRTC with the user's own `pip` or `uv`.
//!
//! The wheel is on PyPI, published by NVIDIA. A requirements file names version and hash, so the tool refuses
//! anything else; the libraries' own hashes are checked again after unpacking, whichever tool brought them. All of
//! it happens in a temporary folder beside the final one, which a single rename completes: a second checker, or an
//! interrupted one, never sees half a compiler.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sha2::{Digest, Sha256};

use super::cache::{self, TEMPORARY_PREFIX};
use super::find::{self, NotFound, Toolchain};

/// The wheel that is fetched.
#[derive(Debug)]
pub struct Package {
    /// Name on PyPI.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// SHA-256 of the wheels for x86-64 Linux, aarch64 Linux and Windows.
    pub wheel_hashes: &'static [&'static str],
    /// About how much is downloaded here, in megabytes.
    pub megabytes: u32,
    /// What is taken from it on this kind of machine: path in the wheel and SHA-256.
    files: &'static [(&'static str, &'static str)],
}

/// NVRTC 12.9 Update 1: compiles for compute capability 5.0 to 12.1.
pub const PINNED: Package = Package {
    name: "nvidia-cuda-nvrtc-cu12",
    version: "12.9.86",
    wheel_hashes: &[
        "210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4",
        "096d4de6bda726415dfaf3198d4f5c522b8e70139c97feef5cd2ca6d4cd9cead",
        "72972ebdcf504d69462d3bcd67e7b81edd25d0fb85a2c46d3ea3517666636349",
    ],
    megabytes: if cfg!(windows) {
        76
    } else if cfg!(target_arch = "aarch64") {
        45
    } else {
        90
    },
    files: FILES,
};

const LICENSE: (&str, &str) = (
    "nvidia_cuda_nvrtc_cu12-12.9.86.dist-info/licenses/License.txt",
    "ad6f5853fba0ca0d159d0f58d49ae49830c2f8c93f7a92648b9ce90adb4c6ccd",
);

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const FILES: &[(&str, &str)] = &[
    (
        "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
        "7c67c6b51ea0e0279634cebd676ff7efda1674806444520c84430ad5c35fe625",
    ),
    (
        "nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9",
        "6507cf33450cfb22970c2c1e7aa8e7c0a33e39d864720277b05f61a92791e2e8",
    ),
    LICENSE,
];
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
const FILES: &[(&str, &str)] = &[
    (
        "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
        "3a599a1649813776e6852024ba6c3a2fc291a0eab61745864261aa449f8d2b7d",
    ),
    (
        "nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9",
        "fa791107a53e7e38bbcf28cd8223c62bd91445227634537d1e71a4b3cbd6920d",
    ),
    LICENSE,
];
#[cfg(all(windows, target_arch = "x86_64"))]
const FILES: &[(&str, &str)] = &[
    (
        "nvidia/cuda_nvrtc/bin/nvrtc64_120_0.dll",
        "0cc63349fedffeec1660b30955e8028b6e4e4c26cf1e41c56dc4569fd5eca82c",
    ),
    (
        "nvidia/cuda_nvrtc/bin/nvrtc-builtins64_129.dll",
        "c405226b0b394ed8bdc593bb1419b94a989f93248ed2873e8f2e0e27c1688ca1",
    ),
    LICENSE,
];
/// NVIDIA publishes NVRTC for no other system.
#[cfg(not(any(
    all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")),
    all(windows, target_arch = "x86_64")
)))]
const FILES: &[(&str, &str)] = &[];

/// What helps where NVRTC is missing and cannot be fetched.
pub(super) const HELP: &str = "Either of these provides it; then run the command again:
  python3 -m pip install --user nvidia-cuda-nvrtc-cu12==12.9.86
  export WARPLINGS_NVRTC=/path/to/libnvrtc.so.12      (a copy from another machine, with libnvrtc-builtins beside it)";

/// How far a fetch has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchStep {
    /// NVRTC is nowhere on this machine: a download starts.
    Downloading {
        /// Package and version.
        package: String,
        /// About how much, in megabytes.
        megabytes: u32,
        /// The command that does it: `python3 -m pip` or `uv`.
        tool: String,
        /// Where it will lie.
        into: PathBuf,
    },
    /// This tool is not there or has no pip; the next is tried.
    ToolMissing {
        /// The command.
        tool: String,
    },
    /// The download is complete: unpacking.
    Unpacking,
    /// Comparing SHA-256 sums.
    Verifying,
    /// Ready; the next run finds it.
    Done {
        /// Where it lies.
        folder: PathBuf,
    },
}

/// NVRTC is neither here nor could it be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// `WARPLINGS_NVRTC` is set wrongly, so nothing was fetched.
    #[error("{0}")]
    WrongVariable(NotFound),
    /// NVIDIA has no NVRTC for this system.
    #[error("NVIDIA publishes no NVRTC for this system ({os} on {arch}); `--ptx` files can still be run")]
    NoSuchSystem {
        /// Operating system.
        os: &'static str,
        /// Processor architecture.
        arch: &'static str,
    },
    /// No cache folder, or it cannot be written.
    #[error("{not_found}\n\nIt could not be fetched: the cache folder {folder} cannot be written ({source}). WARPLINGS_CACHE names another one.", folder = folder.display())]
    Cache {
        /// Where it was looked for.
        not_found: NotFound,
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no cache folder.
    #[error(
        "{0}\n\nIt could not be fetched: no cache folder, since HOME is not set. WARPLINGS_CACHE names one."
    )]
    NoCache(NotFound),
    /// Neither pip nor uv.
    #[error("{0}\n\nIt could not be fetched: neither pip nor uv is installed (tried {tried}).", tried = TOOLS.map(|tool| tool.name()).join(", "))]
    NoTool(NotFound),
    /// The tool failed: offline, most likely.
    #[error("{not_found}\n\nIt could not be fetched: `{tool}` failed (is this machine offline?):\n{message}")]
    Download {
        /// Where it was looked for.
        not_found: NotFound,
        /// The command.
        tool: String,
        /// Its last words.
        message: String,
    },
    /// What came is not what is pinned.
    #[error(
        "the downloaded {file} is not the file that NVIDIA published (its SHA-256 is {found}); it was thrown away"
    )]
    WrongHash {
        /// Which file.
        file: String,
        /// Its sum.
        found: String,
    },
    /// Unpacking failed.
    #[error("the downloaded NVRTC could not be unpacked: {0}")]
    Unpack(String),
}

/// Finds NVRTC, and fetches the pinned version into the cache folder if there is none.
///
/// `progress` hears of each step; nothing is printed here.
///
/// # Errors
///
/// [`FetchError`], whose text says what was searched, what failed and what would help.
pub fn find_or_fetch(progress: &mut dyn FnMut(FetchStep)) -> Result<Toolchain, FetchError> {
    let not_found = match find::find() {
        Ok(found) => return Ok(found),
        Err(error) if error.wrong_variable => return Err(FetchError::WrongVariable(error)),
        Err(error) => error,
    };
    let Some(cache) = cache::cache_dir() else { return Err(FetchError::NoCache(not_found)) };
    fetch_into(&cache, &PINNED, not_found, progress)
}

fn fetch_into(
    cache: &Path,
    package: &Package,
    not_found: NotFound,
    progress: &mut dyn FnMut(FetchStep),
) -> Result<Toolchain, FetchError> {
    if package.files.is_empty() {
        return Err(FetchError::NoSuchSystem { os: std::env::consts::OS, arch: std::env::consts::ARCH });
    }
    let folder = find::cached(cache, package);
    let workspace = fs::create_dir_all(cache)
        .and_then(|()| tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempdir_in(cache));
    let workspace = match workspace {
        Ok(workspace) => workspace,
        Err(source) => return Err(FetchError::Cache { not_found, folder: cache.to_path_buf(), source }),
    };
    cache::clean_temporary(cache);
    let downloaded = download(package, workspace.path(), &folder, not_found, progress)?;
    progress(FetchStep::Unpacking);
    let complete = workspace.path().join("complete");
    unpack(package, &downloaded, &complete).map_err(FetchError::Unpack)?;
    progress(FetchStep::Verifying);
    verify(package, &complete)?;
    if let Err(error) = fs::rename(&complete, &folder) {
        // Another checker was faster; its copy went through the same checks.
        if !folder.is_dir() {
            return Err(FetchError::Unpack(format!("{}: {error}", folder.display())));
        }
    }
    progress(FetchStep::Done { folder: folder.clone() });
    let only_cache = find::Surroundings { cache: Some(cache.to_path_buf()), ..Default::default() };
    find::search(&only_cache).map_err(|error| FetchError::Unpack(error.to_string()))
}

/// The commands that can download, in the order in which they are tried.
#[derive(Debug, Clone, Copy)]
enum Tool {
    Pip(&'static str),
    Uv,
}

const TOOLS: [Tool; 3] = [Tool::Pip("python3"), Tool::Pip("python"), Tool::Uv];

impl Tool {
    fn name(self) -> String {
        match self {
            Self::Pip(python) => format!("{python} -m pip"),
            Self::Uv => "uv".into(),
        }
    }

    fn command(self, requirements: &Path, into: &Path) -> Command {
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
    fn is_missing(self, result: &io::Result<Output>) -> bool {
        match result {
            Err(_) => true,
            Ok(output) => {
                !output.status.success()
                    && String::from_utf8_lossy(&output.stderr).contains("No module named pip")
            }
        }
    }
}

/// Gives the folder that holds the wheel or, with uv, what was in it.
fn download(
    package: &Package,
    workspace: &Path,
    folder: &Path,
    not_found: NotFound,
    progress: &mut dyn FnMut(FetchStep),
) -> Result<PathBuf, FetchError> {
    let requirements = workspace.join("requirements.txt");
    let into = workspace.join("download");
    let prepared = fs::write(&requirements, package.requirements()).and_then(|()| fs::create_dir(&into));
    if let Err(source) = prepared {
        return Err(FetchError::Cache { not_found, folder: workspace.to_path_buf(), source });
    }
    for tool in TOOLS {
        progress(FetchStep::Downloading {
            package: format!("{} {}", package.name, package.version),
            megabytes: package.megabytes,
            tool: tool.name(),
            into: folder.to_path_buf(),
        });
        let result = tool.command(&requirements, &into).output();
        if tool.is_missing(&result) {
            progress(FetchStep::ToolMissing { tool: tool.name() });
            continue;
        }
        let message = match result {
            Ok(output) if output.status.success() => return Ok(into),
            Ok(output) => last_words(&String::from_utf8_lossy(&output.stderr)),
            Err(error) => error.to_string(),
        };
        // A tool that is there but fails is most likely offline; so would be the next.
        return Err(FetchError::Download { not_found, tool: tool.name(), message });
    }
    Err(FetchError::NoTool(not_found))
}

impl Package {
    fn requirements(&self) -> String {
        let hashes: String = self.wheel_hashes.iter().map(|hash| format!(" --hash=sha256:{hash}")).collect();
        format!("{}=={}{hashes}\n", self.name, self.version)
    }
}

/// The last lines of an error output, indented, without pip's repeated retry warnings.
fn last_words(stderr: &str) -> String {
    let lines: Vec<_> = stderr
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("WARNING: Retrying"))
        .collect();
    let tail = &lines[lines.len().saturating_sub(4)..];
    tail.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Puts the wanted files side by side into `to`.
fn unpack(package: &Package, downloaded: &Path, to: &Path) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    fs::create_dir(to).map_err(text)?;
    let entries = fs::read_dir(downloaded).map_err(text)?;
    let wheel =
        entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "whl"));
    let mut archive = match wheel {
        Some(path) => {
            let file = File::open(path).map_err(text)?;
            Some(zip::ZipArchive::new(file).map_err(|error| error.to_string())?)
        }
        None => None,
    };
    for (path, _) in package.files {
        let target = to.join(file_name(path));
        match &mut archive {
            Some(archive) => {
                let mut from = archive.by_name(path).map_err(|error| format!("{path}: {error}"))?;
                let mut file = File::create(&target).map_err(text)?;
                io::copy(&mut from, &mut file).map_err(text)?;
            }
            None => {
                fs::copy(downloaded.join(path), &target).map_err(|error| format!("{path}: {error}"))?;
            }
        }
    }
    Ok(())
}

fn verify(package: &Package, folder: &Path) -> Result<(), FetchError> {
    for (path, expected) in package.files {
        let name = file_name(path);
        let found =
            sha256(&folder.join(name)).map_err(|error| FetchError::Unpack(format!("{name}: {error}")))?;
        if found != *expected {
            return Err(FetchError::WrongHash { file: name.into(), found });
        }
    }
    Ok(())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "abc", whose sum is in the standard.
    const ABC: Package = Package {
        name: "abc",
        version: "1",
        wheel_hashes: &["aa", "bb"],
        megabytes: 1,
        files: &[("deep/abc.txt", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")],
    };

    #[test]
    fn the_requirements_pin_version_and_every_hash() {
        assert_eq!(ABC.requirements(), "abc==1 --hash=sha256:aa --hash=sha256:bb\n");
    }

    #[test]
    fn wheels_and_unpacked_trees_give_the_same_files() {
        let root = tempfile::tempdir().unwrap();
        let (tree, wheel) = (root.path().join("tree"), root.path().join("wheel"));
        fs::create_dir_all(tree.join("deep")).unwrap();
        fs::write(tree.join("deep/abc.txt"), "abc").unwrap();
        fs::create_dir(&wheel).unwrap();
        let mut zip = zip::ZipWriter::new(File::create(wheel.join("abc-1.whl")).unwrap());
        zip.start_file("deep/abc.txt", zip::write::SimpleFileOptions::default()).unwrap();
        io::Write::write_all(&mut zip, b"abc").unwrap();
        zip.finish().unwrap();
        for from in [tree, wheel] {
            let to = from.with_extension("out");
            unpack(&ABC, &from, &to).unwrap();
            verify(&ABC, &to).unwrap();
        }
    }

    #[test]
    fn a_changed_file_is_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("abc.txt"), "abd").unwrap();
        let error = verify(&ABC, root.path()).unwrap_err();
        assert!(matches!(&error, FetchError::WrongHash { file, .. } if file == "abc.txt"), "{error}");
    }

    #[test]
    fn an_empty_or_broken_download_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let from = root.path().join("from");
        fs::create_dir(&from).unwrap();
        assert!(unpack(&ABC, &from, &root.path().join("a")).is_err());
        fs::write(from.join("abc-1.whl"), "no zip").unwrap();
        assert!(unpack(&ABC, &from, &root.path().join("b")).is_err());
    }

    #[test]
    fn pips_last_words_are_kept_and_its_retries_are_not() {
        let stderr = "WARNING: Retrying (Retry(total=0))\n\nERROR: No matching distribution found for x\n";
        assert_eq!(last_words(stderr), "  ERROR: No matching distribution found for x");
    }
}
