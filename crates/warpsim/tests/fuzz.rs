//! A few seconds of fuzzing; `examples/fuzz.rs` goes on for longer.

#[path = "fuzz/mod.rs"]
mod cases;

use cases::Ended;

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
