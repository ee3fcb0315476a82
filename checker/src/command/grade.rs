//! `checker grade DIR`: judges what a class handed in.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use trust::text;

use super::toolchain;
use crate::exit::{Exit, usage};
use crate::grade::{self, Bench, Class, Crowd, Handin, Interrupt, Ledger, Record, Roster, Secret, Terms};
use crate::machine::Machine;
use crate::message::grading as message;
use crate::registry;
use crate::report::{self, Graded};

pub(super) fn make_command() -> Command {
    let number = |name: &'static str, value: &'static str| {
        Arg::new(name).long(name).value_name(value).value_parser(value_parser!(u64).range(1..))
    };
    Command::new("grade")
        .about("Judge a folder of submissions, DIR/STUDENT/NN_slug/kernel.cu")
        .after_help(
            "Which file is whose: a student is a folder in DIR. The exercise is told by the number that a name begins with \
             (05, 5-transpose, 05_transpose_coalescing.cu) or by its whole short name (transpose_coalescing), of a .cu file or \
             of a folder. In such a folder kernel.cu counts, else its only .cu file that is not stub.cu. All that is looked for \
             in DIR/STUDENT and in DIR/STUDENT/exercises. With --exercise, DIR/STUDENT/kernel.cu and DIR/STUDENT.cu are that \
             exercise's too.\n\n\
             Where several files fit, one is judged: DIR/STUDENT comes before DIR/STUDENT/exercises, and in each the first \
             by name, so 05/kernel.cu before 05.cu before 05_transpose_coalescing/kernel.cu; DIR/STUDENT.cu comes last. The \
             others are named with the result as left out. Links are not followed.\n\n\
             The score of an exercise is the share of its criteria that are met: right values, and each requirement. \
             Wrong values score 0. A verdict has one name in the table, --csv and --json: passed, too_slow, wrong_values, \
             faults, timeout, compile_error, launch_error, unsupported, inconclusive, not_believable; missing: nothing was \
             handed in; unreadable: too large, no text, a link, or several files of which none is kernel.cu; judge_crashed: it took more \
             than --memory, or crashed the judge, which the reference solution does not; not_judged: this machine or its clock \
             (--limit) is to blame, after a second try alone, and the next run tries again.\n\n\
             Results are kept in the --out folder, one by one: a run that was interrupted, by Ctrl-C or a crash, goes on \
             where it stopped when the same command is given again. The folder is yours alone: its secret.json has the seed of \
             the inputs. Whatever a result depends on (the file, the exercise, this program, the compiler, the GPU, the seed, \
             the limits) has it judged again when it changes.",
        )
        .arg(
            Arg::new("folder")
                .value_name("DIR")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The folder with one folder for each student"),
        )
        .arg(Arg::new("exercise").long("exercise").value_name("EXERCISE").help("Grade only this one"))
        .arg(
            Arg::new("out")
                .long("out")
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .default_value("grades")
                .help("Where results are kept"),
        )
        .arg(number("jobs", "N").help("Submissions to judge at a time; as many as there are cores if left out"))
        .arg(number("limit", "SECONDS").default_value("120").help("The longest that one submission may take"))
        .arg(
            Arg::new("memory")
                .long("memory")
                .value_name("MIB")
                // What the compiler may have anyway; with less it would be the compiler that fails.
                .value_parser(value_parser!(u64).range(1024..))
                .default_value("4096")
                .help("The most memory that judging one submission may take; on the simulator only"),
        )
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .help(
                    "Draw the inputs from this seed instead of one that is drawn at random and kept in --out. Other users \
                     of this machine see it while the command runs, and who sees some values can guess a small one",
                ),
        )
        .arg(
            Arg::new("roster")
                .long("roster")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("A name in each line, or in the first column of a CSV file: whoever has no folder has a row too"),
        )
        .arg(
            Arg::new("engine")
                .long("engine")
                .value_name("ENGINE")
                .value_parser(["sim", "auto", "gpu"])
                .default_value("sim")
                .help("auto and gpu use the GPU, one submission at a time"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object"))
        .arg(
            Arg::new("csv")
                .long("csv")
                .action(ArgAction::SetTrue)
                .conflicts_with("json")
                .help("Print a gradebook: a row for each student and exercise"),
        )
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let path = |name| matches.get_one::<PathBuf>(name).cloned().unwrap_or_default();
    let (root, out) = (path("folder"), path("out"));
    if !root.is_dir() {
        return usage(format!("{} is not a folder", root.display()));
    }
    if lies_in(&out, &root)? {
        return usage("--out must not lie in the folder of submissions");
    }
    let only = matches.get_one::<String>("exercise").map(|name| registry::find(name)).transpose()?;
    let roster = matches.get_one::<PathBuf>("roster").map(|path| Roster::read(path)).transpose()?;
    let class = grade::find(&root, only, roster.as_ref())?;
    if class.handins.is_empty() {
        return usage(format!(
            "there are no submissions in {}: they belong in STUDENT/NN_slug/kernel.cu",
            root.display()
        ));
    }
    // What is wrong with the machine is found out before anybody's work is blamed.
    let toolchain = toolchain::ready()?;
    let engine = matches.get_one::<String>("engine").map_or("sim", String::as_str);
    let machine = Machine::choose(engine, None)?;
    let wall_limit = Duration::from_secs(matches.get_one::<u64>("limit").copied().unwrap_or(120));
    // A GPU's driver reserves addresses for all the memory there is.
    let memory = matches.get_one::<u64>("memory").filter(|_| engine == "sim");
    let memory = memory.map(|mib| mib.saturating_mul(1 << 20));
    let terms = Terms::new(&toolchain, &machine, wall_limit, memory)?;
    let mut ledger = Ledger::open(&out)?;
    if ledger.strange() > 0 {
        report::terminal::strange_results(ledger.strange());
    }
    let secret = ledger.secret().clone().with_seed(matches.get_one("seed").copied());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = match matches.get_one::<u64>("jobs") {
        // What is timed must have the GPU to itself.
        _ if engine != "sim" => 1,
        Some(jobs) => usize::try_from(*jobs).unwrap_or(cores).min(256),
        None => cores,
    };
    let bench = Bench {
        program: std::env::current_exe().context("this program's own file cannot be found")?,
        seed: secret.seed(),
        engine: engine.to_owned(),
        wall_limit,
        memory,
        threads: (cores / jobs).max(1),
        interrupt: Interrupt::listen().context("Ctrl-C cannot be listened for")?,
        crowd: Crowd::default(),
    };
    let grader = Grader { root: &root, class: &class, bench: &bench, secret: &secret, terms: &terms };
    let records = grader.judge_all(jobs, &mut ledger)?;
    if bench.interrupt.came() {
        report::terminal::grading_stopped(records.len(), class.handins.len(), &out);
        return Ok(Exit::NotJudged);
    }
    let is_complete = !records.iter().any(Record::is_open);
    let graded = Graded { class: &class, records: &records };
    report::graded(&graded, matches.get_flag("json"), matches.get_flag("csv"));
    Ok(if is_complete { Exit::Passed } else { Exit::NotJudged })
}

/// Whether `path`, which need not be there yet, is `folder` or lies in it.
fn lies_in(path: &Path, folder: &Path) -> Result<bool> {
    let absolute = std::path::absolute(path)?;
    let real = absolute.ancestors().find_map(|there| {
        let rest = absolute.strip_prefix(there).ok()?;
        Some(there.canonicalize().ok()?.join(rest))
    });
    Ok(real.unwrap_or(absolute).starts_with(folder.canonicalize()?))
}

/// What a class is judged with.
struct Grader<'a> {
    root: &'a Path,
    class: &'a Class,
    bench: &'a Bench,
    secret: &'a Secret,
    terms: &'a Terms,
}

/// What is done so far, by the number of the hand-in.
struct Done<'a> {
    ledger: &'a mut Ledger,
    records: Vec<(usize, Record)>,
}

impl Grader<'_> {
    /// A record for each hand-in, in their order, judged by `jobs` children at a time; of fewer if the grader is to end.
    fn judge_all(&self, jobs: usize, ledger: &mut Ledger) -> Result<Vec<Record>> {
        let handins = &self.class.handins;
        let done = Mutex::new(Done { ledger, records: Vec::new() });
        let locked = || done.lock().unwrap_or_else(PoisonError::into_inner);
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            while !self.bench.interrupt.came() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(handin) = handins.get(index) else { break };
                let judged = self.judge_one(handin, |key| locked().ledger.get(key).cloned())?;
                let Some((record, is_new)) = judged else { break };
                let mut done = locked();
                // What the machine is to blame for is tried again next time.
                if is_new && !record.is_open() {
                    done.ledger.append(&record).context("a result cannot be written")?;
                }
                report::terminal::graded_one(done.records.len() + 1, handins.len(), &record);
                done.records.push((index, record));
            }
            Ok(())
        };
        // What is wrong with the machine ends all of it.
        let stop = || next.store(handins.len(), Ordering::Relaxed);
        std::thread::scope(|scope| {
            let start = |_| scope.spawn(|| work().inspect_err(|_| stop()));
            let workers: Vec<_> = (0..jobs.min(handins.len())).map(start).collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        let mut records = done.into_inner().unwrap_or_else(PoisonError::into_inner).records;
        records.sort_by_key(|(index, _)| *index);
        Ok(records.into_iter().map(|(_, record)| record).collect())
    }

    /// The record of one hand-in, and whether it is new; `None` if the grader is to end.
    fn judge_one(
        &self,
        handin: &Handin,
        known: impl Fn(&str) -> Option<Record>,
    ) -> Result<Option<(Record, bool)>> {
        let of_handin = |record: Record| Record {
            student: handin.student.clone(),
            exercise: handin.entry.folder.to_owned(),
            file: text::label(handin.path.as_os_str()),
            message: record.message.or_else(|| left_out(handin)),
            // Of a large class, all the judgements would be a lot to remember.
            judgement: None,
            ..record
        };
        // What cannot be read is looked at again every time, which costs nothing.
        let unreadable =
            |why: String| Ok(Some((of_handin(Record::unjudged("unreadable", Some(why))), false)));
        if let Some(trouble) = &handin.trouble {
            return unreadable(message::trouble(trouble));
        }
        let submission = match grade::read(self.root, &handin.path) {
            Ok(submission) => submission,
            Err(error) => return unreadable(error.to_string()),
        };
        let key = grade::key(self.secret, self.terms, &handin.student, handin.entry, &submission.text);
        if let Some(record) = known(&key) {
            return Ok(Some((of_handin(record), false)));
        }
        let judged = grade::judge(self.bench, handin.entry, &submission.text)?;
        Ok(judged.map(|record| (of_handin(Record { key, ..record }), true)))
    }
}

/// Which other files of the same exercise are not judged.
fn left_out(handin: &Handin) -> Option<String> {
    let others: Vec<String> = handin.others.iter().map(|path| text::label(path.as_os_str())).collect();
    (!others.is_empty()).then(|| format!("left out: {}", others.join(", ")))
}
