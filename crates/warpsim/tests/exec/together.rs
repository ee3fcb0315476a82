use warpsim::{Detail, FaultKind, Outcome};

use super::support::{Run, TOGETHER, by_hand, errors};

#[test]
fn atomics_of_every_kind_lose_nothing() {
    let mut run = Run::new(TOGETHER, "atomics", 4, 96);
    let i = run.words([0; 5]);
    let l = run.bytes(vec![0; 24]);
    let f = run.words([0]);
    let u = run.words([0, 0, 0, -1, 0]);
    run.clean();
    let sum = 4 * (0..96).sum::<i32>();
    assert_eq!(run.ints(i), [sum, -95, 95, 0, -4 * 96]);
    let longs: Vec<u64> =
        run.device.read(l).chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(longs, [(4 * 96) << 33, 95 << 35, 7]);
    assert_eq!(run.ints(f), [(192.0f32).to_bits() as i32]);
    // `atomicInc` counts 0 to 9, `atomicDec` 0, 9, 8, ... 1.
    let expected = [4 * 96 % 10, 10 - 4 * 96 % 10, -1, !0xff, 42];
    assert_eq!(run.ints(u), expected);
}

#[test]
fn one_atomic_reaches_shared_and_global_memory() {
    let mut run = Run::new(TOGETHER, "generic_atomics", 3, 64);
    let global = run.words([0]);
    let out = run.room(3);
    run.clean();
    assert_eq!((run.ints(global), run.ints(out)), (vec![96], vec![32; 3]));
}

#[test]
fn locks_between_lanes_and_warps_are_passed_on() {
    for kernel in ["lock_with_flag", "lock_then_go"] {
        let mut run = Run::new(TOGETHER, kernel, 2, 96);
        let counter = run.words([0]);
        let report = run.run();
        assert_eq!(report.outcome, Outcome::Completed, "{kernel}: {:?}", report.faults);
        assert_eq!(run.ints(counter), [192], "{kernel}");
    }
}

#[test]
fn two_groups_of_lanes_spin_at_once() {
    let mut run = Run::new(TOGETHER, "two_spins", 1, 64);
    let counter = run.words([0; 2]);
    run.launch.fuel = 1 << 24;
    run.clean();
    assert_eq!(run.ints(counter), [32; 2]);
}

#[test]
fn lanes_that_work_longer_are_waited_for() {
    let mut run = Run::new(TOGETHER, "uneven", 1, 64);
    let counter = run.words([0]);
    let out = run.room(1);
    run.clean();
    assert_eq!((run.ints(out), run.ints(counter)), (vec![2 * 5000 + 62 * 3], vec![1]));

    let mut run = Run::new(TOGETHER, "late", 1, 64);
    run.words([1]);
    let out = run.room(64);
    let report = run.clean();
    let sum = |t: i32| if t % 32 == 5 { 5000 } else { 3 };
    assert_eq!(run.ints(out), (0..64).map(|t| sum(63 - t) + 16 + 10).collect::<Vec<_>>());
    assert_eq!(report.counters.barriers, 4, "a warp that came in parts arrived once at each barrier");
}

#[test]
fn lanes_meet_while_others_of_their_warp_spin() {
    let mut run = Run::new(TOGETHER, "meet_while_others_spin", 1, 32);
    let out = run.room(32);
    run.launch.fuel = 1 << 24;
    let report = run.run();
    assert_eq!(report.outcome, Outcome::Completed, "{:?}", report.faults);
    assert_eq!(run.ints(out), (0..32).map(|t| [1, 5, 2][t.min(2)]).collect::<Vec<_>>());
}

#[test]
fn the_last_block_sees_what_all_others_wrote() {
    let mut run = Run::new(TOGETHER, "last_block", 9, 64);
    run.words((0..9 * 64).map(|i| i % 17));
    run.room(9);
    let out = run.room(1);
    run.clean();
    assert_eq!(run.ints(out), [(0..9 * 64).map(|i| i % 17).sum::<i32>()]);
}

#[test]
fn barriers_reduce() {
    let mut run = Run::new(TOGETHER, "reductions", 2, 70);
    let out = run.room(140);
    run.clean();
    assert_eq!(run.ints(out), [24 + 2000; 140]);
    let mut run = Run::new(TOGETHER, "reductions", 1, 40);
    let out = run.room(40);
    run.clean();
    assert_eq!(run.ints(out), [14 + 1000; 40]);
}

#[test]
fn one_warp_makes_what_another_takes() {
    let mut run = Run::new(TOGETHER, "pipeline", 1, 64);
    run.words(0..128);
    let out = run.room(128);
    run.clean();
    assert_eq!(run.ints(out), (0..128).map(|i| i / 32 * 32 + 31 - i % 32 + 1).collect::<Vec<_>>());
}

#[test]
fn a_warp_waits_for_a_flag_of_another() {
    let mut run = Run::new(TOGETHER, "between_warps", 1, 64);
    let out = run.room(1);
    let report = run.run();
    assert_eq!((report.outcome, run.ints(out)), (Outcome::Completed, vec![77]));
}

#[test]
fn a_block_that_waits_for_a_later_one_is_told_why() {
    let mut run = Run::new(TOGETHER, "waits_for_next_block", 2, 1);
    run.words([0]);
    run.launch.fuel = 100_000;
    let report = run.run();
    assert_eq!(report.outcome, Outcome::Timeout);
    let timeout = report.faults.iter().find(|f| f.kind == FaultKind::Timeout).expect("a timeout");
    assert!(matches!(timeout.detail, Detail::Timeout { waits_for_block: true, .. }));
    assert!(timeout.party.at.is_some());
}

#[test]
fn warp_level_functions_give_what_the_manual_says() {
    let mut run = Run::new(TOGETHER, "shuffles", 1, 32);
    let out = run.room(16 * 32);
    run.clean();
    let all = run.ints(out);
    let bits = |p: &dyn Fn(i32) -> bool| (0..32).filter(|&t| p(t)).fold(0, |m, t| m | 1i32 << t);
    for t in 0..32 {
        let up = |d: i32, w: i32| if t % w >= d { t - d } else { t };
        let down = |d: i32, w: i32| if t % w + d < w { t + d } else { t };
        let expected = [
            t / 8 * 8 + 3,
            t / 16 * 16 + (t + 1) % 16,
            up(3, 8),
            up(1, 32),
            down(5, 16),
            t ^ 9,
            // Beyond the own segment of 8 lanes, unless it is an earlier one.
            if (t ^ 12) / 8 <= t / 8 { t ^ 12 } else { t },
            bits(&|t| t % 3 == 0),
            1 + 4,
            bits(&|o| o / 5 == t / 5),
            -1 + 1,
            0,
            (0..32).sum::<i32>() - 9000,
            if t & 4 != 0 { 0xf0f0_f0f0u32 as i32 } else { 0 },
            if t & 4 != 0 { 0xf0f0_f0f0u32 as i32 } else { 0 },
            if t < 20 { 0xaaaaa } else { 12 },
        ];
        assert_eq!(all[16 * t as usize..16 * t as usize + 16], expected, "lane {t}");
    }
}

#[test]
fn a_value_from_an_inactive_lane_is_no_value() {
    let mut run = Run::new(TOGETHER, "from_inactive", 1, 32);
    run.room(32);
    let report = run.run();
    assert_eq!(errors(&report), [FaultKind::UninitializedRead]);
    assert_eq!(report.faults[0].count, 8);
}

#[test]
fn elect_chooses_one_lane() {
    let body = "mov.u32 %r1, 0; elect.sync %r2|%p1, 0xffffffff; @%p1 mov.u32 %r1, 100; add.u32 %r1, %r1, %r2;
        mad.wide.u32 %rd1, %t, 4, %out; st.global.u32 [%rd1], %r1; ret;";
    let mut run = Run::new(&by_hand(body).replace("sm_80", "sm_90"), "k", 1, 32);
    let out = run.room(32);
    run.clean();
    assert_eq!(run.ints(out), (0..32).map(|t| if t == 0 { 100 } else { 0 }).collect::<Vec<_>>());
}

#[test]
fn blocks_that_overlap_are_as_if_in_order_and_told() {
    let mut run = Run::new(TOGETHER, "overlap", 20, 64);
    let out = run.words([0; 64]);
    let sum = run.words([0; 64]);
    let report = run.run();
    assert!(errors(&report).contains(&FaultKind::Race), "{:?}", report.faults);
    assert_eq!(run.ints(sum), [(1..=20).sum::<i32>(); 64]);
    assert_eq!(
        run.ints(out)[..40],
        (0..40).map(|t| 1900 + if t < 24 { t + 40 } else { t }).collect::<Vec<_>>()
    );
}

/// `barrier.red` without `.aligned`: lanes of a warp come from different places, and get the block's result there.
#[test]
fn reductions_at_barriers_need_no_whole_warps() {
    let body = "and.b32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p3, %t, 64; mad.wide.u32 %rd1, %t, 4, %out;
        @%p1 bra OTHER;
        barrier.red.popc.u32 %r2, 0, %p3; bra DONE;
        OTHER: barrier.red.popc.u32 %r2, 0, !%p3; add.u32 %r2, %r2, 1000;
        DONE: barrier.red.and.pred %p4, 1, %p3; barrier.red.or.pred %p5, 2, %p1;
        selp.u32 %r3, 10000, 0, %p4; add.u32 %r2, %r2, %r3; selp.u32 %r3, 20000, 0, %p5; add.u32 %r2, %r2, %r3;
        st.global.u32 [%rd1], %r2;";
    let mut run = Run::new(&by_hand(body), "k", 1, 96);
    let out = run.room(96);
    run.clean();
    // Of 72 threads 48 are below 64; of the 24 others 8 are not.
    let expected: Vec<i32> = (0..96).map(|t| 20_000 + 48 + 8 + if t % 4 == 0 { 1000 } else { 0 }).collect();
    assert_eq!(run.ints(out), expected);
}

/// `bar.red` with a number of threads: only those warps vote.
#[test]
fn a_counted_reduction_is_of_some_warps() {
    let body = "shr.u32 %r1, %t, 5; setp.eq.u32 %p1, %r1, 1; @%p1 bra DONE;
        setp.ge.u32 %p2, %t, 70; barrier.red.popc.aligned.u32 %r2, 3, 64, %p2;
        mad.wide.u32 %rd1, %t, 4, %out; st.global.u32 [%rd1], %r2; DONE: ret;";
    let mut run = Run::new(&by_hand(body), "k", 1, 96);
    let out = run.words([-1; 96]);
    run.clean();
    assert_eq!(run.ints(out), (0..96).map(|t| if t / 32 == 1 { -1 } else { 26 }).collect::<Vec<_>>());
}
