//! `malloc`, `free`, `new` and `delete` in kernels.

use warpsim::{FaultKind, Outcome};

use super::support::{Run, errors};

const HEAP: &str = include_str!("../kernels/heap.ptx");

#[test]
fn threads_take_and_give_back_memory() {
    let mut run = Run::new(HEAP, "arrays", 3, 40);
    let out = run.room(120);
    run.clean();
    let one = |t: i32| (0..20).map(|round| (0..=t).map(|i| i + round).sum::<i32>()).sum::<i32>();
    assert_eq!(run.ints(out), (0..120).map(one).collect::<Vec<_>>());
}

#[test]
fn objects_have_virtual_functions() {
    let mut run = Run::new(HEAP, "objects", 1, 64);
    let out = run.room(64);
    run.clean();
    assert_eq!(run.ints(out), (0..64).map(|t| if t % 3 == 0 { t * t } else { 2 * t }).collect::<Vec<_>>());
}

#[test]
fn a_block_shares_what_one_thread_took() {
    let mut run = Run::new(HEAP, "together", 2, 64);
    let out = run.room(128);
    run.clean();
    assert_eq!(run.ints(out), (0..128).map(|i| 3 * (63 - i % 64)).collect::<Vec<_>>());
}

#[test]
fn the_heap_ends_at_eight_megabytes() {
    let mut run = Run::new(HEAP, "too_much", 1, 1);
    let out = run.room(1);
    run.clean();
    assert_eq!(run.ints(out), [1 + 4]);
}

#[test]
fn what_is_freed_twice_or_read_unwritten_is_told() {
    let mut run = Run::new(HEAP, "twice", 1, 1);
    run.room(1);
    let report = run.run();
    assert_eq!((report.outcome.clone(), errors(&report)), (Outcome::Aborted, vec![FaultKind::Trap]));
    let told = report.faults[0].to_string();
    assert!(told.contains("which was freed before") && told.contains("line 56"), "{told}");

    let mut run = Run::new(HEAP, "unwritten", 1, 16);
    run.room(16);
    let report = run.run();
    assert_eq!(errors(&report), [FaultKind::UninitializedRead]);
    assert!(report.faults[0].to_string().contains("device heap"), "{}", report.faults[0]);
}
