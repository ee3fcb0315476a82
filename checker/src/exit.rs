//! What the program's exit code says.

use std::process::ExitCode;

/// How a command ended, for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Passed, or clean.
    Passed = 0,
    /// The kernel is at fault.
    KernelAtFault = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// No verdict was possible: the environment lacks something, or the kernel uses what is not supported.
    NotJudged = 3,
    /// Measured, but too noisy to tell.
    Inconclusive = 4,
}

impl Exit {
    /// The exit code for an error: the user's own if it is a [`UsageError`], else the environment's.
    pub(crate) fn of(error: &anyhow::Error) -> Exit {
        if error.is::<UsageError>() { Exit::Usage } else { Exit::NotJudged }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// A request that makes no sense, whatever the machine. The message names the argument.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// Shorthand for failing with a [`UsageError`].
pub(crate) fn usage<T>(message: impl Into<String>) -> anyhow::Result<T> {
    Err(UsageError(message.into()).into())
}
