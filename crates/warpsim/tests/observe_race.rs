//! Each rule of what orders two accesses, from both sides.

mod support;

use support::{Trace, WARP, X};
use warpsim::Severity::{Error, Warning};
use warpsim::Space::{Global, Shared};
use warpsim::Touch::{Read, Write};
use warpsim::observer::{Order, Scope};

fn own(warp: u32) -> impl Fn(u32) -> u64 {
    move |lane| u64::from(32 * warp + lane)
}

/// One thread.
fn lane(thread: u32) -> (u32, u32) {
    (thread / 32, 1 << (thread % 32))
}

#[test]
fn a_barrier_orders_the_whole_block() {
    for (with_barrier, expected) in [(true, vec![]), (false, vec![(Error, 20, Some(10))])] {
        let mut trace = Trace::new(64);
        trace.write_own(Shared, (0, WARP), 10, own(0)).write_own(Shared, (1, WARP), 10, own(1));
        if with_barrier {
            trace.barrier(15);
        }
        trace.read(Shared, (0, WARP), 20, own(1)).read(Shared, (1, WARP), 20, own(0));
        assert_eq!(trace.faults(), expected);
    }
}

/// Tiles: loaded, barrier, read, and loaded again for the next phase.
#[test]
fn a_tile_needs_the_trailing_barrier_too() {
    for (trailing, expected) in [(true, vec![]), (false, vec![(Error, 30, Some(35))])] {
        let mut trace = Trace::new(64);
        for _ in 0..3 {
            for warp in 0..2 {
                trace.write_own(Shared, (warp, WARP), 30, own(warp));
            }
            trace.barrier(32);
            for warp in 0..2 {
                trace.read(Shared, (warp, WARP), 35, |lane| u64::from(lane / 16 + 32 * (1 - warp)));
            }
            if trailing {
                trace.barrier(37);
            }
        }
        assert_eq!(trace.faults(), expected);
    }
}

#[test]
fn double_buffering_needs_one_barrier_only() {
    let mut trace = Trace::new(64);
    for step in 0..6 {
        let slot = step % 2 * 64;
        for warp in 0..2 {
            trace.write_own(Shared, (warp, WARP), 10, |lane| slot + own(warp)(lane));
        }
        trace.barrier(11);
        for warp in 0..2 {
            trace.read(Shared, (warp, WARP), 12, |lane| slot + own(1 - warp)(lane));
        }
    }
    assert_eq!(trace.faults(), []);
}

#[test]
fn a_single_buffer_with_one_barrier_races() {
    let mut trace = Trace::new(64);
    for _ in 0..3 {
        for warp in 0..2 {
            trace.write_own(Shared, (warp, WARP), 10, own(warp));
        }
        trace.barrier(11);
        for warp in 0..2 {
            trace.read(Shared, (warp, WARP), 12, own(1 - warp));
        }
    }
    assert_eq!(trace.faults(), [(Error, 10, Some(12))]);
}

#[test]
fn lanes_of_a_warp_are_ordered_by_syncwarp_only() {
    for space in [Shared, Global] {
        let mut trace = Trace::new(32);
        trace.write_own(space, (0, WARP), 10, own(0)).read(space, (0, WARP), 12, |lane| u64::from(lane ^ 1));
        assert_eq!(trace.faults(), [(Error, 12, Some(10))]);

        let mut trace = Trace::new(32);
        trace.write_own(space, (0, WARP), 10, own(0)).syncwarp((0, WARP), 11);
        trace.read(space, (0, WARP), 12, |lane| u64::from(lane ^ 1)).syncwarp((0, WARP), 13);
        trace.write_own(space, (0, WARP), 14, |lane| u64::from(31 - lane));
        assert_eq!(trace.faults(), []);
    }
}

#[test]
fn syncwarp_orders_the_lanes_it_names_only() {
    for space in [Shared, Global] {
        for (reader, expected) in [(7, vec![]), (20, vec![(Error, 12, Some(10))])] {
            let mut trace = Trace::new(32);
            trace.write_own(space, (0, 0xffff), 10, own(0)).syncwarp((0, 0xffff), 11);
            trace.read(space, lane(reader), 12, |_| 3);
            assert_eq!(trace.faults(), expected, "lane {reader}");
        }
    }
}

/// `buf[t] += buf[t + 16]` without a thought for order: corpus of everyone's first reduction.
#[test]
fn warp_synchronous_reduction_races_also_if_volatile() {
    for order in [Order::Weak, Order::Volatile] {
        let mut trace = Trace::new(32);
        trace.with(order, Scope::System);
        for (step, distance) in [16, 8, 4, 2, 1].into_iter().enumerate() {
            let pc = 10 * (step as u32 + 1);
            trace.read(Shared, (0, WARP), pc, |lane| u64::from(lane + distance));
            trace.read(Shared, (0, WARP), pc, own(0)).write_own(Shared, (0, WARP), pc, own(0));
        }
        let faults = trace.faults();
        assert!(faults.contains(&(Error, 20, Some(10))), "{order:?}: {faults:?}");
    }
}

/// `if (match) found = 1; ... if (found) break;` with a volatile flag.
#[test]
fn a_volatile_flag_may_be_read_while_it_is_written() {
    for space in [Shared, Global] {
        let mut trace = Trace::new(64);
        trace.with(Order::Volatile, Scope::System);
        for _ in 0..3 {
            trace.read(space, (0, WARP), 10, |_| 3).write(space, (0, 0xf0), 11, |_| 3);
            trace.read(space, (1, WARP), 10, |_| 3).write(space, (1, 0x0f), 11, |_| 3);
        }
        assert_eq!(trace.faults(), []);
    }
}

/// Lanes read, then write, with one instruction each; each lane its own word.
#[test]
fn a_thread_is_ordered_with_itself() {
    for space in [Shared, Global] {
        let mut trace = Trace::new(64);
        for _ in 0..3 {
            for warp in 0..2 {
                trace.read(space, (warp, WARP), 10, own(warp)).write_own(space, (warp, WARP), 11, own(warp));
            }
        }
        assert_eq!(trace.faults(), []);
    }
}

#[test]
fn lanes_that_store_to_one_word_at_once() {
    for space in [Shared, Global] {
        let mut trace = Trace::new(32);
        trace.write_own(space, (0, WARP), 10, |_| 5);
        assert_eq!(trace.faults(), [(Error, 10, Some(10))]);

        let mut trace = Trace::new(32);
        trace.write(space, (0, WARP), 10, |_| 5);
        assert_eq!(trace.faults(), [(Warning, 10, Some(10))]);

        let mut trace = Trace::new(32);
        trace.atomic(space, (0, WARP), 10, |_| 5);
        assert_eq!(trace.faults(), []);
    }
}

#[test]
fn writing_the_same_value_is_a_warning() {
    for space in [Shared, Global] {
        let mut trace = Trace::new(64);
        trace.write(space, lane(0), 10, |_| 5).write(space, lane(40), 11, |_| 5);
        assert_eq!(trace.faults(), [(Warning, 11, Some(10))]);

        let mut trace = Trace::new(64);
        trace.write(space, lane(0), 10, |_| 5);
        trace.value = 2;
        trace.write(space, lane(40), 11, |_| 5);
        assert_eq!(trace.faults(), [(Error, 11, Some(10))]);
    }
}

#[test]
fn an_error_outweighs_the_warning_at_the_same_lines() {
    let mut trace = Trace::new(64);
    trace.write(Shared, lane(0), 10, |_| 5).write(Shared, lane(40), 11, |_| 5);
    trace.value = 2;
    trace.write(Shared, lane(0), 10, |_| 6);
    trace.value = 3;
    trace.write(Shared, lane(40), 11, |_| 6);
    let findings = trace.finish();
    assert_eq!(findings.faults.len(), 1);
    assert_eq!((findings.faults[0].severity, findings.faults[0].count), (Error, 2));
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    for space in [Shared, Global] {
        let mut trace = Trace::new(64);
        trace.atomic(space, (0, WARP), 10, |_| 5).atomic(space, (1, WARP), 10, |_| 5);
        assert_eq!(trace.faults(), []);

        let mut trace = Trace::new(64);
        trace.atomic(space, (0, WARP), 10, |_| 5).read(space, lane(40), 11, |_| 5);
        assert_eq!(trace.faults(), [(Error, 11, Some(10))]);

        let mut trace = Trace::new(64);
        trace.write(space, lane(40), 9, |_| 5).atomic(space, (0, WARP), 10, |_| 5);
        assert_eq!(trace.faults(), [(Error, 10, Some(9))]);

        let mut trace = Trace::new(64);
        trace.write(space, lane(40), 9, |_| 5).barrier(10).atomic(space, (0, WARP), 11, |_| 5);
        trace.atomic(space, (1, WARP), 11, |_| 5).barrier(12).read(space, lane(0), 13, |_| 5);
        assert_eq!(trace.faults(), []);
    }
}

#[test]
fn neighbouring_bytes_do_not_race_and_common_ones_do() {
    let values = std::array::from_fn(|lane| lane as u64 + 1);
    for (space, base) in [(Shared, 0), (Global, X)] {
        for bytes in [1, 2] {
            let at = |lane: u32| base + u64::from(lane * bytes);
            let mut trace = Trace::new(64);
            // Odd lanes of one warp, even lanes of the other: words are common, bytes are not.
            trace.access(Write, space, bytes, (0, 0x5555_5555), 10, at, Some(&values));
            trace.access(Write, space, bytes, (1, 0xaaaa_aaaa), 11, at, Some(&values));
            trace.access(Read, space, bytes, (1, 0xaaaa_aaaa), 12, at, None);
            assert_eq!(trace.faults(), [], "{bytes} bytes");
        }
        // A word over a byte that another thread wrote, seen in both orders.
        let mut trace = Trace::new(64);
        trace.access(Write, space, 1, lane(0), 10, |_| base + 7, Some(&values));
        trace.read(space, lane(40), 11, |_| 0).read(space, lane(40), 12, |_| 1);
        assert_eq!(trace.faults(), [(Error, 12, Some(10))]);

        let mut trace = Trace::new(64);
        trace.read(space, lane(40), 11, |_| 1);
        trace.access(Write, space, 2, lane(0), 12, |_| base + 6, Some(&values));
        trace.access(Write, space, 2, lane(0), 13, |_| base + 8, Some(&values));
        assert_eq!(trace.faults(), [(Error, 12, Some(11))]);
    }
}

#[test]
fn wide_accesses_cover_all_their_words() {
    for (space, base) in [(Shared, 0), (Global, X)] {
        let mut trace = Trace::new(64);
        trace.access(Write, space, 16, (0, WARP), 10, |lane| base + u64::from(16 * lane), None);
        trace.read(space, (1, WARP), 11, |lane| 128 + u64::from(lane)).read(space, lane(40), 12, |_| 127);
        assert_eq!(trace.faults(), [(Error, 12, Some(10))]);
    }
}

/// `bar.sync 1, 64` by warps 0 and 1 says nothing to warp 2.
#[test]
fn a_named_barrier_orders_its_participants() {
    for space in [Shared, Global] {
        for (reader, expected) in [(40, vec![]), (70, vec![(Error, 13, Some(10))])] {
            let mut trace = Trace::new(96);
            trace.write_own(space, (0, WARP), 10, own(0));
            trace.arrive(1, (0, WARP), 11).arrive(1, (1, WARP), 11);
            trace.complete(1, &[WARP, WARP, 0], &[WARP, WARP, 0]);
            trace.read(space, lane(reader), 13, |_| 3);
            assert_eq!(trace.faults(), expected, "thread {reader}");
        }
    }
}

/// Producers `bar.arrive`, consumers `bar.sync`: what a producer does after arriving is not covered.
#[test]
fn arriving_covers_what_came_before_and_waits_for_nothing() {
    let produce = |late: bool| {
        let mut trace = Trace::new(64);
        trace.write_own(Shared, (0, WARP), 10, own(0)).arrive(1, (0, WARP), 11);
        if late {
            trace.write_own(Shared, (0, WARP), 12, |lane| u64::from(lane) + 32);
        }
        trace.arrive(1, (1, WARP), 13).complete(1, &[WARP, WARP], &[0, WARP]);
        trace
    };
    let mut trace = produce(false);
    trace.read(Shared, (1, WARP), 14, own(0));
    assert_eq!(trace.faults(), []);

    let mut trace = produce(true);
    trace.read(Shared, (1, WARP), 14, own(1));
    assert_eq!(trace.faults(), [(Error, 14, Some(12))]);

    // The producer must not write again before the consumer says that it is done, at a barrier of its own.
    let mut trace = produce(false);
    trace.read(Shared, (1, WARP), 14, own(0)).write_own(Shared, (0, WARP), 15, own(0));
    assert_eq!(trace.faults(), [(Error, 15, Some(14))]);

    let mut trace = produce(false);
    trace.read(Shared, (1, WARP), 14, own(0)).arrive(2, (1, WARP), 15).arrive(2, (0, WARP), 16);
    trace.complete(2, &[WARP, WARP], &[WARP, 0]).write_own(Shared, (0, WARP), 17, own(0));
    assert_eq!(trace.faults(), []);
}

/// What a thread has learnt at one barrier it passes on at the next.
#[test]
fn order_is_transitive_through_named_barriers() {
    let mut trace = Trace::new(96);
    trace.write_own(Shared, (0, WARP), 10, own(0));
    trace.arrive(1, (0, WARP), 11).arrive(1, (1, WARP), 11);
    trace.complete(1, &[WARP, WARP, 0], &[WARP, WARP, 0]);
    trace.arrive(2, (1, WARP), 12).arrive(2, (2, WARP), 12);
    trace.complete(2, &[0, WARP, WARP], &[0, WARP, WARP]);
    trace.read(Shared, (2, WARP), 13, own(0));
    assert_eq!(trace.faults(), []);
}

#[test]
fn threads_that_returned_count_at_later_barriers() {
    let mut trace = Trace::new(64);
    trace.write_own(Shared, (1, WARP), 10, own(1)).exit((1, WARP), 11);
    trace.barrier(12).read(Shared, (0, WARP), 13, own(1));
    // What remains is synccheck's warning.
    assert_eq!(trace.faults(), [(Warning, 12, Some(11))]);
}

#[test]
fn shared_memory_is_new_in_each_block() {
    let mut trace = Trace::new(64);
    trace.write_own(Shared, (0, WARP), 10, own(0)).next_block().read(Shared, (1, WARP), 11, own(0));
    assert_eq!(trace.faults(), []);
}

#[test]
fn nothing_orders_blocks() {
    let mut trace = Trace::new(64);
    trace.write_own(Global, lane(3), 10, |_| 7).barrier(11).next_block().barrier(12);
    trace.read(Global, lane(3), 13, |_| 7);
    let findings = trace.finish();
    assert_eq!(findings.faults.len(), 1);
    let fault = &findings.faults[0];
    assert_eq!(support::lines_of(fault), (Error, 13, Some(10)));
    assert_eq!((fault.party.block, fault.other.as_ref().unwrap().block), ([1, 0, 0], [0, 0, 0]));

    // Also where the writing block has read it since, and where both blocks have.
    let mut trace = Trace::new(64);
    trace.read(Global, lane(3), 10, |_| 7).next_block();
    trace.read(Global, lane(3), 11, |_| 7).write_own(Global, lane(3), 12, |_| 7);
    assert_eq!(trace.faults(), [(Error, 12, Some(10))]);

    // Reading what all read, and writing what one owns, is fine.
    let mut trace = Trace::new(64);
    for block in 0..4 {
        trace
            .read(Global, (0, WARP), 10, own(0))
            .write_own(Global, (1, WARP), 11, |lane| u64::from(1000 + 32 * block + lane));
        trace.next_block();
    }
    assert_eq!(trace.faults(), []);
}

/// Each block writes a partial sum; the block that counts itself the last adds them up.
fn last_block(
    fence: Option<Scope>,
    fence_before_barrier: bool,
    count: impl Fn(&mut Trace),
) -> Vec<(warpsim::Severity, u32, Option<u32>)> {
    let mut trace = Trace::new(64);
    for block in 0..4 {
        trace.write_own(Global, lane(0), 10, |_| block).write_own(Global, lane(40), 11, |_| 100 + block);
        if let (Some(scope), true) = (fence, fence_before_barrier) {
            trace.fence((0, WARP), 12, scope).fence((1, WARP), 12, scope);
        }
        trace.barrier(13);
        if let (Some(scope), false) = (fence, fence_before_barrier) {
            trace.fence(lane(0), 14, scope);
        }
        count(&mut trace);
        trace.barrier(16);
        if block == 3 {
            trace
                .read(Global, (1, 0xf), 20, u64::from)
                .read(Global, (1, 0xf), 21, |lane| 100 + u64::from(lane));
        } else {
            trace.next_block();
        }
    }
    trace.faults()
}

#[test]
fn the_last_block_may_read_what_all_blocks_wrote() {
    let atomic = |trace: &mut Trace| {
        trace.atomic(Global, lane(0), 15, |_| 5000);
    };
    let races = vec![(Error, 20, Some(10)), (Error, 21, Some(11))];
    // Thread 0 fences after the barrier, or every thread fences its own before it.
    assert_eq!(last_block(Some(Scope::Device), false, atomic), []);
    assert_eq!(last_block(Some(Scope::Device), true, atomic), []);
    assert_eq!(last_block(None, false, atomic), races, "no fence");
    assert_eq!(last_block(Some(Scope::Block), false, atomic), races, "__threadfence_block()");
    assert_eq!(last_block(Some(Scope::Device), false, |_| {}), races, "no atomic");
    let elsewhere = |trace: &mut Trace| {
        let block = u64::from(trace.at(0, 0).block as u32);
        trace.atomic(Global, lane(0), 15, |_| 5000 + block);
    };
    assert_eq!(last_block(Some(Scope::Device), false, elsewhere), races, "different counters");
    let qualified = |trace: &mut Trace| {
        trace.with(Order::AcquireRelease, Scope::Device).atomic(Global, lane(0), 15, |_| 5000);
        trace.with(Order::Weak, Scope::Device);
    };
    assert_eq!(last_block(None, false, qualified), [], "atomicAdd with memory_order_acq_rel");
    let of_block = |trace: &mut Trace| {
        trace.with(Order::AcquireRelease, Scope::Block).atomic(Global, lane(0), 15, |_| 5000);
        trace.with(Order::Weak, Scope::Device);
    };
    assert_eq!(last_block(None, false, of_block), races, "the same with block scope");
}

/// `if (last) { ...; count = 0; }`: all atomics came before the one that saw the last count.
#[test]
fn the_last_block_may_reset_the_counter() {
    for (resetter, barrier, expected) in
        [(0, false, vec![]), (40, true, vec![]), (40, false, vec![(Error, 14, Some(12))])]
    {
        let mut trace = Trace::new(64);
        trace.atomic(Global, lane(0), 12, |_| 5000).next_block().atomic(Global, lane(0), 12, |_| 5000);
        if barrier {
            trace.barrier(13);
        }
        trace.write_own(Global, lane(resetter), 14, |_| 5000);
        assert_eq!(trace.faults(), expected);
    }
    // Without having counted, the block is not the last.
    let mut trace = Trace::new(64);
    trace.atomic(Global, lane(0), 12, |_| 5000).next_block().write_own(Global, lane(0), 14, |_| 5000);
    assert_eq!(trace.faults(), [(Error, 14, Some(12))]);
}

/// A fence by thread 0 before the barrier says nothing of what others wrote.
#[test]
fn a_fence_covers_what_its_thread_knows() {
    let mut trace = Trace::new(64);
    trace.write_own(Global, lane(40), 10, |_| 1).write_own(Global, lane(0), 11, |_| 2);
    trace.fence(lane(0), 12, Scope::Device).barrier(13).atomic(Global, lane(0), 14, |_| 5000).next_block();
    trace.atomic(Global, lane(0), 14, |_| 5000).read(Global, lane(0), 15, |_| 2).read(
        Global,
        lane(0),
        16,
        |_| 1,
    );
    assert_eq!(trace.faults(), [(Error, 16, Some(10))]);
}

/// What a thread has learnt before its fence is covered, also if a barrier comes between fence and atomic.
#[test]
fn a_fence_covers_what_came_by_syncwarp() {
    let play = |mask: u32| {
        let mut trace = Trace::new(64);
        trace.write_own(Global, lane(1), 10, |_| 1).syncwarp((0, mask), 11);
        trace.fence(lane(0), 12, Scope::Device).barrier(13).atomic(Global, lane(0), 14, |_| 5000);
        trace.next_block().atomic(Global, lane(0), 14, |_| 5000).read(Global, lane(0), 15, |_| 1);
        trace.faults()
    };
    assert_eq!(play(WARP), []);
    assert_eq!(play(0b11), []);
    assert_eq!(play(0b01), [(Error, 15, Some(10))]);
}

/// Block 1 learns of block 0, block 2 of block 1 only, through another flag.
#[test]
fn order_between_blocks_is_transitive() {
    let mut trace = Trace::new(32);
    trace.write_own(Global, lane(0), 10, |_| 1).fence(lane(0), 11, Scope::Device);
    trace.atomic(Global, lane(0), 12, |_| 5000).next_block();
    trace.atomic(Global, lane(0), 13, |_| 5000).fence(lane(0), 14, Scope::Device);
    trace.atomic(Global, lane(0), 15, |_| 6000).next_block();
    trace.atomic(Global, lane(3), 16, |_| 6000).read(Global, lane(3), 17, |_| 1).read(
        Global,
        lane(4),
        18,
        |_| 1,
    );
    assert_eq!(trace.faults(), [(Error, 18, Some(10))]);
}

/// `while (!flag); __threadfence(); use(data);` with a volatile flag.
#[test]
fn a_volatile_flag_hands_over_with_fences_on_both_sides() {
    let hand_over = |space, release: bool, acquire: bool| {
        let mut trace = Trace::new(64);
        trace.write_own(space, lane(0), 10, |_| 1);
        if release {
            trace.fence(lane(0), 11, Scope::Device);
        }
        trace.with(Order::Volatile, Scope::System).write(space, lane(0), 12, |_| 9).read(
            space,
            lane(40),
            13,
            |_| 9,
        );
        if acquire {
            trace.fence(lane(40), 14, Scope::Device);
        }
        trace.with(Order::Weak, Scope::System).read(space, lane(40), 15, |_| 1);
        trace.faults()
    };
    for space in [Shared, Global] {
        assert_eq!(hand_over(space, true, true), []);
        assert_eq!(hand_over(space, false, true), [(Error, 15, Some(10))]);
        assert_eq!(hand_over(space, true, false), [(Error, 15, Some(10))]);
    }
}

#[test]
fn a_plain_flag_is_a_race_itself() {
    let mut trace = Trace::new(64);
    trace.write(Shared, lane(0), 12, |_| 9).read(Shared, lane(40), 13, |_| 9);
    assert_eq!(trace.faults(), [(Error, 13, Some(12))]);
}

#[test]
fn acquire_and_release_need_no_fences() {
    let hand_over = |store, load| {
        let mut trace = Trace::new(64);
        trace.write_own(Global, lane(0), 10, |_| 1).with(store, Scope::Device).write(
            Global,
            lane(0),
            11,
            |_| 9,
        );
        trace.with(load, Scope::Device).read(Global, lane(40), 12, |_| 9);
        trace.with(Order::Weak, Scope::Device).read(Global, lane(40), 13, |_| 1);
        trace.faults()
    };
    assert_eq!(hand_over(Order::Release, Order::Acquire), []);
    assert_eq!(hand_over(Order::Relaxed, Order::Acquire), [(Error, 13, Some(10))]);
    assert_eq!(hand_over(Order::Release, Order::Relaxed), [(Error, 13, Some(10))]);
}

/// A lock handed from lane to lane protects what it guards.
#[test]
fn a_lock_orders_its_critical_sections() {
    for (fence, expected) in
        [(true, vec![]), (false, vec![(Error, 11, Some(12)), (Error, 12, Some(12)), (Error, 12, Some(11))])]
    {
        let mut trace = Trace::new(64);
        for thread in [0, 1, 40] {
            trace.atomic(Shared, lane(thread), 10, |_| 9).read(Shared, lane(thread), 11, |_| 1);
            trace.write_own(Shared, lane(thread), 12, |_| 1);
            if fence {
                trace.fence(lane(thread), 13, Scope::Block);
            }
            trace.atomic(Shared, lane(thread), 14, |_| 9);
        }
        assert_eq!(trace.faults(), expected);
    }
}

#[test]
fn a_race_is_told_once_with_its_count() {
    let mut trace = Trace::new(64);
    trace.write_own(Shared, (0, WARP), 10, own(0));
    for _ in 0..3 {
        trace.read(Shared, (1, WARP), 11, own(0));
    }
    let findings = trace.finish();
    assert_eq!(findings.faults.len(), 1);
    assert_eq!(findings.faults[0].count, 96);
    assert_eq!(
        findings.faults[0].to_string(),
        "thread (32, 0, 0) of block (0, 0, 0) reads `tile[0]` on line 11, and thread (0, 0, 0) writes it on line 10; \
         nothing orders the two. `__syncthreads()` is missing between line 10 and line 11; all threads of the block must come \
         by.",
    );
}
