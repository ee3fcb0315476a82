//! Events in, faults, counters and sentences out: everything but races.

mod support;

use support::{BUFFER_BYTES, Names, Trace, WARP, X, lines_of};
use warpsim::Severity::{Error, Warning};
use warpsim::Space::{Constant, Global, Shared};
use warpsim::observe::{Context, InstructionFacts, Monitors};
use warpsim::observer::{Arrival, BadAccess, Observer, Site, Waiting};
use warpsim::{BarrierProblem, Checks, Counters, FaultKind, Sink, Space, Touch};

fn bad(touch: Touch, lane: u32, address: u64, misaligned: bool) -> BadAccess {
    BadAccess { touch, space: Global, bytes: 4, lane, address, misaligned }
}

fn waiting(warp: u32, pc: u32, mask: u32, barrier: u32) -> Waiting {
    Waiting { at: Site { block: 0, warp, pc }, mask, barrier }
}

fn kinds(findings: &warpsim::observe::Findings) -> Vec<FaultKind> {
    findings.faults.iter().map(|fault| fault.kind).collect()
}

#[test]
fn traffic_is_counted_by_kind() {
    let mut trace = Trace::new(64);
    trace.read(Global, (0, WARP), 10, u64::from).read(Global, (0, 0xff), 11, |lane| 32 * u64::from(lane));
    trace.write_own(Global, (1, WARP), 12, |lane| 1000 + 2 * u64::from(lane));
    trace.access(Touch::Read, Shared, 16, (0, WARP), 13, |lane| u64::from(16 * lane), None).barrier(14);
    trace.read(Shared, (0, WARP), 15, |lane| u64::from(lane * 4)).barrier(14);
    trace.write_own(Shared, (0, WARP), 16, |lane| u64::from(lane * 32 % 1024 + lane / 32));
    trace.atomic(Global, (0, WARP), 17, |_| 5000).atomic(Shared, (0, 1), 18, |_| 2000);
    trace.access(Touch::Read, Constant, 4, (0, WARP), 19, |_| 0, None);
    let counters = trace.finish().counters;
    let expected = Counters {
        warp_instructions: 9,
        thread_instructions: 7 * 32 + 8 + 1,
        global_load_requests: 2,
        global_load_sectors: 4 + 8,
        global_load_bytes: 128 + 32,
        global_store_requests: 1,
        global_store_sectors: 8,
        global_store_bytes: 128,
        global_atomic_requests: 1,
        shared_atomic_requests: 1,
        constant_load_requests: 1,
        // 16 bytes a lane take four passes at least, and do; four words apart, four lanes share a bank.
        shared_load_requests: 2,
        shared_load_wavefronts: 4 + 4,
        shared_load_bank_conflicts: 3,
        shared_store_requests: 1,
        shared_store_wavefronts: 32,
        shared_store_bank_conflicts: 31,
        branches: 0,
        divergent_branches: 0,
        barriers: 4,
        fp32_flops: 2 * (7 * 32 + 8 + 1),
        fp64_instructions: 0,
    };
    assert_eq!(counters, expected);
}

#[test]
fn divergence_counts_branches_that_split() {
    let mut trace = Trace::new(32);
    for (active, taken) in [(WARP, WARP), (WARP, 0), (WARP, 1), (0xff, 0xff), (0xff, 0xf)] {
        let at = trace.at(0, 10);
        trace.monitors().branch(at, active, taken);
    }
    let counters = trace.finish().counters;
    assert_eq!((counters.branches, counters.divergent_branches), (5, 2));
}

#[test]
fn costs_are_given_by_line_and_add_up() {
    let mut trace = Trace::new(64);
    trace.read(Global, (0, WARP), 10, u64::from).read(Global, (1, WARP), 10, u64::from);
    trace.read(Global, (0, WARP), 11, |lane| u64::from(lane) * 8);
    let findings = trace.finish();
    let sectors: Vec<_> =
        findings.lines.iter().map(|line| (line.at.line, line.counters.global_load_sectors)).collect();
    assert_eq!(sectors, [(10, 8), (11, 32)]);
    let mut total = Counters::default();
    findings.lines.iter().for_each(|line| total += line.counters);
    assert_eq!(total, findings.counters);
}

#[test]
fn flops_and_double_precision_are_counted_per_lane_and_per_warp() {
    let instructions = vec![
        InstructionFacts { fp32_flops: 2, is_fp64: false, ..Default::default() },
        InstructionFacts { fp32_flops: 0, is_fp64: true, ..Default::default() },
    ];
    let context = Context { grid_dim: [1, 1, 1], block_dim: [32, 1, 1], instructions };
    let mut monitors = Monitors::new(&context, Checks { counters: true, ..Checks::NONE });
    for (pc, mask) in [(0, WARP), (0, 0xf), (1, 0xf)] {
        monitors.issue(Site { block: 0, warp: 0, pc }, mask);
    }
    let counters = monitors.finish(&Names).counters;
    assert_eq!((counters.fp32_flops, counters.fp64_instructions), (72, 1));
}

#[test]
fn checks_that_were_not_asked_for_say_nothing() {
    let mut trace = Trace::with_checks(64, Checks::NONE);
    trace.write_own(Shared, (0, WARP), 10, |_| 0).arrive(0, (0, 1), 11).bad_access(
        0,
        12,
        bad(Touch::Read, 0, 0, false),
    );
    let at = trace.at(0, 13);
    trace.monitors().poison(at, 1, Sink::Branch, None);
    let findings = trace.finish();
    // Bounds are always checked.
    assert_eq!(kinds(&findings), [FaultKind::OutOfBounds]);
    assert_eq!(findings.counters, Counters::default());
    assert_eq!(findings.lines, []);
}

#[test]
fn an_access_outside_names_the_buffer_and_how_far() {
    let mut trace = Trace::new(64);
    trace.bad_access(1, 10, bad(Touch::Write, 3, X + BUFFER_BYTES + 36, false));
    trace.bad_access(1, 10, bad(Touch::Write, 4, X + BUFFER_BYTES + 40, false));
    trace.bad_access(0, 11, bad(Touch::Read, 0, X - 8, false));
    let findings = trace.finish();
    assert_eq!(findings.faults.len(), 2);
    assert_eq!((findings.faults[0].count, findings.faults[0].party.thread), (2, [35, 0, 0]));
    assert_eq!(
        findings.faults[0].to_string(),
        "thread (35, 0, 0) of block (0, 0, 0) writes `x[262153]` on line 10, but `x` has 262144 elements. Only \
         indices inside `x` may get there: guard the access, or see what its guard lets through."
    );
    assert_eq!(
        findings.faults[1].to_string(),
        "thread (0, 0, 0) of block (0, 0, 0) reads `x[-2]` on line 11, 8 bytes before the start of `x`. The index is \
         negative there: guard it, or start further in."
    );
}

#[test]
fn misaligned_says_by_how_much() {
    let mut trace = Trace::new(64);
    trace.bad_access(0, 10, BadAccess { bytes: 16, ..bad(Touch::Read, 1, X + 20, true) });
    let findings = trace.finish();
    assert_eq!(kinds(&findings), [FaultKind::Misaligned]);
    assert_eq!(
        findings.faults[0].to_string(),
        "thread (1, 0, 0) of block (0, 0, 0) reads 16 bytes at once in `x` on line 10, at an address that is 4 past a \
         multiple of 16. An access of 16 bytes needs such a multiple: make the row length fit, or use narrower \
         accesses here."
    );
}

#[test]
fn an_uninitialized_value_is_reported_where_it_was_read() {
    let mut trace = Trace::new(64);
    let read = trace.at(0, 35);
    trace.monitors().unwritten(read, Shared, 0b11100, &std::array::from_fn(|lane| 4 * lane as u64));
    let at = trace.at(0, 40);
    for _ in 0..3 {
        trace.monitors().poison(at, 0b1100, Sink::Store, Some(35));
    }
    trace.monitors().poison(at, 1, Sink::Address, None);
    let findings = trace.finish();
    let found: Vec<_> = findings.faults.iter().map(|fault| (lines_of(fault), fault.count)).collect();
    assert_eq!(found, [((Error, 35, Some(40)), 6), ((Error, 40, None), 1)]);
    assert_eq!(findings.faults[0].space, Some(Shared));
    assert_eq!(
        findings.faults[0].to_string(),
        "thread (2, 0, 0) of block (0, 0, 0) reads `tile[2]` on line 35 where nothing was written, and the value is stored \
         to global memory on line 40. Have every element written first, by the threads at the edge too, and \
         `__syncthreads()` before reading."
    );
    assert_eq!(
        findings.faults[1].to_string(),
        "a variable that was never given a value becomes part of an address on line 40, in thread (0, 0, 0) of block \
         (0, 0, 0). Give it one where it is declared."
    );
}

#[test]
fn a_barrier_in_a_divergent_branch() {
    let mut trace = Trace::new(64);
    trace.arrive(0, (1, 0xffff), 29);
    // That the block then waits for ever is no second fault.
    trace.monitors().deadlock(0, &[waiting(0, 29, 0xffff, 0), waiting(1, 31, 0xffff, 1)]);
    let findings = trace.finish();
    assert_eq!(findings.faults.iter().map(lines_of).collect::<Vec<_>>(), [(Error, 29, None)]);
    assert_eq!(
        findings.faults[0].to_string(),
        "only 16 of 32 threads of a warp in block (0, 0, 0) reach the barrier on line 29 together; the others are \
         elsewhere in the code. Move `__syncthreads()` out of the condition, so that all threads of the block execute \
         it."
    );
}

/// `barrier.sync` (not `.aligned`) may be reached lane by lane, and returned or missing lanes don't count.
#[test]
fn whole_warps_are_those_alive() {
    let mut trace = Trace::new(40);
    let at = trace.at(0, 10);
    trace.monitors().barrier_arrive(at, Arrival { barrier: 0, mask: 0xff, alive: WARP, aligned: false });
    trace.monitors().barrier_arrive(at, Arrival { barrier: 0, mask: 0xff, alive: 0xff, aligned: true });
    trace.arrive(0, (1, 0xff), 10);
    assert_eq!(trace.faults(), []);
}

#[test]
fn returning_before_a_barrier_is_a_warning() {
    let mut trace = Trace::new(64);
    trace.exit((0, 0xff), 24).exit((1, WARP), 24).barrier(32).barrier(36);
    let findings = trace.finish();
    assert_eq!(
        findings.faults.iter().map(lines_of).collect::<Vec<_>>(),
        [(Warning, 32, Some(24)), (Warning, 36, Some(24))]
    );
    assert_eq!(
        findings.faults[0].to_string(),
        "40 threads of block (0, 0, 0) had already left the kernel on line 24 when the others met at the barrier on line 32. \
         They can't do their share before it: let all threads of the block reach `__syncthreads()`, and guard only the \
         work around it."
    );
}

#[test]
fn a_barrier_for_some_warps_is_not_for_those_that_returned() {
    let mut trace = Trace::new(96);
    trace.exit((0, WARP), 24).arrive(1, (1, WARP), 30);
    trace.complete(1, &[0, WARP, 0], &[0, WARP, 0]);
    assert_eq!(trace.faults(), []);
    // Nor for producers that have arrived, need not wait, and are done.
    let mut trace = Trace::new(64);
    trace.arrive(1, (0, WARP), 30).exit((0, WARP), 31).arrive(1, (1, WARP), 32);
    trace.complete(1, &[WARP, WARP], &[0, WARP]);
    assert_eq!(trace.faults(), []);
    // Nor does an exit in one block matter in the next.
    let mut trace = Trace::new(64);
    trace.barrier(10).exit((0, WARP), 11).exit((1, WARP), 11).next_block().barrier(10);
    assert_eq!(trace.faults(), []);
}

#[test]
fn deadlocks_name_both_barriers() {
    let mut trace = Trace::new(64);
    trace.monitors().deadlock(0, &[waiting(0, 20, WARP, 0), waiting(1, 30, WARP, 1)]);
    let findings = trace.finish();
    assert_eq!(findings.faults.iter().map(lines_of).collect::<Vec<_>>(), [(Error, 20, Some(30))]);
    assert_eq!(
        findings.faults[0].to_string(),
        "thread (0, 0, 0) of block (0, 0, 0) and others of its block wait at the barrier on line 20, while thread (32, 0, \
         0) waits at another on line 30: neither ever completes. Have all threads of the block meet at the same \
         `__syncthreads()`."
    );

    let mut trace = Trace::new(64);
    trace.monitors().deadlock(0, &[waiting(0, 20, WARP, 0)]);
    let findings = trace.finish();
    assert_eq!(findings.faults.iter().map(lines_of).collect::<Vec<_>>(), [(Error, 20, None)]);
    assert!(
        findings.faults[0]
            .to_string()
            .starts_with("32 threads of block (0, 0, 0) wait at the barrier on line 20")
    );
}

#[test]
fn warp_masks_must_name_those_that_are_there() {
    for problem in [BarrierProblem::CallerNotInMask, BarrierProblem::NamedLaneElsewhere] {
        let mut trace = Trace::new(64);
        let at = trace.at(1, 20);
        trace.monitors().bad_warp_sync(at, 0b10, problem);
        let findings = trace.finish();
        assert_eq!(kinds(&findings), [FaultKind::BarrierDivergence]);
        assert!(findings.faults[0].to_string().contains("thread (33, 0, 0)"));
    }
}

#[test]
fn barriers_that_pair_up_from_two_lines_are_told() {
    let told = |trace: Trace| trace.faults();
    // Each warp has a barrier of its own: suspicious.
    let mut trace = Trace::new(64);
    trace.arrive(0, (0, WARP), 10).arrive(0, (1, WARP), 20).complete(0, &[WARP; 2], &[WARP; 2]);
    assert_eq!(told(trace), [(Warning, 10, Some(20))]);
    // One warp has two: it is alone with the second.
    let mut trace = Trace::new(64);
    trace.arrive(0, (0, WARP), 10).arrive(0, (1, WARP), 20).complete(0, &[WARP; 2], &[WARP; 2]);
    trace.exit((1, WARP), 21).barrier(20);
    assert_eq!(told(trace), [(Error, 10, Some(20))]);
    // One warp leaves the loop sooner.
    let mut trace = Trace::new(64);
    trace.barrier(10).exit((1, WARP), 11).barrier(10);
    assert_eq!(told(trace), [(Error, 10, Some(11))]);
}

/// What a learner reads first: errors, causes before consequences, earlier blocks before later ones.
#[test]
fn faults_are_told_in_order() {
    let mut trace = Trace::new(64);
    trace.exit((0, 1), 5).barrier(6);
    let at = trace.at(0, 30);
    trace.monitors().poison(at, 1, Sink::Branch, None);
    trace.write_own(Shared, (0, WARP), 20, |_| 0);
    trace.bad_access(0, 11, bad(Touch::Read, 0, 0, false)).next_block();
    trace.bad_access(0, 10, bad(Touch::Read, 0, 0, false));
    let found: Vec<_> = trace.finish().faults.iter().map(|fault| (fault.severity, fault.party.pc)).collect();
    assert_eq!(found, [(Error, 11), (Error, 10), (Error, 20), (Error, 30), (Warning, 6)]);
}

#[test]
fn merging_equals_observing_in_one() {
    let play = |trace: &mut Trace, block: u64| {
        trace.read(Global, (0, WARP), 10, |lane| u64::from(lane) + 8 * block).barrier(11);
        trace.write_own(Shared, (0, WARP), 12, |_| 0).bad_access(0, 13, bad(Touch::Read, 5, 0, false));
        let at = trace.at(1, 14);
        trace.monitors().poison(at, 1, Sink::Branch, Some(10));
        trace.monitors().branch(at, WARP, 1);
        trace.arrive(0, (1, 3), 15);
    };
    let mut one = Trace::new(64);
    play(&mut one, 0);
    one.next_block();
    play(&mut one, 1);

    let mut first = Trace::new(64);
    play(&mut first, 0);
    let mut second = Trace::new(64);
    second.next_block();
    play(&mut second, 1);
    let mut merged = first.into_monitors();
    merged.merge(second.into_monitors());

    let (one, merged) = (one.finish(), merged.finish(&Names));
    assert_eq!(one, merged);
    assert_eq!(one.faults.iter().map(|fault| fault.count).collect::<Vec<_>>(), [2; 4]);
    assert_eq!(one.faults[0].party.block, [0, 0, 0]);
}

#[test]
fn indices_follow_the_dimensions() {
    let context = Context { grid_dim: [3, 4, 5], block_dim: [8, 4, 2], instructions: vec![] };
    assert_eq!(context.thread_index(8 * 4 + 8 * 3 + 7), [7, 3, 1]);
    assert_eq!(context.block_index(3 * 4 * 2 + 3 + 2), [2, 1, 2]);
}

/// Lines without a name for them, and spaces without buffers, still make sentences.
#[test]
fn what_is_not_known_is_left_out() {
    struct Nothing;
    impl warpsim::observe::Resolver for Nothing {
        fn line(&self, _: u32) -> Option<warpsim::SourceLine> {
            None
        }
        fn nearest(&self, _: Space, _: u64) -> Option<warpsim::observe::Nearest> {
            None
        }
    }
    let mut trace = Trace::new(64);
    trace.bad_access(0, 11, bad(Touch::Read, 0, 0, false)).write_own(Shared, (0, 3), 12, |_| 1);
    let findings = trace.into_monitors().finish(&Nothing);
    let sentences: Vec<String> = findings.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        sentences,
        [
            "thread (0, 0, 0) of block (0, 0, 0) reads 4 bytes through a null pointer. Check the pointer and the index.",
            "threads (0, 0, 0) and (1, 0, 0) of block (0, 0, 0) write shared memory with one and the same \
             instruction, and which value stays is not defined. Let only one thread write, or use an atomic."
        ]
    );
    assert_eq!(findings.lines, []);
    assert_eq!(findings.counters.warp_instructions, 1);
}
