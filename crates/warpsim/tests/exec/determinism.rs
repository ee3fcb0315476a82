//! Whatever the number of workers: the same bytes, faults and counters.

use warpsim::BufferId;

use super::support::{CALLS, CONTROL, MEMORY, Run, TOGETHER, by_hand};

type Setup = fn(&mut Run) -> Vec<BufferId>;

#[test]
fn nothing_depends_on_the_number_of_workers() {
    let kernels: [(&str, &str, u32, Setup); 8] = [
        (CONTROL, "nested", 37, |run| vec![run.room(37 * 64)]),
        (CONTROL, "early_return", 20, |run| {
            let buffers = vec![run.words((0..1000).map(|i| i % 97)), run.room(1000)];
            // Some threads read beyond the first buffer.
            run.arg(1100i32);
            buffers
        }),
        (CALLS, "recursion", 33, |run| vec![run.room(64)]),
        (TOGETHER, "overlap", 20, |run| vec![run.words([0; 64]), run.words([0; 64])]),
        (TOGETHER, "shared_race", 50, |run| vec![run.room(50 * 64)]),
        (TOGETHER, "last_block", 9, |run| vec![run.words(0..9 * 64), run.room(9), run.room(1)]),
        (TOGETHER, "from_inactive", 18, |run| vec![run.room(64)]),
        (MEMORY, "trapped", 19, |run| vec![run.words((0..64).map(|i| i / 3))]),
    ];
    for (ptx, kernel, grid, setup) in kernels {
        let outcome = |threads: Option<usize>| {
            let mut run = Run::new(ptx, kernel, grid, 64);
            let buffers = setup(&mut run);
            run.launch.threads = threads;
            let report = run.run();
            let bytes: Vec<_> = buffers.into_iter().map(|b| run.device.read(b)).collect();
            (bytes, format!("{:#?}", warpsim::Report { seconds: 0.0, ..report }))
        };
        let alone = outcome(Some(1));
        for threads in [Some(2), Some(4), None] {
            let more = outcome(threads);
            assert!(alone.0 == more.0, "{kernel}: other bytes with {threads:?}");
            assert_eq!(alone.1, more.1, "{kernel}: another report with {threads:?}");
        }
    }
}

#[test]
fn fuel_runs_out_at_the_same_place() {
    for fuel in [1, 100, 4096, 5000, 12_345] {
        let outcome = |threads: usize| {
            let mut run = Run::new(CONTROL, "nested", 37, 64);
            let out = run.room(37 * 64);
            (run.launch.fuel, run.launch.threads) = (fuel, Some(threads));
            let report = run.run();
            (run.device.read(out), format!("{:?}", warpsim::Report { seconds: 0.0, ..report }))
        };
        assert_eq!(outcome(1), outcome(4), "fuel {fuel}");
    }
}

/// What a kernel finds in local memory that it never wrote, and how far it may go there, is not what an earlier block
/// happened to leave.
#[test]
fn blocks_leave_nothing_behind_in_local_memory() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64
        .func deep(.param .b32 n) { .local .align 8 .b8 room[4096]; .reg .b32 %r; ld.param.u32 %r, [n]; st.local.u32 [room], %r; ret; }
        .visible .entry k(.param .u64 out) {
            .local .align 8 .b8 mine[8]; .reg .b32 %v, %b, %far; .reg .b64 %out, %at; .reg .pred %p;
            ld.param.u64 %out, [out]; mov.u32 %b, %ctaid.x; setp.eq.u32 %p, %b, 0;
            @%p bra FIRST;
            ld.local.u32 %v, [mine]; ld.local.u32 %far, [mine+4096];
            mad.wide.u32 %at, %b, 4, %out; add.u32 %v, %v, %far; st.global.u32 [%at], %v; ret;
            FIRST: st.local.u32 [mine], 77; { .param .b32 n; st.param.b32 [n], %b; call deep, (n); } ret;
        }";
    let outcome = |threads: usize| {
        let mut run = Run::new(ptx, "k", 32, 32);
        let out = run.words([1; 32]);
        (run.launch.threads, run.launch.checks) = (Some(threads), warpsim::Checks::NONE);
        let report = run.run();
        (run.ints(out), format!("{:?}", warpsim::Report { seconds: 0.0, ..report }))
    };
    assert_eq!(outcome(1).0[1..], [0; 31]);
    assert_eq!(outcome(1), outcome(4));
}

#[test]
fn clocks_count_from_the_start_of_a_block() {
    let body = "mov.u32 %r1, %clock; mov.u32 %r2, %ctaid.x; mad.wide.u32 %rd1, %r2, 4, %out; st.global.u32 [%rd1], %r1;";
    let outcome = |threads: usize| {
        let mut run = Run::new(&by_hand(body), "k", 32, 1);
        let out = run.room(32);
        run.launch.threads = Some(threads);
        run.clean();
        run.ints(out)
    };
    assert_eq!(outcome(1), outcome(3));
    assert!(outcome(1)[0] > 0);
}

/// Races between blocks are found from what is remembered of other blocks: how often must not depend on the workers.
#[test]
fn races_between_blocks_are_counted_alike() {
    let body = "mov.u32 %r1, 0;
        AGAIN: mad.lo.u32 %r2, %r1, 5, %t; rem.u32 %r2, %r2, 7; mad.wide.u32 %rd1, %r2, 4, %out;
        ld.global.u32 %r3, [%rd1]; mov.u32 %r4, %ctaid.x; setp.gt.u32 %p1, %r4, %t; @%p1 st.global.u32 [%rd1], %r4;
        add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 6; @%p2 bra AGAIN;";
    let outcome = |threads: usize| {
        let mut run = Run::new(&by_hand(body), "k", 40, 48);
        run.words([0; 7]);
        run.launch.threads = Some(threads);
        format!("{:?}", warpsim::Report { seconds: 0.0, ..run.run() })
    };
    let alone = outcome(1);
    assert!(alone.contains("Race"));
    assert_eq!(alone, outcome(2));
    assert_eq!(alone, outcome(5));
}
