//! Where a fetched NVRTC lives.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, fs};

/// Folders left by an interrupted fetch start with this.
pub(super) const TEMPORARY_PREFIX: &str = ".fetching-";

/// The cache folder: `WARPLINGS_CACHE`, else `XDG_CACHE_HOME/warplings`, else `~/.cache/warplings`; on Windows
/// `LOCALAPPDATA\warplings`. `None` if the environment names none of these.
pub fn cache_dir() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("WARPLINGS_CACHE")
        // The XDG specification has relative paths ignored.
        .or_else(|| {
            folder("XDG_CACHE_HOME").filter(|path| path.is_absolute()).map(|path| path.join("warplings"))
        })
        .or_else(|| {
            if cfg!(windows) {
                folder("LOCALAPPDATA").map(|path| path.join("warplings"))
            } else {
                folder("HOME")
                    .filter(|path| path.is_absolute())
                    .map(|path| path.join(".cache").join("warplings"))
            }
        })
}

/// Removes what fetches that were interrupted more than a day ago left in the cache.
pub fn clean_temporary(cache: &Path) {
    let Ok(entries) = fs::read_dir(cache) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX);
        let age = entry
            .metadata()
            .and_then(|data| data.modified())
            .ok()
            .and_then(|at| SystemTime::now().duration_since(at).ok());
        if ours && age.is_some_and(|age| age > Duration::from_secs(24 * 3600)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
