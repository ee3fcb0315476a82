//! Instructions in which lanes of a warp meet: `__syncwarp`, shuffles, votes, matches, reductions, and those on matrices.

use super::access::Request;
use super::warp::{LaneGroup, State, Warp};
use super::{Issue, Machine, Stop};
use crate::fault::{Absent, BarrierProblem, Touch};
use crate::isa::AtomicFn;
use crate::observer::{Observer, Site};
use crate::pattern::lanes;
use crate::program::{Inst, Memory, Register, ShuffleMode, Step, VoteMode};
use crate::registers::{FULL, Lanes, Operands, RegisterFile};

impl<O: Observer> Machine<'_, '_, O> {
    /// Executes a warp-level instruction if all lanes it names are here. Returns false if some have yet to come.
    pub(crate) fn collective(&mut self, warp: &mut Warp, issue: &Issue<'_>, inst: &Inst) -> bool {
        let active = issue.active;
        let members = members(warp, inst, active);
        let missing = lanes(active).fold(0, |all, l| all | members[l as usize]) & warp.alive & !active;
        // Others may still come: wait for them.
        if missing != 0 {
            return false;
        }
        self.meet(warp, issue, inst, &members, true);
        true
    }

    /// Lets groups that wait for each other, at a warp-level instruction or an aligned barrier, meet if they
    /// are all there. Returns whether any could go on.
    pub(crate) fn hold_meeting(&mut self, warp: &mut Warp) -> Result<bool, Stop> {
        let waiting = waiting(warp);
        for &leader in &waiting {
            let (met, complete) = self.meeting_of(warp, leader, &waiting);
            if complete {
                self.conclude(warp, &met, true)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// When no group of a warp can go on, and none can meet: those that are waited for are somewhere else. That
    /// is told, and the first ones that wait go on without. Returns whether there were any.
    pub(crate) fn break_up_meeting(&mut self, warp: &mut Warp) -> Result<bool, Stop> {
        let waiting = waiting(warp);
        let Some(&first) = waiting.first() else { return Ok(false) };
        let (met, _) = self.meeting_of(warp, first, &waiting);
        self.conclude(warp, &met, false)?;
        Ok(true)
    }

    /// The groups that can meet with `leader`, and whether that is everyone it names: they are at the same
    /// instruction or, for `__syncwarp`, have the same mask anywhere.
    fn meeting_of(&self, warp: &mut Warp, leader: usize, waiting: &[usize]) -> (Vec<usize>, bool) {
        let code = &self.context.program.code;
        let from = warp.groups[leader];
        let only_here = from.state != State::Meeting { only_here: false };
        let named = |warp: &mut Warp, index: usize| {
            if warp.groups[index].state == State::Gathering {
                return warp.alive;
            }
            warp.select(index);
            let mask = warp.groups[index].mask;
            let members = members(warp, &code[warp.groups[index].pc as usize], mask);
            lanes(mask).fold(0, |all, l| all | members[l as usize])
        };
        let wanted = named(warp, leader) & warp.alive;
        let mut met = Vec::new();
        for &other in waiting {
            let group = warp.groups[other];
            let fits = if only_here {
                group.pc == from.pc && group.frame == from.frame && group.state == from.state
            } else {
                group.state == from.state && named(warp, other) & warp.alive == wanted
            };
            if fits {
                met.push(other);
            }
        }
        let here = met.iter().fold(0, |all, &i| all | warp.groups[i].mask);
        (met, wanted & !here == 0)
    }

    /// Executes the instruction at which groups meet, and lets them go on.
    fn conclude(&mut self, warp: &mut Warp, met: &[usize], complete: bool) -> Result<(), Stop> {
        let Some(&leader) = met.first() else { return Ok(()) };
        let pc = warp.groups[leader].pc;
        let at = Site { block: self.block, warp: warp.index, pc };
        let inst = self.context.program.code[pc as usize];
        warp.select(leader);
        let mask = met.iter().fold(0, |all, &i| all | warp.groups[i].mask);
        for &index in met {
            warp.groups[index].state = State::Ready;
            warp.groups[index].pc += 1;
        }
        if let Step::Barrier(barrier) = inst.step {
            self.arrive_at_barrier(warp, met, at, barrier, &inst.ops, mask)?;
            warp.unite();
            return Ok(());
        }
        // Lanes that wait at another `__syncwarp` name their mask in registers of their own.
        let members = if matches!(inst.step, Step::WarpSync) {
            let own = warp.groups[leader].mask;
            let mask = members(warp, &inst, own)[own.trailing_zeros() as usize];
            [mask; 32]
        } else {
            members(warp, &inst, mask)
        };
        let issue = Issue { at, group: leader, active: mask, ops: &inst.ops };
        self.meet(warp, &issue, &inst, &members, complete);
        warp.unite();
        Ok(())
    }

    fn meet(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        inst: &Inst,
        members: &Lanes<u32>,
        complete: bool,
    ) {
        let &Issue { at, active, ops, .. } = issue;
        let has_mask =
            !matches!(inst.step, Step::Shuffle { has_mask: false, .. } | Step::Vote { has_mask: false, .. });
        if takes_whole_warp(&inst.step) {
            // That some have returned is no excuse.
            if active != FULL {
                self.observer.bad_warp_sync(at, active, BarrierProblem::PartOfWarp);
            }
        } else if has_mask {
            let strangers =
                lanes(active).filter(|&l| members[l as usize] >> l & 1 == 0).fold(0, |m, l| m | 1 << l);
            if strangers != 0 {
                self.observer.bad_warp_sync(at, strangers, BarrierProblem::CallerNotInMask);
            }
            if !complete {
                self.observer.bad_warp_sync(at, active, BarrierProblem::NamedLaneElsewhere);
            }
        }
        match inst.step {
            Step::WarpSync => self.observer.warp_sync(at, active),
            Step::Shuffle { mode, .. } => self.shuffle(warp, issue, mode, members),
            Step::Vote { mode, negated, .. } => self.vote(warp, issue, (mode, negated), members),
            Step::Match { all, wide } => self.match_values(warp, issue, (all, wide), members),
            Step::Redux(function) => self.redux(warp, issue, function, members),
            Step::Elect => {
                let leader: Lanes<u32> = members.map(|m| (m & active).trailing_zeros());
                warp.registers.set_word(ops.dst[0], &leader, active);
                let elected = lanes(active).filter(|&l| leader[l as usize] == l).fold(0, |m, l| m | 1 << l);
                warp.registers.set_pred(ops.dst[1], elected, active);
                self.flow(warp, at.pc, ops, active);
            }
            Step::Matrix(number) => self.matrix(warp, number, active),
            Step::LoadMatrix { ref memory, transposed } => {
                self.load_matrix(warp, issue, memory, transposed);
            }
            Step::LoadTile(number) => self.load_tile(warp, issue, number),
            Step::StoreTile(number) => self.store_tile(warp, issue, number),
            _ => {}
        }
    }

    fn shuffle(&mut self, warp: &mut Warp, issue: &Issue<'_>, mode: ShuffleMode, members: &Lanes<u32>) {
        let &Issue { at, active, ops, .. } = issue;
        let value = *warp.registers.word(ops.src[0]);
        let operand = *warp.registers.word(ops.src[1]);
        let clamp = *warp.registers.word(ops.src[2]);
        let value_reg = Register { file: RegisterFile::Word, index: ops.src[0] };
        let (poisoned, from) = (self.poison_of(warp, value_reg), value_reg);
        let (mut out, mut found, mut poison) = ([0; 32], 0u32, 0u32);
        let (mut sources, mut absent) = ([0; 32], 0);
        for lane in lanes(active) {
            let l = lane as usize;
            // PTX ISA, `shfl.sync`: bits 0-4 of `c` clamp, bits 8-12 cut the warp into segments.
            let (b, limit, segment) = (operand[l] & 31, clamp[l] & 31, clamp[l] >> 8 & 31);
            let highest = (lane & segment) | (limit & !segment);
            let lowest = lane & segment;
            let (j, inside) = match mode {
                ShuffleMode::Up => {
                    let j = lane as i32 - b as i32;
                    (j as u32, j >= highest as i32)
                }
                ShuffleMode::Down => (lane + b, lane + b <= highest),
                ShuffleMode::Butterfly => (lane ^ b, lane ^ b <= highest),
                ShuffleMode::Index => {
                    let j = lowest | (b & !segment);
                    (j, j <= highest)
                }
            };
            let source = if inside { j & 31 } else { lane };
            found |= u32::from(inside) << lane;
            out[l] = value[source as usize];
            sources[l] = source;
            absent |= u32::from(active & members[l] & 1 << source == 0) << lane;
            poison |= (poisoned >> source & 1) << lane;
        }
        let origin = if absent == 0 {
            self.origin_of(warp, from)
        } else {
            self.report_absent(warp, at, absent, &sources);
            at.pc + 1
        };
        let poison = poison | absent;
        warp.registers.set_word(ops.dst[0], &out, active);
        warp.registers.set_pred(ops.dst[1], found, active);
        let to = Register { file: RegisterFile::Word, index: ops.dst[0] };
        self.set_poison(warp, to, active, poison, origin);
        self.set_poison(warp, Register { file: RegisterFile::Pred, index: ops.dst[1] }, active, 0, 0);
    }

    /// Lanes ask others, `sources` by lane, that have nothing to give.
    #[cold]
    fn report_absent(&mut self, warp: &Warp, at: Site, mask: u32, sources: &Lanes<u32>) {
        let threads = self.context.threads_per_block() - 32 * warp.index;
        let lane = mask.trailing_zeros();
        let source = sources[lane as usize % 32];
        let why = match () {
            () if source >= threads => Absent::NotInBlock,
            () if warp.alive >> source & 1 == 0 => Absent::Left,
            () => Absent::Elsewhere,
        };
        self.observer.absent(at, lane, source, why);
    }

    fn vote(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        (mode, negated): (VoteMode, bool),
        members: &Lanes<u32>,
    ) {
        let &Issue { at, active, ops, .. } = issue;
        let predicate = warp.registers.pred(ops.src[0]);
        let predicate = if negated { !predicate } else { predicate };
        if mode == VoteMode::Ballot {
            let ballots = members.map(|m| predicate & m & active);
            warp.registers.set_word(ops.dst[0], &ballots, active);
        } else {
            let mut bits = 0;
            for lane in lanes(active) {
                let group = members[lane as usize] & active;
                let votes = predicate & group;
                let holds = match mode {
                    VoteMode::All => votes == group,
                    VoteMode::Any => votes != 0,
                    _ => votes == group || votes == 0,
                };
                bits |= u32::from(holds) << lane;
            }
            warp.registers.set_pred(ops.dst[0], bits, active);
        }
        self.flow_all(warp, at.pc, ops, active);
    }

    fn match_values(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        (all, wide): (bool, bool),
        members: &Lanes<u32>,
    ) {
        let &Issue { at, active, ops, .. } = issue;
        let value: Lanes<u64> = if wide {
            *warp.registers.wide(ops.src[0])
        } else {
            warp.registers.word(ops.src[0]).map(u64::from)
        };
        let (mut out, mut same_everywhere) = ([0; 32], 0);
        for lane in lanes(active) {
            let l = lane as usize;
            let group = members[l] & active;
            let same = lanes(group).filter(|&o| value[o as usize] == value[l]).fold(0, |m, o| m | 1 << o);
            let whole = same == group;
            same_everywhere |= u32::from(whole) << lane;
            out[l] = if !all || whole { same } else { 0 };
        }
        warp.registers.set_word(ops.dst[0], &out, active);
        warp.registers.set_pred(ops.dst[1], same_everywhere, active);
        self.flow_all(warp, at.pc, ops, active);
    }

    fn redux(&mut self, warp: &mut Warp, issue: &Issue<'_>, function: AtomicFn, members: &Lanes<u32>) {
        let &Issue { at, active, ops, .. } = issue;
        let value = *warp.registers.word(ops.src[0]);
        let mut out = [0; 32];
        for lane in lanes(active) {
            let mut group = lanes(members[lane as usize] & active).map(|l| u64::from(value[l as usize]));
            let first = group.next().unwrap_or(0);
            out[lane as usize] = group.fold(first, |all, v| function(all, v, 0)) as u32;
        }
        warp.registers.set_word(ops.dst[0], &out, active);
        self.flow_all(warp, at.pc, ops, active);
    }

    /// As [`Self::flow`], where every lane's result depends on every lane's value.
    fn flow_all(&mut self, warp: &mut Warp, pc: u32, ops: &Operands, active: u32) {
        if !warp.registers.tainted {
            return;
        }
        let flow = self.context.program.flow[pc as usize];
        let base = warp.registers.base.poison;
        let any = flow.reads.iter().any(|&r| warp.registers.poison[base + r as usize] & active != 0);
        self.flow(warp, pc, ops, active);
        if any {
            for &write in flow.writes.iter().filter(|&&w| w != 0) {
                warp.registers.poison[base + write as usize] |= active;
            }
        }
    }

    /// `mma.sync` and `wmma.mma`. Every result depends on values of several lanes: one that was never set spoils them all.
    fn matrix(&mut self, warp: &mut Warp, number: u32, active: u32) {
        let program = self.context.program;
        let (multiply, [d, a, b, c]) = &program.matrices[number as usize];
        let kinds = multiply.fragments;
        let (mut poisoned, mut origin) = (0, 0);
        for (regs, fragment) in [a, b, c].into_iter().zip(&kinds[1..]) {
            for &index in regs {
                let reg = Register { file: fragment.kind.class(), index };
                let lanes = self.poison_of(warp, reg) & active;
                if poisoned == 0 && lanes != 0 {
                    origin = self.origin_of(warp, reg);
                }
                poisoned |= lanes;
            }
        }
        multiply.run(&mut warp.registers, [d, a, b, c]);
        let poisoned = if poisoned != 0 { active } else { 0 };
        for &index in d {
            self.set_poison(warp, Register { file: kinds[0].kind.class(), index }, active, poisoned, origin);
        }
    }

    /// `ldmatrix`: lane 8m+r gives the address of row r of matrix m; lane l gets elements 2(l%4) and 2(l%4)+1 of
    /// row l/4 of each matrix (of column l/4, if transposed).
    fn load_matrix(&mut self, warp: &mut Warp, issue: &Issue<'_>, memory: &Memory, transposed: bool) {
        let &Issue { at, active, ops, .. } = issue;
        let addresses = self.addresses(warp, issue, memory, ops.src[0]);
        let count = u32::from(memory.count);
        let rows = Memory { bytes: 16, count: 1, ..*memory };
        let wanted = if count == 4 { u32::MAX } else { (1 << (8 * count)) - 1 };
        let mut matrices = [[[0u8; 16]; 8]; 4];
        let mut valid = [[[0xffu8; 16]; 8]; 4];
        let mut origin = 0;
        let mut left = active & wanted;
        while let Some((space, mask, own)) = super::access::next_space_of(rows.space, &addresses, &mut left) {
            let request = Request::new(Touch::Read, space, mask, &own);
            let admitted = self.admit(warp, at, &request, &rows);
            self.observe(at, &request, &admitted, &rows, None);
            for lane in lanes(admitted.mask) {
                let (m, r) = (lane as usize / 8, lane as usize % 8);
                let place = self.place(warp, space, lane as usize, own[lane as usize]);
                self.read_place(warp, place, &mut matrices[m][r], &mut valid[m][r]);
                if let Some(byte) = valid[m][r].iter().position(|&v| v != 0xff).filter(|_| origin == 0) {
                    origin = self.origin_in_memory(warp, at, &request, 1 << lane, byte as u64);
                }
            }
        }
        for m in 0..count as usize {
            let reg = self.context.program.lists[ops.imm as usize + m];
            let (mut out, mut poison) = ([0u32; 32], 0u32);
            for lane in 0..32 {
                let (group, pair) = (lane / 4, lane % 4 * 2);
                for half in 0..2 {
                    let (row, column) = if transposed { (pair + half, group) } else { (group, pair + half) };
                    let bytes = [matrices[m][row][column * 2], matrices[m][row][column * 2 + 1]];
                    out[lane] |= u32::from(u16::from_le_bytes(bytes)) << (16 * half);
                    if valid[m][row][column * 2] & valid[m][row][column * 2 + 1] != 0xff {
                        poison |= 1 << lane;
                    }
                }
            }
            warp.registers.set_word(reg.index, &out, active);
            self.set_poison(warp, reg, active, poison, origin);
        }
    }
}

/// The groups that wait for other lanes of their warp.
fn waiting(warp: &Warp) -> Vec<usize> {
    let waits = |group: &LaneGroup| matches!(group.state, State::Meeting { .. } | State::Gathering);
    // Mostly there are none.
    if !warp.groups.iter().any(waits) {
        return Vec::new();
    }
    (0..warp.groups.len()).filter(|&i| waits(&warp.groups[i])).collect()
}

/// Whether an instruction is for all 32 threads of a warp: matrix instructions have no member mask.
fn takes_whole_warp(step: &Step) -> bool {
    matches!(step, Step::Matrix(_) | Step::LoadMatrix { .. } | Step::LoadTile(_) | Step::StoreTile(_))
}

/// For each lane the lanes that it names in its member mask; without one, those that are here.
fn members(warp: &Warp, inst: &Inst, active: u32) -> Lanes<u32> {
    let word = |index: u16| *warp.registers.word(index);
    match inst.step {
        ref step if takes_whole_warp(step) => [FULL; 32],
        Step::WarpSync | Step::Elect => word(inst.ops.src[0]),
        Step::Shuffle { has_mask: true, .. } => word(inst.ops.src[3]),
        Step::Vote { has_mask: true, .. } | Step::Match { .. } | Step::Redux(_) => word(inst.ops.src[1]),
        _ => [active; 32],
    }
}
