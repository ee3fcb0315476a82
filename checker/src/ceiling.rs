//! What `checker probe` measured of a GPU, kept in the cache folder.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use cuda::device::{Ceilings, DeviceInfo};
use serde::{Deserialize, Serialize};

/// A file of the cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Probed {
    /// Whose ceilings these are.
    pub(crate) device: DeviceInfo,
    pub(crate) ceilings: Ceilings,
}

/// What was measured of this GPU, if it was, under this driver.
pub(crate) fn load(device: &DeviceInfo) -> Option<Ceilings> {
    let probed = read(&file(device)?)?;
    (probed.device == *device && is_sound(&probed.ceilings)).then_some(probed.ceilings)
}

/// What was measured last of any GPU of this machine.
pub(crate) fn latest() -> Option<Probed> {
    let entries = fs::read_dir(folder()?).ok()?;
    let dated = entries.flatten().filter_map(|entry| {
        let changed = entry.metadata().and_then(|data| data.modified()).ok()?;
        Some((changed, entry.path()))
    });
    let (_, newest) = dated.max()?;
    read(&newest).filter(|probed| is_sound(&probed.ceilings))
}

/// Keeps what was measured. Gives back where.
///
/// # Errors
/// If there is no cache folder, or it can't be written.
pub(crate) fn store(probed: &Probed) -> Result<PathBuf> {
    let file = file(&probed.device).context("there is no cache folder; set WARPLINGS_CACHE")?;
    let failed = || format!("{} cannot be written", file.display());
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(failed)?;
    }
    fs::write(&file, serde_json::to_vec_pretty(probed)?).with_context(failed)?;
    Ok(file)
}

fn folder() -> Option<PathBuf> {
    Some(cuda::nvrtc::cache_dir()?.join("ceilings"))
}

fn file(device: &DeviceInfo) -> Option<PathBuf> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = format!("{} {}", device.name, device.pci_bus_id).chars().map(plain).collect();
    Some(folder()?.join(name).with_extension("json"))
}

fn read(file: &std::path::Path) -> Option<Probed> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// A damaged file must not make a floor of nothing or of infinity.
fn is_sound(ceilings: &Ceilings) -> bool {
    let Ceilings { copy_bytes_per_second, fma_flops_per_second } = *ceilings;
    [copy_bytes_per_second, fma_flops_per_second].iter().all(|rate| rate.is_finite() && *rate > 1e9)
}
