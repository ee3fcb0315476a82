//! Who may change a file: what others may write to is not believed and not run.

use std::io;
use std::path::{Path, PathBuf};

/// A file or folder that somebody else may change.
#[derive(Debug, thiserror::Error)]
pub enum Exposed {
    /// It belongs to another user.
    #[error("{} belongs to another user (number {uid}), who could change it", path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// Its owner.
        uid: u32,
    },
    /// Its mode lets others write.
    #[error("{} can be written to by other users (mode {mode:03o}); `chmod go-w` takes that away", path.display())]
    Writable {
        /// The file or folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Its mode lets others read what nobody else may know.
    #[error("{} can be read by other users (mode {mode:03o}); what it holds is no secret any more", path.display())]
    Readable {
        /// The file or folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It cannot be looked at.
    #[error("{} cannot be examined: {source}", path.display())]
    Unknown {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Checks that only this user, the system's owner, or whoever this program itself belongs to may write to `path`. Links
/// are followed. On Windows, whose folders of users are private, everything passes.
///
/// # Errors
///
/// [`Exposed`], with what would help.
pub fn check(path: &Path) -> Result<(), Exposed> {
    look(path, false)
}

/// As [`check`], for `path` and every folder above it: who may rename one of those may put another in its place.
///
/// # Errors
///
/// [`Exposed`], naming the first that others may change.
pub fn check_with_parents(path: &Path) -> Result<(), Exposed> {
    let real =
        std::fs::canonicalize(path).map_err(|source| Exposed::Unknown { path: path.into(), source })?;
    look(&real, false)?;
    // In a folder like /tmp everyone may make files, and rename only their own.
    real.ancestors().skip(1).try_for_each(|folder| look(folder, true))
}

/// As [`check`], for a file that nobody else may read either.
///
/// # Errors
///
/// [`Exposed`], with what is wrong.
pub fn check_private(path: &Path) -> Result<(), Exposed> {
    check(path)?;
    #[cfg(unix)]
    {
        let metadata =
            std::fs::metadata(path).map_err(|source| Exposed::Unknown { path: path.into(), source })?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777;
        if mode & 0o077 != 0 {
            return Err(Exposed::Readable { path: path.into(), mode });
        }
    }
    Ok(())
}

/// Whether `path` belongs to this very user.
pub fn is_own(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let me = rustix::process::geteuid().as_raw();
        path.symlink_metadata().is_ok_and(|metadata| metadata.uid() == me)
    }
    #[cfg(not(unix))]
    path.exists()
}

/// Whether `path` belongs to this user, to the system's owner, or to whoever owns this program.
pub fn is_ours(path: &Path) -> bool {
    !matches!(check(path), Err(Exposed::Foreign { .. } | Exposed::Unknown { .. }))
}

#[cfg(unix)]
fn look(path: &Path, sticky_is_enough: bool) -> Result<(), Exposed> {
    use std::os::unix::fs::MetadataExt;
    let metadata =
        std::fs::metadata(path).map_err(|source| Exposed::Unknown { path: path.into(), source })?;
    let (uid, gid, mode) = (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777);
    let me = rustix::process::geteuid().as_raw();
    if uid != me && uid != 0 && Some(uid) != owner_of_this_program() {
        return Err(Exposed::Foreign { path: path.into(), uid });
    }
    // Where every user has a group of their own, of the same number, files are often writable to it.
    let own_group = gid == me && rustix::process::getegid().as_raw() == me;
    let others = if own_group { 0o002 } else { 0o022 };
    if mode & others != 0 && !(sticky_is_enough && mode & 0o1000 != 0) {
        return Err(Exposed::Writable { path: path.into(), mode });
    }
    Ok(())
}

#[cfg(not(unix))]
fn look(_: &Path, _: bool) -> Result<(), Exposed> {
    Ok(())
}

/// Whoever owns the program could make it do anything: with a checkout on a shared drive it is often another number.
#[cfg(unix)]
fn owner_of_this_program() -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    use std::sync::OnceLock;
    static OWNER: OnceLock<Option<u32>> = OnceLock::new();
    *OWNER.get_or_init(|| {
        let program = std::env::current_exe().ok()?;
        std::fs::metadata(program).ok().map(|metadata| metadata.uid())
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("changed");
    }

    #[test]
    fn what_others_may_write_to_is_named() {
        let root = tempfile::tempdir().expect("a folder");
        let (folder, file) = (root.path().join("folder"), root.path().join("folder/file"));
        fs::create_dir(&folder).expect("created");
        fs::write(&file, "").expect("written");
        set(&folder, 0o700);
        set(&file, 0o644);
        assert!(check(&file).is_ok() && check_with_parents(&file).is_ok());
        set(&file, 0o646);
        assert!(matches!(check(&file), Err(Exposed::Writable { mode: 0o646, .. })));
        set(&file, 0o644);
        set(&folder, 0o777);
        assert!(check(&file).is_ok(), "the file by itself is fine");
        let error = check_with_parents(&file).expect_err("exposed").to_string();
        assert!(error.contains("/folder can be written") && error.contains("chmod go-w"), "{error}");
        // As /tmp, in which this test lies.
        set(&folder, 0o1777);
        assert!(check_with_parents(&file).is_ok() && check(&folder).is_err());
        let link = root.path().join("link");
        symlink(&folder, &link).expect("linked");
        set(&folder, 0o777);
        assert!(check_with_parents(&link.join("file")).is_err(), "a link hides nothing");
        assert!(matches!(check(&root.path().join("none")), Err(Exposed::Unknown { .. })));
    }

    /// Only the system's owner can give files away.
    #[test]
    fn what_belongs_to_another_user_is_not_ours() {
        let root = tempfile::tempdir().expect("a folder");
        let file = root.path().join("file");
        fs::write(&file, "").expect("written");
        assert!(is_ours(&file) && is_ours(Path::new("/")));
        if rustix::process::geteuid().is_root() {
            chown(&file, Some(12345), None).expect("given away");
            assert!(!is_ours(&file));
            assert!(matches!(check(&file), Err(Exposed::Foreign { uid: 12345, .. })));
        } else {
            eprintln!("skipped in part: only root can make a file of another user");
        }
    }
}
