//! Length-prefixed messages on the pipes between parent and worker.

use std::io::{self, Read, Write};

/// Opens every frame, so that a program which prints on the worker's pipe is told from a worker that answers.
const MAGIC: [u8; 4] = *b"wlw1";

/// Writes one frame: magic, length as eight little-endian bytes, payload.
pub(crate) fn write(to: &mut impl Write, payload: &[u8]) -> io::Result<()> {
    to.write_all(&MAGIC)?;
    to.write_all(&(payload.len() as u64).to_le_bytes())?;
    to.write_all(payload)?;
    to.flush()
}

/// Reads one frame of at most `limit` bytes.
///
/// # Errors
///
/// `UnexpectedEof` if the other side closed the pipe, `InvalidData` if what came is not a frame or is too long.
pub(crate) fn read(from: &mut impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut magic = [0; 4];
    from.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a worker's message"));
    }
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > limit {
        let message = format!("a message of {length} bytes, where at most {limit} are accepted");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    // Grows with what arrives: a false length does not reserve memory.
    let mut payload = Vec::new();
    let read = from.take(length).read_to_end(&mut payload)?;
    if (read as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_as_it_went() {
        let mut pipe = Vec::new();
        write(&mut pipe, b"hello").unwrap();
        write(&mut pipe, b"").unwrap();
        let mut from = pipe.as_slice();
        assert_eq!(read(&mut from, 5).unwrap(), b"hello");
        assert_eq!(read(&mut from, 5).unwrap(), b"");
        assert_eq!(read(&mut from, 5).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let text = b"running 0 tests".as_slice();
        assert_eq!(read(&mut { text }, 99).unwrap_err().kind(), io::ErrorKind::InvalidData);
        let mut pipe = Vec::new();
        write(&mut pipe, &[0; 100]).unwrap();
        assert_eq!(read(&mut pipe.as_slice(), 99).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read(&mut &pipe[..50], 100).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
