//! How long a learner waits: `checker 05` from start to end, compile included, in the build that `cargo bench` makes.

use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};

fn judge(criterion: &mut Criterion) {
    let solution =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../solutions/05_transpose_coalescing/kernel.cu");
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_checker"));
        command.arg("05").arg("--file").arg(&solution).args(["--engine", "sim"]).stdout(Stdio::null());
        assert!(command.status().expect("the program starts").success(), "the solution passes");
    };
    // The first run may fetch the compiler.
    run();
    criterion.bench_function("checker 05, warm", |bencher| bencher.iter(run));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = judge
}
criterion_main!(benches);
