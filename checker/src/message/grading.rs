//! What grading a class is told in.

use crate::grade::{Stopped, Trouble};

/// Why there is no verdict.
pub(crate) fn stopped(stopped: &Stopped) -> String {
    match stopped {
        Stopped::OutOfTime { limit } => format!(
            "judging did not end within {} s, alone too; on a slow machine give it more by --limit",
            limit.as_secs()
        ),
        Stopped::OutOfMemory { limit } => {
            format!("judging took more than the {} MiB of memory that it may have", limit >> 20)
        }
        Stopped::Killed(how) => format!(
            "the judging process was ended from outside ({how}), alone too: this machine may be short of memory"
        ),
        Stopped::Crashed(how) => {
            format!("the judging process died ({how}), and does not on the reference solution")
        }
        Stopped::NotJudged(said) if said.is_empty() => {
            "the judging process gave no verdict and no reason".to_owned()
        }
        Stopped::NotJudged(said) => said.clone(),
    }
}

/// That the reference solution cannot be judged either.
pub(crate) fn machine_fails(control: &Stopped) -> String {
    format!("this machine cannot judge the reference solution either: {}", stopped(control))
}

/// Why something in a folder of submissions is not judged.
pub(crate) fn trouble(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Link => "it is a link; links are not followed".to_owned(),
        Trouble::Special => "it is neither a folder nor a regular file".to_owned(),
        Trouble::Unexpected => {
            "it is no folder of a student; with --exercise, a file STUDENT.cu counts".to_owned()
        }
        Trouble::Unreadable(error) => format!("it cannot be read: {error}"),
        Trouble::SeveralFiles(count) => format!("it holds {count} .cu files and no kernel.cu"),
        Trouble::NoExercise => "its name tells no exercise".to_owned(),
    }
}

/// Who handed in without being on the roster.
pub(crate) fn strangers(students: &[String]) -> String {
    format!("not on the roster: {}", students.join(", "))
}

/// That results which lie in the folder were not made by this run.
pub(crate) fn strange_results(count: usize) -> String {
    let (lines, are) = if count == 1 { ("line", "is") } else { ("lines", "are") };
    format!("{count} {lines} of results.jsonl {are} not of this run, or changed since, and left out")
}
