//! An observer of one's own: for each load and store of global memory, how far neighbouring lanes are apart.
//!
//! `cargo run --release -p warpsim --example strides -- FILE.ptx KERNEL` runs one block of 256 threads. Every pointer that
//! the kernel takes is a buffer of 1 MiB, every other argument is 256.

use std::collections::BTreeMap;

use warpsim::observer::{Access, Observer, Site};
use warpsim::{Device, Launch, Program, Space};

/// By instruction: how often each distance between lanes 0 and 1 occurred, in bytes.
#[derive(Default)]
struct Strides(BTreeMap<u32, BTreeMap<i64, u64>>);

impl Observer for Strides {
    fn access(&mut self, at: Site, access: &Access<'_>) {
        if access.space == Space::Global && access.mask & 3 == 3 {
            let stride = access.addresses.of(1).wrapping_sub(access.addresses.of(0)) as i64;
            *self.0.entry(at.pc).or_default().entry(stride).or_default() += 1;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, kernel] = arguments.as_slice() else { return Err("usage: strides FILE.ptx KERNEL".into()) };
    let program = Program::new(&ptx::parse(&std::fs::read_to_string(path)?)?, kernel)?;
    let mut device = Device::new();
    let mut launch = Launch::new([1, 1, 1], [256, 1, 1]);
    for (name, bytes) in program.params() {
        launch = match bytes {
            8 => launch.arg(device.alloc_from(name, vec![0; 1 << 20])),
            _ => launch.arg(256),
        };
    }
    let mut strides = Strides::default();
    launch.run_with(&program, &mut device, &mut strides)?;
    for (pc, seen) in strides.0 {
        let line = program.source_line(pc).map_or(0, |at| at.line);
        println!("line {line}, {}: {seen:?}", program.instructions()[pc as usize].opcode);
    }
    Ok(())
}
