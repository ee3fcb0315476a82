use exercise::SplitMix64;

use super::*;

const NO_FLOOR: Floor = Floor { memory: 0.0, arithmetic: 0.0 };
const EMPTY: &[f64] = &[0.002, 0.0021, 0.0019];
const GOAL: Goal = Goal::Position(0.8);

/// Rounds with these true times, each blurred by up to `noise`, and a clock that drifts alike for all three.
fn rounds(count: usize, [b, r, s]: [f64; 3], noise: f64, seed: u64) -> Vec<Round> {
    let mut random = SplitMix64::new(seed, 0);
    let mut blur = |time: f64| {
        let unit = (random.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        time * (1.0 + noise * unit)
    };
    (0..count).map(|_| Round { baseline: blur(b), reference: blur(r), student: blur(s) }).collect()
}

fn decide(times: [f64; 3], noise: f64) -> Decision {
    judge_timing(GOAL, &rounds(30, times, noise, 1), EMPTY, NO_FLOOR, 1).decision
}

#[test]
fn as_fast_as_the_reference_passes_and_as_slow_as_the_baseline_fails() {
    assert_eq!(decide([3.2, 1.0, 1.0], 0.02), Decision::Passed);
    assert_eq!(decide([3.2, 1.0, 0.7], 0.02), Decision::Passed);
    assert_eq!(decide([3.2, 1.0, 3.2], 0.02), Decision::TooSlow);
    assert_eq!(decide([3.2, 1.0, 5.0], 0.02), Decision::TooSlow);
}

#[test]
fn the_speedup_needed_is_the_references_to_the_power_of_the_goal() {
    let timing = judge_timing(GOAL, &rounds(31, [4.0, 1.0, 2.0], 0.0, 1), EMPTY, NO_FLOOR, 1);
    assert!((timing.needed - 4.0_f64.powf(0.8)).abs() < 1e-12);
    assert!((timing.position - 0.5).abs() < 1e-12);
    assert!((timing.speedup() - 2.0).abs() < 1e-12 && (timing.reference_speedup() - 4.0).abs() < 1e-12);
}

#[test]
fn a_kernel_right_at_the_goal_is_undecided_until_the_noise_is_gone() {
    let at_goal = 4.0 / 4.0_f64.powf(0.8);
    assert_eq!(decide([4.0, 1.0, at_goal], 0.05), Decision::Undecided);
    assert_eq!(decide([4.0, 1.0, at_goal * 0.999], 0.0), Decision::Passed);
    assert_eq!(decide([4.0, 1.0, at_goal * 1.001], 0.0), Decision::TooSlow);
}

#[test]
fn a_few_wild_rounds_do_not_change_the_verdict() {
    let mut noisy = rounds(30, [3.2, 1.0, 1.05], 0.02, 3);
    for round in noisy.iter_mut().step_by(6) {
        round.student *= 20.0;
    }
    assert_eq!(judge_timing(GOAL, &noisy, EMPTY, NO_FLOOR, 1).decision, Decision::Passed);
}

#[test]
fn an_honest_verdict_is_stable_over_many_runs() {
    for seed in 0..20 {
        let good = judge_timing(GOAL, &rounds(30, [2.0, 1.0, 1.02], 0.03, seed), EMPTY, NO_FLOOR, seed);
        let bad = judge_timing(GOAL, &rounds(30, [2.0, 1.0, 1.5], 0.03, seed), EMPTY, NO_FLOOR, seed);
        assert_eq!((good.decision, bad.decision), (Decision::Passed, Decision::TooSlow), "seed {seed}");
    }
}

#[test]
fn staying_within_a_factor_of_the_baseline_needs_no_spread() {
    let within = |student| {
        judge_timing(Goal::Within(1.1), &rounds(30, [1.0, 1.0, student], 0.01, 1), EMPTY, NO_FLOOR, 1)
            .decision
    };
    assert_eq!(within(1.05), Decision::Passed);
    assert_eq!(within(1.2), Decision::TooSlow);
}

#[test]
fn what_cannot_be_measured_is_never_a_fail() {
    assert!(matches!(decide([1.2, 1.0, 5.0], 0.0), Decision::NotMeasurable(Obstacle::Spread(_))));
    assert!(matches!(decide([0.08, 0.02, 0.03], 0.0), Decision::NotMeasurable(Obstacle::Short(_))));
    let unknown = judge_timing(GOAL, &rounds(30, [3.2, 1.0, 1.0], 0.0, 1), &[], NO_FLOOR, 1).decision;
    assert!(matches!(unknown, Decision::NotMeasurable(Obstacle::Short(_))));
    let mut drifting = rounds(30, [3.2, 1.0, 1.0], 0.0, 1);
    drifting[15..].iter_mut().for_each(|round| round.reference *= 1.05);
    let decision = judge_timing(GOAL, &drifting, EMPTY, NO_FLOOR, 1).decision;
    assert!(
        matches!(decision, Decision::NotMeasurable(Obstacle::Drift(drift)) if (drift - 0.05).abs() < 1e-9)
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(decide([3.2, 1.0, bad], 0.0), Decision::NotMeasurable(Obstacle::BadTime));
    }
    assert_eq!(
        judge_timing(GOAL, &[], EMPTY, NO_FLOOR, 1).decision,
        Decision::NotMeasurable(Obstacle::BadTime)
    );
}

#[test]
fn faster_than_the_hardware_is_not_believed() {
    let fast = rounds(30, [3.2, 1.0, 0.1], 0.0, 1);
    let decide = |floor| judge_timing(GOAL, &fast, EMPTY, floor, 1).decision;
    assert_eq!(decide(Floor { memory: 0.2, arithmetic: 0.0 }), Decision::NotBelievable);
    assert_eq!(decide(Floor { memory: 0.0, arithmetic: 0.2 }), Decision::NotBelievable);
    assert_eq!(decide(Floor { memory: 0.05, arithmetic: 0.05 }), Decision::Passed);
}
