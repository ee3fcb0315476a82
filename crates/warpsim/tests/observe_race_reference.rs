//! The race detector against the definition: on small random traces, compare every pair of accesses by plain
//! happens-before, with one full vector clock for each thread and no compression at all.

mod support;

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use support::{Trace, X};
use warpsim::observer::{Order, Scope};
use warpsim::{FaultKind, Space, Touch};

/// Threads that act; blocks have 66 in three warps, of which the last has two.
const ACTORS: [u32; 7] = [0, 1, 2, 32, 33, 64, 65];
const THREADS: usize = 66;
const PRESENT: [u32; 3] = [u32::MAX, u32::MAX, 3];

#[derive(Clone, Debug)]
enum Step {
    /// Threads of one warp access a place each.
    Access {
        touch: Touch,
        space: Space,
        bytes: u32,
        actors: Vec<(u32, u64)>,
        order: Order,
        scope: Scope,
    },
    BlockBarrier,
    /// `bar.sync` or, for warps that don't wait, `bar.arrive`; whole warps.
    WarpsBarrier {
        arrive: u32,
        wait: u32,
    },
    SyncWarp {
        warp: u32,
        mask: u32,
    },
    Fence {
        thread: u32,
        scope: Scope,
    },
    NextBlock,
}

type Clock = Vec<u32>;
/// Where an instruction went: (thread, address) of each, and bytes.
type Place = (Space, Vec<(u32, u64)>, u32);

/// Happens-before by the book. A thread of a block is one of `THREADS`, and gets new entries in each block.
#[derive(Default)]
struct Reference {
    block: usize,
    /// What is before a thread now; and what of that is covered by fences, its own or those of others.
    known: HashMap<u32, Clock>,
    fenced: HashMap<u32, [Clock; 2]>,
    own: HashMap<u32, u32>,
    released: HashMap<(Space, u64, usize), [Clock; 2]>,
    accesses: Vec<Event>,
    racy: BTreeSet<(Space, u64)>,
}

struct Event {
    thread: u32,
    block: usize,
    own: u32,
    touch: Touch,
    space: Space,
    bytes: std::ops::Range<u64>,
    is_sync: bool,
}

fn join(into: &mut Clock, other: &[u32]) {
    into.resize(into.len().max(other.len()), 0);
    into.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

impl Reference {
    fn index(block: usize, thread: u32) -> usize {
        block * THREADS + thread as usize
    }

    fn knows(&self, thread: u32, event: &Event) -> bool {
        let known =
            self.known.get(&thread).and_then(|known| known.get(Self::index(event.block, event.thread)));
        (event.thread == thread && event.block == self.block)
            || known.is_some_and(|known| *known >= event.own)
    }

    /// A thread's own acts so far, and what it knows.
    fn everything(&self, thread: u32) -> Clock {
        let mut clock = self.known.get(&thread).cloned().unwrap_or_default();
        let mut own = vec![0; Self::index(self.block, thread) + 1];
        own[Self::index(self.block, thread)] = self.own.get(&thread).copied().unwrap_or(0);
        join(&mut clock, &own);
        clock
    }

    fn meet(&mut self, arrive: &[u32], wait: &[u32]) {
        let mut all = Clock::new();
        let mut fenced = [Clock::new(), Clock::new()];
        for &thread in arrive {
            join(&mut all, &self.everything(thread));
            if let Some(own) = self.fenced.get(&thread) {
                fenced.iter_mut().zip(own).for_each(|(all, own)| join(all, own));
            }
        }
        for &thread in wait {
            join(self.known.entry(thread).or_default(), &all);
            let own = self.fenced.entry(thread).or_default();
            own.iter_mut().zip(&fenced).for_each(|(own, all)| join(own, all));
        }
    }

    fn step(&mut self, step: &Step) {
        let of_warp = |warp: u32, mask: u32| {
            (0..32).filter(move |lane| mask >> lane & 1 == 1).map(move |lane| 32 * warp + lane)
        };
        match step {
            Step::BlockBarrier => {
                let all: Vec<u32> = (0..THREADS as u32).collect();
                self.meet(&all, &all);
            }
            Step::WarpsBarrier { arrive, wait } => {
                let threads = |warps: u32| -> Vec<u32> {
                    (0..3)
                        .filter(|warp| warps >> warp & 1 == 1)
                        .flat_map(|warp| of_warp(warp, PRESENT[warp as usize]))
                        .collect()
                };
                self.meet(&threads(*arrive), &threads(*wait));
            }
            Step::SyncWarp { warp, mask } => {
                let threads: Vec<u32> = of_warp(*warp, *mask & PRESENT[*warp as usize]).collect();
                self.meet(&threads, &threads);
            }
            Step::Fence { thread, scope } => {
                let all = self.everything(*thread);
                let levels = if *scope == Scope::Block { 1 } else { 2 };
                for own in &mut self.fenced.entry(*thread).or_default()[..levels] {
                    join(own, &all);
                }
            }
            Step::NextBlock => {
                self.block += 1;
                (self.known, self.fenced, self.own) = Default::default();
            }
            Step::Access { touch, space, bytes, actors, order, scope } => {
                let first_new = self.accesses.len();
                for &(thread, address) in actors {
                    self.compare(thread, *touch, *space, address, *bytes, *order, first_new);
                }
                for &(thread, address) in actors {
                    self.synchronize(thread, *touch, *space, address, *order, *scope);
                }
                for &(thread, _) in actors {
                    *self.own.entry(thread).or_insert(0) += 1;
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn compare(
        &mut self,
        thread: u32,
        touch: Touch,
        space: Space,
        address: u64,
        bytes: u32,
        order: Order,
        first_new: usize,
    ) {
        let is_sync = touch == Touch::Atomic || order != Order::Weak;
        let range = address..address + u64::from(bytes);
        for (index, event) in self.accesses.iter().enumerate() {
            let same_memory = event.space == space && (space == Space::Global || event.block == self.block);
            let common = event.bytes.start.max(range.start)..event.bytes.end.min(range.end);
            let writes = touch != Touch::Read || event.touch != Touch::Read;
            let within = index >= first_new;
            // All agree on the order of synchronising writes: after a later one is after this one.
            let is_last_of = |later: &Event| {
                later.is_sync
                    && later.touch != Touch::Read
                    && later.space == space
                    && later.bytes == event.bytes
            };
            let superseded = event.is_sync
                && event.touch != Touch::Read
                && self.accesses[(index + 1).min(first_new)..first_new]
                    .iter()
                    .any(|later| is_last_of(later) && self.knows(thread, later));
            let ordered = !within && (superseded || self.knows(thread, event));
            if same_memory && !common.is_empty() && writes && !(is_sync && event.is_sync) && !ordered {
                self.racy.extend(common.map(|byte| (space, byte)));
            }
        }
        // Acts are numbered from 1, and one becomes known when a later synchronisation counts it.
        let own = self.own.get(&thread).copied().unwrap_or(0) + 1;
        let block = self.block;
        self.accesses.push(Event { thread, block, own, touch, space, bytes: range, is_sync });
    }

    fn synchronize(
        &mut self,
        thread: u32,
        touch: Touch,
        space: Space,
        address: u64,
        order: Order,
        scope: Scope,
    ) {
        if touch != Touch::Atomic && order == Order::Weak {
            return;
        }
        let wide = space == Space::Global && scope != Scope::Block;
        // [0]: visible in the block, [1]: everywhere.
        let block = self.block;
        if touch == Touch::Atomic || order == Order::Acquire {
            let mut learnt = Clock::new();
            for ((of_space, at, of_block), clocks) in &self.released {
                if (*of_space, *at) == (space, address) && *of_block == block {
                    join(&mut learnt, &clocks[0]);
                }
                if (*of_space, *at) == (space, address) && *of_block < block && wide {
                    join(&mut learnt, &clocks[1]);
                }
            }
            join(self.known.entry(thread).or_default(), &learnt);
        }
        if touch == Touch::Write {
            self.released.retain(|(of_space, at, _), _| (*of_space, *at) != (space, address));
        }
        if touch == Touch::Read {
            return;
        }
        let mut levels = if matches!(order, Order::Release | Order::AcquireRelease) {
            // What this very instruction does is not part of it.
            let all = self.everything(thread);
            [all.clone(), all]
        } else {
            self.fenced.get(&thread).cloned().unwrap_or_default()
        };
        if !wide {
            levels[1].clear();
        }
        let released = self.released.entry((space, address, block)).or_default();
        released.iter_mut().zip(&levels).for_each(|(all, own)| join(all, own));
    }
}

/// Where the detector reports races; one place for each pair of instructions.
fn detected(steps: &[Step]) -> BTreeSet<(Space, u64)> {
    let mut trace = Trace::new(THREADS as u32);
    let mut pc = 0;
    let mut places: Vec<Place> = vec![];
    for step in steps {
        match step {
            Step::Access { touch, space, bytes, actors, order, scope } => {
                let warp = actors[0].0 / 32;
                let mask = actors.iter().fold(0, |mask, actor| mask | 1 << (actor.0 % 32));
                let base = if *space == Space::Global { X } else { 0 };
                let address = |lane: u32| {
                    base + actors.iter().find(|actor| actor.0 % 32 == lane).map_or(0, |actor| actor.1)
                };
                trace.with(*order, *scope);
                trace.access(*touch, *space, *bytes, (warp, mask), pc, address, None);
                places.push((*space, actors.clone(), *bytes));
                pc += 1;
            }
            Step::BlockBarrier => {
                trace.barrier(999);
            }
            Step::WarpsBarrier { arrive, wait } => {
                let lanes =
                    |warps: u32| [0, 1, 2].map(|warp| if warps >> warp & 1 == 1 { PRESENT[warp] } else { 0 });
                for warp in (0..3).filter(|warp| arrive >> warp & 1 == 1) {
                    trace.arrive(1, (warp, PRESENT[warp as usize]), 999);
                }
                trace.complete(1, &lanes(*arrive), &lanes(*wait));
            }
            Step::SyncWarp { warp, mask } => {
                trace.syncwarp((*warp, *mask & PRESENT[*warp as usize]), 999);
            }
            Step::Fence { thread, scope } => {
                trace.fence((thread / 32, 1 << (thread % 32)), 999, *scope);
            }
            Step::NextBlock => {
                trace.next_block();
            }
        }
    }
    let mut racy = BTreeSet::new();
    for fault in trace.finish().faults.iter().filter(|fault| fault.kind == FaultKind::Race) {
        let warpsim::Detail::Race { place: Some(place), .. } = &fault.detail else { panic!("{fault:?}") };
        let offset = place.offset as u64;
        let space = fault.space.unwrap();
        // Both sides did access the place, and were not one thread.
        let other = fault.other.as_ref().unwrap();
        for party in [&fault.party, other] {
            let was_there = |(of_space, actors, bytes): &Place| {
                let touched = |at: u64| at <= offset && offset < at + u64::from(*bytes);
                *of_space == space
                    && actors.iter().any(|actor| actor.0 == party.thread[0] && touched(actor.1))
            };
            // Of three and more instructions, the earlier access may be told of with another's line.
            let by =
                if party == other { &places[..] } else { &places[party.pc as usize..=party.pc as usize] };
            assert!(by.iter().any(was_there), "{party:?} of {fault:?} was not there in {steps:#?}");
        }
        assert!((fault.party.thread, fault.party.block) != (other.thread, other.block));
        racy.insert((space, offset));
    }
    racy
}

fn expected(steps: &[Step]) -> BTreeSet<(Space, u64)> {
    let mut reference = Reference::default();
    steps.iter().for_each(|step| reference.step(step));
    reference.racy
}

fn actors() -> impl Strategy<Value = Vec<u32>> {
    (0..3u32).prop_flat_map(|warp| {
        let of_warp: Vec<u32> = ACTORS.into_iter().filter(|thread| thread / 32 == warp).collect();
        let most = of_warp.len();
        proptest::sample::subsequence(of_warp, 1..=most)
    })
}

/// Plain accesses and atomics that order nothing.
fn access(space: Space, sizes: &'static [u32], places: u64) -> impl Strategy<Value = Step> {
    let touch = prop_oneof![4 => Just(Touch::Read), 3 => Just(Touch::Write), 1 => Just(Touch::Atomic)];
    (touch, proptest::sample::select(sizes), actors(), proptest::collection::vec(0..places, 3)).prop_map(
        move |(touch, bytes, threads, at)| {
            // Atomics on words only.
            let bytes = if touch == Touch::Atomic { 4 } else { bytes };
            let actors = threads
                .iter()
                .zip(at)
                .map(|(thread, at)| (*thread, at * 4 / u64::from(bytes) * u64::from(bytes)));
            Step::Access {
                touch,
                space,
                bytes,
                actors: actors.collect(),
                order: Order::Weak,
                scope: Scope::Device,
            }
        },
    )
}

fn sync_access(
    space: Space,
    orders: &'static [(Touch, Order)],
    scopes: &'static [Scope],
) -> impl Strategy<Value = Step> {
    (proptest::sample::select(orders), proptest::sample::select(scopes), actors(), 0..2u64).prop_map(
        move |((touch, order), scope, threads, flag)| {
            let actors = vec![(threads[0], FLAGS_AT + 4 * flag)];
            Step::Access { touch, space, bytes: 4, actors, order, scope }
        },
    )
}

fn warps_barrier() -> impl Strategy<Value = Step> {
    (1..8u32, 0..8u32).prop_filter_map("nobody waits", |(arrive, wait)| {
        (arrive & wait != 0).then_some(Step::WarpsBarrier { arrive, wait: arrive & wait })
    })
}

fn sync_warp() -> impl Strategy<Value = Step> {
    (0..3u32, prop_oneof![Just(u32::MAX), 1..8u32]).prop_filter_map("no such lanes", |(warp, mask)| {
        (mask & PRESENT[warp as usize] != 0).then_some(Step::SyncWarp { warp, mask })
    })
}

const QUALIFIED: &[(Touch, Order)] = &[
    (Touch::Atomic, Order::AcquireRelease),
    (Touch::Atomic, Order::Relaxed),
    (Touch::Write, Order::Release),
    (Touch::Read, Order::Acquire),
];
const FLAGS: &[(Touch, Order)] = &[(Touch::Atomic, Order::Relaxed), (Touch::Write, Order::Relaxed)];
/// Where flags are, beyond the data.
const FLAGS_AT: u64 = 4000;
const ALL_SCOPES: &[Scope] = &[Scope::Block, Scope::Device];

fn trace(step: impl Strategy<Value = Step>, most: usize) -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(step, 2..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Shared memory is exact: barriers of all kinds, `__syncwarp`, qualified atomics.
    #[test]
    fn shared_memory_is_exact(steps in trace(
        prop_oneof![
            8 => access(Space::Shared, &[4], 4),
            1 => Just(Step::BlockBarrier),
            3 => warps_barrier(),
            3 => sync_warp(),
            3 => sync_access(Space::Shared, QUALIFIED, ALL_SCOPES),
        ],
        24,
    )) {
        prop_assert_eq!(detected_words(&steps), words(expected(&steps)));
    }

    /// Also where accesses of different sizes overlap.
    #[test]
    fn shared_memory_is_exact_to_the_byte(steps in trace(
        prop_oneof![
            8 => access(Space::Shared, &[1, 2, 4, 8, 16], 5),
            1 => Just(Step::BlockBarrier),
            1 => warps_barrier(),
            2 => sync_warp(),
        ],
        12,
    )) {
        prop_assert_eq!(detected(&steps).is_empty(), expected(&steps).is_empty());
        prop_assert!(detected(&steps).is_subset(&expected(&steps)));
    }

    /// Global memory is exact where only block barriers and blocks order.
    #[test]
    fn global_memory_is_exact_under_block_barriers(steps in trace(
        prop_oneof![
            8 => access(Space::Global, &[4], 4),
            2 => Just(Step::BlockBarrier),
            1 => Just(Step::NextBlock),
        ],
        24,
    )) {
        prop_assert_eq!(detected_words(&steps), words(expected(&steps)));
    }

    #[test]
    fn global_memory_is_exact_to_the_byte(steps in trace(
        prop_oneof![
            8 => access(Space::Global, &[1, 2, 4, 8, 16], 5),
            2 => Just(Step::BlockBarrier),
            1 => Just(Step::NextBlock),
        ],
        12,
    )) {
        prop_assert_eq!(detected(&steps).is_empty(), expected(&steps).is_empty());
        prop_assert!(detected(&steps).is_subset(&expected(&steps)));
    }

    /// Whatever orders, what is reported is a race.
    #[test]
    fn nothing_ordered_is_reported(steps in trace(
        prop_oneof![
            6 => access(Space::Global, &[4], 3),
            2 => access(Space::Shared, &[4], 3),
            2 => Just(Step::BlockBarrier),
            1 => warps_barrier(),
            1 => sync_warp(),
            3 => (proptest::sample::select(&ACTORS[..]), proptest::sample::select(ALL_SCOPES))
                .prop_map(|(thread, scope)| Step::Fence { thread, scope }),
            2 => sync_access(Space::Global, QUALIFIED, ALL_SCOPES),
            3 => sync_access(Space::Global, FLAGS, ALL_SCOPES),
            1 => sync_access(Space::Shared, FLAGS, ALL_SCOPES),
            2 => Just(Step::NextBlock),
        ],
        30,
    )) {
        let (detected, expected) = (detected(&steps), expected(&steps));
        prop_assert!(detected.is_subset(&expected), "{:?} are not among {:?}", detected, expected);
    }
}

/// Words that contain any of these bytes.
fn words(bytes: BTreeSet<(Space, u64)>) -> BTreeSet<(Space, u64)> {
    bytes.into_iter().map(|(space, byte)| (space, byte / 4 * 4)).collect()
}

/// All the words that the detector finds racy: it is told of one at a time, so that de-duplication hides nothing.
fn detected_words(steps: &[Step]) -> BTreeSet<(Space, u64)> {
    let of_word = |word: u64| {
        steps.iter().cloned().filter_map(move |mut step| {
            if let Step::Access { actors, .. } = &mut step {
                actors.retain(|actor| actor.1 == word || actor.1 >= FLAGS_AT);
                if actors.is_empty() {
                    return None;
                }
            }
            Some(step)
        })
    };
    (0..4).flat_map(|word| detected(&of_word(4 * word).collect::<Vec<_>>())).collect()
}
