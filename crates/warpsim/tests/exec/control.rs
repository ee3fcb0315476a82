use super::support::{CONTROL, Run, by_hand};

#[test]
fn lanes_part_and_meet_in_nested_branches_and_loops() {
    let mut run = Run::new(CONTROL, "nested", 3, 75);
    let out = run.room(3 * 75);
    run.clean();
    let one = |i: i32| {
        1 + if i & 1 != 0 {
            let r = match i & 2 {
                0 => i + 1000,
                _ => i * 3 + if i & 4 != 0 { 100 } else { -7 },
            };
            r ^ 5
        } else if i % 3 == 0 {
            -i
        } else {
            let mut r = 0;
            for k in (0..i).filter(|k| k % 5 != 4) {
                r += k;
                if r > 60 {
                    break;
                }
            }
            r
        }
    };
    assert_eq!(run.ints(out), (0..3 * 75).map(|i| one(i % 75)).collect::<Vec<_>>());
}

#[test]
fn lanes_return_from_inside_a_loop() {
    let mut run = Run::new(CONTROL, "early_return", 2, 64);
    run.words((0..100).map(|i| i * 7 % 50));
    let out = run.words([-2; 100]);
    run.arg(100i32);
    run.clean();
    let steps = |start: i32| {
        let mut v = start as u32;
        for steps in 0..=200 {
            if v == 1 {
                return steps;
            }
            v = if v & 1 != 0 { 3 * v + 1 } else { v / 2 };
        }
        -1
    };
    assert_eq!(run.ints(out), (0..100).map(|i| steps(i * 7 % 50)).collect::<Vec<_>>());
}

#[test]
fn a_switch_falls_through() {
    let mut run = Run::new(CONTROL, "switched", 1, 64);
    let out = run.words(0..64);
    run.clean();
    let one = |i: i32| match i % 9 {
        0 => 1,
        1 | 2 => i + 5,
        3 => i * i,
        4 => i,
        5 => !i,
        7 => i << 3,
        _ => -i,
    };
    assert_eq!(run.ints(out), (0..64).map(one).collect::<Vec<_>>());
}

#[test]
fn a_jump_table_sends_each_lane_its_way() {
    let body = "shr.u32 %r1, %t, 2; and.b32 %r1, %r1, 3; mov.u32 %r2, 1;
        TABLE: .branchtargets A, B, C, A;
        brx.idx %r1, TABLE;
        A: add.u32 %r2, %r2, 10; bra DONE;
        B: add.u32 %r2, %r2, 20;
        C: add.u32 %r2, %r2, 30;
        DONE: mad.wide.u32 %rd1, %t, 4, %out; st.global.u32 [%rd1], %r2;";
    let mut run = Run::new(&by_hand(body), "k", 1, 40);
    let out = run.room(40);
    let report = run.clean();
    let expected: Vec<i32> = (0..40).map(|t| [11, 51, 31, 11][t / 4 % 4]).collect();
    assert_eq!(run.ints(out), expected);
    assert_eq!(report.counters.global_store_requests, 2, "all lanes meet again before the store");
}

#[test]
fn an_empty_kernel_runs() {
    let mut run = Run::new(CONTROL, "empty", 5, 1024);
    let report = run.clean();
    assert_eq!(report.counters.warp_instructions, 5 * 32);
}

#[test]
fn threads_are_numbered_with_x_first() {
    let mut run = Run::new(CONTROL, "coordinates", 1, 1);
    run.launch.grid = [2, 3, 2];
    run.launch.block = [5, 3, 3];
    let out = run.room(12 * 45);
    run.clean();
    let one = |i: i32| {
        let (block, thread) = (i / 45, i % 45);
        (thread % 32) | ((thread / 32) << 8) | ((thread / 15) << 16) | ((block / 2 % 3) << 24)
    };
    assert_eq!(run.ints(out), (0..12 * 45).map(one).collect::<Vec<_>>());
}

#[test]
fn a_grid_stride_loop_covers_everything_once() {
    let mut run = Run::new(CONTROL, "grid_stride", 3, 96);
    let x: Vec<u8> = (0..1001).flat_map(|i| (i as f32).to_le_bytes()).collect();
    run.bytes(x);
    let y = run.room(1001);
    run.arg(1001i32);
    run.clean();
    let expected: Vec<i32> = (0..1001).map(|i| (2.0 * i as f32 + 1.0).to_bits() as i32).collect();
    assert_eq!(run.ints(y), expected);
}

/// `@p bra NEXT; NEXT:` parts no lanes, and each goes on once.
#[test]
fn a_branch_to_the_next_instruction_does_nothing() {
    let body = "setp.lt.u32 %p1, %t, 7; mov.u32 %r1, 3;
        AGAIN: @%p1 bra NEXT; NEXT: red.global.add.u32 [%out], 1;
        sub.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra AGAIN;";
    let mut run = Run::new(&by_hand(body), "k", 1, 32);
    let out = run.words([0]);
    let report = run.clean();
    assert_eq!(run.ints(out), [96]);
    assert_eq!((report.counters.divergent_branches, report.counters.global_atomic_requests), (0, 3));
}
