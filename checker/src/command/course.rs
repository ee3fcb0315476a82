//! Getting at the course, and saying which one it is where that is not plain.

use anyhow::Result;

use crate::report;
use crate::workspace::Workspace;

/// The course of the current folder, else the one that this program was built in, which is said then.
///
/// # Errors
/// If there is neither.
pub(super) fn open() -> Result<Workspace> {
    let workspace = Workspace::find()?;
    if !workspace.is_here() {
        report::terminal::course_elsewhere(workspace.root());
    }
    Ok(workspace)
}
