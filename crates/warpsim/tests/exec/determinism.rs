//! Whatever the number of workers: the same bytes, faults and counters.

use warpsim::BufferId;

use super::support::{CALLS, CONTROL, MEMORY, Run, TOGETHER};

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
