//! What was downloaded: a zip, read in memory, or a folder, read without following links. Nothing is
//! unpacked.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use zip::ZipArchive;
use zip::result::ZipError;

/// The deepest folder that is looked into; a checkout of the course has its kernels three folders deep.
const DEEPEST: usize = 12;
/// Folders of a kind that holds no hand-in and may be huge.
const SKIPPED: [&str; 4] = [".git", "target", "node_modules", "__MACOSX"];

/// One thing in a container.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Its path in the container, with `/`.
    pub(super) path: String,
    pub(super) kind: Kind,
    /// How the container finds it again.
    index: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    /// A link, or a path that leads out of the container, or a device: why it is refused.
    Refused(&'static str),
}

/// Why the bytes of an item could not be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error("it has more than {} KiB", .0 >> 10)]
    TooBig(u64),
    #[error("{0}")]
    Refused(&'static str),
    #[error("it cannot be read: {0}")]
    Broken(String),
}

trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

enum Source {
    Zip(ZipArchive<Box<dyn ReadSeek>>),
    Folder(Dir, Vec<PathBuf>),
}

/// Files by name.
pub(super) struct Container {
    source: Source,
    /// By path, in order of their names.
    pub(super) items: Vec<Item>,
}

impl Container {
    /// Opens a zip or a folder.
    pub(super) fn open(path: &Path) -> io::Result<Container> {
        if path.is_dir() {
            return Container::of_folder(path);
        }
        Container::of_zip(Box::new(BufReader::new(File::open(path)?))).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("it is no zip file: {error}"))
        })
    }

    /// A zip that lay in another one.
    pub(super) fn of_bytes(bytes: Vec<u8>) -> Result<Container, ZipError> {
        Container::of_zip(Box::new(Cursor::new(bytes)))
    }

    fn of_zip(file: Box<dyn ReadSeek>) -> Result<Container, ZipError> {
        let mut archive = ZipArchive::new(file)?;
        let mut items = Vec::new();
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index)?;
            if entry.is_dir() {
                continue;
            }
            let kind = if entry.is_symlink() {
                Kind::Refused("it is a link; links are not followed")
            } else if entry.enclosed_name().is_none() || entry.name().contains(['\\', '\0']) {
                Kind::Refused("its path leads out of the archive")
            } else if entry.encrypted() {
                Kind::Refused("it is encrypted")
            } else {
                Kind::File
            };
            items.push(Item { path: entry.name().to_owned(), kind, index });
        }
        items.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Container { source: Source::Zip(archive), items })
    }

    fn of_folder(path: &Path) -> io::Result<Container> {
        let root = Dir::open_ambient_dir(path, ambient_authority())?;
        let (mut items, mut paths) = (Vec::new(), Vec::new());
        walk(&root, Path::new(""), 0, &mut |path, kind| {
            let shown: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            items.push(Item { path: shown.join("/"), kind, index: paths.len() });
            paths.push(path);
        })?;
        items.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Container { source: Source::Folder(root, paths), items })
    }

    /// The bytes of an item, `most` at most, however many it claims to have.
    pub(super) fn read(&mut self, item: &Item, most: u64) -> Result<Vec<u8>, ReadError> {
        if let Kind::Refused(why) = item.kind {
            return Err(ReadError::Refused(why));
        }
        let broken = |error: &dyn std::fmt::Display| ReadError::Broken(error.to_string());
        let mut bytes = Vec::new();
        match &mut self.source {
            Source::Zip(archive) => {
                let entry = archive.by_index(item.index).map_err(|error| broken(&error))?;
                entry.take(most + 1).read_to_end(&mut bytes).map_err(|error| broken(&error))?;
            }
            Source::Folder(root, paths) => {
                let file = open(root, &paths[item.index]).map_err(|error| broken(&error))?;
                file.take(most + 1).read_to_end(&mut bytes).map_err(|error| broken(&error))?;
            }
        }
        if bytes.len() as u64 > most { Err(ReadError::TooBig(most)) } else { Ok(bytes) }
    }
}

/// Reports every file in `folder` and below, without following links.
fn walk(folder: &Dir, path: &Path, depth: usize, found: &mut dyn FnMut(PathBuf, Kind)) -> io::Result<()> {
    for entry in folder.entries()? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let path = path.join(&name);
        if kind.is_symlink() {
            found(path, Kind::Refused("it is a link; links are not followed"));
        } else if kind.is_file() {
            found(path, Kind::File);
        } else if !kind.is_dir() {
            found(path, Kind::Refused("it is no regular file"));
        } else if SKIPPED.iter().any(|skipped| name == *skipped) {
        } else if depth >= DEEPEST {
            found(path, Kind::Refused("it lies too many folders deep"));
        } else {
            match folder.open_dir_nofollow(&name) {
                Ok(inner) => walk(&inner, &path, depth + 1, found)?,
                Err(_) => found(path, Kind::Refused("the folder cannot be opened")),
            }
        }
    }
    Ok(())
}

/// Goes down one folder at a time, each from the one before, so that nobody can put a link in between.
fn open(root: &Dir, path: &Path) -> io::Result<cap_std::fs::File> {
    let mut folder = root.try_clone()?;
    for name in path.parent().unwrap_or(Path::new("")) {
        folder = folder.open_dir_nofollow(name)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    {
        // A pipe that was put there since must not block.
        use cap_std::fs::OpenOptionsExt;
        options.custom_flags(0o4000);
    }
    let file = folder.open_with(path.file_name().unwrap_or_default(), &options)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    Ok(file)
}
