//! The verdict that a wrong or slow kernel must get, as its header states it.

use std::fmt;

use thiserror::Error;

/// What a stub or a file of `mistakes/` must be rejected for.
///
/// Written `// expect: race line 30`, `// expect: too_slow store_sectors`, `// expect: wrong_values`. A fault is named as
/// `checker run` names it: `out_of_bounds`, `misaligned`, `race`, `copy_not_awaited`, `uninitialized_read`,
/// `barrier_divergence`, `aliased_shared`, `trap`, `assert`, `stack_overflow`; and `second_launch`, if only the first one is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// NVRTC refuses it, if given at this line.
    CompileError {
        /// 1-based.
        line: Option<u32>,
    },
    /// It compiles and cannot be launched.
    LaunchError,
    /// It does not end.
    Timeout,
    /// It runs without a fault and the result is wrong.
    WrongValues,
    /// It is right and misses the requirement of this key.
    TooSlow {
        /// [`Requirement::key`](crate::Requirement::key).
        requirement: String,
    },
    /// The simulator finds this fault, if given with one of its lines being this one.
    Fault {
        /// The kind in snake case.
        kind: String,
        /// 1-based.
        line: Option<u32>,
    },
}

/// What a fault may be called.
const FAULTS: [&str; 11] = [
    "out_of_bounds",
    "misaligned",
    "race",
    "copy_not_awaited",
    "uninitialized_read",
    "barrier_divergence",
    "aliased_shared",
    "trap",
    "assert",
    "stack_overflow",
    "second_launch",
];

/// Why an expectation could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExpectationError {
    /// No line starts with `// expect:`.
    #[error("no line starts with `// expect:`; say which verdict this kernel must get")]
    Missing,
    /// A verdict nobody gives.
    #[error(
        "`{0}` is no verdict; use a fault such as `race line 30`, or wrong_values, too_slow KEY, compile_error, launch_error, timeout"
    )]
    Unknown(String),
}

impl Expectation {
    /// Reads the first `// expect:` line of a CUDA source.
    pub fn of_source(source: &str) -> Result<Expectation, ExpectationError> {
        let header = source.lines().find_map(|line| line.trim().strip_prefix("// expect:"));
        Expectation::parse(header.ok_or(ExpectationError::Missing)?)
    }

    /// Reads what follows `// expect:`.
    pub fn parse(text: &str) -> Result<Expectation, ExpectationError> {
        let unknown = || ExpectationError::Unknown(text.trim().to_owned());
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |word: &str| word.parse::<u32>().map_err(|_| unknown());
        Ok(match *words {
            ["compile_error"] => Expectation::CompileError { line: None },
            ["compile_error", "line", line] => Expectation::CompileError { line: Some(number(line)?) },
            ["launch_error"] => Expectation::LaunchError,
            ["timeout"] => Expectation::Timeout,
            ["wrong_values"] => Expectation::WrongValues,
            ["too_slow", key] => Expectation::TooSlow { requirement: key.to_owned() },
            [kind] if FAULTS.contains(&kind) => Expectation::Fault { kind: kind.to_owned(), line: None },
            [kind, "line", line] if FAULTS.contains(&kind) => {
                Expectation::Fault { kind: kind.to_owned(), line: Some(number(line)?) }
            }
            _ => return Err(unknown()),
        })
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, line) = match self {
            Expectation::CompileError { line } => ("compile_error", *line),
            Expectation::LaunchError => ("launch_error", None),
            Expectation::Timeout => ("timeout", None),
            Expectation::WrongValues => ("wrong_values", None),
            Expectation::TooSlow { requirement } => return write!(f, "too_slow {requirement}"),
            Expectation::Fault { kind, line } => (kind.as_str(), *line),
        };
        f.write_str(name)?;
        line.map_or(Ok(()), |line| write!(f, " line {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_written_back() {
        for text in [
            "race line 30",
            "out_of_bounds",
            "wrong_values",
            "too_slow bank_conflicts",
            "compile_error line 3",
            "timeout",
        ] {
            assert_eq!(Expectation::parse(text).unwrap().to_string(), text);
        }
        let source = "// A classic.\n//\n// expect: race line 12\n__global__ void k() {}\n";
        assert_eq!(
            Expectation::of_source(source),
            Ok(Expectation::Fault { kind: "race".to_owned(), line: Some(12) })
        );
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(Expectation::of_source("__global__ void k() {}"), Err(ExpectationError::Missing));
        for text in ["", "racy", "race line", "race line twelve", "too_slow", "wrong_values line 3"] {
            assert_eq!(Expectation::parse(text), Err(ExpectationError::Unknown(text.to_owned())));
        }
    }
}
