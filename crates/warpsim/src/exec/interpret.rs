//! The interpreter's loop: fetch, guard, do.

use super::schedule::IDLE_POLLS;
use super::warp::{NONE, State, Warp};
use super::{Issue, Machine, Stop};
use crate::fault::{Refused, Sink};
use crate::lower::PTX;
use crate::observer::{Detail, Observer, Order, Site};
use crate::program::{FlowRule, Guard, Inst, NOWHERE, Step};
use crate::registers::{Operands, RegisterFile};

impl<O: Observer> Machine<'_, '_, O> {
    /// Executes up to `budget` instructions of a group, fewer if it seems to wait for others. Returns whether it
    /// could go on.
    pub(crate) fn step(&mut self, warp: &mut Warp, group: usize, budget: u64) -> Result<bool, Stop> {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            return self.interpret::<true>(warp, group, budget);
        }
        self.interpret::<false>(warp, group, budget)
    }

    /// As [`Self::step`]. `AVX2`: use what is built for CPUs that have it.
    fn interpret<const AVX2: bool>(
        &mut self,
        warp: &mut Warp,
        group: usize,
        budget: u64,
    ) -> Result<bool, Stop> {
        let code = self.context.program.code.as_slice();
        let mut left = budget;
        // What the loop needs of the group; written back when the loop ends.
        let mut pc = warp.groups[group].pc;
        let mut mask = warp.groups[group].mask;
        let mut join_pc = join_pc(warp, group);
        macro_rules! leave {
            ($pc:expr) => {{
                self.executed += budget - left;
                warp.groups[group].pc = $pc;
            }};
        }
        // Only where it is needed: most instructions need none.
        macro_rules! at {
            () => {
                Site { block: self.block, warp: warp.index, pc }
            };
        }
        macro_rules! issue {
            ($active:expr, $inst:expr) => {
                &Issue { at: at!(), group, active: $active, ops: &$inst.ops }
            };
        }
        loop {
            if pc == join_pc {
                leave!(pc);
                let join = warp.groups[group].join;
                warp.remove(group);
                warp.arrive(join, mask);
                return Ok(false);
            }
            if left == 0 {
                leave!(pc);
                return Ok(true);
            }
            let inst = &code[pc as usize];
            #[cfg(feature = "fuse")]
            if inst.superblock != NOWHERE
                && let Some(exit) =
                    self.fused::<AVX2>(warp, issue!(mask, inst), inst.superblock, left, join_pc)
            {
                left -= u64::from(exit.executed);
                pc = exit.next;
                continue;
            }
            left -= 1;
            let active = match inst.guard {
                Guard::Always => mask,
                Guard::If(p) => mask & warp.registers.pred(p),
                Guard::Unless(p) => mask & !warp.registers.pred(p),
            };
            if warp.registers.tainted {
                self.check_guard(warp, at!(), inst.guard, mask);
            }
            if O::detail() != Detail::Faults && active != 0 {
                self.observer.issue(at!(), active);
            }
            match inst.step {
                Step::Branch { target, join } => {
                    // To the next instruction: no lanes part.
                    let active = if target == pc + 1 { mask } else { active };
                    if inst.guard != Guard::Always {
                        self.observer.branch(at!(), mask, active);
                    }
                    if active != 0 && target <= pc {
                        warp.groups[group].back_edge = pc;
                    }
                    if active == mask {
                        if target > pc {
                            warp.groups[group].jump = pc;
                        }
                        pc = target;
                    } else if active == 0 {
                        pc += 1;
                    } else {
                        leave!(pc);
                        if !diverge(warp, group, join, &[(pc + 1, mask & !active), (target, active)]) {
                            return Ok(false);
                        }
                        (pc, mask) = (warp.groups[group].pc, warp.groups[group].mask);
                        join_pc = self::join_pc(warp, group);
                        self.executed -= budget - left;
                    }
                    continue;
                }
                _ if active == 0 => {}
                Step::Alu(function) => {
                    // SAFETY: lowering chose the variant for this CPU.
                    unsafe { function(&mut warp.registers, &inst.ops, active) };
                    if warp.registers.tainted {
                        self.flow(warp, pc, &inst.ops, active);
                    }
                }
                Step::Load(ref memory) => {
                    self.load::<AVX2>(warp, issue!(active, inst), memory);
                    if memory.order != Order::Weak && waits(warp, group) {
                        leave!(pc + 1);
                        return Ok(true);
                    }
                }
                Step::Store(ref memory) => self.store::<AVX2>(warp, issue!(active, inst), memory),
                Step::Atomic(ref memory, function) => {
                    self.atomic(warp, issue!(active, inst), memory, function);
                    if waits(warp, group) {
                        leave!(pc + 1);
                        return Ok(true);
                    }
                }
                Step::AsyncCopy(number) => {
                    self.async_copy(warp, issue!(active, inst), number);
                }
                Step::AsyncCommit => {
                    self.observer.copy_commit(at!(), active);
                    warp.copies.commit(active);
                }
                Step::AsyncWait(pending) => {
                    self.observer.copy_wait(at!(), active, pending);
                    self.async_wait(warp, pending, active);
                }
                Step::LocalAddress(offset) => {
                    let frame = warp.frames[warp.groups[group].frame as usize];
                    let address = frame.local_base.wrapping_add(offset);
                    // `src[0]` says whether the register is a wide one.
                    if inst.ops.src[0] == 1 {
                        warp.registers.set_wide(inst.ops.dst[0], &[u64::from(address); 32], active);
                    } else {
                        warp.registers.set_word(inst.ops.dst[0], &[address; 32], active);
                    }
                    self.flow(warp, pc, &inst.ops, active);
                }
                Step::Unpack { bits, count, wide } => {
                    self.unpack(warp, pc, &inst.ops, (bits, count, wide), active)
                }
                Step::Pack { bits, count, wide } => {
                    self.pack(warp, pc, &inst.ops, (bits, count, wide), active)
                }
                Step::Nothing => {}
                Step::Fence(scope) => self.observer.fence(at!(), active, scope),
                Step::Clock(class) => {
                    let now = self.executed - self.executed_before + (budget - left);
                    match class {
                        RegisterFile::Wide => warp.registers.set_wide(inst.ops.dst[0], &[now; 32], active),
                        _ => warp.registers.set_word(inst.ops.dst[0], &[now as u32; 32], active),
                    }
                    self.flow(warp, pc, &inst.ops, active);
                }
                Step::ActiveMask => {
                    warp.registers.set_word(inst.ops.dst[0], &[active; 32], active);
                    self.flow(warp, pc, &inst.ops, active);
                }
                Step::Trap => {
                    leave!(pc);
                    return Err(Stop::Trap(at!(), active.trailing_zeros()));
                }
                Step::Exit => {
                    leave!(pc + 1);
                    self.exit(warp, group, at!(), active);
                    if active == mask {
                        return Ok(false);
                    }
                    mask &= !active;
                    self.executed -= budget - left;
                }
                Step::Return => {
                    leave!(pc + 1);
                    self.leave_function(warp, group, at!(), active);
                    if active == mask {
                        return Ok(false);
                    }
                    mask &= !active;
                    self.executed -= budget - left;
                }
                Step::Call(call) => {
                    leave!(pc);
                    self.call(warp, group, at!(), call, active)?;
                    return Ok(false);
                }
                Step::BranchTable { table, join } => {
                    leave!(pc);
                    self.branch_table(warp, group, at!(), (table, join), &inst.ops, active)?;
                    return Ok(false);
                }
                Step::Barrier(barrier) => {
                    let gathers = barrier.aligned && active != warp.alive;
                    leave!(if gathers { pc } else { pc + 1 });
                    if active != mask {
                        // Only some lanes come to the barrier; the others go on.
                        self.part(warp, group, pc + 1, active);
                    }
                    if gathers {
                        // The other lanes of the warp may still be on their way.
                        warp.groups[group].state = State::Gathering;
                        return Ok(false);
                    }
                    self.arrive_at_barrier(warp, &[group], at!(), barrier, &inst.ops, active)?;
                    if active != mask || warp.groups[group].state != State::Ready {
                        return Ok(false);
                    }
                    self.executed -= budget - left;
                }
                Step::WarpSync
                | Step::Shuffle { .. }
                | Step::Vote { .. }
                | Step::Match { .. }
                | Step::Redux(_)
                | Step::Elect
                | Step::Matrix(_)
                | Step::LoadMatrix { .. }
                | Step::LoadTile(_)
                | Step::StoreTile(_) => {
                    if self.collective(warp, issue!(active, inst), inst) {
                        pc += 1;
                        continue;
                    }
                    leave!(pc);
                    if active != mask {
                        self.part(warp, group, pc + 1, active);
                    }
                    let only_here = !matches!(inst.step, Step::WarpSync);
                    warp.groups[group].state = State::Meeting { only_here };
                    return Ok(false);
                }
            }
            pc += 1;
        }
    }

    /// Splits off the lanes of a group that are not in `keep`: they go on at `pc`.
    fn part(&mut self, warp: &mut Warp, group: usize, pc: u32, keep: u32) {
        let mut others = warp.groups[group];
        others.mask &= !keep;
        others.pc = pc;
        warp.groups[group].mask = keep;
        warp.groups.push(others);
    }

    /// Threads exit.
    pub(crate) fn exit(&mut self, warp: &mut Warp, group: usize, at: Site, lanes: u32) {
        self.observer.exit(self.way_out(warp, group, at), lanes);
        self.alive[warp.index as usize] &= !lanes;
        warp.exit(group, lanes);
        self.recheck_barriers();
    }

    /// What led lanes to the exit at `at`. Compilers give a kernel one exit, at its closing brace: an early `return` is
    /// a jump to it, by the line of its `if`, or falls into it behind the last statement before the `return`.
    fn way_out(&self, warp: &Warp, group: usize, at: Site) -> Site {
        let program = self.context.program;
        let leads_here = |inst: &Inst| match inst.step {
            Step::Branch { target, .. } => target == at.pc,
            Step::BranchTable { table, .. } => program.jump_tables[table as usize].contains(&at.pc),
            _ => false,
        };
        let jump = warp.groups[group].jump;
        if program.code.get(jump as usize).is_some_and(leads_here) {
            return Site { pc: jump, ..at };
        }
        // In PTX without line information the exit itself is what its author wrote.
        let is_compiled = program.source_line(at.pc).is_some_and(|line| line.file != PTX);
        let is_guarded = program.code[at.pc as usize].guard != Guard::Always;
        if is_guarded || !is_compiled {
            return at;
        }
        let goes_on = |inst: &Inst| match inst.step {
            Step::Return | Step::Exit | Step::Trap => false,
            Step::Branch { .. } | Step::BranchTable { .. } => inst.guard != Guard::Always,
            _ => true,
        };
        let before = at.pc.checked_sub(1).filter(|&pc| goes_on(&program.code[pc as usize]));
        before.map_or(at, |pc| Site { pc, ..at })
    }

    fn branch_table(
        &mut self,
        warp: &mut Warp,
        group: usize,
        at: Site,
        (table, join): (u32, u32),
        ops: &Operands,
        active: u32,
    ) -> Result<(), Stop> {
        let targets = &self.context.program.jump_tables[table as usize];
        let index = *warp.registers.word(ops.src[0]);
        let mask = warp.groups[group].mask;
        let mut sides: Vec<(u32, u32)> = Vec::new();
        let mut put = |pc: u32, lanes: u32| match sides.iter_mut().find(|side| side.0 == pc) {
            Some(side) => side.1 |= lanes,
            None => sides.push((pc, lanes)),
        };
        for lane in (0..32).filter(|lane| active >> lane & 1 != 0) {
            // An index beyond the table is undefined behaviour; it ends the launch like a trap.
            let Some(&target) = targets.get(index[lane] as usize) else {
                let refused = Refused::Jump { index: index[lane], targets: targets.len() as u32 };
                return Err(Stop::Refused(at, lane as u32, refused));
            };
            put(target, 1 << lane);
        }
        if mask != active {
            put(at.pc + 1, mask & !active);
        }
        self.observer.branch(at, mask, sides[0].1);
        if sides.iter().any(|&(pc, _)| pc <= at.pc) {
            warp.groups[group].back_edge = at.pc;
        }
        diverge(warp, group, join, &sides);
        Ok(())
    }

    fn check_guard(&mut self, warp: &Warp, at: Site, guard: Guard, mask: u32) {
        let (Guard::If(p) | Guard::Unless(p)) = guard else { return };
        let index = warp.registers.base.poison + p as usize + 1;
        let lanes = warp.registers.poison[index] & mask;
        if lanes != 0 {
            self.observer.poison(at, lanes, Sink::Branch, origin(warp.registers.origin[index]));
        }
    }

    /// Passes on which lanes hold nothing anyone set, from the sources of an instruction to its destinations.
    pub(crate) fn flow(&mut self, warp: &mut Warp, pc: u32, ops: &Operands, active: u32) {
        let registers = &mut warp.registers;
        if !registers.tainted {
            return;
        }
        let flow = &self.context.program.flow[pc as usize];
        let base = registers.base.poison;
        let read = |slot: usize| registers.poison[base + flow.reads[slot] as usize];
        let [a, b, c, d] = std::array::from_fn(read);
        let lanes = match flow.rule {
            FlowRule::Any => a | b | c | d,
            FlowRule::And => (a & (b | registers.pred(ops.src[1]))) | (b & (a | registers.pred(ops.src[0]))),
            FlowRule::Or => (a & (b | !registers.pred(ops.src[1]))) | (b & (a | !registers.pred(ops.src[0]))),
            FlowRule::Select => {
                let chosen = registers.pred(ops.src[2]);
                c | (a & chosen) | (b & !chosen)
            }
            FlowRule::Never => 0,
        } & active;
        let origin = (0..4)
            .find(|&slot| read(slot) & active != 0)
            .map_or(0, |slot| registers.origin[base + flow.reads[slot] as usize]);
        for &write in flow.writes.iter().filter(|&&w| w != 0) {
            let index = base + write as usize;
            registers.poison[index] = (registers.poison[index] & !active) | lanes;
            if lanes != 0 {
                registers.origin[index] = origin;
            }
        }
    }

    /// Splits values into narrower registers.
    fn unpack(
        &mut self,
        warp: &mut Warp,
        pc: u32,
        ops: &Operands,
        (bits, count, wide): (u8, u8, bool),
        active: u32,
    ) {
        let value: [u64; 32] = if wide {
            *warp.registers.wide(ops.src[0])
        } else {
            warp.registers.word(ops.src[0]).map(u64::from)
        };
        let first = ops.imm as usize;
        let parts = &self.context.program.lists[first..first + count as usize];
        for (i, part) in parts.iter().enumerate() {
            let lanes = value.map(|v| (v >> (i as u32 * u32::from(bits)) & ((1 << bits) - 1)) as u32);
            warp.registers.set_word(part.index, &lanes, active);
        }
        self.flow_lists(warp, pc, active);
    }

    /// Puts registers side by side into a wider one.
    fn pack(
        &mut self,
        warp: &mut Warp,
        pc: u32,
        ops: &Operands,
        (bits, count, wide): (u8, u8, bool),
        active: u32,
    ) {
        let mut value = [0u64; 32];
        let first = ops.imm as usize;
        for (i, part) in self.context.program.lists[first..first + count as usize].iter().enumerate() {
            let lanes = warp.registers.word(part.index);
            for lane in 0..32 {
                value[lane] |= (u64::from(lanes[lane]) & ((1 << bits) - 1)) << (i as u32 * u32::from(bits));
            }
        }
        if wide {
            warp.registers.set_wide(ops.dst[0], &value, active);
        } else {
            warp.registers.set_word(ops.dst[0], &value.map(|v| v as u32), active);
        }
        self.flow_lists(warp, pc, active);
    }

    /// As [`Self::flow`] for instructions with more registers than `Flow` names: those in their list.
    fn flow_lists(&mut self, warp: &mut Warp, pc: u32, active: u32) {
        if !warp.registers.tainted {
            return;
        }
        let program = self.context.program;
        let Inst { step, ops, .. } = program.code[pc as usize];
        let size = program.functions[warp.function() as usize].registers;
        let base = warp.registers.base.poison;
        let (count, unpacks) = match step {
            Step::Unpack { count, .. } => (count, true),
            Step::Pack { count, .. } => (count, false),
            _ => return,
        };
        let list = &program.lists[ops.imm as usize..ops.imm as usize + count as usize];
        let single = base
            + if unpacks { program.flow[pc as usize].reads[0] } else { program.flow[pc as usize].writes[0] }
                as usize;
        let registers = &mut warp.registers;
        if unpacks {
            for reg in list {
                let index = base + size.unified(*reg) as usize;
                registers.poison[index] =
                    (registers.poison[index] & !active) | (registers.poison[single] & active);
                registers.origin[index] = registers.origin[single];
            }
        } else {
            let mut lanes = 0;
            for reg in list {
                let index = base + size.unified(*reg) as usize;
                if registers.poison[index] & active != 0 {
                    lanes |= registers.poison[index];
                    registers.origin[single] = registers.origin[index];
                }
            }
            registers.poison[single] = (registers.poison[single] & !active) | (lanes & active);
        }
    }
}

/// Whether a group seems to do nothing but wait for others.
fn waits(warp: &Warp, group: usize) -> bool {
    warp.groups[group].idle >= IDLE_POLLS
}

/// The load that brought a poisoned value.
pub(crate) fn origin(stored: u32) -> Option<u32> {
    stored.checked_sub(1)
}

/// Where a group's lanes are expected, if that is in the function it executes.
fn join_pc(warp: &Warp, group: usize) -> u32 {
    let group = &warp.groups[group];
    match warp.join(group.join) {
        Some(join) if join.frame == group.frame => join.pc,
        _ => NOWHERE,
    }
}

/// Lets the lanes of a group go different ways, each side given as (pc, lanes). They meet again at `join_pc`.
/// The group becomes one of the sides; returns false if it ended instead.
fn diverge(warp: &mut Warp, group: usize, join_pc: u32, sides: &[(u32, u32)]) -> bool {
    let from = warp.groups[group];
    if let [(pc, _)] = sides {
        warp.groups[group].pc = *pc;
        warp.groups[group].jump = from.pc;
        return true;
    }
    let known = warp.join(from.join).is_some_and(|j| j.pc == join_pc && j.frame == from.frame);
    let join = if join_pc == NOWHERE || known { from.join } else { warp.open_join(group, join_pc) };
    let mut kept = false;
    for &(pc, mask) in sides.iter().filter(|side| side.0 != join_pc) {
        let jump = if pc == from.pc + 1 { from.jump } else { from.pc };
        let side = super::warp::LaneGroup { pc, mask, join, jump, ..from };
        if kept {
            warp.groups.push(side);
        } else {
            warp.groups[group] = side;
            kept = true;
        }
    }
    if join != NONE {
        for &(_, mask) in sides.iter().filter(|side| side.0 == join_pc) {
            warp.arrive(join, mask);
        }
    }
    kept
}
