//! A few seconds of fuzzing; `examples/fuzz.rs` goes on for longer.

#[path = "fuzz/mod.rs"]
mod cases;

use std::time::Instant;

use cases::Ended;
use rand::SeedableRng;
use rand::rngs::SmallRng;

/// Cases that continuous integration runs.
const CASES: u64 = 150;

#[test]
fn cases_end_as_they_must() {
    let mut ran = 0;
    for seed in 0..CASES {
        match cases::run(seed) {
            Ok(Ended::Ran) => ran += 1,
            Ok(Ended::Refused) => {}
            Err(problem) => panic!("case {seed}: {problem}\n{}", cases::text(seed)),
        }
    }
    // Cases that nothing accepts would test little.
    assert!(ran > CASES / 2, "only {ran} of {CASES} cases ran");
}

/// Superblocks are a short cut: without them every kernel that is here does the same, whatever it is launched with.
#[test]
fn every_kernel_does_the_same_one_by_one() {
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folders =
        ["kernels", "ptx", "ncu"].map(|folder| std::fs::read_dir(tests.join(folder)).expect("a folder"));
    let files = folders.into_iter().flatten().map(|file| file.expect("a file").path());
    let mut ran = 0;
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")) {
        let text = std::fs::read_to_string(&path).expect("text");
        let module = ptx::parse(&text).expect("parses");
        for kernel in module.functions.iter().filter(|f| f.is_entry && f.body.is_some()) {
            for seed in 0..4 {
                let mut rng = SmallRng::seed_from_u64(seed);
                let ended = cases::check_kernel(&module, &kernel.name, Instant::now(), &mut rng);
                let ended =
                    ended.unwrap_or_else(|e| panic!("{}, {} ({seed}): {e}", path.display(), kernel.name));
                ran += usize::from(ended == Ended::Ran);
            }
        }
    }
    assert!(ran > 100, "{ran}");
}
