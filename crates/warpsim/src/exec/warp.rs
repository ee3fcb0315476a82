//! A warp: registers, local memory, and the groups its lanes have split into.
//!
//! Lanes that go the same way are one group. At a branch where they part, a *join* remembers where they meet
//! again (the branch's immediate post-dominator) and who is expected; a group that gets there waits. Lane groups
//! take turns, so lanes make progress independently of each other.

use super::Context;
use super::access::on_chip::LocalMemory;
use crate::memory::window;
use crate::program::{Constant, FrameSize, LaneMask, NOWHERE, Register, Special};
use crate::registers::{FrameBase, RegisterFile, Registers};

/// Bytes of local memory a thread may use.
pub(crate) const LOCAL_LIMIT: u32 = 512 * 1024;

/// "No join".
pub(crate) const NONE: u32 = u32::MAX;

/// Lanes that execute together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneGroup {
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    /// The innermost join that these lanes are expected at.
    pub(crate) join: u32,
    pub(crate) state: State,
    /// The call in progress: index into the warp's frames.
    pub(crate) frame: u32,
    /// The last backward branch taken, for naming a loop that does not end.
    pub(crate) back_edge: u32,
    /// The last forward branch taken, for naming what led lanes out of the kernel.
    pub(crate) jump: u32,
    /// Whether it looked at memory that others may change, since its time slice began.
    pub(crate) polled: bool,
    /// How often it looked at such memory since it last changed any.
    pub(crate) idle: u32,
    /// Slices in which it polled.
    pub(crate) polls: u32,
}

impl LaneGroup {
    /// A lane group that can go on.
    fn new(pc: u32, mask: u32, join: u32, frame: u32) -> LaneGroup {
        LaneGroup {
            pc,
            mask,
            join,
            state: State::Ready,
            frame,
            back_edge: NOWHERE,
            jump: NOWHERE,
            polled: false,
            idle: 0,
            polls: 0,
        }
    }
}

/// Whether a group can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// Waits for the completion of a block barrier after this one.
    Barrier {
        id: u8,
        generation: u64,
    },
    /// Waits for the other lanes of a warp-level instruction. `only_here`: at the same instruction.
    Meeting {
        only_here: bool,
    },
    /// Waits for the other lanes of its warp before an aligned barrier.
    Gathering,
}

/// A call in progress: it fixes where registers and local variables are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Lanes inside it, or inside calls it made. Without any the place is free.
    pub(crate) lanes: u32,
    pub(crate) depth: u32,
    pub(crate) function: u32,
    pub(crate) base: FrameBase,
    pub(crate) local_base: u32,
    /// The frame that called.
    pub(crate) parent: u32,
    /// The call that made it, and the instruction it is in.
    pub(crate) call: u32,
    pub(crate) call_pc: u32,
}

/// Where parted lanes meet again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Join {
    pub(crate) pc: u32,
    /// The call in progress there: recursion passes the same instruction on other levels.
    pub(crate) frame: u32,
    pub(crate) parent: u32,
    pub(crate) expected: u32,
    pub(crate) arrived: u32,
}

/// 32 threads.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    pub(crate) index: u32,
    pub(crate) registers: Registers,
    pub(crate) local: LocalMemory,
    pub(crate) groups: Vec<LaneGroup>,
    pub(crate) current: usize,
    joins: Vec<Join>,
    free_joins: Vec<u32>,
    /// Calls in progress; number 0 is the kernel.
    pub(crate) frames: Vec<Frame>,
    /// The frame that register indices mean now.
    frame: u32,
    /// Lanes that have not exited.
    pub(crate) alive: u32,
    /// Asynchronous copies in flight.
    pub(crate) copies: super::access::Copies,
}

impl Warp {
    /// Prepares the warp for a block: registers that hold constants, and nothing in the ones that may be read
    /// before they are written.
    pub(crate) fn start(&mut self, context: &Context<'_>, index: u32, block: [u32; 3]) {
        let threads = context.threads_per_block();
        let lanes = (threads - index * 32).min(32);
        let mask = if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 };
        let function = &context.program.functions[0];
        let fresh = self.registers.pred.is_empty()
            && self.registers.word.is_empty()
            && self.registers.wide.is_empty();
        self.index = index;
        self.registers.base = FrameBase::default();
        self.registers.tainted = false;
        if fresh {
            self.reserve(FrameBase::default(), function.registers);
        }
        for &(reg, constant) in &function.constants {
            if fresh || is_block_index(constant) {
                self.set_constant(context, reg, constant, block, u32::MAX);
            }
        }
        self.clear_unset(&function.unset, function.registers, mask);
        self.local.reset(function.local_bytes);
        self.frames.clear();
        self.frames.push(Frame {
            lanes: mask,
            depth: 0,
            function: 0,
            base: FrameBase::default(),
            local_base: 0,
            parent: NONE,
            call: NOWHERE,
            call_pc: NOWHERE,
        });
        self.frame = 0;
        self.groups.clear();
        self.groups.push(LaneGroup::new(function.entry, mask, NONE, 0));
        self.current = 0;
        self.joins.clear();
        self.free_joins.clear();
        self.alive = mask;
        self.copies.clear();
    }

    /// Makes room for a frame.
    pub(crate) fn reserve(&mut self, base: FrameBase, size: FrameSize) {
        let r = &mut self.registers;
        let grow = |length: usize, wanted: usize| length.max(wanted);
        r.pred.resize(grow(r.pred.len(), base.pred + size.pred), 0);
        r.word.resize(grow(r.word.len(), base.word + size.word), [0; 32]);
        r.wide.resize(grow(r.wide.len(), base.wide + size.wide), [0; 32]);
        let poison = base.poison + size.pred + size.word + size.wide + 1;
        r.poison.resize(grow(r.poison.len(), poison), 0);
        r.origin.resize(grow(r.origin.len(), poison), 0);
    }

    /// Marks registers as holding nothing, so that what an earlier block left there is never seen.
    pub(crate) fn clear_unset(&mut self, unset: &[Register], size: FrameSize, mask: u32) {
        for &reg in unset {
            match reg.file {
                RegisterFile::Pred => self.registers.set_pred(reg.index, 0, mask),
                RegisterFile::Word => self.registers.set_word(reg.index, &[0; 32], mask),
                RegisterFile::Wide => self.registers.set_wide(reg.index, &[0; 32], mask),
            }
            let at = self.registers.base.poison + size.unified(reg) as usize;
            self.registers.taint();
            self.registers.poison[at] |= mask;
            self.registers.origin[at] = 0;
        }
    }

    /// Writes a constant register of the current frame.
    pub(crate) fn set_constant(
        &mut self,
        context: &Context<'_>,
        reg: Register,
        constant: Constant,
        block: [u32; 3],
        mask: u32,
    ) {
        let value = |lane: u32| constant_value(context, self.index, lane, constant, block);
        let differs = matches!(
            constant,
            Constant::Special(Special::ThreadIndex(_) | Special::Lane | Special::LaneMask(_))
        );
        if !differs {
            // The same in all lanes.
            let value = value(0);
            return match reg.file {
                RegisterFile::Pred => {
                    self.registers.set_pred(reg.index, 0u32.wrapping_sub((value & 1) as u32), mask)
                }
                RegisterFile::Word => self.registers.set_word(reg.index, &[value as u32; 32], mask),
                RegisterFile::Wide => self.registers.set_wide(reg.index, &[value; 32], mask),
            };
        }
        match reg.file {
            RegisterFile::Pred => {
                let bits = (0..32).fold(0, |bits, lane| bits | ((value(lane) & 1) as u32) << lane);
                self.registers.set_pred(reg.index, bits, mask);
            }
            RegisterFile::Word => {
                let lanes = std::array::from_fn(|lane| value(lane as u32) as u32);
                self.registers.set_word(reg.index, &lanes, mask);
            }
            RegisterFile::Wide => {
                let lanes = std::array::from_fn(|lane| value(lane as u32));
                self.registers.set_wide(reg.index, &lanes, mask);
            }
        }
    }

    pub(crate) fn join(&self, index: u32) -> Option<&Join> {
        self.joins.get(index as usize)
    }

    /// A join at `pc` for all lanes of `group`.
    pub(crate) fn open_join(&mut self, group: usize, pc: u32) -> u32 {
        let from = &self.groups[group];
        let join = Join { pc, frame: from.frame, parent: from.join, expected: from.mask, arrived: 0 };
        match self.free_joins.pop() {
            Some(index) => {
                self.joins[index as usize] = join;
                index
            }
            None => {
                self.joins.push(join);
                self.joins.len() as u32 - 1
            }
        }
    }

    /// Lanes arrive at a join; if they are the last ones, all go on as a new group.
    pub(crate) fn arrive(&mut self, join: u32, mask: u32) {
        self.joins[join as usize].arrived |= mask;
        self.release_if_complete(join);
    }

    /// Lanes are no longer expected at a join and those around it.
    fn stop_expecting(&mut self, mut join: u32, mask: u32) {
        while join != NONE {
            let parent = self.joins[join as usize].parent;
            self.joins[join as usize].expected &= !mask;
            self.release_if_complete(join);
            join = parent;
        }
    }

    /// Lets the lanes at a join go on if none is missing.
    fn release_if_complete(&mut self, index: u32) {
        let join = self.joins[index as usize];
        if join.arrived & join.expected != join.expected || join.pc == NOWHERE {
            return;
        }
        self.joins[index as usize].pc = NOWHERE;
        self.free_joins.push(index);
        if join.expected != 0 {
            self.resume(join, join.expected);
        }
    }

    fn resume(&mut self, join: Join, mask: u32) {
        self.groups.push(LaneGroup::new(join.pc, mask, join.parent, join.frame));
    }

    /// Lets lanes that wait at the joins around `group` go on without the others: what the others wait for
    /// may be theirs to do. Returns whether there were any.
    pub(crate) fn release_joins(&mut self, group: usize) -> bool {
        let mut index = self.groups[group].join;
        while index != NONE {
            let join = self.joins[index as usize];
            if join.arrived != 0 {
                self.joins[index as usize].expected &= !join.arrived;
                self.joins[index as usize].arrived = 0;
                self.resume(join, join.arrived);
                return true;
            }
            index = join.parent;
        }
        false
    }

    /// Makes one of groups that stand at the same place and are expected at the same join.
    pub(crate) fn unite(&mut self) {
        let mut first = 0;
        while first < self.groups.len() {
            let one = self.groups[first];
            let mut second = first + 1;
            while second < self.groups.len() {
                let other = self.groups[second];
                let place = |f: LaneGroup| (f.pc, f.join, f.frame, f.state);
                if place(one) == place(other) {
                    self.groups[first].mask |= other.mask;
                    self.remove(second);
                } else {
                    second += 1;
                }
            }
            first += 1;
        }
    }

    /// Removes a group, whose lanes have been accounted for.
    pub(crate) fn remove(&mut self, group: usize) {
        self.groups.swap_remove(group);
    }

    /// Lanes of a group exit. The group goes on with the others, if any.
    pub(crate) fn exit(&mut self, group: usize, mask: u32) {
        self.alive &= !mask;
        self.frames.iter_mut().for_each(|f| f.lanes &= !mask);
        let from = &mut self.groups[group];
        from.mask &= !mask;
        let (join, empty) = (from.join, from.mask == 0);
        if empty {
            self.remove(group);
        }
        self.stop_expecting(join, mask);
    }

    /// Lanes of a group return to the frame `caller`, where those that made the call meet at `pc`. Joins of the
    /// function they leave no longer expect them.
    pub(crate) fn return_to(&mut self, group: usize, mask: u32, caller: u32, pc: u32) {
        let from = &mut self.groups[group];
        self.frames[from.frame as usize].lanes &= !mask;
        from.mask &= !mask;
        let (mut join, empty) = (from.join, from.mask == 0);
        if empty {
            self.remove(group);
        }
        while join != NONE {
            let Join { pc: at, frame, parent, .. } = self.joins[join as usize];
            if frame == caller && at == pc {
                return self.arrive(join, mask);
            }
            self.joins[join as usize].expected &= !mask;
            self.release_if_complete(join);
            join = parent;
        }
        // The join was released; the lanes go on by themselves.
        self.groups.push(LaneGroup::new(pc, mask, NONE, caller));
    }

    /// Whether every lane that has not exited is in exactly one place: in a group, or waiting at a join.
    pub(crate) fn lanes_are_in_one_place(&self) -> bool {
        let mut seen = 0;
        let waiting = self.joins.iter().filter(|join| join.pc != NOWHERE).map(|join| join.arrived);
        for mask in self.groups.iter().map(|group| group.mask).chain(waiting.filter(|&m| m != 0)) {
            if mask == 0 || mask & seen != 0 {
                return false;
            }
            seen |= mask;
        }
        seen == self.alive
    }

    /// Makes a group's frame the one that register indices mean.
    pub(crate) fn select(&mut self, group: usize) {
        self.frame = self.groups[group].frame;
        self.registers.base = self.frames[self.frame as usize].base;
    }

    /// The function that the selected group executes.
    pub(crate) fn function(&self) -> u32 {
        self.frames[self.frame as usize].function
    }

    /// The frame in which `lanes` of frame `caller` enter `function` by a call: one that others entered in the same
    /// way, or a new one behind the caller's registers (`size`) and local memory (`local_bytes`).
    pub(crate) fn enter_frame(
        &mut self,
        call: CallSite,
        lanes: u32,
        size: FrameSize,
        local_bytes: u32,
    ) -> u32 {
        let same = |f: &Frame| {
            f.lanes != 0 && f.parent == call.caller && f.call_pc == call.pc && f.function == call.function
        };
        if let Some(known) = self.frames.iter().position(same) {
            self.frames[known].lanes |= lanes;
            return known as u32;
        }
        let from = self.frames[call.caller as usize];
        let frame = Frame {
            lanes,
            depth: from.depth + 1,
            function: call.function,
            base: FrameBase {
                pred: from.base.pred + size.pred,
                word: from.base.word + size.word,
                wide: from.base.wide + size.wide,
                poison: from.base.poison + size.pred + size.word + size.wide + 1,
            },
            local_base: from.local_base + local_bytes.next_multiple_of(16),
            parent: call.caller,
            call: call.number,
            call_pc: call.pc,
        };
        match self.frames.iter().position(|f| f.lanes == 0) {
            Some(free) => {
                self.frames[free] = frame;
                free as u32
            }
            None => {
                self.frames.push(frame);
                self.frames.len() as u32 - 1
            }
        }
    }
}

/// Which call enters which function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite {
    /// The caller's frame.
    pub(crate) caller: u32,
    /// Number of the call in the program, and its instruction.
    pub(crate) number: u32,
    pub(crate) pc: u32,
    pub(crate) function: u32,
}

fn is_block_index(constant: Constant) -> bool {
    matches!(constant, Constant::Special(Special::BlockIndex(_)))
}

/// The value of a constant register in one lane.
fn constant_value(context: &Context<'_>, warp: u32, lane: u32, constant: Constant, block: [u32; 3]) -> u64 {
    match constant {
        Constant::Bits(bits) => bits,
        Constant::Global { variable, offset } => {
            window::buffer_address(context.first_global + variable as usize).wrapping_add(offset as u64)
        }
        Constant::Shared { variable, offset } => {
            context.program.shared[variable as usize].offset.wrapping_add(offset as u64)
        }
        Constant::Param { offset, bytes, signed } => {
            let mut raw = [0; 8];
            let from = offset as usize;
            let length = usize::from(bytes).min(8);
            raw[..length].copy_from_slice(&context.params[from..from + length]);
            let value = u64::from_le_bytes(raw);
            let unused = 64 - 8 * length as u32;
            if signed { ((value << unused) as i64 >> unused) as u64 } else { value }
        }
        Constant::Special(special) => {
            let thread = warp * 32 + lane;
            let value = match special {
                Special::ThreadIndex(axis) => context.thread_index(thread)[axis as usize],
                Special::BlockDim(axis) => context.block_dim[axis as usize],
                Special::BlockIndex(axis) => block[axis as usize],
                Special::GridDim(axis) => context.grid_dim[axis as usize],
                Special::Lane => lane,
                Special::Warp => warp,
                Special::WarpCount => context.warps_per_block(),
                Special::LaneMask(LaneMask::Eq) => 1 << lane,
                Special::LaneMask(LaneMask::Lt) => (1 << lane) - 1,
                Special::LaneMask(LaneMask::Le) => u32::MAX >> (31 - lane),
                Special::LaneMask(LaneMask::Ge) => u32::MAX << lane,
                Special::LaneMask(LaneMask::Gt) => (u32::MAX << lane) & !(1 << lane),
                Special::DynamicSharedBytes => context.dynamic_shared,
                Special::TotalSharedBytes => context.shared_bytes,
                Special::ReservedShared(offset) => context.reserved_shared().start as u32 + offset,
            };
            u64::from(value)
        }
    }
}
