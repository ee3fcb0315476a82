//! The exercise that the tests in `author/` spoil is itself in order.

include!("author/common/valid.rs");

exercise::exercise! {
    /// Sound.
    pub const EXERCISE: Exercise = Exercise { speed: Some(SPEED), ..VALID };
}

#[test]
fn a_sound_exercise_compiles_and_keeps_its_values() {
    assert_eq!(EXERCISE.slug, "vector_add");
    assert_eq!(EXERCISE.speed.map(|speed| speed.goal), Some(Goal::Position(0.8)));
    assert!(matches!(EXERCISE.requirements[0].bound, Bound::AtMost(_)));
}
