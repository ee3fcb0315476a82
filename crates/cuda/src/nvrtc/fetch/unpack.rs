//! From wheels, or what `uv` made of them, to the files of the cache; and the check of their hashes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::FetchError;
use super::package::{Package, Wheel};

/// Copies what is taken from all wheels into the new folder `to`. `downloaded` holds wheels, as pip leaves them, or
/// a tree of their contents, as uv does.
pub(super) fn unpack(package: &Package, downloaded: &Path, to: &Path) -> Result<(), FetchError> {
    fs::create_dir(to).map_err(|error| failed(to, &error))?;
    let entries = fs::read_dir(downloaded).map_err(|error| failed(downloaded, &error))?;
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    let wheels: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_wheel).collect();
    for wheel in package.wheels {
        if wheels.is_empty() {
            for (from, target) in wheel.taken {
                copy_tree(&downloaded.join(from), &to.join(target))?;
            }
            continue;
        }
        let prefix = format!("{}-", wheel.name.replace('-', "_"));
        let named =
            |path: &&PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&prefix));
        let path = wheels.iter().find(named).ok_or_else(|| {
            FetchError::Unpack(format!("the wheel of {} is not among what was downloaded", wheel.name))
        })?;
        let sum = sha256(path).map_err(|error| failed(path, &error))?;
        if !wheel.hashes.contains(&sum.as_str()) {
            return Err(FetchError::WrongHash { file: wheel.name.into(), found: sum });
        }
        unzip(wheel, path, to)?;
    }
    close(to).map_err(|error| failed(to, &error))
}

/// Takes the right to write from everybody but the owner, whatever the `umask`: what lies here will be run.
#[cfg(unix)]
fn close(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let is_folder = path.is_dir();
    let mode = if is_folder { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    if is_folder {
        for entry in fs::read_dir(path)? {
            close(&entry?.path())?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn close(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Compares the sums of all files that will be executed.
pub(super) fn verify(package: &Package, folder: &Path) -> Result<(), FetchError> {
    for (name, expected) in package.executed {
        let found = sha256(&folder.join(name)).map_err(|error| failed(&folder.join(name), &error))?;
        if found != *expected {
            return Err(FetchError::WrongHash { file: (*name).into(), found });
        }
    }
    Ok(())
}

fn unzip(wheel: &Wheel, path: &Path, to: &Path) -> Result<(), FetchError> {
    let broken = |error: zip::result::ZipError| FetchError::Unpack(format!("{}: {error}", wheel.name));
    let file = File::open(path).map_err(|error| failed(path, &error))?;
    let mut archive = zip::ZipArchive::new(file).map_err(broken)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(broken)?;
        // Names that lead out of the folder have no enclosed name.
        let Some(name) = entry.enclosed_name().filter(|_| entry.is_file()) else { continue };
        let Some(target) = target(wheel, &name.to_string_lossy().replace('\\', "/")) else { continue };
        let target = to.join(target);
        create_parent(&target)?;
        let written = File::create(&target).and_then(|mut file| io::copy(&mut entry, &mut file));
        written.map_err(|error| failed(&target, &error))?;
    }
    Ok(())
}

/// Where an entry goes, if it is taken.
fn target(wheel: &Wheel, entry: &str) -> Option<String> {
    wheel.taken.iter().find_map(|(from, to)| match entry.strip_prefix(from)? {
        "" => Some((*to).to_owned()),
        rest => from.ends_with('/').then(|| format!("{to}{rest}")),
    })
}

/// Copies a file or a folder; one that is not there belongs to another system.
fn copy_tree(from: &Path, to: &Path) -> Result<(), FetchError> {
    if from.is_dir() {
        let entries = fs::read_dir(from).map_err(|error| failed(from, &error))?;
        for entry in entries.flatten() {
            copy_tree(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else if from.is_file() {
        create_parent(to)?;
        fs::copy(from, to).map_err(|error| failed(from, &error))?;
    }
    Ok(())
}

fn create_parent(path: &Path) -> Result<(), FetchError> {
    match path.parent() {
        Some(parent) => fs::create_dir_all(parent).map_err(|error| failed(parent, &error)),
        None => Ok(()),
    }
}

fn failed(path: &Path, error: &io::Error) -> FetchError {
    FetchError::Unpack(format!("{}: {error}", path.display()))
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of "abc", which is in the standard.
    const SUM_OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    const TAKEN: &[(&str, &str)] =
        &[("lib/abc.so", "abc.so"), ("include/", "headers/"), ("other-system", "x")];

    fn package(hash: &'static str) -> Package {
        // Leaked, since packages are static: a few bytes in a test.
        let hashes: &'static [&'static str] = Box::leak(Box::new([hash]));
        let wheels = Box::leak(Box::new([Wheel { name: "a-b", version: "1", hashes, taken: TAKEN }]));
        Package { version: "1", megabytes: 1, wheels, executed: &[("abc.so", SUM_OF_ABC)] }
    }

    const FILES: &[(&str, &str)] = &[
        ("lib/abc.so", "abc"),
        ("lib/abc.so.alt", "no"),
        ("include/x/y.h", "y"),
        ("../evil", "e"),
        ("rest", "r"),
    ];

    fn wheel(folder: &Path) -> &'static str {
        let path = folder.join("a_b-1-none-any.whl");
        let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
        for (name, contents) in FILES {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            io::Write::write_all(&mut zip, contents.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        sha256(&path).unwrap().leak()
    }

    #[test]
    fn wheels_and_unpacked_trees_give_the_same_files() {
        let root = tempfile::tempdir().unwrap();
        let (tree, zipped) = (root.path().join("tree"), root.path().join("zipped"));
        for (name, contents) in FILES.iter().filter(|(name, _)| !name.starts_with('.')) {
            let path = tree.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, contents).unwrap();
        }
        fs::create_dir(&zipped).unwrap();
        let package = package(wheel(&zipped));
        for from in [tree, zipped] {
            let to = from.with_extension("out");
            unpack(&package, &from, &to).unwrap();
            verify(&package, &to).unwrap();
            assert_eq!(fs::read_to_string(to.join("headers/x/y.h")).unwrap(), "y");
            assert_eq!(fs::read_dir(&to).unwrap().count(), 2, "nothing else is taken");
        }
        assert!(!root.path().join("evil").exists());
    }

    #[test]
    fn a_wheel_with_another_hash_is_refused() {
        let root = tempfile::tempdir().unwrap();
        wheel(root.path());
        let error = unpack(&package("00"), root.path(), &root.path().join("out")).unwrap_err();
        assert!(matches!(&error, FetchError::WrongHash { file, .. } if file == "a-b"), "{error}");
    }

    #[test]
    fn a_changed_library_is_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("abc.so"), "abd").unwrap();
        let error = verify(&package("00"), root.path()).unwrap_err();
        assert!(matches!(&error, FetchError::WrongHash { file, .. } if file == "abc.so"), "{error}");
    }

    #[test]
    fn an_empty_or_broken_download_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let (empty, out) = (root.path().join("empty"), root.path().join("out"));
        fs::create_dir(&empty).unwrap();
        unpack(&package("00"), &empty, &out).unwrap();
        assert!(verify(&package("00"), &out).is_err(), "nothing came, so nothing is there");
        let path = empty.join("a_b-1.whl");
        fs::write(&path, "no zip").unwrap();
        let package = package(sha256(&path).unwrap().leak());
        assert!(matches!(unpack(&package, &empty, &root.path().join("b")), Err(FetchError::Unpack(_))));
    }
}
