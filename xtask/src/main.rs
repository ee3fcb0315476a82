//! Chores for authors.
fn main() {}
