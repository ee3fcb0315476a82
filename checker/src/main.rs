//! The program learners run.
fn main() {}
