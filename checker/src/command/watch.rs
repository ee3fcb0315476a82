//! `checker watch`: judges again whenever the kernel is saved.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use clap::{Arg, ArgMatches, Command};

use super::course;
use super::judge::{self, Bench};
use super::toolchain;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::registry::{self, Entry};
use crate::report;
use crate::report::terminal::{Key, Keys};
use crate::submission::Submission;
use crate::trial::{DEFAULT_SEED, WALL_LIMIT};
use crate::workspace::Workspace;

/// How often the file is looked at. Looking works on every file system, also where events don't.
const INTERVAL: Duration = Duration::from_millis(200);

pub(super) fn make_command() -> Command {
    Command::new("watch")
        .about("Judge an exercise again whenever you save it")
        .after_help(
            "Keys: r judges again, h shows a hint (the next one each time), n goes on to the next exercise, q quits.",
        )
        .arg(
            Arg::new("exercise")
                .value_name("EXERCISE")
                .help("Its number, or any part of its name; the next one to do if left out"),
        )
        .arg(
            Arg::new("engine")
                .long("engine")
                .value_name("ENGINE")
                .value_parser(["auto", "sim", "gpu"])
                .default_value("auto")
                .help("auto: the simulator's checks, then the clock of a GPU if there is one"),
        )
        .arg(judge::gpu_argument())
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let workspace = course::open()?;
    let entry = match matches.get_one::<String>("exercise") {
        Some(name) => registry::find(name)?,
        None => Progress::load(&workspace)
            .next(&workspace)
            .or(registry::all().last())
            .unwrap_or(&registry::all()[0]),
    };
    let machine = judge::machine(matches)?;
    let bench = Bench {
        toolchain: &toolchain::ready()?,
        machine: &machine,
        seed: DEFAULT_SEED,
        wall_limit: WALL_LIMIT,
        with_yardstick: false,
        progress: Some(&workspace),
    };
    watch(entry, &workspace, &bench)?;
    Ok(Exit::Passed)
}

fn watch(mut entry: &'static Entry, workspace: &Workspace, bench: &Bench<'_>) -> Result<()> {
    let keys = Keys::of_this_terminal();
    let mut is_fresh = workspace.ensure_kernel(entry)?;
    let mut seen = Seen::default();
    let mut hints = 0;
    loop {
        if seen.is_new(&workspace.kernel(entry)) {
            report::terminal::clear();
            judge(entry, workspace, bench, is_fresh);
            is_fresh = false;
            report::terminal::watching(&workspace.kernel(entry), keys.is_some());
        }
        match Keys::wait(keys.as_ref(), INTERVAL)? {
            None => {}
            Some(Key::Quit) => return Ok(()),
            Some(Key::Run) => seen = Seen::default(),
            Some(Key::Hint) => {
                hints = (hints + 1).min(entry.exercise.hints.len());
                report::terminal::hints(entry, hints..=hints);
            }
            Some(Key::Next) => match registry::after(entry) {
                None => report::terminal::was_last(),
                Some(next) => {
                    entry = next;
                    is_fresh = workspace.ensure_kernel(entry)?;
                    seen = Seen::default();
                    hints = 0;
                }
            },
        }
    }
}

/// Judges once. What goes wrong is told; a file that cannot be read now may be there again in a moment.
fn judge(entry: &'static Entry, workspace: &Workspace, bench: &Bench<'_>, is_fresh: bool) {
    let judged = Submission::read(&workspace.kernel(entry))
        .map_err(anyhow::Error::from)
        .and_then(|submission| bench.judge(entry, &submission, is_fresh, false));
    if let Err(error) = judged {
        report::terminal::error(&error);
    }
}

/// What the file held when it was last looked at. Its text decides, not its time: an editor may save what is there
/// already, or keep the old time.
#[derive(Default)]
struct Seen {
    /// What was judged; `None` before the first time.
    judged: Option<Look>,
    /// What it looks like now.
    now: Option<Look>,
}

/// `Err` if it cannot be read, with the reason.
type Look = Result<String, String>;

impl Seen {
    /// Whether the file is other than what was judged, and has come to rest: two looks in a row see the same. (Many
    /// editors empty a file, or move it away, before they write it.)
    fn is_new(&mut self, path: &Path) -> bool {
        let look =
            Submission::read(path).map(|submission| submission.text).map_err(|error| error.to_string());
        let is_first = self.judged.is_none();
        let is_at_rest = is_first || self.now.as_ref() == Some(&look);
        let is_new = is_at_rest && self.judged.as_ref() != Some(&look);
        if is_new {
            self.judged = Some(look.clone());
        }
        self.now = Some(look);
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_judged_when_it_has_come_to_rest_and_differs() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kernel.cu");
        let write = |text: &str| std::fs::write(&path, text).expect("written");
        let mut seen = Seen::default();
        write("one");
        assert!(seen.is_new(&path), "the first look judges");
        assert!(!seen.is_new(&path));
        write("");
        assert!(!seen.is_new(&path), "an editor at work");
        write("two");
        assert!(!seen.is_new(&path), "seen once");
        assert!(seen.is_new(&path), "seen twice");
        write("two");
        assert!(!seen.is_new(&path) && !seen.is_new(&path), "saved without a change");
        std::fs::remove_file(&path).expect("removed");
        assert!(!seen.is_new(&path));
        assert!(seen.is_new(&path), "that it is gone is told once");
        assert!(!seen.is_new(&path));
    }
}
