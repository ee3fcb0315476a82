//! `checker verify`: the course judges itself. Every stub must fail for its intended reason, every solution must
//! pass, every baseline must be right and slow, and every classic mistake must be rejected as its header says.

mod clocked;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use cuda::nvrtc::Toolchain;
use exercise::{Case, Exercise, Expectation, ExpectationError, Goal};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::{course, judge as judging, toolchain};
use crate::compile::{self, Rejection};
use crate::exit::Exit;
use crate::judge::timing::Decision;
use crate::judge::{self, CaseVerdict, RequirementJudgement, Verdict};
use crate::machine::Machine;
use crate::message;
use crate::registry::{self, Entry};
use crate::report::{self, Verified};
use crate::submission::Submission;
use crate::trial::{self, Attempt, DEFAULT_SEED, Trial};
use crate::workspace::Workspace;

pub(super) fn make_command() -> Command {
    Command::new("verify")
        .about("Check the course itself: stubs fail as intended, solutions pass, mistakes are caught")
        .arg(Arg::new("exercise").value_name("EXERCISE").help("Only this one"))
        .arg(
            Arg::new("engine")
                .long("engine")
                .value_name("ENGINE")
                .value_parser(["sim", "auto", "gpu"])
                .default_value("sim")
                .help("auto: the simulator, then the clock of a GPU for what is right; gpu: the GPU alone"),
        )
        .arg(judging::gpu_argument())
        .arg(
            Arg::new("repeat")
                .long("repeat")
                .value_name("N")
                .value_parser(value_parser!(u16).range(1..))
                .default_value("1")
                .help("Do all of it N times, and say whose verdict changes"),
        )
        .arg(
            Arg::new("beside")
                .long("beside")
                .action(ArgAction::SetTrue)
                .help("Time cuBLAS or the driver's own copy beside each kernel, if one does the same work"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object"))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let only = matches.get_one::<String>("exercise").map(|name| registry::find(name)).transpose()?;
    let workspace = course::open()?;
    let toolchain = toolchain::ready()?;
    let started = Instant::now();
    let mut candidates = Vec::new();
    for entry in registry::all().iter().filter(|entry| only.is_none_or(|only| only.folder == entry.folder)) {
        candidates.extend(candidates_of(entry, &workspace)?);
    }
    let machine = judging::machine(matches)?;
    let bench = Bench {
        toolchain: &toolchain,
        machine: &machine,
        repeats: usize::from(matches.get_one::<u16>("repeat").copied().unwrap_or(1)),
        with_yardstick: matches.get_flag("beside"),
    };
    let rows = bench.verify(&candidates)?;
    let is_good = rows.iter().all(|row| row.is_good);
    let seconds = started.elapsed().as_secs_f64();
    report::verified(&machine.description(), &rows, seconds, matches.get_flag("json"));
    Ok(if is_good { Exit::Passed } else { Exit::KernelAtFault })
}

/// What candidates are judged with.
struct Bench<'a> {
    toolchain: &'a Toolchain,
    machine: &'a Machine,
    repeats: usize,
    /// Whether to time a library's way to do the same work beside each.
    with_yardstick: bool,
}

impl Bench<'_> {
    /// Judges all candidates: the results of as many at a time as there are cores, then the times one by one, since what
    /// is timed must have the GPU to itself.
    fn verify(&self, candidates: &[Candidate]) -> Result<Vec<Verified>> {
        // All repeats of an exercise follow one another: they share its inputs and its right results.
        let of_one = |of_one| std::iter::repeat_n(of_one, self.repeats).flatten();
        let jobs: Vec<&Candidate> =
            candidates.chunk_by(|a, b| a.entry.folder == b.entry.folder).flat_map(of_one).collect();
        let examine = |candidate: &&Candidate| {
            let started = Instant::now();
            let trial = trial::examine(self.toolchain, &self.attempt(candidate))?;
            Ok((trial, started.elapsed()))
        };
        let trials: Vec<(Trial, Duration)> = jobs.par_iter().map(examine).collect::<Result<_>>()?;
        let rows: Vec<Verified> = match self.machine {
            Machine::Sim(..) => {
                jobs.iter().zip(trials).map(|(candidate, trial)| self.row(candidate, &trial)).collect()
            }
            Machine::SimThenGpu(gpu) | Machine::Gpu(gpu) => clocked::time_all(self, &jobs, trials, gpu)?,
        };
        let mut agreed: Vec<Verified> = Vec::with_capacity(candidates.len());
        for row in rows {
            match agreed.iter_mut().find(|agreed| agreed.folder == row.folder && agreed.what == row.what) {
                Some(agreed) => agree(agreed, row),
                None => agreed.push(row),
            }
        }
        Ok(agreed)
    }

    fn attempt<'a>(&'a self, candidate: &'a Candidate) -> Attempt<'a> {
        Attempt {
            wall_limit: trial::WALL_LIMIT,
            exercise: &candidate.exercise,
            source: &candidate.source,
            name: "kernel.cu",
            seed: DEFAULT_SEED,
            engine: self.machine.engine(),
            predicted_for: self.machine.predicted_for(),
            with_reference: false,
            with_yardstick: self.with_yardstick,
        }
    }
}

/// Adds a repeat to what earlier ones came to: a verdict that changed is no good one.
fn agree(earlier: &mut Verified, now: Verified) {
    let is_same = earlier.verdict == now.verdict;
    earlier.same = (earlier.same.0 + usize::from(is_same), earlier.same.1 + 1);
    earlier.is_good &= now.is_good && (is_same || now.may_vary);
    earlier.positions.extend(now.positions);
    earlier.seconds += now.seconds;
    if !is_same {
        earlier.got = format!("{}, then {}", earlier.got, now.got);
    }
}

/// A file of the course and what it must be.
struct Candidate {
    entry: &'static Entry,
    /// The entry's; a baseline has its own kernel, and is asked for the counted size only.
    exercise: Exercise,
    what: String,
    source: String,
    expected: Expected,
}

enum Expected {
    Passed,
    /// Right; and too slow or not, as the goal is to beat its time or to keep to it.
    Baseline(Goal),
    /// An error for a header that can't be read.
    Rejected(Result<Expectation, String>),
}

fn candidates_of(entry: &'static Entry, workspace: &Workspace) -> Result<Vec<Candidate>> {
    let read = |expectation: Result<Expectation, ExpectationError>| {
        Expected::Rejected(expectation.map_err(|error| error.to_string()))
    };
    let exercise = entry.exercise;
    let candidate = |what: String, source: &str, expected| Candidate {
        entry,
        exercise,
        what,
        source: source.to_owned(),
        expected,
    };
    let stub_fails = read(Expectation::parse(exercise.stub_fails));
    let mut all = vec![
        candidate("stub.cu".into(), exercise.stub, stub_fails),
        candidate("solution".into(), exercise.solution, Expected::Passed),
    ];
    for path in sources(&workspace.root().join("solutions").join(entry.folder))? {
        let submission = Submission::read(&path)?;
        if submission.name() != "kernel.cu" {
            all.push(candidate(
                format!("solution {}", submission.name()),
                &submission.text,
                Expected::Passed,
            ));
        }
    }
    if let Some(speed) = exercise.speed {
        // It may be an earlier exercise's solution, which is for whole tiles only. (Kept for good: a few bytes.)
        let whole =
            exercise.counted.size.map(|extent| if extent > 1 { extent.next_multiple_of(64) } else { 1 });
        let case: &'static Case = Box::leak(Box::new(Case::new(whole)));
        let cases = std::slice::from_ref(case);
        let own = Exercise { kernel: speed.baseline.kernel, cases, counted: *case, ..exercise };
        let expected = Expected::Baseline(speed.goal);
        all.push(Candidate {
            exercise: own,
            ..candidate("baseline".into(), speed.baseline.source, expected)
        });
    }
    for path in sources(&workspace.folder(entry).join("mistakes"))? {
        let submission = Submission::read(&path)?;
        let expected = read(Expectation::of_source(&submission.text));
        all.push(candidate(format!("mistakes/{}", submission.name()), &submission.text, expected));
    }
    Ok(all)
}

/// The CUDA sources in a folder, in order.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut paths: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .collect();
    paths.sort();
    Ok(paths)
}

impl Bench<'_> {
    /// What a candidate had to be, and what it was.
    fn row(&self, candidate: &Candidate, (trial, spent): &(Trial, Duration)) -> Verified {
        let foretold = trial.foretold.as_ref().and_then(|foretold| foretold.as_ref().ok());
        let announced = header(&candidate.source, "predicted").filter(|_| foretold.is_some());
        let on_gpu = header(&candidate.source, "on a gpu");
        // A prediction speaks like a GPU, but for the counters that are the lesson: those outweigh it.
        let speaks_like_a_gpu =
            foretold.is_some() && announced.is_none() && !judge::misses_lesson(&trial.requirements);
        let on_gpu = on_gpu.filter(|_| trial.timing.is_some() || speaks_like_a_gpu);
        // What is too close to call is neither right nor wrong.
        let is_open = trial.verdict == Verdict::Inconclusive && foretold.is_some();
        let mut may_vary = false;
        let (expected, is_good) = match &candidate.expected {
            Expected::Passed | Expected::Rejected(Ok(Expectation::TooSlow { .. })) if is_open => {
                ("passed or too_slow".to_owned(), true)
            }
            _ if announced.is_some() => {
                let verdict = announced.unwrap_or_default();
                (format!("{verdict} as predicted"), trial.verdict.name() == verdict)
            }
            _ if on_gpu.is_some() => {
                let verdict = on_gpu.unwrap_or_default();
                (format!("{verdict} on a GPU"), trial.verdict.name() == verdict)
            }
            Expected::Passed => ("passed".to_owned(), trial.verdict == Verdict::Passed),
            Expected::Baseline(goal) => baseline(&candidate.exercise, *goal, trial),
            // What a kernel does that races or leaves its buffers is a matter of luck.
            Expected::Rejected(Ok(expected @ Expectation::Fault { .. }))
                if matches!(self.machine, Machine::Gpu(_)) =>
            {
                may_vary = true;
                (format!("{expected}; a GPU does not look for it"), true)
            }
            Expected::Rejected(Ok(expected)) => (expected.to_string(), is_as_expected(expected, trial)),
            Expected::Rejected(Err(error)) => (error.clone(), false),
        };
        // Whoever asks for a GPU wants to know if it was of no use.
        let mut got = summary(trial);
        if let Some(why) = &trial.not_timed {
            got = format!("{got}, not timed: {why}");
        }
        if let Some(decision @ Decision::NotMeasurable(_)) = trial.timing.map(|timing| timing.decision) {
            got = format!("{got}, {}", message::decision(decision));
        }
        let exercise = &candidate.exercise;
        Verified {
            folder: candidate.entry.folder,
            what: candidate.what.clone(),
            expected,
            got,
            is_good: is_good && trial.not_timed.is_none(),
            verdict: trial.verdict.name(),
            may_vary,
            same: (1, 1),
            timing: trial.timing,
            foretold: trial.foretold.clone().and_then(Result::ok),
            rates: trial.rates,
            size: exercise.speed.map(|speed| message::size(exercise, speed.size)),
            positions: trial.timing.iter().map(|timing| timing.position).collect(),
            seconds: spent.as_secs_f64(),
        }
    }
}

/// The verdict that a file's header announces for a case, with the reason: `// on a gpu: passed: WHY` where counters and a
/// time differ, `// predicted: too_slow: WHY` where the model is known to be wrong. A file without one has the same verdict
/// everywhere.
fn header<'s>(source: &'s str, case: &str) -> Option<&'s str> {
    let of_case = |line: &'s str| line.trim().strip_prefix("// ")?.strip_prefix(case)?.strip_prefix(':');
    let header = source.lines().find_map(of_case)?;
    let (verdict, _why) = header.split_once(':')?;
    Some(verdict.trim())
}

/// What a baseline had to be, and whether it is: right, and too slow or not, as the goal is to beat its time or to keep to
/// it, where anything judges that.
fn baseline(exercise: &Exercise, goal: Goal, trial: &Trial) -> (String, bool) {
    let Exercise { requirements, not_judged_here, .. } = exercise;
    let is_foretold = matches!(trial.foretold, Some(Ok(_)));
    let is_judged =
        trial.timing.is_some() || is_foretold || !requirements.is_empty() && not_judged_here.is_none();
    let is_slow = trial.verdict == Verdict::TooSlow;
    let (expected, is_as_fast) = match goal {
        Goal::Position(_) if is_judged => ("right, too slow", is_slow),
        Goal::Within(_) if is_judged => ("right, fast enough", !is_slow),
        _ => ("right", true),
    };
    (expected.to_owned(), is_right(trial) && is_as_fast)
}

/// The predicted speed-up, and what was needed.
fn forecast(trial: &Trial) -> String {
    let Some(Ok(foretold)) = &trial.foretold else { return String::new() };
    format!(" ({:.2}x of {:.2}x predicted)", foretold.forecast.speedup(), foretold.forecast.needed)
}

fn is_right(trial: &Trial) -> bool {
    !trial.cases.is_empty() && trial.cases.iter().all(|case| case.verdict == CaseVerdict::Right)
}

/// Whether a trial failed exactly as it had to.
fn is_as_expected(expected: &Expectation, trial: &Trial) -> bool {
    match expected {
        Expectation::CompileError { line } => {
            trial.verdict == Verdict::CompileError
                && line.is_none_or(|line| rejected_lines(trial).contains(&line))
        }
        Expectation::LaunchError => trial.verdict == Verdict::LaunchError,
        Expectation::Timeout => trial.verdict == Verdict::Timeout,
        Expectation::WrongValues => trial.verdict == Verdict::WrongValues,
        Expectation::TooSlow { requirement } => {
            // A GPU tells that a kernel is slow, not why.
            let misses =
                |row: &RequirementJudgement| row.requirement.key == requirement && row.met == Some(false);
            trial.verdict == Verdict::TooSlow
                && (trial.timing.is_some() || trial.requirements.iter().any(misses))
        }
        Expectation::Fault { kind, line } => {
            trial.verdict == Verdict::Faults
                && faults(trial)
                    .iter()
                    .any(|(name, lines)| name == kind && line.is_none_or(|line| lines.contains(&line)))
        }
    }
}

fn rejected_lines(trial: &Trial) -> Vec<u32> {
    match &trial.rejection {
        Some(Rejection::Diagnostics(all)) => {
            all.iter().filter(|diagnostic| compile::is_error(diagnostic)).filter_map(|d| d.line).collect()
        }
        Some(Rejection::Refused { line, .. }) => line.iter().copied().collect(),
        _ => Vec::new(),
    }
}

/// Each fault that is an error, with its lines.
fn faults(trial: &Trial) -> Vec<(&'static str, Vec<u32>)> {
    let errors = trial.cases.iter().flat_map(|case| &case.findings).filter(|finding| finding.is_error);
    let lines = |sites: [Option<&crate::finding::Site>; 2]| {
        sites.into_iter().flatten().filter_map(|site| site.line.as_ref()).map(|line| line.number).collect()
    };
    errors.map(|finding| (finding.kind, lines([finding.site.as_ref(), finding.other.as_ref()]))).collect()
}

/// What a trial came to, in the words of a header.
fn summary(trial: &Trial) -> String {
    match trial.verdict {
        Verdict::Faults => {
            let shown = faults(trial).into_iter().next();
            shown.map_or_else(
                || "faults".into(),
                |(kind, lines)| match lines.as_slice() {
                    [] => kind.to_owned(),
                    lines => format!(
                        "{kind} line {}",
                        lines.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ")
                    ),
                },
            )
        }
        Verdict::TooSlow => {
            if let Some(timing) = &trial.timing {
                return format!("too_slow {:.2}x of {:.2}x", timing.speedup(), timing.needed);
            }
            let missed = trial.requirements.iter().filter(|row| row.met == Some(false));
            let missed = missed.map(|row| row.requirement.key).collect::<Vec<_>>().join(" ");
            format!("too_slow {missed}{}", forecast(trial)).replace("  ", " ")
        }
        Verdict::CompileError | Verdict::LaunchError | Verdict::Unsupported => {
            let why = trial.rejection.as_ref().map(message::rejection).unwrap_or_default();
            format!("{}: {why}", trial.verdict.name())
        }
        Verdict::WrongValues => {
            let wrong = trial.cases.iter().find(|case| case.verdict == CaseVerdict::WrongValues);
            let pattern =
                wrong.and_then(|case| case.wrong.as_ref()).and_then(|wrong| wrong.comparison.pattern);
            pattern.map_or_else(|| "wrong_values".to_owned(), |pattern| format!("wrong_values: {pattern}"))
        }
        Verdict::Inconclusive => format!("inconclusive{}", forecast(trial)),
        Verdict::Passed | Verdict::Timeout | Verdict::NotJudged | Verdict::NotBelievable => {
            trial.verdict.name().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_may_announce_another_verdict_for_a_gpu() {
        let source =
            "// Slow.\n// expect: too_slow reuse\n// on a gpu: passed: a cache helps\n__global__ ...";
        assert_eq!(header(source, "on a gpu"), Some("passed"));
        assert_eq!(header("// predicted: too_slow: it spills\n", "predicted"), Some("too_slow"));
        assert_eq!(header("// expect: too_slow reuse\n", "on a gpu"), None);
        assert_eq!(header("// on a gpu: passed\n", "on a gpu"), None, "the reason is missing");
    }
}
