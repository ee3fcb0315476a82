//! A resident warp: where it is, and what it waits for.

use std::collections::VecDeque;

use super::Cause;
use super::cache::Arrival;
use crate::code::{Class, Code, Op, Region};
use crate::trace::{Trace, WarpTrace};

/// A value that is on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Value {
    pub(super) arrival: Arrival,
    /// The instruction that makes it.
    pub(super) maker: u32,
}

/// What a warp that could issue has waited for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wait {
    pub(super) cause: Cause,
    /// The instruction that is to blame.
    pub(super) at: u32,
}

#[derive(Debug)]
pub(super) struct Warp {
    /// The slot of its block, the sampled block that it repeats, and its number in it.
    pub(super) slot: usize,
    sampled: usize,
    number: usize,
    /// Place in the list of runs, in the run's region, and in the list of requests.
    run: usize,
    op: usize,
    request: usize,
    /// When its next instruction may be issued; infinite while it waits for others.
    pub(super) next: f64,
    /// Why not earlier.
    pub(super) wait: Wait,
    values: Vec<Value>,
    /// Groups of asynchronous copies that are closed, and the one that is open.
    groups: VecDeque<Value>,
    open_group: Value,
    /// The quarter of the SM that it lives in.
    pub(super) quarter: usize,
    /// Older warps go first.
    pub(super) age: u64,
    pub(super) is_done: bool,
    pub(super) is_at_barrier: bool,
    /// Added to the lines that it touches.
    pub(super) moved: u64,
}

/// What is replayed.
#[derive(Clone, Copy)]
pub(super) struct Script<'a> {
    pub(super) code: &'a Code,
    pub(super) trace: &'a Trace,
}

impl Warp {
    pub(super) fn new(registers: usize, quarter: usize, slot: usize, number: usize) -> Warp {
        Warp {
            slot,
            sampled: 0,
            number,
            run: 0,
            op: 0,
            request: 0,
            next: 0.0,
            wait: Wait::default(),
            values: vec![Value::default(); registers],
            groups: VecDeque::new(),
            open_group: Value::default(),
            quarter,
            age: 0,
            is_done: false,
            is_at_barrier: false,
            moved: 0,
        }
    }

    /// Begins block number `block` of those of the SM at `now`.
    pub(super) fn start(&mut self, script: Script<'_>, block: usize, age: u64, now: f64) {
        let sampled = script.trace.blocks.len();
        (self.sampled, self.moved) = (block % sampled, ((block / sampled) as u64) << 40);
        (self.run, self.op, self.request, self.age) = (0, 0, 0, age);
        (self.is_done, self.is_at_barrier) = (false, false);
        self.values.fill(Value::default());
        self.groups.clear();
        self.open_group = Value::default();
        self.advance(script, now, Wait { cause: Cause::Start, at: super::account::NOBODY });
    }

    fn script<'a>(&self, script: Script<'a>) -> &'a WarpTrace {
        &script.trace.blocks[self.sampled][self.number]
    }

    fn region<'a>(&self, script: Script<'a>) -> Option<&'a Region> {
        let run = *self.script(script).runs.get(self.run)?;
        Some(&script.code.regions[run as usize])
    }

    /// The instruction that it issues next.
    pub(super) fn op<'a>(&self, script: Script<'a>) -> Option<&'a Op> {
        self.region(script)?.ops.get(self.op)
    }

    /// The next of its requests.
    pub(super) fn take_request(&mut self, script: Script<'_>) -> u32 {
        let found = self.script(script).requests.get(self.request).copied();
        self.request += 1;
        found.unwrap_or(crate::trace::NONE)
    }

    /// Goes past the instruction that was issued, whose result is there at `arrival`.
    pub(super) fn issued(&mut self, op: &Op, arrival: Arrival) {
        for reg in &op.writes {
            self.values[*reg as usize] = Value { arrival, maker: op.at };
        }
        self.op += 1;
    }

    /// Adds a copy to the open group.
    pub(super) fn copies(&mut self, at: u32, arrival: Arrival) {
        let group = &mut self.open_group;
        if arrival.at > group.arrival.at {
            *group = Value { arrival, maker: at };
        }
    }

    /// Closes the open group.
    pub(super) fn commits(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open_group));
    }

    /// Finds when the next instruction can be issued, not before `now`, and what it waits for; what takes no time is passed.
    pub(super) fn advance(&mut self, script: Script<'_>, now: f64, wait: Wait) {
        loop {
            let Some(region) = self.region(script) else {
                (self.is_done, self.next) = (true, f64::INFINITY);
                return;
            };
            let Some(op) = region.ops.get(self.op) else {
                (self.run, self.op) = (self.run + 1, 0);
                continue;
            };
            let mut latest = Value::default();
            for reg in &op.reads {
                let value = self.values[*reg as usize];
                if value.arrival.at > latest.arrival.at {
                    latest = value;
                }
            }
            if op.class == Class::Free {
                op.writes.iter().for_each(|reg| self.values[*reg as usize] = latest);
                self.op += 1;
                continue;
            }
            if let Class::Wait(pending) = op.class {
                while self.groups.len() > pending as usize {
                    let group = self.groups.pop_front().unwrap_or_default();
                    if group.arrival.at > latest.arrival.at {
                        latest = group;
                    }
                }
            }
            (self.next, self.wait) = (now, wait);
            if latest.arrival.at > now {
                self.next = latest.arrival.at;
                self.wait = Wait { cause: latest.arrival.cause, at: latest.maker };
            }
            return;
        }
    }
}
