//! `--dump I=PATH`: where an argument's buffer goes after the run.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tempfile::NamedTempFile;
use trust::file::{self, Readers};

/// One `--dump`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dump {
    /// Index of the argument, from 0.
    pub(crate) argument: usize,
    /// The file to write.
    pub(crate) path: PathBuf,
}

impl FromStr for Dump {
    type Err = String;

    fn from_str(text: &str) -> Result<Dump, String> {
        let form = "expected I=PATH, with I the argument's index from 0";
        let (index, path) = text.split_once('=').ok_or(form)?;
        let argument = index.parse().map_err(|_| format!("`{index}` is not an index; {form}"))?;
        if path.is_empty() {
            return Err(format!("there is no path; {form}"));
        }
        Ok(Dump { argument, path: PathBuf::from(path) })
    }
}

/// A place that is known to be writable before the run starts.
pub(crate) enum Sink {
    /// A pipe or a device that the user named, opened.
    Stream(File),
    /// A file to be: appears under its name, in place of what is there, only when all of it is on the disk.
    Whole(NamedTempFile, PathBuf),
}

impl Sink {
    /// Opens `path` for writing without changing what is there. A file that holds something is only taken if
    /// `overwrite` says so. A link is followed, since the user named it.
    ///
    /// # Errors
    /// Why it can't be written.
    pub(crate) fn open(path: &Path, overwrite: bool) -> io::Result<Sink> {
        let real = match path.metadata() {
            Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => {
                return OpenOptions::new().write(true).open(path).map(Sink::Stream);
            }
            Ok(metadata) => {
                if metadata.len() > 0 && !overwrite {
                    return Err(io::Error::new(
                        io::ErrorKind::AlreadyExists,
                        "it exists and is not empty; --force overwrites it",
                    ));
                }
                // What may not be written to is not replaced either.
                OpenOptions::new().write(true).open(path)?;
                path.canonicalize()?
            }
            Err(_) => path.to_owned(),
        };
        Ok(Sink::Whole(file::prepare(&real, Readers::Umask)?, real))
    }

    /// Writes `bytes` in place of whatever was there.
    ///
    /// # Errors
    /// Why it could not be written after all, such as a full disk. What was there is there still.
    pub(crate) fn write(self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Sink::Stream(mut stream) => stream.write_all(bytes),
            Sink::Whole(mut whole, path) => {
                whole.write_all(bytes)?;
                file::complete(whole, &path)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_hold_an_equals_sign() {
        assert_eq!("2=a=b".parse(), Ok(Dump { argument: 2, path: "a=b".into() }));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "x=a", "2", "2=", "-1=a", "=a"] {
            assert!(text.parse::<Dump>().is_err(), "{text}");
        }
    }

    #[test]
    fn nothing_changes_before_the_bytes_are_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        std::fs::write(&old, "something longer").expect("written");
        let refused = Sink::open(&old, false).err().expect("it holds something").to_string();
        assert!(refused.contains("--force"), "{refused}");
        let sinks = [Sink::open(&old, true).expect("writable"), Sink::open(&new, false).expect("writable")];
        assert_eq!(std::fs::read(&old).expect("readable"), b"something longer");
        assert!(!new.exists());
        for sink in sinks {
            sink.write(b"abc").expect("written");
        }
        assert_eq!(std::fs::read(&old).expect("readable"), b"abc");
        assert_eq!(std::fs::read(&new).expect("readable"), b"abc");
        // What is dropped, as after a run that failed, leaves everything as it was.
        drop(Sink::open(&old, true).expect("writable"));
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
        assert!(Sink::open(&folder.path().join("no/such/folder"), false).is_err());
        assert!(Sink::open(folder.path(), true).is_err());
    }
}
