//! What a run of grading keeps to itself: the seed of the inputs, and a salt under which results are sealed.

use std::path::Path;

use anyhow::{Context, Result, bail};
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use trust::file::{self, Readers};
use trust::owner;

/// The file in the folder of results. Who has it can forge results and guess inputs; results can be shown without it.
const FILE: &str = "secret.json";

/// Longer than the file ever is, in bytes.
const MOST_BYTES: u64 = 4096;

/// A run's seed and salt. Nothing that is derived from them tells them.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Secret {
    salt: [u8; 32],
    /// Of the inputs.
    seed: u64,
}

impl Secret {
    /// A new one, from the system's source of randomness.
    ///
    /// # Errors
    /// If the system has none.
    pub(crate) fn draw() -> Result<Secret> {
        let mut salt = [0; 32];
        let mut seed = [0; 8];
        getrandom::fill(&mut salt)
            .and_then(|()| getrandom::fill(&mut seed))
            .map_err(|error| anyhow::anyhow!("the system gives no random numbers: {error}"))?;
        Ok(Secret { salt, seed: u64::from_le_bytes(seed) })
    }

    /// The secret of the folder `out`, which is drawn at the first time.
    ///
    /// # Errors
    /// If it is damaged, if others may have read or written it, or if it cannot be kept.
    pub(crate) fn open(out: &Path) -> Result<Secret> {
        let path = out.join(FILE);
        let bytes = match file::read(&path, MOST_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let secret = Secret::draw()?;
                let kept = file::replace(&path, &serde_json::to_vec(&secret)?, Readers::Owner);
                kept.with_context(|| format!("{} cannot be written", path.display()))?;
                return Ok(secret);
            }
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
        };
        owner::check_private(&path)?;
        match serde_json::from_slice(&bytes) {
            Ok(secret) => Ok(secret),
            Err(error) => bail!(
                "{} is damaged ({error}); without it, the results beside it cannot be told from forged ones. \
                 Remove it to judge everything again",
                path.display()
            ),
        }
    }

    /// The same salt with the seed that the instructor chose, if any.
    pub(crate) fn with_seed(self, seed: Option<u64>) -> Secret {
        Secret { seed: seed.unwrap_or(self.seed), ..self }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// A code over `parts`, in hexadecimal digits. Only who has the salt can make it or learn anything from it.
    pub(crate) fn seal(&self, purpose: &str, parts: &[&[u8]]) -> String {
        // HMAC takes keys of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.salt) else { return String::new() };
        for part in std::iter::once(&purpose.as_bytes()).chain(parts) {
            // With its length, so that no two lists of parts look alike.
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_keeps_its_secret_and_another_run_has_another() {
        let (one, two) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let seal = |folder: &Path| Secret::open(folder).expect("a secret").seal("x", &[b"a"]);
        let first = seal(one.path());
        assert_eq!(first, seal(one.path()));
        assert_ne!(first, seal(two.path()));
        let secret = Secret::open(one.path()).expect("a secret");
        assert_ne!(secret.seed(), Secret::open(two.path()).expect("a secret").seed());
        assert_ne!(secret.seal("x", &[b"ab", b"c"]), secret.seal("x", &[b"a", b"bc"]));
        assert_ne!(secret.seal("x", &[]), secret.seal("y", &[]));
        assert_eq!(format!("{secret:?}"), "Secret");
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_that_others_may_know_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        Secret::open(folder.path()).expect("drawn");
        let path = folder.path().join(FILE);
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("changed");
        let error = Secret::open(folder.path()).expect_err("exposed").to_string();
        assert!(error.contains("can be read by other users"), "{error}");
        std::fs::remove_file(&path).expect("removed");
        std::os::unix::fs::symlink("/dev/zero", &path).expect("linked");
        assert!(Secret::open(folder.path()).is_err());
    }
}
