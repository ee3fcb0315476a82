//! `checker grade DIR`: judges what a class handed in.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::toolchain;
use crate::exit::{Exit, usage};
use crate::grade::{self, Bench, Class, Handin, Interrupt, Ledger, Record};
use crate::registry;
use crate::report::{self, Graded};
use crate::trial::DEFAULT_SEED;

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
             handed in; unreadable: too large, no text, or a link; judge_timeout, judge_crashed: it took more than --limit \
             or --memory; not_judged: this machine is to blame, and the next run tries again.\n\n\
             Results are kept in the --out folder, one by one: a run that was interrupted, by Ctrl-C or a crash, goes on \
             where it stopped when the same command is given again.",
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
                .help("Draw the inputs from this seed, which students don't know"),
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
    let only = matches.get_one::<String>("exercise").map(|name| registry::find(name)).transpose()?;
    let class = grade::find(&root, only)?;
    if class.handins.is_empty() {
        return usage(format!(
            "there are no submissions in {}: they belong in STUDENT/NN_slug/kernel.cu",
            root.display()
        ));
    }
    let mut ledger = Ledger::open(&out)?;
    if out.canonicalize()?.starts_with(root.canonicalize()?) {
        return usage("--out must not lie in the folder of submissions");
    }
    // What is wrong with the machine is found out before anybody's work is blamed.
    toolchain::ready()?;
    let engine = matches.get_one::<String>("engine").map_or("sim", String::as_str);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = match matches.get_one::<u64>("jobs") {
        // What is timed must have the GPU to itself.
        _ if engine != "sim" => 1,
        Some(jobs) => usize::try_from(*jobs).unwrap_or(cores).min(256),
        None => cores,
    };
    let bench = Bench {
        program: std::env::current_exe().context("this program's own file cannot be found")?,
        seed: matches.get_one::<u64>("seed").copied().unwrap_or(DEFAULT_SEED),
        engine: engine.to_owned(),
        wall_limit: Duration::from_secs(matches.get_one::<u64>("limit").copied().unwrap_or(120)),
        // A GPU's driver reserves addresses for all the memory there is.
        memory: matches
            .get_one::<u64>("memory")
            .filter(|_| engine == "sim")
            .map(|mib| mib.saturating_mul(1 << 20)),
        threads: (cores / jobs).max(1),
        interrupt: Interrupt::listen().context("Ctrl-C cannot be listened for")?,
    };
    let records = judge_all(&root, &class, &bench, jobs, &mut ledger)?;
    if bench.interrupt.came() {
        report::terminal::grading_stopped(records.len(), class.handins.len(), &out);
        return Ok(Exit::NotJudged);
    }
    let is_complete = records.iter().all(|record| record.verdict != "not_judged");
    let graded = Graded { class: &class, records: &records };
    report::graded(&graded, matches.get_flag("json"), matches.get_flag("csv"));
    Ok(if is_complete { Exit::Passed } else { Exit::NotJudged })
}

/// A record for each hand-in, in their order, judged by `jobs` children at a time; of fewer if the grader is
/// to end.
fn judge_all(
    root: &Path,
    class: &Class,
    bench: &Bench,
    jobs: usize,
    ledger: &mut Ledger,
) -> Result<Vec<Record>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new((ledger, Vec::<(usize, Record)>::new()));
    let work = || -> Result<()> {
        loop {
            if bench.interrupt.came() {
                return Ok(());
            }
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(handin) = class.handins.get(index) else { return Ok(()) };
            let known = |key: &str| {
                let done = done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                done.0.get(key).cloned()
            };
            let Some((record, is_new)) = judge_one(root, handin, bench, known)? else { return Ok(()) };
            let mut done = done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            // What the machine is to blame for is tried again next time.
            if is_new && record.verdict != "not_judged" {
                done.0.append(&record).context("a result cannot be written")?;
            }
            done.1.push((index, record));
            report::terminal::graded_one(done.1.len(), class.handins.len(), &done.1[done.1.len() - 1].1);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.min(class.handins.len())).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let (_, mut records) = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    records.sort_by_key(|(index, _)| *index);
    Ok(records.into_iter().map(|(_, record)| record).collect())
}

/// The record of one hand-in, and whether it is new; `None` if the grader is to end.
fn judge_one(
    root: &Path,
    handin: &Handin,
    bench: &Bench,
    known: impl Fn(&str) -> Option<Record>,
) -> Result<Option<(Record, bool)>> {
    let mut record = match grade::read(root, &handin.path) {
        Err(error) => Record::unjudged("unreadable", Some(error.to_string())),
        Ok(submission) => {
            let key = grade::key(&handin.student, handin.entry, &submission.text, bench.seed, &bench.engine);
            if let Some(record) = known(&key) {
                return Ok(Some((record, false)));
            }
            let Some(record) = grade::judge(bench, handin.entry, &submission.text)? else { return Ok(None) };
            // Of a large class, all the judgements would be a lot to remember.
            Record { key, judgement: None, ..record }
        }
    };
    record.student.clone_from(&handin.student);
    record.exercise = handin.entry.folder.to_owned();
    record.file = handin.path.display().to_string();
    if !handin.others.is_empty() && record.message.is_none() {
        let others: Vec<String> = handin.others.iter().map(|path| path.display().to_string()).collect();
        record.message = Some(format!("left out: {}", others.join(", ")));
    }
    // What cannot be read has no key: it is looked at again every time, which costs nothing.
    let is_new = !record.key.is_empty();
    Ok(Some((record, is_new)))
}
