//! `cp.async`: groups, zero-fill, and what is read before its group was waited for.

use warpsim::FaultKind;

use super::support::{Run, by_hand, errors};

/// Each thread's 16 bytes of `stage`, and where it stores.
const SETUP: &str = ".shared .align 16 .b8 stage[4096];
    shl.b32 %r1, %t, 4; mov.u32 %r2, stage; add.u32 %r1, %r1, %r2; mad.wide.u32 %rd1, %t, 16, %out;
    mad.wide.u32 %rd2, %t, 4, %out;\n";

#[test]
fn groups_complete_in_order() {
    // Three groups of 512 bytes; after each wait only what it waited for is read.
    let body = format!(
        "{SETUP}cp.async.cg.shared.global [%r1], [%rd1], 16; cp.async.commit_group;
        cp.async.cg.shared.global [%r1+512], [%rd1+512], 16; cp.async.commit_group;
        cp.async.cg.shared.global [%r1+1024], [%rd1+1024], 16; cp.async.commit_group;
        cp.async.wait_group 2; ld.shared.u32 %r3, [%r1+4];
        cp.async.wait_group 1; ld.shared.u32 %r4, [%r1+516];
        cp.async.wait_group 0; ld.shared.u32 %r5, [%r1+1028];
        add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; st.global.u32 [%rd2+1536], %r3;"
    );
    let mut run = Run::new(&by_hand(&body), "k", 1, 32);
    let out = run.words((0..384).chain([0; 32]));
    let report = run.clean();
    let expected: Vec<i32> = (0..32).map(|t| 3 * (4 * t + 1) + 128 + 256).collect();
    assert_eq!(run.ints(out)[384..], expected);
    assert_eq!((report.counters.global_load_requests, report.counters.shared_store_requests), (3, 3));

    // One group too many is still on its way.
    let early = body.replace("cp.async.wait_group 1;", "cp.async.wait_group 2;");
    let mut run = Run::new(&by_hand(&early), "k", 1, 32);
    run.words((0..384).chain([0; 32]));
    assert_eq!(errors(&run.run()), [FaultKind::CopyNotAwaited]);
}

#[test]
fn what_was_not_committed_is_waited_for_by_wait_all_only() {
    let body = |wait: &str| {
        let body = format!(
            "{SETUP}cp.async.ca.shared.global [%r1], [%rd2], 4; {wait} ld.shared.u32 %r3, [%r1];
            st.global.u32 [%rd2+128], %r3;"
        );
        let mut run = Run::new(&by_hand(&body), "k", 1, 32);
        let out = run.words((0..32).chain([-1; 32]));
        let report = run.run();
        (errors(&report), run.ints(out)[32..].to_vec())
    };
    assert_eq!(body("cp.async.wait_all;"), (vec![], (0..32).collect()));
    assert_eq!(body("cp.async.commit_group; cp.async.wait_group 0;").0, []);
    assert_eq!(body("cp.async.wait_group 0;").0, [FaultKind::CopyNotAwaited]);
}

#[test]
fn the_rest_of_a_short_copy_is_zero() {
    // Thread t copies t % 5 words of 4; those that copy nothing may name no memory at all.
    let body = format!(
        "{SETUP}rem.u32 %r3, %t, 5; shl.b32 %r3, %r3, 2; setp.eq.u32 %p1, %r3, 0; selp.b64 %rd3, 12345, %rd1, %p1;
        cp.async.ca.shared.global [%r1], [%rd3], 16, %r3; cp.async.wait_all;
        ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r1]; st.global.v4.u32 [%rd1+512], {{%r4, %r5, %r6, %r7}};"
    );
    let mut run = Run::new(&by_hand(&body), "k", 1, 32);
    let out = run.words((1..129).chain([-1; 128]));
    run.clean();
    let expected: Vec<i32> = (0..128).map(|i| if i % 4 < i / 4 % 5 { i + 1 } else { 0 }).collect();
    assert_eq!(run.ints(out)[128..], expected);

    // A predicate instead of a size: whose source is ignored gets zeros.
    let body = format!(
        "{SETUP}and.b32 %r3, %t, 1; setp.ne.u32 %p1, %r3, 0;
        cp.async.ca.shared.global [%r1], [%rd2], 4, %p1; cp.async.wait_all;
        ld.shared.u32 %r4, [%r1]; st.global.u32 [%rd2+128], %r4;"
    );
    let mut run = Run::new(&by_hand(&body), "k", 1, 32);
    let out = run.words((1..33).chain([-1; 32]));
    run.clean();
    assert_eq!(run.ints(out)[32..], (0..32).map(|t| if t & 1 != 0 { 0 } else { t + 1 }).collect::<Vec<_>>());
}
