//! Programs, files and folders of this machine, taken only where nobody else can have put something in their place.
//!
//! An instructor runs the checker in a folder that students filled, a learner beside a kernel that was downloaded.
//! Whatever lies there is read as text and never run, and what the checker starts does not look there either.

pub mod file;
pub mod owner;
pub mod program;
pub mod scratch;
pub mod text;
