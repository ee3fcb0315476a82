//! How long kernels take, from plain execution to all checks.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use warpsim::{Checks, Device, Launch, Program};

const LEVELS: [(&str, Checks); 3] = [
    ("plain", Checks::NONE),
    ("counters", Checks { counters: true, ..Checks::NONE }),
    ("all checks", Checks::ALL),
];

/// A buffer of `count` floats that differ.
fn floats(count: u32) -> Vec<u8> {
    (0..count).flat_map(|i| ((i.wrapping_mul(2_654_435_761) >> 24) as f32).to_le_bytes()).collect()
}

fn program(ptx: &str, kernel: &str) -> Program {
    let module = ptx::parse(ptx).expect("the kernel parses");
    Program::new(&module, kernel).expect("the kernel is supported")
}

/// Runs one launch per iteration, at every level of checks.
fn measure(c: &mut Criterion, name: &str, program: &Program, launch: &Launch, device: &mut Device) {
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    for (level, checks) in LEVELS {
        let launch = Launch { checks, ..launch.clone() };
        group.bench_function(level, |b| {
            b.iter(|| black_box(launch.run(program, device).expect("a legal launch")));
        });
    }
    group.finish();
}

/// `c = a b` of n x n matrices, blocks of 16 x 16 threads.
fn multiply(c: &mut Criterion, name: &str, program: &Program, n: u32) {
    let mut device = Device::new();
    let (a, b) = (device.alloc_from("a", floats(n * n)), device.alloc_from("b", floats(n * n)));
    let out = device.alloc("c", 4 * (n * n) as usize);
    let blocks = n.div_ceil(16);
    let launch = Launch::new([blocks, blocks, 1], [16, 16, 1]).arg(a).arg(b).arg(out);
    let launch = launch.arg(n as i32).arg(n as i32).arg(n as i32);
    measure(c, name, program, &launch, &mut device);
}

fn kernels(c: &mut Criterion) {
    let tiled = program(include_str!("../tests/ptx/tiled.ptx"), "tiled");
    multiply(c, "tiled 256", &tiled, 256);
    let text = include_str!("../tests/kernels/speed.ptx");
    multiply(c, "naive 128", &program(text, "naive"), 128);

    let n = 512;
    let mut device = Device::new();
    let (from, to) = (device.alloc_from("in", floats(n * n)), device.alloc("out", 4 * (n * n) as usize));
    let launch = Launch::new([n / 32, n / 32, 1], [32, 8, 1]).arg(from).arg(to).arg(n as i32);
    measure(c, "transpose 512", &program(text, "transpose"), &launch, &mut device);
}

criterion_group!(benches, kernels);
criterion_main!(benches);
