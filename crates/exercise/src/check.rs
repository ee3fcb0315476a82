//! What must hold for every exercise, checked when it is compiled.
//!
//! [`exercise!`](crate::exercise!) asserts each of these with its own message. The functions only look; the messages are
//! in the macro, because an assertion inside a `const fn` points into this file instead of at the exercise.

use crate::launch::limits;
use crate::{Bound, Exercise, Goal, Metric, Speed};

/// Declares the exercise of a crate and checks it at compile time.
///
/// Takes one constant of type [`Exercise`] and leaves it as it is. What is wrong with it is a compile error:
///
/// ```compile_fail
/// # use exercise::{Case, Exercise, problem::VectorAdd};
/// exercise::exercise! {
///     /// An exercise without cases.
///     pub const EXERCISE: Exercise = Exercise {
///         cases: &[],
/// #       number: 0, slug: "vector_add", title: "Vector addition", lesson: "x", kernel: "vector_add", stub: "x",
/// #       stub_fails: "wrong_values", solution: "x", problem: &VectorAdd, counted: Case::new([1, 1, 1]),
/// #       requirements: &[], not_judged_here: None, speed: None, hints: ["a", "b", "c"],
///     };
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! exercise {
    ($(#[$attribute:meta])* $visibility:vis const $name:ident: Exercise = $exercise:expr;) => {
        $(#[$attribute])*
        $visibility const $name: $crate::Exercise = $exercise;

        const _: () = assert!($name.number < 100, "an exercise's number has two digits: 0 to 99");
        const _: () = assert!(
            $crate::check::texts_are_written(&$name),
            "slug, title, lesson, kernel, stub, stub_fails and solution must not be empty"
        );
        const _: () = assert!(
            $crate::check::hints_are_written(&$name),
            "an exercise needs three hints: a first nudge, the idea, and nearly the code"
        );
        const _: () = assert!(
            !$name.cases.is_empty(),
            "an exercise needs cases: 1, one less than a tile, a tile, one more, a prime, a rectangle, something larger"
        );
        const _: () = assert!(
            $crate::check::sizes_are_positive(&$name),
            "every dimension of a case must be at least 1 (unused ones are 1)"
        );
        const _: () = assert!(
            $crate::check::requirement_keys_are_unique(&$name),
            "every requirement needs a key of its own, which mistakes/ refer to"
        );
        const _: () = assert!(
            $crate::check::bounds_make_sense(&$name),
            "a requirement's bound asks for nothing or for the impossible: overheads are at least 1, other bounds positive"
        );
        const _: () = assert!(
            $crate::check::baseline_block_is_legal(&$name),
            "the baseline's block has more than 1,024 threads (or none): no GPU can launch it; make its block smaller"
        );
        const _: () = assert!(
            $crate::check::goal_makes_sense(&$name),
            "the goal asks for nothing: Position must be in (0, 1], Within more than 1, and the reference faster than the baseline"
        );
        const _: () = assert!(
            $crate::check::something_is_judged(&$name),
            "an exercise without requirements must say in not_judged_here why, or have no speed goal"
        );
    };
}

/// Number, names, sources: nothing left empty.
pub const fn texts_are_written(exercise: &Exercise) -> bool {
    !(exercise.slug.is_empty()
        || exercise.title.is_empty()
        || exercise.lesson.is_empty()
        || exercise.kernel.is_empty()
        || exercise.stub.is_empty()
        || exercise.stub_fails.is_empty()
        || exercise.solution.is_empty())
}

/// Three hints with something in them.
pub const fn hints_are_written(exercise: &Exercise) -> bool {
    let [first, second, third] = exercise.hints;
    !(first.is_empty() || second.is_empty() || third.is_empty())
}

/// No dimension is 0.
pub const fn sizes_are_positive(exercise: &Exercise) -> bool {
    let mut i = 0;
    while i < exercise.cases.len() {
        if !is_positive(exercise.cases[i].size) {
            return false;
        }
        i += 1;
    }
    is_positive(exercise.counted.size)
}

const fn is_positive([a, b, c]: [usize; 3]) -> bool {
    a > 0 && b > 0 && c > 0
}

/// No key is used twice or empty.
pub const fn requirement_keys_are_unique(exercise: &Exercise) -> bool {
    let requirements = exercise.requirements;
    let mut i = 0;
    while i < requirements.len() {
        if requirements[i].key.is_empty() {
            return false;
        }
        let mut j = 0;
        while j < i {
            if equal(requirements[i].key.as_bytes(), requirements[j].key.as_bytes()) {
                return false;
            }
            j += 1;
        }
        i += 1;
    }
    true
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Each bound can be met and can be missed.
pub const fn bounds_make_sense(exercise: &Exercise) -> bool {
    let mut i = 0;
    while i < exercise.requirements.len() {
        let requirement = &exercise.requirements[i];
        let value = requirement.bound.value();
        let makes_sense = match (requirement.metric, requirement.bound) {
            // 1.0 is perfect and 8.0 as bad as it gets.
            (Metric::LoadSectorOverhead | Metric::StoreSectorOverhead, bound) => {
                matches!(bound, Bound::AtMost(_)) && value >= 1.0 && value < 8.0
            }
            (Metric::ActiveLanes, bound) => {
                matches!(bound, Bound::AtLeast(_)) && value > 1.0 && value <= 32.0
            }
            (Metric::Occupancy, bound) => matches!(bound, Bound::AtLeast(_)) && value > 0.0 && value <= 100.0,
            (_, Bound::AtLeast(_)) => value > 0.0 && value.is_finite(),
            (_, Bound::AtMost(_)) => value >= 0.0 && value.is_finite(),
        };
        if !makes_sense {
            return false;
        }
        i += 1;
    }
    true
}

/// The baseline's block has between 1 and 1,024 threads.
pub const fn baseline_block_is_legal(exercise: &Exercise) -> bool {
    match &exercise.speed {
        None => true,
        Some(speed) => {
            let [x, y, z] = speed.baseline.block;
            let threads = x as u64 * y as u64 * z as u64;
            threads >= 1 && threads <= limits::THREADS_PER_BLOCK as u64 && z <= limits::BLOCK_DIM[2]
        }
    }
}

/// The goal can be met and can be missed.
pub const fn goal_makes_sense(exercise: &Exercise) -> bool {
    match &exercise.speed {
        None => true,
        Some(Speed { goal: Goal::Within(factor), .. }) => *factor > 1.0,
        Some(Speed { goal: Goal::Position(position), h200_reference, .. }) => {
            let reference_is_faster = match h200_reference {
                Some(factor) => *factor > 1.0,
                None => true,
            };
            *position > 0.0 && *position <= 1.0 && reference_is_faster
        }
    }
}

/// Speed that matters is judged by the simulator, or the exercise says why not.
pub const fn something_is_judged(exercise: &Exercise) -> bool {
    !exercise.requirements.is_empty() || exercise.not_judged_here.is_some() || exercise.speed.is_none()
}

/// Whether all numbers differ; for the list of all exercises.
pub const fn numbers_are_unique(exercises: &[Exercise]) -> bool {
    let mut i = 0;
    while i < exercises.len() {
        let mut j = 0;
        while j < i {
            if exercises[i].number == exercises[j].number {
                return false;
            }
            j += 1;
        }
        i += 1;
    }
    true
}
