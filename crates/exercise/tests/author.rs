//! What the author of an exercise sees who declares one that makes no sense.

#[test]
fn senseless_exercises_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/author/*.rs");
}
