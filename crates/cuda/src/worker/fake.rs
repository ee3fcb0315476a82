//! Workers made of shell scripts, for tests of the parent's side.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::{Command, frame};

/// A script in a folder of its own, which lives as long as this.
pub(crate) struct Fake {
    folder: tempfile::TempDir,
}

impl Fake {
    pub(crate) fn command(&self) -> Command {
        Command::new(self.folder.path().join("worker"))
    }
}

/// A worker that runs these lines of shell. It reads no request.
pub(crate) fn script(lines: &str) -> Fake {
    let folder = tempfile::tempdir().unwrap();
    executable(&folder.path().join("worker"), lines);
    Fake { folder }
}

/// Makes a shell script. Another process writes it: a file that this one has open for writing is "busy" for as long
/// as a child that some other test has just forked holds a copy of the descriptor.
pub(crate) fn executable(file: &Path, lines: &str) {
    let text = format!("#!/bin/sh\n{lines}\n");
    let made = std::process::Command::new("/bin/sh")
        .args(["-c", "printf %s \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(file)
        .arg(text)
        .status();
    assert!(made.unwrap().success());
}

/// A worker that gives this answer whatever it is asked, once.
pub(crate) fn answering(reply: &impl Serialize) -> Fake {
    let fake = script("/bin/cat \"${0%/*}/reply\"; /bin/cat >/dev/null");
    let mut bytes = Vec::new();
    frame::write(&mut bytes, &postcard::to_stdvec(reply).unwrap()).unwrap();
    fs::write(fake.folder.path().join("reply"), bytes).unwrap();
    fake
}

/// A worker that answers so many requests of `request_bytes` bytes in the same way and ends, and that notes each of its
/// starts in the file `started`.
pub(crate) fn answering_often(times: usize, request_bytes: usize, reply: &impl Serialize) -> Fake {
    let frame_bytes = request_bytes + 12;
    let one = format!("head -c {frame_bytes} >/dev/null; /bin/cat \"${{0%/*}}/reply\"\n");
    let fake = script(&format!("PATH=/usr/bin:/bin; echo x >> \"${{0%/*}}/started\"\n{}", one.repeat(times)));
    let mut bytes = Vec::new();
    frame::write(&mut bytes, &postcard::to_stdvec(reply).unwrap()).unwrap();
    fs::write(fake.folder.path().join("reply"), bytes).unwrap();
    fake
}

impl Fake {
    /// How often it was started.
    pub(crate) fn starts(&self) -> usize {
        fs::read_to_string(self.folder.path().join("started")).unwrap_or_default().lines().count()
    }
}

/// Some GPU.
pub(crate) fn device() -> crate::device::DeviceInfo {
    crate::device::DeviceInfo {
        ordinal: 0,
        name: "Fake".into(),
        compute_capability: (9, 0),
        multiprocessors: 132,
        l2_bytes: 60 << 20,
        memory_bytes: 139 << 30,
        clock_khz: 1_980_000,
        memory_clock_khz: 3_201_000,
        memory_bus_bits: 6144,
        shared_bytes_per_block_optin: 227 << 10,
        shared_bytes_per_multiprocessor: 228 << 10,
        registers_per_multiprocessor: 65536,
        threads_per_multiprocessor: 2048,
        driver_version: (12, 8),
        pci_bus_id: "0000:00:00.0".into(),
    }
}
