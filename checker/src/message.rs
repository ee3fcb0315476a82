//! Sentences that people read, in one place so that they can be translated.

pub(crate) mod forecast;
pub(crate) mod grading;
pub(crate) mod run;
pub(crate) mod territory;

use std::path::Path;
use std::time::Duration;

use exercise::{Bound, Exercise, GpuModel, Limit, Metric, Occupancy, Pattern, Size};

use cuda::device::{Ceilings, DeviceError};
use warpsim::{Space, Touch, WorstAccess};

use crate::compile::{self, Rejection};
use crate::gpu_table::Gpu;
use crate::judge::timing::{Decision, Obstacle, Timing};
use crate::judge::{CaseVerdict, Verdict, Wrong};
use crate::report::Judged;
use crate::trial::{Beside, Rates};

/// That the compiler does not work at all here.
pub(crate) const COMPILER_FAILS: &str = "the compiler fails on this machine even for a kernel that does nothing; see `ulimit -a`, and whether there is memory left";

/// How the user would type a command of this program: by `cargo run` if that is how it was started.
pub(crate) fn command(arguments: &str) -> String {
    let by_cargo = std::env::var_os("CARGO").is_some();
    let program = if by_cargo { "cargo run -q -p checker --" } else { "checker" };
    format!("{program} {arguments}").trim_end().to_owned()
}

/// Where the course is that is used although the current folder is not in one.
pub(crate) fn course_elsewhere(root: &Path) -> String {
    format!("{} (this folder has none; it is the one that this program was built in)", root.display())
}

/// What a student on Gradescope reads if judging ended before it had a verdict.
pub(crate) const GRADESCOPE_CUT_SHORT: &str = "Judging ended before it had a verdict: it ran out of time or memory, or the machine failed. Hand in again; if this \
     stays, tell your instructor.";

/// What a student on Gradescope reads who handed in no kernel for the exercise.
pub(crate) fn gradescope_without_kernel(exercise: &str, rows: &[String]) -> String {
    let list: String = rows.iter().map(|row| format!("\n- {row}")).collect();
    format!("There is no kernel for {exercise}: hand in one file, kernel.cu. What was handed in:\n{list}")
}

/// What a metric is called.
pub(crate) fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::LoadSectorOverhead => "bytes fetched / bytes asked for, loads",
        Metric::StoreSectorOverhead => "bytes moved / bytes asked for, stores",
        Metric::FlopsPerLoadedByte => "FLOP per byte loaded from global memory",
        Metric::FlopsPerSharedWavefront => "FLOP per shared-memory wavefront",
        Metric::BankConflictsPerRequest => "bank conflicts per shared request",
        Metric::DivergentBranchesPerBlock => "divergent branches per block",
        Metric::GlobalRequestsPerElement => "global requests per element",
        Metric::BytesPerGlobalRequest => "bytes per global request",
        Metric::ActiveLanes => "active lanes per warp instruction",
        Metric::MultiplyAddsPerInstruction => "multiply-adds per warp instruction",
        Metric::Occupancy => "occupancy, percent",
    }
}

/// A bound as it stands in the table.
pub(crate) fn bound(bound: Bound) -> String {
    match bound {
        Bound::AtMost(most) => format!("at most {}", quantity(most)),
        Bound::AtLeast(least) => format!("at least {}", quantity(least)),
    }
}

/// A number with as many digits as matter here.
pub(crate) fn quantity(value: f64) -> String {
    if value.is_finite() && value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// The size of a case: `M 31, N 33, K 7`.
pub(crate) fn size(exercise: &Exercise, size: Size) -> String {
    let dimensions = exercise.problem.dimensions().iter();
    let named: Vec<String> = dimensions.zip(size).map(|(name, extent)| format!("{name} {extent}")).collect();
    named.join(", ")
}

/// The heading of the requirements, which are counted at one size only.
pub(crate) fn counted_at(exercise: &Exercise) -> String {
    format!("requirement, at {}", size(exercise, exercise.counted.size))
}

/// Why a submission never ran, in one sentence.
pub(crate) fn rejection(rejection: &Rejection) -> String {
    match rejection {
        Rejection::Diagnostics(diagnostics) => {
            let errors = diagnostics.iter().filter(|diagnostic| compile::is_error(diagnostic)).count();
            format!("the kernel does not compile: {}", counted(errors, "error"))
        }
        Rejection::Refused { message, .. }
        | Rejection::Launch(message)
        | Rejection::Unsupported { message, .. } => message.clone(),
    }
}

/// `1 fault`, `2 faults`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The verdict in a few words.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::CompileError => "does not compile",
        Verdict::LaunchError => "cannot be launched",
        Verdict::Faults => "at fault",
        Verdict::Timeout => "did not finish",
        Verdict::WrongValues => "wrong values",
        Verdict::TooSlow => "right, but too slow",
        Verdict::Unsupported => "not judged: it uses what the simulator does not support",
        Verdict::NotJudged => "not judged",
        Verdict::Inconclusive => "inconclusive",
        Verdict::NotBelievable => "not believed: faster than the hardware allows",
    }
}

/// Where a kernel is judged if no GPU was asked for.
pub(crate) const SIMULATED: &str = "warpsim (simulated on the CPU)";

/// Where a kernel is judged if there is no GPU to use.
pub(crate) fn simulated_because(why: &DeviceError) -> String {
    match why {
        DeviceError::NoDriver | DeviceError::NoDevice => {
            "warpsim (simulated on the CPU; there is no GPU here)".to_owned()
        }
        _ => format!("warpsim (simulated on the CPU; the GPU cannot be used: {why})"),
    }
}

/// Where a kernel is judged if there is a GPU.
pub(crate) fn simulated_then_timed(gpu: &str) -> String {
    format!("warpsim, then timed on {gpu}")
}

/// The times in one sentence: `1.90x over the naive transpose; 2.54x needed; reference 3.20x`.
pub(crate) fn timing(timing: &Timing, baseline: &str) -> String {
    let speedups = format!(
        "{:.2}x over {baseline}; {:.2}x needed; reference {:.2}x (median of {} rounds)",
        timing.speedup(),
        timing.needed,
        timing.reference_speedup(),
        timing.rounds
    );
    match timing.decision {
        Decision::NotMeasurable(_) => format!("{speedups}: {}", decision(timing.decision)),
        _ => speedups,
    }
}

/// A bandwidth.
pub(crate) fn bandwidth(bytes_per_second: f64) -> String {
    format!("{:.0} GB/s", bytes_per_second / 1e9)
}

/// A rate of floating-point operations.
pub(crate) fn flop_rate(flops_per_second: f64) -> String {
    format!("{:.1} TFLOP/s", flops_per_second / 1e12)
}

/// How fast the timed kernel is by what limits it, and a library beside it: `4057 GB/s, 97 % of the copy
/// bandwidth`.
pub(crate) fn rates(rates: &Rates, milliseconds: f64) -> String {
    let per_second = |amount: u64, milliseconds: f64| amount as f64 / (milliseconds * 1e-3);
    let Ceilings { copy_bytes_per_second, fma_flops_per_second } = rates.ceilings;
    let (shown, part, of) = if rates.is_arithmetic() {
        let rate = per_second(rates.flops, milliseconds);
        let of = if rates.is_measured { "the measured FP32 rate" } else { "the peak FP32 rate" };
        (flop_rate(rate), rate / fma_flops_per_second, of)
    } else {
        let rate = per_second(rates.bytes, milliseconds);
        let of = if rates.is_measured { "the measured copy bandwidth" } else { "the peak bandwidth" };
        (bandwidth(rate), rate / copy_bytes_per_second, of)
    };
    let part = if part.is_finite() { format!(", {:.0} % of {of}", 100.0 * part) } else { String::new() };
    let beside =
        rates.beside.map_or_else(String::new, |Beside { name, milliseconds: time, bytes, flops }| {
            let rate = if bytes > 0 {
                bandwidth(per_second(bytes, time))
            } else {
                flop_rate(per_second(flops, time))
            };
            format!("; {name} in the same rounds: {time:.4} ms, {rate}")
        });
    format!("{milliseconds:.4} ms, {shown}{part}{beside}")
}

/// Said after a measurement of the GPU's ceilings.
pub(crate) fn probe_kept() -> String {
    let roofline = command("roofline");
    format!(
        "Judgements on this GPU and `{roofline}` hold kernels against these from now on. They are kept in"
    )
}

/// Said where they could not be kept.
pub(crate) const PROBE_NOT_KEPT: &str = "They could not be kept for later judgements:";

/// What the times come to, in words.
pub(crate) fn decision(decision: Decision) -> String {
    match decision {
        Decision::Passed => "passed".to_owned(),
        Decision::TooSlow => "too slow".to_owned(),
        Decision::Undecided => "undecided".to_owned(),
        Decision::NotBelievable => "faster than the hardware allows".to_owned(),
        Decision::NotMeasurable(obstacle) => {
            let why = match obstacle {
                Obstacle::Spread(spread) => {
                    format!("the reference is only {spread:.2}x faster than the baseline")
                }
                Obstacle::Short(launches) => format!("the kernel takes only {launches:.1} empty launches"),
                Obstacle::Drift(drift) => format!("the GPU's clock drifted by {:.0} %", 100.0 * drift),
                Obstacle::BadTime => "a time is missing".to_owned(),
            };
            format!("not measurable here: {why}")
        }
    }
}

/// A kernel that was stopped by the clock.
pub(crate) struct OutOfTime {
    /// The longest that it could run.
    pub(crate) limit: Duration,
    /// Warp instructions that it executed, at least.
    pub(crate) instructions: u64,
    /// Blocks that had come to their end, at least.
    pub(crate) ended: u64,
    /// Blocks in the grid.
    pub(crate) blocks: u64,
    /// Of the loop that it was in.
    pub(crate) line: Option<u32>,
}

/// What the clock stopped, and whether that looks like a loop without an end.
pub(crate) fn out_of_time(stopped: &OutOfTime) -> String {
    let OutOfTime { limit, instructions, ended, blocks, line } = stopped;
    let place = line.map_or_else(String::new, |line| format!(", in the loop on line {line}"));
    let ended_blocks = if *ended == 0 { "none".to_owned() } else { ended.to_string() };
    let advice = if *ended == 0 {
        "Whether it would have ended cannot be told: check that the loop's condition can become false; if it can, share the \
         work between more threads"
    } else {
        "Blocks do end, so it is too slow rather than endless: share the work between more threads"
    };
    format!(
        "time ran out: stopped after {} s{place}; {ended_blocks} of {} had ended, after {instructions} warp instructions. The \
         limit is one of time, so a slower machine stops it sooner. {advice}.",
        limit.as_secs_f64(),
        counted(usize::try_from(*blocks).unwrap_or(usize::MAX), "block"),
    )
}

/// The verdict on one case in a few words.
pub(crate) fn case(verdict: CaseVerdict) -> &'static str {
    match verdict {
        CaseVerdict::Right => "right",
        CaseVerdict::Faults => "at fault",
        CaseVerdict::Timeout => "did not finish",
        CaseVerdict::WrongValues => "wrong values",
        CaseVerdict::NotRun => "not run",
    }
}

/// Where a wrong output is wrong, and what the wrong elements have in common.
pub(crate) fn wrong(wrong: &Wrong) -> String {
    let comparison = &wrong.comparison;
    let first = comparison.first.map_or_else(String::new, |(index, got, wanted)| {
        let is = match comparison.pattern {
            Some(Pattern::NeverWritten) => "was never written".to_owned(),
            _ if got.is_nan() => "is not a number".to_owned(),
            _ => format!("is {got}"),
        };
        format!("{} {is}, but must be {}; ", element(wrong, index), wanted as f32)
    });
    let pattern = comparison.pattern.map_or_else(String::new, |pattern| format!(" ({pattern})"));
    format!("{first}{} of {} elements are wrong{pattern}", comparison.wrong, comparison.total)
}

fn element(wrong: &Wrong, index: usize) -> String {
    match wrong.shape {
        [rows, columns] if rows > 1 && columns > 0 => {
            format!("`{}` at row {}, column {}", wrong.buffer, index / columns, index % columns)
        }
        _ => format!("`{}[{index}]`", wrong.buffer),
    }
}

/// The one thing to do next.
pub(crate) fn next_step(judged: &Judged<'_>) -> String {
    let number = judged.entry.exercise.number;
    match judged.trial.verdict {
        Verdict::Passed => match judged.next {
            Some(next) => format!(
                "go on with {:02}: {}",
                next.exercise.number,
                command(&format!("{:02}", next.exercise.number))
            ),
            None => "that was the last exercise".to_owned(),
        },
        _ if judged.is_fresh => format!(
            "open {}, which was just made for you, and look for the TODO",
            crate::workspace::Workspace::shown(&judged.submission.path)
        ),
        Verdict::CompileError => "mend the first error, then run this again".to_owned(),
        Verdict::LaunchError => "change the launch lines at the top of the kernel".to_owned(),
        Verdict::NotJudged | Verdict::Unsupported => {
            format!("see what works on this machine: {}", command("doctor"))
        }
        Verdict::Inconclusive if judged.trial.timing.is_none() => {
            format!("see what would make it faster: {}", command(&format!("why {number:02}")))
        }
        Verdict::Inconclusive => "run it again on a GPU that nothing else uses".to_owned(),
        Verdict::NotBelievable => "make sure that every launch does all of the work".to_owned(),
        Verdict::Faults | Verdict::Timeout | Verdict::WrongValues | Verdict::TooSlow => {
            format!("if you are stuck: {}", command(&format!("hint {number:02}")))
        }
    }
}

/// How the pictures of requests are read.
pub(crate) const LOOK_LEGEND: &str = "0 to v: lanes 0 to 31; . : moved, but asked for by no lane";

/// That a block was asked for which is not launched.
pub(crate) fn no_such_block([x, y, z]: [u32; 3], [across, down, deep]: [u32; 3]) -> String {
    format!(
        "--block: there is no block ({x}, {y}, {z}): the grid has {across} x {down} x {deep} blocks, the last one is \
         {},{},{}",
        across.saturating_sub(1),
        down.saturating_sub(1),
        deep.saturating_sub(1)
    )
}

/// The same where lanes are drawn with their numbers.
pub(crate) const LOOK_LEGEND_SVG: &str = "Numbers are lanes. Grey: moved, but asked for by no lane.";

/// What the picture of a request shows.
pub(crate) fn look_heading(space: Space) -> String {
    match space {
        Space::Shared => "Shared memory, the request with the most bank conflicts: a column for each of 32 banks, a row for each turn",
        _ => "Global memory, the most wasteful request: a row for each sector of 32 bytes, by its offset in the buffer",
    }
    .to_owned()
}

/// Said where there is no request.
pub(crate) fn nothing_to_draw(space: Space) -> String {
    match space {
        Space::Shared => "shared memory is not used",
        _ => "global memory is not used",
    }
    .to_owned()
}

/// A request in two short lines: who, and what it costs.
pub(crate) fn request(access: &WorstAccess) -> [String; 2] {
    let verb = match access.touch {
        Touch::Read => "reads",
        Touch::Write => "writes",
        Touch::Atomic => "updates",
    };
    let line = access.at.as_ref().map_or_else(String::new, |at| format!("line {} ", at.line));
    let object = access.object.as_ref().map_or_else(|| "memory".to_owned(), |name| format!("`{name}`"));
    let asked = access.bytes * access.mask.count_ones();
    let cost = match access.space {
        Space::Shared => counted(access.wavefronts as usize, "turn"),
        _ => format!("{}, {} bytes", counted(access.sectors as usize, "sector"), 32 * access.sectors),
    };
    [format!("{line}{verb} {object}"), format!("{cost} for {asked} bytes")]
}

/// Whose roof it is.
pub(crate) fn roofline_heading(gpu: &Gpu) -> String {
    format!(
        "the roof of an {}: {} TFLOP/s in FP32, {} GB/s, ridge at {:.1} FLOP/B",
        gpu.name,
        (gpu.peak_flops / 1e11).round() / 10.0,
        (gpu.bandwidth / 1e9).round(),
        gpu.ridge()
    )
}

/// What the columns of the roofline's table mean.
pub(crate) const ROOFLINE_LEGEND: &str = "Counted on warpsim. bytes moved: sectors of all requests x 32, as if no cache kept \
any; a cache can only move a kernel to the right. at least: every input and output once, and the intensity at best. The \
roof is what the GPU allows at that intensity, not what the kernel reaches.";

/// How full an SM gets, and why not fuller.
pub(crate) fn occupancy(gpu: &GpuModel, occupancy: Occupancy) -> String {
    let limit = match occupancy.limit {
        Limit::Warps => "how many warps it holds",
        Limit::Blocks => "how many blocks it holds",
        Limit::Registers => "its registers",
        Limit::SharedMemory => "its shared memory",
    };
    let (major, minor) = gpu.sm.capability;
    let head = format!("occupancy on {} (compute capability {major}.{minor}):", gpu.name);
    if occupancy.blocks_per_sm == 0 {
        return format!("{head} not even one block fits an SM, because of {limit}");
    }
    format!(
        "{head} {} at a time on an SM, {} of {} warps ({:.0} %), limited by {limit}",
        counted(occupancy.blocks_per_sm as usize, "block"),
        occupancy.warps_per_sm,
        occupancy.most_warps,
        occupancy.percent(),
    )
}

#[cfg(test)]
mod tests {
    use exercise::Comparison;

    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_matter() {
        assert_eq!(
            (quantity(1.1), quantity(0.0), quantity(1234.56)),
            ("1.10".into(), "0.00".into(), "1235".into())
        );
    }

    #[test]
    fn a_wrong_element_is_named_as_the_learner_thinks_of_it() {
        let comparison = Comparison { wrong: 2, total: 12, first: Some((7, 1.5, 2.5)), pattern: None };
        let matrix = Wrong { buffer: "C", shape: [3, 4], comparison: comparison.clone() };
        assert_eq!(
            wrong(&matrix),
            "`C` at row 1, column 3 is 1.5, but must be 2.5; 2 of 12 elements are wrong"
        );
        let vector = Wrong { buffer: "c", shape: [1, 12], comparison };
        assert!(wrong(&vector).starts_with("`c[7]` is 1.5, but must be 2.5;"));
    }
}
