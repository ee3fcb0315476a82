use exercise::problem::VectorAdd;
#[allow(unused_imports)]
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};

#[allow(dead_code)]
const VALID: Exercise = Exercise {
    number: 0,
    slug: "vector_add",
    title: "Vector addition",
    lesson: "One thread per element.",
    kernel: "vector_add",
    stub: "// TODO",
    stub_fails: "wrong_values",
    solution: "// done",
    problem: &VectorAdd,
    cases: &[Case::new([1, 1, 1])],
    counted: Case::new([256, 1, 1]),
    requirements: &[Requirement::COALESCED_LOADS],
    not_judged_here: None,
    speed: None,
    hints: ["a nudge", "the idea", "nearly the code"],
};

#[allow(dead_code)]
const SPEED: Speed = Speed {
    size: [1 << 20, 1, 1],
    baseline: Baseline { name: "naive", source: "// slow", kernel: "vector_add", block: [256, 1, 1] },
    goal: Goal::Position(0.8),
    h200_reference: Some(2.0),
    min_capability: 50,
};
