//! Downloading a pinned NVRTC with the user's own `pip` or `uv`.
//!
//! The wheels are on PyPI, published by NVIDIA. A requirements file names versions and hashes, so the tool refuses
//! anything else; the libraries' own hashes are checked again after unpacking, whichever tool brought them. All of
//! it happens in a temporary folder beside the final one, which a single rename completes: a second checker, or an
//! interrupted one, never sees half a compiler.

mod package;
mod tool;
mod unpack;

use std::path::{Path, PathBuf};
use std::{fs, io};

pub(super) use package::{PINNED, Package};
use tool::{TOOLS, Tool, last_words};
use trust::owner::{self, Exposed};

use super::Arch;
use super::cache::{self, TEMPORARY_PREFIX};
use super::find::{self, NotFound, Origin, Toolchain};

/// What helps where NVRTC is missing and cannot be fetched.
pub(super) const HELP: &str = "Either of these provides it; then run the command again:
  python3 -m pip install --user nvidia-cuda-nvrtc-cu12==12.9.86
  export WARPLINGS_NVRTC=/path/to/libnvrtc.so.12      (a copy from another machine, with libnvrtc-builtins beside it)";

/// The same where nothing could even fetch it.
const NO_TOOL_HELP: &str = "Either of these helps; then run the command again:
  sudo apt-get install python3-pip                    (pip on Debian and Ubuntu; with pip or uv, NVRTC is fetched by itself)
  export WARPLINGS_NVRTC=/path/to/libnvrtc.so.12      (a copy from another machine, with libnvrtc-builtins beside it)";

/// How far a fetch has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchStep {
    /// NVRTC is nowhere on this machine: a download starts.
    Downloading {
        /// Packages and versions.
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
    /// Others may change what lies in the cache, and it would be run.
    #[error("{not_found}\n\nIt was not fetched: {source}. WARPLINGS_CACHE names another folder.")]
    Exposed {
        /// Where it was looked for.
        not_found: NotFound,
        /// Who may write where.
        source: Exposed,
    },
    /// There is no cache folder.
    #[error(
        "{0}\n\nIt could not be fetched: no cache folder, since HOME is not set. WARPLINGS_CACHE names one."
    )]
    NoCache(NotFound),
    /// Neither pip nor uv.
    #[error("{searched}\nIt could not be fetched: neither pip nor uv is installed (tried {tried}).\n{NO_TOOL_HELP}", searched = .0.search(), tried = TOOLS.map(|tool| tool.name()).join(", "))]
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
    find_or_fetch_for(Arch::SM_80, progress)
}

/// As [`find_or_fetch`], for an NVRTC that can compile for `arch`.
///
/// # Errors
///
/// As [`find_or_fetch`].
pub fn find_or_fetch_for(arch: Arch, progress: &mut dyn FnMut(FetchStep)) -> Result<Toolchain, FetchError> {
    let not_found = match find::find_for(arch) {
        Ok(found) => return Ok(found),
        Err(error) if error.wrong_variable => return Err(FetchError::WrongVariable(error)),
        Err(error) => error,
    };
    let Some(cache) = cache::cache_dir() else { return Err(FetchError::NoCache(not_found)) };
    fetch_into(&cache, &PINNED, &TOOLS, not_found, progress)
}

fn fetch_into(
    cache: &Path,
    package: &Package,
    tools: &[Tool<'_>],
    not_found: NotFound,
    progress: &mut dyn FnMut(FetchStep),
) -> Result<Toolchain, FetchError> {
    if package.executed.is_empty() {
        return Err(FetchError::NoSuchSystem { os: std::env::consts::OS, arch: std::env::consts::ARCH });
    }
    let folder = find::cached(cache, package);
    let workspace = fs::create_dir_all(cache)
        .and_then(|()| tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempdir_in(cache));
    // Absolute, since tools are started in another folder.
    let place = |workspace: tempfile::TempDir| Ok((fs::canonicalize(workspace.path())?, workspace));
    let (place, _workspace) = match workspace.and_then(place) {
        Ok(made) => made,
        Err(source) => return Err(FetchError::Cache { not_found, folder: cache.to_path_buf(), source }),
    };
    // What lies there already was not found to be good, and a rename would leave it.
    let place_of = if folder.exists() { &folder } else { cache };
    if let Err(source) = owner::check_with_parents(place_of) {
        return Err(FetchError::Exposed { not_found, source });
    }
    cache::clean_temporary(cache);
    let downloaded = download(package, tools, &place, &folder, not_found, progress)?;
    progress(FetchStep::Unpacking);
    let complete = place.join("complete");
    unpack::unpack(package, &downloaded, &complete)?;
    progress(FetchStep::Verifying);
    unpack::verify(package, &complete)?;
    if let Err(error) = fs::rename(&complete, &folder) {
        // Another checker was faster; its copy went through the same checks.
        if !folder.is_dir() {
            return Err(FetchError::Unpack(format!("{}: {error}", folder.display())));
        }
    }
    progress(FetchStep::Done { folder: folder.clone() });
    let found = find::in_folder(&folder, Origin::Cache).map_err(FetchError::Unpack)?;
    find::check(&found).map_err(|exposed| FetchError::Unpack(exposed.to_string()))?;
    Ok(found)
}

/// Gives the folder that holds the wheel or, with uv, what was in it.
fn download(
    package: &Package,
    tools: &[Tool<'_>],
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
    for tool in tools {
        progress(FetchStep::Downloading {
            package: package.title(),
            megabytes: package.megabytes,
            tool: tool.name(),
            into: folder.to_path_buf(),
        });
        let result = tool.command(&requirements, &into).and_then(|mut command| command.output());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requirements_pin_versions_and_every_hash() {
        let text = PINNED.requirements();
        assert_eq!(text.lines().count(), 3);
        for line in text.lines() {
            assert_eq!(
                (line.matches("==").count(), line.matches(" --hash=sha256:").count()),
                (1, 3),
                "{line}"
            );
        }
    }

    /// A package of one library, and a stand-in for Python whose pip "downloads" it.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    mod with_a_fake_pip {
        use super::super::*;
        use crate::nvrtc::fetch::package::Wheel;
        use crate::worker::fake;

        const LIBRARIES: [&str; 2] = ["libnvrtc.so.12", "libnvrtc-builtins.so.12.9"];

        struct World {
            root: tempfile::TempDir,
            package: &'static Package,
        }

        /// SHA-256 of nothing: both libraries are empty files.
        const SUM: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

        fn world() -> World {
            let root = tempfile::tempdir().unwrap();
            for library in LIBRARIES {
                fs::write(root.path().join(library), "").unwrap();
            }
            let wheels = vec![Wheel {
                name: "fake",
                version: "1",
                hashes: &[],
                taken: &[("libnvrtc.so.12", LIBRARIES[0]), ("libnvrtc-builtins.so.12.9", LIBRARIES[1])],
            }];
            let executed = vec![(LIBRARIES[0], SUM), (LIBRARIES[1], SUM)];
            // Packages are static; a test leaks a few bytes.
            let package =
                Package { version: "1", megabytes: 1, wheels: wheels.leak(), executed: executed.leak() };
            World { root, package: Box::leak(Box::new(package)) }
        }

        impl World {
            fn cache(&self) -> PathBuf {
                self.root.path().join("cache")
            }

            /// A program that is started as `NAME -m pip ... --dest DIR -r FILE`.
            fn python(&self, name: &str, lines: &str) -> String {
                let path = self.root.path().join(name);
                let find_dest = "while [ \"$1\" != --dest ]; do shift; done; dest=$2; here=${0%/*}";
                fake::executable(&path, &format!("{find_dest}\n{lines}"));
                path.to_string_lossy().into_owned()
            }

            fn fetch(&self, tools: &[&str]) -> (Result<Toolchain, FetchError>, Vec<FetchStep>) {
                let tools: Vec<_> = tools.iter().map(|path| Tool::Pip(path)).collect();
                let not_found = NotFound { searched: vec!["everywhere".into()], wrong_variable: false };
                let mut steps = Vec::new();
                let mut note = |step| steps.push(step);
                (fetch_into(&self.cache(), self.package, &tools, not_found, &mut note), steps)
            }

            /// What is in the cache.
            fn cached(&self) -> Vec<String> {
                let entries = fs::read_dir(self.cache()).into_iter().flatten().flatten();
                entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
            }
        }

        const DOWNLOADS: &str = "cp $here/lib* $dest";

        #[test]
        fn what_pip_brings_is_found_in_the_cache() {
            let world = world();
            let (result, steps) = world.fetch(&[&world.python("good", DOWNLOADS)]);
            assert_eq!(result.unwrap().origin, Origin::Cache);
            assert!(matches!(
                steps.as_slice(),
                [
                    FetchStep::Downloading { .. },
                    FetchStep::Unpacking,
                    FetchStep::Verifying,
                    FetchStep::Done { .. }
                ]
            ));
            assert_eq!(world.cached(), ["cuda-1"], "nothing temporary stays");
        }

        #[test]
        fn a_python_without_pip_is_passed_over_and_a_failure_is_not() {
            let world = world();
            let without = world.python("without", "echo \"$0: No module named pip\" >&2; exit 1");
            let (result, steps) =
                world.fetch(&["/no/such/python", &without, &world.python("good", DOWNLOADS)]);
            result.unwrap();
            assert_eq!(steps.iter().filter(|step| matches!(step, FetchStep::ToolMissing { .. })).count(), 2);

            let world = self::world();
            let offline = world.python("offline", "echo ERROR: no route to host >&2; exit 1");
            let (result, _) = world.fetch(&[&offline, &world.python("good", DOWNLOADS)]);
            let text = result.unwrap_err().to_string();
            for part in ["everywhere", "pip install", "WARPLINGS_NVRTC", "offline?", "no route to host"] {
                assert!(text.contains(part), "{part}: {text}");
            }
            assert!(world.cached().is_empty());

            let (result, _) = world.fetch(&["/no/such/python"]);
            assert!(matches!(result, Err(FetchError::NoTool(_))));
        }

        #[test]
        fn what_is_not_pinned_is_thrown_away() {
            let world = world();
            let other = world.python("other", "cp $here/lib* $dest; echo changed > $dest/libnvrtc.so.12");
            let (result, _) = world.fetch(&[&other]);
            assert!(matches!(result, Err(FetchError::WrongHash { .. })));
            assert!(world.cached().is_empty());
        }

        #[test]
        fn two_at_once_leave_one_whole_copy() {
            let world = world();
            let slow = world.python("slow", "sleep 0.2; cp $here/lib* $dest");
            std::thread::scope(|scope| {
                let fetches: Vec<_> = (0..4).map(|_| scope.spawn(|| world.fetch(&[&slow]).0)).collect();
                for fetch in fetches {
                    fetch.join().unwrap().unwrap();
                }
            });
            assert_eq!(world.cached(), ["cuda-1"]);
        }

        #[test]
        fn nothing_is_fetched_to_where_others_may_change_it() {
            use std::os::unix::fs::PermissionsExt;
            let world = world();
            fs::create_dir(world.cache()).unwrap();
            fs::set_permissions(world.cache(), fs::Permissions::from_mode(0o777)).unwrap();
            let good = world.python("good", DOWNLOADS);
            let error = world.fetch(&[&good]).0.unwrap_err();
            assert!(matches!(error, FetchError::Exposed { .. }), "{error}");
            fs::set_permissions(world.cache(), fs::Permissions::from_mode(0o755)).unwrap();
            let found = world.fetch(&[&good]).0.unwrap();
            // A planted folder of the right name is not taken for the result of a fetch.
            let folder = found.library.parent().unwrap();
            fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
            assert!(matches!(world.fetch(&[&good]).0, Err(FetchError::Exposed { .. })));
        }

        /// Whatever the user's umask is, what is run later is writable to its owner alone.
        #[test]
        fn what_is_fetched_is_not_writable_to_others() {
            use std::os::unix::fs::PermissionsExt;
            let world = world();
            let open = world.python("open", "umask 0; cp $here/lib* $dest; chmod 666 $dest/lib*");
            let found = world.fetch(&[&open]).0.unwrap();
            for path in [&found.library, &found.builtins, &found.library.parent().unwrap().to_path_buf()] {
                assert_eq!(path.metadata().unwrap().permissions().mode() & 0o022, 0, "{}", path.display());
            }
        }

        #[test]
        fn a_cache_that_cannot_be_made_is_named() {
            let world = world();
            fs::write(world.cache(), "a file").unwrap();
            let text = world.fetch(&[&world.python("good", DOWNLOADS)]).0.unwrap_err().to_string();
            assert!(text.contains("WARPLINGS_CACHE") && text.contains("cache"), "{text}");
        }
    }
}
