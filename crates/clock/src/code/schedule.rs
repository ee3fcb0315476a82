//! Puts a stretch into the order in which it is issued: a list scheduler that begins loads early, as far as registers last.
//!
//! It follows what is known of `ptxas` only in its aims: critical path first, loads as early as can be, and no new values while
//! the registers are full.

use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};

use super::cost::is_predicate;
use super::join::{Node, Touch};
use super::listing::{Listing, Reg};
use super::op::{Class, Op, Space};
use crate::gpu::Gpu;

/// Registers that the scheduler lets be taken beyond what the kernel has, where values from global memory are waited for: some
/// values share one. What is loaded from shared memory is there so soon that more of it can be under way.
const BEYOND_WITH_GLOBAL: i32 = 4;
const BEYOND: i32 = 20;
/// Registers that a stretch has for itself, however many are taken where it begins.
const LEAST_ROOM: i32 = 10;
/// Predicates at a time.
const PREDICATES: i32 = 6;
/// A load whose turn comes is worth as much as this many cycles of waiting.
const LOAD_FIRST: f32 = 5.0;
/// Waits longer than this are all alike while registers are short.
const LONG_WAIT: f32 = 8.0;
/// Cycles that the scheduler looks ahead at most.
const LOOK_AHEAD: f32 = 4.0;
/// More than any wait.
const NEVER: f32 = 1e6;

/// The registers around a stretch.
pub(super) struct Pressure<'a> {
    pub(super) listing: &'a Listing<'a>,
    /// The stretch.
    pub(super) range: Range<usize>,
    /// Registers per thread that the compiler settled on.
    pub(super) registers: u32,
    /// Those that are taken where the stretch begins.
    pub(super) taken: u32,
    /// Whether the stretch loads from global memory.
    pub(super) loads_global: bool,
}

impl Pressure<'_> {
    fn room(&self) -> i32 {
        let beyond = if self.loads_global { BEYOND_WITH_GLOBAL } else { BEYOND };
        (self.registers as i32 + beyond - self.taken as i32).max(LEAST_ROOM)
    }

    /// Whether a value is needed after the stretch.
    fn lives_on(&self, reg: Reg) -> bool {
        let uses = self.listing.uses.get(reg as usize);
        uses.is_some_and(|uses| uses.iter().any(|at| !self.range.contains(at)))
    }
}

/// The ops of a stretch in order, without those that are nothing to anybody.
pub(super) fn schedule(nodes: Vec<Node>, pressure: &Pressure<'_>, gpu: &Gpu) -> Vec<Op> {
    let graph = Graph::new(&nodes, gpu);
    let mut queue = Queue::new(&nodes, &graph, pressure);
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(next) = queue.pick() {
        queue.issue(next);
        order.push(next);
    }
    let mut ops: Vec<Option<Op>> = nodes.into_iter().map(|node| Some(node.op)).collect();
    let in_order = order.into_iter().filter_map(|index| ops[index].take());
    in_order.filter(|op| op.class != Class::Free || !op.writes.is_empty()).collect()
}

/// What must come before what.
struct Graph {
    /// For each node, what waits for it, and for how many cycles.
    after: Vec<Vec<(usize, f32)>>,
    /// For each node, how many it waits for.
    before: Vec<u32>,
    /// For each node, cycles to the end of the longest chain that begins with it.
    urgency: Vec<f32>,
}

/// The last instructions that touched memory in each way.
#[derive(Default)]
struct LastTouches {
    shared_reads: Vec<usize>,
    shared_writes: Vec<usize>,
    reads: Vec<usize>,
    writes: Vec<usize>,
    order: Option<usize>,
}

impl LastTouches {
    /// What a node of this kind has to wait for, with cycles; then it is the last itself.
    fn append(&mut self, touch: Touch, node: usize) -> Vec<(usize, f32)> {
        let mut waits = Vec::new();
        let all = |nodes: &[usize], waits: &mut Vec<(usize, f32)>| {
            waits.extend(nodes.iter().map(|node| (*node, 0.0)));
        };
        let last = |nodes: &[usize], delay: f32, waits: &mut Vec<(usize, f32)>| {
            waits.extend(nodes.last().map(|node| (*node, delay)));
        };
        if touch != Touch::Nothing && touch != Touch::Orders {
            waits.extend(self.order.map(|node| (node, 0.0)));
        }
        match touch {
            Touch::Nothing => {}
            Touch::ReadsShared => {
                last(&self.shared_writes, 1.0, &mut waits);
                self.shared_reads.push(node);
            }
            Touch::WritesShared | Touch::Copies => {
                all(&self.shared_reads, &mut waits);
                last(&self.shared_writes, 0.0, &mut waits);
                if touch == Touch::Copies {
                    last(&self.writes, 0.0, &mut waits);
                }
                self.shared_writes.push(node);
                self.shared_reads.clear();
            }
            Touch::Reads => {
                last(&self.writes, 0.0, &mut waits);
                self.reads.push(node);
            }
            Touch::Writes => {
                all(&self.reads, &mut waits);
                last(&self.writes, 0.0, &mut waits);
                self.writes.push(node);
                self.reads.clear();
            }
            Touch::Orders => {
                for nodes in [&self.shared_reads, &self.shared_writes, &self.reads, &self.writes] {
                    all(nodes, &mut waits);
                }
                waits.extend(self.order.map(|node| (node, 0.0)));
                self.order = Some(node);
            }
        }
        waits
    }
}

impl Graph {
    fn new(nodes: &[Node], gpu: &Gpu) -> Graph {
        let mut graph = Graph {
            after: vec![Vec::new(); nodes.len()],
            before: vec![0; nodes.len()],
            urgency: vec![0.0; nodes.len()],
        };
        let mut written: HashMap<Reg, usize> = HashMap::new();
        let mut read: HashMap<Reg, Vec<usize>> = HashMap::new();
        let mut touches = LastTouches::default();
        for (index, node) in nodes.iter().enumerate() {
            for reg in &node.op.reads {
                if let Some(&writer) = written.get(reg) {
                    graph.edge(writer, index, delay(&nodes[writer].op, gpu));
                }
            }
            for reg in &node.op.writes {
                read.get(reg).into_iter().flatten().for_each(|&reader| graph.edge(reader, index, 0.0));
                if let Some(&writer) = written.get(reg) {
                    graph.edge(writer, index, delay(&nodes[writer].op, gpu));
                }
            }
            node.op.reads.iter().for_each(|reg| read.entry(*reg).or_default().push(index));
            for reg in &node.op.writes {
                written.insert(*reg, index);
                read.remove(reg);
            }
            for (earlier, delay) in touches.append(node.touch, index) {
                graph.edge(earlier, index, delay);
            }
            if node.ends {
                (0..index).for_each(|earlier| graph.edge(earlier, index, 0.0));
            }
        }
        graph.rate(nodes);
        graph
    }

    fn edge(&mut self, from: usize, to: usize, delay: f32) {
        if from != to {
            self.after[from].push((to, delay));
            self.before[to] += 1;
        }
    }

    fn rate(&mut self, nodes: &[Node]) {
        for index in (0..nodes.len()).rev() {
            let op = &nodes[index].op;
            let least = if op.class == Class::Free { 0.0 } else { 0.5 };
            let chains = self.after[index].iter().map(|&(next, delay)| self.urgency[next] + delay.max(least));
            self.urgency[index] = chains.fold(op.slots.max(1) as f32, f32::max);
        }
    }
}

/// Cycles that the scheduler expects until a result is there.
fn delay(op: &Op, gpu: &Gpu) -> f32 {
    match op.class {
        Class::Load(Space::Shared) => gpu.shared_latency as f32,
        Class::Load(_) => gpu.expected_global_latency as f32,
        _ => op.latency,
    }
}

/// What can be issued next.
struct Queue<'a> {
    nodes: &'a [Node],
    graph: &'a Graph,
    pressure: &'a Pressure<'a>,
    ready: Vec<usize>,
    waits_for: Vec<u32>,
    /// When the values that a node reads are there.
    available: Vec<f32>,
    now: f32,
    /// How often each register is still read.
    reads_left: HashMap<Reg, u32>,
    /// Values that the stretch has made and still needs: words, and predicates.
    alive: i32,
    predicates: i32,
    made_here: HashMap<Reg, ()>,
}

impl<'a> Queue<'a> {
    fn new(nodes: &'a [Node], graph: &'a Graph, pressure: &'a Pressure<'a>) -> Queue<'a> {
        let mut reads_left = HashMap::new();
        nodes
            .iter()
            .flat_map(|node| &node.op.reads)
            .for_each(|reg| *reads_left.entry(*reg).or_default() += 1);
        Queue {
            nodes,
            graph,
            pressure,
            ready: (0..nodes.len()).filter(|index| graph.before[*index] == 0).collect(),
            waits_for: graph.before.clone(),
            available: vec![0.0; nodes.len()],
            now: 0.0,
            reads_left,
            alive: 0,
            predicates: 0,
            made_here: nodes.iter().flat_map(|node| &node.op.writes).map(|reg| (*reg, ())).collect(),
        }
    }

    /// Takes the best of those that are ready.
    fn pick(&mut self) -> Option<usize> {
        let free = self.ready.iter().position(|&index| self.nodes[index].op.class == Class::Free);
        let best = free.or_else(|| {
            let keys = self.ready.iter().enumerate().map(|(place, &index)| (self.key(index), place));
            keys.max_by(|(a, _), (b, _)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)))
                .map(|(_, place)| place)
        })?;
        Some(self.ready.swap_remove(best))
    }

    /// The greater, the sooner.
    fn key(&self, index: usize) -> (f32, f32) {
        let op = &self.nodes[index].op;
        let is_load = matches!(op.class, Class::Load(Space::Shared | Space::Global));
        let makes_predicate = op.writes.iter().any(|reg| is_predicate(self.pressure.listing, *reg));
        let is_held = self.predicates >= PREDICATES && makes_predicate;
        let wait = (self.available[index] - self.now).max(0.0);
        let place = index as f32;
        if self.alive >= self.pressure.room() {
            let load = if is_load { NEVER } else { 0.0 };
            let wait = if is_held { NEVER / 10.0 } else { wait.min(LONG_WAIT) };
            return (-load - wait, -place);
        }
        let urgency = self.graph.urgency[index] - 0.001 * place;
        match (is_load, is_held) {
            (true, _) => (LOAD_FIRST, urgency),
            (false, true) => (-wait - NEVER / 10.0, urgency),
            (false, false) => (-wait, urgency),
        }
    }

    fn issue(&mut self, index: usize) {
        let op = &self.nodes[index].op;
        if op.class != Class::Free {
            self.now = self.now.max(self.available[index].min(self.now + LOOK_AHEAD)) + op.slots as f32;
        }
        for reg in &op.reads {
            let Some(left) = self.reads_left.get_mut(reg) else { continue };
            *left -= 1;
            if *left == 0 && self.made_here.contains_key(reg) && !self.pressure.lives_on(*reg) {
                self.count(*reg, -1);
            }
        }
        for reg in &op.writes {
            if !self.pressure.lives_on(*reg) && self.reads_left.get(reg).is_some_and(|left| *left > 0) {
                self.count(*reg, 1);
            }
        }
        for &(next, delay) in &self.graph.after[index] {
            let from = if op.class == Class::Free { self.available[index] } else { self.now + delay - 1.0 };
            self.available[next] = self.available[next].max(from);
            self.waits_for[next] -= 1;
            if self.waits_for[next] == 0 {
                self.ready.push(next);
            }
        }
    }

    fn count(&mut self, reg: Reg, change: i32) {
        if is_predicate(self.pressure.listing, reg) {
            self.predicates += change;
        } else {
            self.alive += change;
        }
    }
}
