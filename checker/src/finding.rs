//! What went wrong while a kernel ran, in the form that judging and reports share for every engine.

/// One thing that a run found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// A short name for programs: `race`, `out_of_bounds`.
    pub(crate) kind: &'static str,
    /// Whether the run is wrong because of it.
    pub(crate) is_error: bool,
    /// One or two sentences for people.
    pub(crate) message: String,
    /// The memory it is about: `shared`.
    pub(crate) space: Option<&'static str>,
    /// Where it happened first, if that can be told.
    pub(crate) site: Option<Site>,
    /// The other place, where two conflict.
    pub(crate) other: Option<Site>,
    /// How often.
    pub(crate) count: u64,
}

/// One place and the thread that was there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Site {
    /// The line, if known.
    pub(crate) line: Option<Line>,
    /// `threadIdx`.
    pub(crate) thread: [u32; 3],
    /// `blockIdx`.
    pub(crate) block: [u32; 3],
    /// What it did there, as a label for the line: `written here`.
    pub(crate) label: &'static str,
}

/// A line of the kernel's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) file: String,
    /// 1-based.
    pub(crate) number: u32,
}
