//! Sentences about predicted times.

use clock::{Cause, Flaw, Prediction, Remark};

use super::counted;
use crate::judge::Verdict;
use crate::judge::forecast::Outlook;
use crate::report::Explained;
use crate::trial::{Foretold, Trial};

/// How many remarks are worth reading at a time.
const REMARKS: usize = 3;

/// `predicted for an NVIDIA H200: 1.90x over the naive transpose; 2.54x needed; reference 3.20x`.
pub(crate) fn times(foretold: &Foretold, baseline: &str) -> String {
    let forecast = &foretold.forecast;
    format!(
        "predicted for {}, at the timed size: {:.4} ms, {:.2}x over {baseline}; {:.2}x needed; reference {:.2}x",
        foretold.gpu,
        forecast.times.student,
        forecast.speedup(),
        forecast.needed,
        forecast.reference_speedup(),
    )
}

/// What bounds a kernel, and where: `78 % of the time: the load/store unit is busy, most of it at line 21`.
pub(crate) fn bound(prediction: &Prediction) -> String {
    let shares = prediction.by_cause();
    let part = |(cause, share): &(Cause, f64)| {
        let line = prediction.worst_line(*cause);
        let place = line.map_or_else(String::new, |line| format!(", most at line {line}"));
        format!("{:.0} % {}{place}", 100.0 * share, self::cause(*cause))
    };
    let told: Vec<String> = shares.iter().take(2).filter(|(_, share)| *share > 0.1).map(part).collect();
    format!("its time goes to: {}", told.join("; "))
}

/// What the prediction is worth.
pub(crate) fn worth(foretold: &Foretold) -> String {
    let band = percent(foretold.forecast.band);
    match &foretold.check {
        Some(check) => format!(
            "A prediction, not a measurement: of {} kernels timed on such a GPU, half of the predicted speed-ups are within {:.0} % \
             and nine of ten within {:.0} %. Nearer than {band} % to the limit it does not decide.",
            check.kernels,
            100.0 * check.median_error,
            100.0 * check.most_error,
        ),
        None => format!(
            "A prediction from published figures, which nobody has compared with such a GPU. Nearer than {band} % to the limit it \
             does not decide."
        ),
    }
}

fn percent(band: f64) -> String {
    format!("{:.0}", 100.0 * band.exp_m1())
}

/// The verdict in a few words, with what it rests on.
pub(crate) fn verdict(trial: &Trial) -> String {
    let plain = super::verdict(trial.verdict);
    match (&trial.foretold, trial.verdict) {
        (Some(Ok(foretold)), Verdict::Passed | Verdict::TooSlow) if trial.timing.is_none() => {
            format!("{plain} (as predicted for {})", foretold.gpu)
        }
        (Some(Ok(foretold)), Verdict::Inconclusive) if trial.timing.is_none() => {
            format!("right, and too close to call (predicted for {})", foretold.gpu)
        }
        (_, Verdict::Inconclusive) => "inconclusive: the times are too noisy to tell".to_owned(),
        _ => plain.to_owned(),
    }
}

/// What the picture of a prediction shows.
pub(crate) fn why_heading(explained: &Explained<'_>) -> String {
    let checked =
        if explained.gpu.checked.is_some() { "" } else { ", by published figures that nobody has checked" };
    format!("where the time goes on {}, as predicted at {}{checked}", explained.gpu.name, explained.size)
}

/// Why no time is predicted.
pub(crate) fn not_predicted(why: &str) -> String {
    format!("its time is not predicted: {why}")
}

/// Why an exercise has no prediction.
pub(crate) fn no_speed(number: u8) -> String {
    format!("exercise {number:02} is judged on right values alone: no time is predicted")
}

/// A cause in a few words.
pub(crate) fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Issue => "issuing instructions",
        Cause::Unit => "waiting for a busy unit (integers, roots, doubles, matrices)",
        Cause::Dependency => "waiting for results of arithmetic, with too few warps to fill the gap",
        Cause::LoadStore => {
            "waiting for the load/store unit (conflicts, many lines a request, many requests)"
        }
        Cause::Latency => "waiting for loads on their way, with too few of them or too few warps",
        Cause::L2 => "waiting for L2's bandwidth",
        Cause::Dram => "waiting for the memory's bandwidth",
        Cause::Barrier => "waiting at barriers",
        Cause::Start => "jumps, and blocks that start",
        Cause::Idle => "SMs without a warp: too few blocks, or the last ones",
    }
}

/// A cause in a word or two, for pictures.
pub(crate) fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::Issue => "issue",
        Cause::Unit => "busy unit",
        Cause::Dependency => "dependency",
        Cause::LoadStore => "load/store unit",
        Cause::Latency => "latency",
        Cause::L2 => "L2",
        Cause::Dram => "memory",
        Cause::Barrier => "barrier",
        Cause::Start => "jumps, starts",
        Cause::Idle => "no warp",
    }
}

/// The worst remarks that the reference does not earn as much, one line each.
pub(crate) fn remarks(foretold: &Foretold) -> Vec<String> {
    let is_like_reference = |remark: &&Remark| {
        let same = foretold.reference.remarks.iter().find(|other| other.flaw == remark.flaw);
        same.is_some_and(|other| match remark.flaw {
            Flaw::FewLanes | Flaw::FewBlocks | Flaw::FewWarps => remark.amount >= 0.8 * other.amount,
            _ => remark.amount <= 1.25 * other.amount,
        })
    };
    let own = foretold.prediction.remarks.iter().filter(|remark| !is_like_reference(remark));
    own.take(REMARKS).map(remark).collect()
}

/// A remark in one line.
pub(crate) fn remark(remark: &Remark) -> String {
    let amount = remark.amount;
    let percent = 100.0 * amount;
    let text = match remark.flaw {
        Flaw::BankConflicts => {
            format!("bank conflicts: {amount:.1} turns in shared memory for each that is needed")
        }
        Flaw::Sectors => format!("memory moves {amount:.1} bytes for each that the warps ask for"),
        Flaw::LocalMemory => {
            format!(
                "each thread moves {amount:.0} bytes of local memory: an array that is indexed at run time lies there"
            )
        }
        Flaw::Spills => format!("the compiler spills {amount:.0} bytes for want of registers"),
        Flaw::Doubles => format!("{percent:.1} % of the instructions compute in double precision"),
        Flaw::Divisions => format!(
            "{percent:.1} % of the instructions are divisions or remainders in a loop, some 20 to 50 instructions each"
        ),
        Flaw::FewBlocks => {
            format!("the grid has {}, and the GPU more SMs", counted(amount as usize, "block"))
        }
        Flaw::FewWarps => {
            format!("an SM holds {}, too few to wait for one another", counted(amount as usize, "warp"))
        }
        Flaw::ConstantAddresses => {
            format!("lanes read constant memory at {amount:.1} addresses at once, one turn each")
        }
        Flaw::SharedAtomics => {
            format!("lanes add to the same word of shared memory, {amount:.0} turns each time")
        }
        Flaw::PastL1 => format!("{percent:.1} % of the instructions are loads past L1 (volatile?)"),
        Flaw::FewLanes => format!("in a loop {amount:.1} of 32 lanes are at work"),
    };
    match remark.line {
        Some(line) => format!("line {line}: {text}"),
        None => text,
    }
}

/// An outlook's name for programs.
pub(crate) fn outlook_name(outlook: Outlook) -> &'static str {
    match outlook {
        Outlook::Passed => "passed",
        Outlook::TooSlow => "too_slow",
        Outlook::TooClose => "too_close",
    }
}

/// Why nothing is predicted for a GPU that lacks what the exercise is about.
pub(crate) fn too_old(gpu: &str, capability: u32) -> String {
    format!(
        "the exercise needs compute capability {}.{}, which {gpu} has not",
        capability / 10,
        capability % 10
    )
}

/// Why nothing is judged where the reference is hardly faster than the baseline.
pub(crate) fn no_lead(gpu: &str, spread: f64) -> String {
    format!(
        "on {gpu} the reference would be only {spread:.2}x as fast as the baseline: there is nothing to judge by"
    )
}
