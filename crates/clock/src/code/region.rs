//! Straight stretches of a kernel, each in the order in which it is issued.

use foldhash::{HashMap, HashMapExt as _};
use ptx::{Instruction, Operand};

use super::join::{self, Node, Touch};
use super::listing::{Listing, Reg};
use super::liveness::{Liveness, shared_addresses};
use super::op::{Class, Op, Space};
use super::schedule::{self, Pressure};
use super::{Code, Request, cost};
use crate::gpu::Gpu;

/// A jump over at most so many instructions becomes predicates.
const PREDICATED: usize = 16;
/// `ptxas` unrolls a small loop so many times,
const UNROLLED: usize = 4;
/// and that is one of at most so many instructions.
const SMALL_LOOP: usize = 48;

/// A straight stretch.
#[derive(Debug, Default)]
pub(crate) struct Region {
    pub(crate) ops: Vec<Op>,
    /// The ops that make requests.
    pub(crate) requests: Vec<u32>,
    /// How many turns of a loop it stands for.
    pub(crate) copies: usize,
    /// The region that stands for several turns of this one.
    pub(crate) unrolled: Option<u32>,
}

/// What regions are made of.
pub(super) struct Order<'a> {
    pub(super) listing: &'a Listing<'a>,
    pub(super) ops: &'a [Op],
    pub(super) alignment: &'a [u32],
    pub(super) shared_offset: &'a dyn Fn(&str) -> Option<u64>,
    pub(super) registers_per_thread: u32,
    pub(super) gpu: &'a Gpu,
}

/// Makes `ret` of a device function a jump, not the warp's end.
pub(super) fn settle(listing: &Listing<'_>, ops: &mut [Op]) {
    let kernel_end = listing.kernel_lines();
    for op in &mut ops[kernel_end..] {
        if op.class == Class::Exit && listing.lines[op.at as usize].instruction.opcode == "ret" {
            op.class = Class::Branch;
        }
    }
}

/// Cuts the listing into regions and schedules each.
pub(super) fn build(order: &Order<'_>) -> Code {
    let Order { listing, .. } = *order;
    let end = listing.lines.len();
    let leaders = leaders(listing);
    let shared = shared_addresses(listing);
    let mut builder = Builder {
        order,
        liveness: Liveness::new(listing, &shared),
        next_register: listing.kinds.len() as Reg,
        requests: order.ops.iter().map(|op| request(op, listing.lines[op.at as usize].instruction)).collect(),
    };
    let (mut regions, mut unrolled, mut region_of) = (Vec::new(), Vec::new(), vec![0; end]);
    let mut start = 0;
    while start < end {
        let stop = (start + 1..end).find(|at| leaders[*at]).unwrap_or(end);
        region_of[start..stop].fill(regions.len() as u32);
        if builder.is_small_loop(start, stop) {
            unrolled.push((regions.len(), builder.region(start, stop, UNROLLED)));
        }
        regions.push(builder.region(start, stop, 1));
        start = stop;
    }
    for (of, region) in unrolled {
        regions[of].unrolled = Some(regions.len() as u32);
        regions.push(region);
    }
    Code {
        regions,
        region_of,
        requests: builder.requests,
        registers: builder.next_register as usize,
        ptx_lines: listing.lines.iter().map(|line| line.instruction.position.line).collect(),
        classes: order.ops.iter().map(|op| op.class).collect(),
        traits: (0..end).map(|at| cost::traits(listing, at)).collect(),
    }
}

fn request(op: &Op, instruction: &Instruction) -> Request {
    if op.is_request() { Request::Own(cost::bytes_per_lane(instruction)) } else { Request::None }
}

fn is_end(instruction: &Instruction) -> bool {
    matches!(instruction.opcode.as_str(), "bar" | "barrier" | "ret" | "exit" | "call")
        && !instruction.has("warp")
}

/// Where regions begin.
fn leaders(listing: &Listing<'_>) -> Vec<bool> {
    let mut leaders = vec![false; listing.lines.len() + 1];
    leaders[0] = true;
    for (at, line) in listing.lines.iter().enumerate() {
        if let Some(target) = line.target {
            let skipped = listing.lines.get(at + 1..target);
            let is_predicated = line.instruction.guard.is_some()
                && skipped.is_some_and(|skipped| {
                    skipped.len() <= PREDICATED && !skipped.iter().any(|line| is_end(line.instruction))
                });
            if !is_predicated {
                leaders[target] = true;
                leaders[at + 1] = true;
            }
        } else if is_end(line.instruction) || line.instruction.opcode.starts_with("br") {
            leaders[at + 1] = true;
        }
    }
    leaders
}

struct Builder<'a> {
    order: &'a Order<'a>,
    liveness: Liveness,
    next_register: Reg,
    requests: Vec<Request>,
}

impl Builder<'_> {
    /// Whether the stretch jumps back to its own start, and `ptxas` would unroll it.
    fn is_small_loop(&self, start: usize, stop: usize) -> bool {
        let lines = &self.order.listing.lines[start..stop];
        let Some((last, body)) = lines.split_last() else { return false };
        let is_loop = last.target == Some(start) && last.instruction.guard.is_some();
        let is_plain = |line: &super::listing::Line<'_>| {
            !matches!(line.instruction.opcode.as_str(), "bra" | "bar" | "barrier" | "cp" | "call")
        };
        let size = self.order.ops[start..stop].iter().filter(|op| op.class != Class::Free).count();
        is_loop && !body.is_empty() && body.iter().all(is_plain) && size <= SMALL_LOOP
    }

    fn region(&mut self, start: usize, stop: usize, copies: usize) -> Region {
        let mut nodes = self.nodes(start, stop, copies);
        join::join(&mut nodes, |lead, lowest, joined, bytes| {
            if copies == 1 {
                joined.iter().for_each(|at| self.requests[*at] = Request::Joined);
                self.requests[lead] = Request::Joined;
                self.requests[lowest] = Request::Own(bytes);
            }
        });
        let pressure = Pressure {
            listing: self.order.listing,
            range: start..stop,
            registers: self.order.registers_per_thread,
            taken: self.liveness.taken(start),
            loads_global: nodes.iter().any(|node| node.op.class == Class::Load(Space::Global)),
        };
        let ops = schedule::schedule(nodes, &pressure, self.order.gpu);
        let requests = (0..ops.len() as u32).filter(|at| ops[*at as usize].is_request()).collect();
        Region { ops, requests, copies, unrolled: None }
    }

    /// The stretch, so many times over. What only leads from one turn to the next is left out, and what each turn writes gets
    /// registers of its own.
    fn nodes(&mut self, start: usize, stop: usize, copies: usize) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut renamed: HashMap<Reg, Reg> = HashMap::new();
        for copy in 0..copies {
            let is_last = copy + 1 == copies;
            for at in start..stop {
                let instruction = self.order.listing.lines[at].instruction;
                let mut op = self.order.ops[at].clone();
                op.copy = copy as u8;
                if !is_last {
                    if op.class == Class::Branch || self.is_only_for_jump(at, stop) {
                        continue;
                    }
                    if is_step(instruction) {
                        op.free();
                    }
                }
                let address = self.shared_address(at, &op, &renamed);
                op.reads.iter_mut().for_each(|reg| *reg = renamed.get(reg).copied().unwrap_or(*reg));
                for reg in &mut op.writes {
                    if is_last {
                        renamed.remove(reg);
                    } else {
                        let fresh = self.next_register;
                        self.next_register += 1;
                        renamed.insert(*reg, fresh);
                        *reg = fresh;
                    }
                }
                let ends = matches!(op.class, Class::Branch | Class::Barrier | Class::Exit) && at + 1 == stop;
                let width = cost::bytes_per_lane(instruction);
                nodes.push(Node { touch: Touch::of(&op), address, width, ends: ends && is_last, op });
            }
        }
        nodes
    }

    /// Whether an instruction does no more than say whether there is a next turn.
    fn is_only_for_jump(&self, at: usize, stop: usize) -> bool {
        let line = &self.order.listing.lines[at];
        let decides = |reg: &Reg| self.order.listing.uses[*reg as usize].iter().all(|user| user + 1 == stop);
        line.instruction.opcode == "setp" && line.writes.iter().all(decides)
    }

    /// Where in shared memory an unconditional load reads: register, offset, and zeros of the register.
    fn shared_address(&self, at: usize, op: &Op, renamed: &HashMap<Reg, Reg>) -> Option<join::SharedAddress> {
        let instruction = self.order.listing.lines[at].instruction;
        let is_plain = instruction.opcode == "ld"
            && instruction.guard.is_none()
            && !instruction.has("volatile")
            && op.class == Class::Load(Space::Shared);
        let address = instruction.operands.iter().filter(|_| is_plain).find_map(|operand| match operand {
            Operand::Address(address) => Some(address),
            _ => None,
        })?;
        let base = address.base.as_deref()?;
        Some(match self.order.listing.register(at, base) {
            Some(reg) => join::SharedAddress {
                base: renamed.get(&reg).copied().unwrap_or(reg),
                offset: address.offset,
                zeros: self.order.alignment[reg as usize],
            },
            None => join::SharedAddress {
                base: 0,
                offset: address.offset + (self.order.shared_offset)(base).unwrap_or(0) as i64,
                zeros: join::QUAD.trailing_zeros(),
            },
        })
    }
}

/// Whether it adds a constant to a pointer or a counter: unrolled, that becomes part of an address.
fn is_step(instruction: &Instruction) -> bool {
    matches!(instruction.opcode.as_str(), "add" | "sub")
        && matches!(instruction.operands.get(2), Some(Operand::Integer(_)))
        && !instruction.has("f32")
}
