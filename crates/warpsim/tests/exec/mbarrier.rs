//! Barriers that are objects in shared memory.

use warpsim::{FaultKind, Outcome};

use super::support::{Run, by_hand, errors};

/// 96 threads: each writes, arrives, waits for the phase of its token, and reads what another one wrote.
const MEET: &str = ".shared .align 8 .b8 object[8]; .shared .align 4 .b8 data[384];
    mov.u32 %r1, data; shl.b32 %r2, %t, 2; add.u32 %r1, %r1, %r2;
    setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [object], 96; bar.sync 0;
    mov.u32 %r3, 0;
    AGAIN: mad.lo.u32 %r4, %r3, 1000, %t; st.shared.u32 [%r1], %r4;
    mbarrier.arrive.shared.b64 %rd1, [object];
    WAIT: mbarrier.test_wait.shared.b64 %p2, [object], %rd1; @!%p2 bra WAIT;
    mov.u32 %r5, data; sub.u32 %r6, 380, %r2; add.u32 %r5, %r5, %r6; ld.shared.u32 %r7, [%r5];
    mad.lo.u32 %r8, %r3, 96, %t; mad.wide.u32 %rd2, %r8, 4, %out; st.global.u32 [%rd2], %r7;
    mbarrier.arrive.shared.b64 %rd1, [object];
    WAIT2: mbarrier.test_wait.shared.b64 %p2, [object], %rd1; @!%p2 bra WAIT2;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 3; @%p3 bra AGAIN;";

#[test]
fn threads_meet_phase_after_phase() {
    let mut run = Run::new(&by_hand(MEET), "k", 1, 96);
    let out = run.room(3 * 96);
    run.clean();
    assert_eq!(run.ints(out), (0..288).map(|i| i / 96 * 1000 + 95 - i % 96).collect::<Vec<_>>());
}

#[test]
fn who_does_not_wait_races() {
    let hasty = MEET.replace("WAIT: mbarrier.test_wait.shared.b64 %p2, [object], %rd1; @!%p2 bra WAIT;", "");
    let mut run = Run::new(&by_hand(&hasty), "k", 1, 96);
    run.room(3 * 96);
    assert!(errors(&run.run()).contains(&FaultKind::Race));
}

#[test]
fn a_phase_that_nobody_ends_is_a_timeout() {
    let mut run = Run::new(&by_hand(&MEET.replace("[object], 96", "[object], 97")), "k", 1, 96);
    run.room(3 * 96);
    run.launch.fuel = 100_000;
    assert_eq!(run.run().outcome, Outcome::Timeout);
}

#[test]
fn counts_drops_and_parities() {
    let body = ".shared .align 8 .b8 object[8];
        mbarrier.init.shared::cta.b64 [object], 5; mbarrier.arrive.noComplete.shared.b64 %rd1, [object], 3;
        mbarrier.pending_count.b64 %r1, %rd1; st.global.u32 [%out], %r1;
        mbarrier.arrive_drop.shared.b64 _, [object]; mbarrier.test_wait.parity.shared.b64 %p1, [object], 0;
        selp.u32 %r2, 1, 0, %p1; st.global.u32 [%out+4], %r2;
        mbarrier.arrive.release.cta.shared::cta.b64 %rd2, [object]; mbarrier.try_wait.parity.shared.b64 %p1, [object], 0, %r1;
        selp.u32 %r2, 1, 0, %p1; st.global.u32 [%out+8], %r2;
        mbarrier.arrive.shared.b64 %rd2, [object], 1; mbarrier.pending_count.b64 %r1, %rd2; st.global.u32 [%out+12], %r1;
        mbarrier.inval.shared.b64 [object];";
    let mut run = Run::new(&by_hand(body), "k", 1, 1);
    let out = run.room(4);
    run.clean();
    assert_eq!(run.ints(out), [5, 0, 1, 4]);
}
