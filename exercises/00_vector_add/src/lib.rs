//! Exercise.
