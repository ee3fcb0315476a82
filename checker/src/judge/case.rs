//! One case: did the kernel compute what it should, and only that?

use exercise::{Arg, Comparison, Expected, Instance, Role, Size, compare};

use crate::engine::{Again, Contents, Observation, Outcome};
use crate::finding::Finding;

/// How one case went.
#[derive(Clone, Debug)]
pub(crate) struct CaseJudgement {
    /// The problem's dimensions.
    pub(crate) size: Size,
    pub(crate) verdict: CaseVerdict,
    /// What the run found, warnings included.
    pub(crate) findings: Vec<Finding>,
    /// The first output that is wrong.
    pub(crate) wrong: Option<Wrong>,
    /// What the kernel printed.
    pub(crate) printed: String,
}

impl CaseJudgement {
    /// A case that was left out.
    pub(crate) fn not_run(size: Size) -> CaseJudgement {
        CaseJudgement {
            size,
            verdict: CaseVerdict::NotRun,
            findings: Vec::new(),
            wrong: None,
            printed: String::new(),
        }
    }
}

/// The verdict on one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaseVerdict {
    Right,
    Faults,
    Timeout,
    WrongValues,
    /// An earlier case ran for too long, so this one was left out.
    NotRun,
}

impl CaseVerdict {
    /// Its name for programs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CaseVerdict::Right => "right",
            CaseVerdict::Faults => "faults",
            CaseVerdict::Timeout => "timeout",
            CaseVerdict::WrongValues => "wrong_values",
            CaseVerdict::NotRun => "not_run",
        }
    }
}

/// A wrong output.
#[derive(Clone, Debug)]
pub(crate) struct Wrong {
    /// The parameter's name.
    pub(crate) buffer: &'static str,
    /// Rows and columns of the output.
    pub(crate) shape: [usize; 2],
    pub(crate) comparison: Comparison,
}

/// Judges one run: faults first, then what was done to the inputs, then values. A kernel that is right once must be
/// right again when it is launched a second time.
pub(crate) fn judge_case(size: Size, instance: &Instance, observation: Observation) -> CaseJudgement {
    let mut observation = observation;
    let again = observation.again.take();
    let first = judge_launch(size, instance, observation);
    let Some(Again { variables, observation }) = again.filter(|_| first.verdict == CaseVerdict::Right) else {
        return first;
    };
    let mut second = judge_launch(size, instance, *observation);
    if second.verdict == CaseVerdict::Right {
        return first;
    }
    second.findings.insert(0, second_launch(second.verdict, &variables));
    CaseJudgement { verdict: CaseVerdict::Faults, ..second }
}

/// A fault for a kernel that its own first launch has spoilt.
fn second_launch(verdict: CaseVerdict, variables: &[String]) -> Finding {
    let result = match verdict {
        CaseVerdict::Timeout => "does not finish",
        CaseVerdict::Faults => "is at fault",
        CaseVerdict::WrongValues | CaseVerdict::Right | CaseVerdict::NotRun => "gives wrong values",
    };
    let named: Vec<String> = variables.iter().map(|name| format!("`{name}`")).collect();
    let named = if named.is_empty() { "its variables".to_owned() } else { named.join(", ") };
    Finding {
        kind: "second_launch",
        is_error: true,
        message: format!(
            "the first launch is right, but launched again on the same inputs the kernel {result}: it finds what the \
             first launch left in {named}; put that back before the kernel ends"
        ),
        space: Some("global"),
        site: None,
        other: None,
        count: 1,
    }
}

fn judge_launch(size: Size, instance: &Instance, observation: Observation) -> CaseJudgement {
    let mut findings = observation.findings;
    findings.extend(modified_inputs(instance, &observation.buffers));
    let wrong = instance.expected.iter().find_map(|expected| wrong(instance, expected, &observation.buffers));
    let verdict = if observation.outcome == Outcome::Timeout {
        CaseVerdict::Timeout
    } else if observation.outcome == Outcome::Aborted || findings.iter().any(|finding| finding.is_error) {
        CaseVerdict::Faults
    } else if wrong.is_some() {
        CaseVerdict::WrongValues
    } else {
        CaseVerdict::Right
    };
    CaseJudgement { size, verdict, findings, wrong, printed: observation.printed }
}

/// A fault for each input that no longer holds what it held.
fn modified_inputs<'a>(
    instance: &'a Instance,
    after: &'a [Option<Contents>],
) -> impl Iterator<Item = Finding> + 'a {
    instance.args.iter().zip(after).filter_map(|(arg, after)| {
        let (Arg::Buffer(buffer), Some(after)) = (arg, after) else { return None };
        let before = buffer.data.as_ref().filter(|_| buffer.role == Role::Input)?;
        let after = floats(&after.bytes);
        let changed = |(old, new): (&f32, &f32)| old.to_bits() != new.to_bits();
        let count = before.iter().zip(&after).filter(|pair| changed(*pair)).count();
        let first = before.iter().zip(&after).position(changed)?;
        Some(Finding {
            kind: "input_modified",
            is_error: true,
            message: format!(
                "the kernel wrote to its input `{}`: element {first} was {} and is now {}; only the outputs may be written",
                buffer.name, before[first], after[first]
            ),
            space: Some("global"),
            site: None,
            other: None,
            count: count as u64,
        })
    })
}

fn wrong(instance: &Instance, expected: &Expected, after: &[Option<Contents>]) -> Option<Wrong> {
    let Some(Arg::Buffer(buffer)) = instance.args.get(expected.arg) else { return None };
    let contents = after.get(expected.arg)?.as_ref()?;
    let written: Vec<bool> =
        contents.written.chunks(4).map(|element| element.iter().all(|byte| *byte)).collect();
    let comparison = compare(expected, &floats(&contents.bytes), &written);
    (comparison.wrong > 0).then_some(Wrong { buffer: buffer.name, shape: expected.shape, comparison })
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (elements, _) = bytes.as_chunks::<4>();
    elements.iter().map(|element| f32::from_le_bytes(*element)).collect()
}

#[cfg(test)]
mod tests {
    use exercise::{Buffer, Scalar};

    use super::*;

    fn instance() -> Instance {
        let buffer = |name, data, role| Arg::Buffer(Buffer { name, len: 2, shape: [1, 2], data, role });
        Instance {
            args: vec![
                buffer("a", Some(vec![1.0, 2.0]), Role::Input),
                buffer("c", None, Role::Output),
                Arg::Scalar(Scalar::Int(2)),
            ],
            expected: vec![Expected {
                arg: 1,
                values: vec![2.0, 4.0],
                tolerance: vec![1e-6; 2],
                shape: [1, 2],
            }],
        }
    }

    fn contents(values: [f32; 2], written: bool) -> Option<Contents> {
        Some(Contents {
            bytes: values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            written: vec![written; 8],
        })
    }

    fn observation(a: [f32; 2], c: [f32; 2]) -> Observation {
        Observation::of_buffers(vec![contents(a, true), contents(c, true), None])
    }

    fn fault() -> Finding {
        Finding {
            kind: "race",
            is_error: true,
            message: String::new(),
            space: None,
            site: None,
            other: None,
            count: 1,
        }
    }

    #[test]
    fn the_right_values_are_right() {
        let judged = judge_case([2, 1, 1], &instance(), observation([1.0, 2.0], [2.0, 4.0]));
        assert_eq!(judged.verdict, CaseVerdict::Right);
        assert!(judged.wrong.is_none() && judged.findings.is_empty());
    }

    #[test]
    fn wrong_values_say_where() {
        let judged = judge_case([2, 1, 1], &instance(), observation([1.0, 2.0], [2.0, 5.0]));
        assert_eq!(judged.verdict, CaseVerdict::WrongValues);
        let wrong = judged.wrong.expect("something is wrong");
        assert_eq!((wrong.buffer, wrong.comparison.first), ("c", Some((1, 5.0, 4.0))));
    }

    #[test]
    fn an_output_that_holds_the_answer_but_was_never_written_is_wrong() {
        let mut unwritten = observation([1.0, 2.0], [2.0, 4.0]);
        unwritten.buffers[1] = contents([2.0, 4.0], false);
        assert_eq!(judge_case([2, 1, 1], &instance(), unwritten).verdict, CaseVerdict::WrongValues);
    }

    #[test]
    fn a_second_launch_must_be_right_too() {
        let judge = |first: [f32; 2], second: Observation| {
            let again = Again { variables: vec!["done".into()], observation: Box::new(second) };
            let both = Observation { again: Some(again), ..observation([1.0, 2.0], first) };
            judge_case([2, 1, 1], &instance(), both)
        };
        let right = observation([1.0, 2.0], [2.0, 4.0]);
        assert_eq!(judge([2.0, 4.0], right.clone()).verdict, CaseVerdict::Right);
        let stale = judge([2.0, 4.0], observation([1.0, 2.0], [0.0, 0.0]));
        assert_eq!((stale.verdict, stale.findings[0].kind), (CaseVerdict::Faults, "second_launch"));
        assert!(stale.findings[0].message.contains("in `done`"), "{}", stale.findings[0].message);
        let hung = Observation { outcome: Outcome::Timeout, ..right.clone() };
        assert!(judge([2.0, 4.0], hung).findings[0].message.contains("does not finish"));
        // What is wrong at once is told as such.
        let wrong = judge([2.0, 5.0], right);
        assert_eq!((wrong.verdict, wrong.findings.len()), (CaseVerdict::WrongValues, 0));
    }

    #[test]
    fn a_changed_input_is_a_fault_even_with_the_right_answer() {
        let judged = judge_case([2, 1, 1], &instance(), observation([1.0, 7.0], [2.0, 4.0]));
        assert_eq!(judged.verdict, CaseVerdict::Faults);
        assert!(judged.findings[0].message.contains("input `a`: element 1 was 2 and is now 7"));
    }

    #[test]
    fn errors_come_before_values_and_warnings_do_not_count() {
        let mut both = observation([1.0, 2.0], [0.0, 0.0]);
        both.findings.push(fault());
        assert_eq!(judge_case([2, 1, 1], &instance(), both).verdict, CaseVerdict::Faults);
        let mut warned = observation([1.0, 2.0], [2.0, 4.0]);
        warned.findings.push(Finding { is_error: false, ..fault() });
        assert_eq!(judge_case([2, 1, 1], &instance(), warned).verdict, CaseVerdict::Right);
    }

    #[test]
    fn a_run_that_was_cut_short_is_never_right() {
        for (outcome, verdict) in
            [(Outcome::Timeout, CaseVerdict::Timeout), (Outcome::Aborted, CaseVerdict::Faults)]
        {
            let cut = Observation { outcome, ..observation([1.0, 2.0], [2.0, 4.0]) };
            assert_eq!(judge_case([2, 1, 1], &instance(), cut).verdict, verdict);
        }
    }
}
