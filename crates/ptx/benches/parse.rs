//! How fast modules as NVRTC writes them are parsed: about 1 MB of them.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const SAMPLES: [&str; 6] = ["calls", "control", "linkage_rdc", "templates", "tensor", "asm"];

/// The samples one after another until there is 1 MB of text.
fn megabyte() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx");
    let read = |sample: &str| {
        let path = folder.join(sample).with_extension("ptx");
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let samples: String = SAMPLES.iter().map(|sample| read(sample)).collect();
    samples.replace('\0', "").repeat(1_000_000 / samples.len() + 1)
}

fn parse(criterion: &mut Criterion) {
    let text = megabyte();
    let mut group = criterion.benchmark_group("parse");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("1 MB", |bencher| {
        bencher.iter_with_large_drop(|| ptx::parse(black_box(&text)).expect("the samples parse"));
    });
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
