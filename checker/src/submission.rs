//! The file to be judged, read with care: it is the first thing that may be wrong.

use std::io::Read;
use std::path::{Path, PathBuf};

/// Far more than any kernel needs, and little enough to compile.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// A source file, as text with Unix line ends and without a byte order mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submission {
    /// Where it was read from.
    pub(crate) path: PathBuf,
    /// Its text.
    pub(crate) text: String,
}

/// Why a file can't be judged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SubmissionError {
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    #[error("{} is a folder; give the kernel's source file", .0.display())]
    Folder(PathBuf),
    #[error("{} is not a regular file", .0.display())]
    NotAFile(PathBuf),
    #[error("{} is a link, or lies behind one; links are not followed", .0.display())]
    Link(PathBuf),
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{} has more than 1 MiB, the most that is judged", .0.display())]
    TooBig(PathBuf),
    #[error("{} is not UTF-8 text: line {line} has the byte 0x{byte:02x}; save the file as UTF-8", path.display())]
    NotUtf8 { path: PathBuf, line: usize, byte: u8 },
    #[error("{} holds a NUL character in line {line}; it is not a text file", path.display())]
    Nul { path: PathBuf, line: usize },
}

impl Submission {
    /// Reads `path`.
    ///
    /// # Errors
    /// [`SubmissionError`], with the path and what is wrong with it.
    pub(crate) fn read(path: &Path) -> Result<Submission, SubmissionError> {
        let owned = || path.to_owned();
        let unreadable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => SubmissionError::Missing(owned()),
            _ => SubmissionError::Unreadable { path: owned(), error },
        };
        let metadata = std::fs::metadata(path).map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(SubmissionError::Folder(owned()));
        }
        // A pipe or a device might block for ever or never end.
        if !metadata.is_file() {
            return Err(SubmissionError::NotAFile(owned()));
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(unreadable)?;
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        Submission::from_bytes(path, bytes)
    }

    /// Takes what was read from `path`.
    ///
    /// # Errors
    /// If it is too much, or no text.
    pub(crate) fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Submission, SubmissionError> {
        if bytes.len() as u64 > MOST_BYTES {
            return Err(SubmissionError::TooBig(path.to_owned()));
        }
        Ok(Submission { path: path.to_owned(), text: text(path, bytes)? })
    }

    /// The name to show in messages and to give to the compiler.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().map_or_else(|| "kernel.cu".into(), |name| name.to_string_lossy().into_owned())
    }
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String, SubmissionError> {
    let line_of = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        SubmissionError::NotUtf8 { path: path.to_owned(), line: line_of(&bytes[..good]), byte: bytes[good] }
    })?;
    if let Some(nul) = text.find('\0') {
        return Err(SubmissionError::Nul { path: path.to_owned(), line: line_of(&text.as_bytes()[..nul]) });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Submission, SubmissionError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("커널 1.cu");
        std::fs::write(&path, bytes).expect("written");
        Submission::read(&path)
    }

    #[test]
    fn line_ends_and_byte_order_marks_do_not_matter() {
        let submission = read(b"\xef\xbb\xbfa\r\nb\rc\n").expect("text");
        assert_eq!(submission.text, "a\nb\nc\n");
        assert_eq!(submission.name(), "커널 1.cu");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let latin = read(b"a\nb\n// caf\xe9\n").expect_err("not UTF-8").to_string();
        assert!(latin.contains("line 3 has the byte 0xe9"), "{latin}");
        let nul = read(b"a\n\0").expect_err("not text").to_string();
        assert!(nul.contains("NUL character in line 2"), "{nul}");
        let big = read(&vec![b' '; (1 << 20) + 1]).expect_err("too big").to_string();
        assert!(big.contains("more than 1 MiB"), "{big}");
    }

    #[test]
    fn what_is_no_file_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(Submission::read(folder.path()), Err(SubmissionError::Folder(_))));
        assert!(matches!(Submission::read(&folder.path().join("none.cu")), Err(SubmissionError::Missing(_))));
        #[cfg(unix)]
        assert!(matches!(Submission::read(Path::new("/dev/zero")), Err(SubmissionError::NotAFile(_))));
    }
}
