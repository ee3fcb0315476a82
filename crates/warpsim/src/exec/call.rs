//! Calls of device functions.

use super::warp::{CallSite, LOCAL_LIMIT, State, Warp};
use super::{Machine, Stop};
use crate::fault::Refused;
use crate::observer::{Observer, Site};
use crate::program::{Callee, Place, Register};
use crate::registers::{Lanes, RegisterFile};

/// Calls that may be nested.
const MAX_DEPTH: u32 = 1024;
/// Registers of each file that all calls in progress may have.
const MAX_REGISTERS: usize = 1 << 18;

impl<O: Observer> Machine<'_, '_, O> {
    /// Lanes of a group call a function; the others wait for them behind the call.
    pub(crate) fn call(
        &mut self,
        warp: &mut Warp,
        group: usize,
        at: Site,
        number: u32,
        active: u32,
    ) -> Result<(), Stop> {
        let program = self.context.program;
        let call = &program.calls[number as usize];
        let lane = active.trailing_zeros();
        match call.target {
            Callee::Printf => {
                self.printf(warp, group, call, active);
                warp.groups[group].pc += 1;
                Ok(())
            }
            Callee::Malloc => {
                self.malloc(warp, group, call, active);
                warp.groups[group].pc += 1;
                Ok(())
            }
            Callee::Free => {
                self.free(warp, group, at, call, active)?;
                warp.groups[group].pc += 1;
                Ok(())
            }
            Callee::AssertFail => Err(Stop::Assert(at, lane, self.assert_message(warp, group, call, lane))),
            Callee::Function(function) => self.enter(warp, group, at, number, &[(function, active)]),
            Callee::Indirect(reg) => {
                let numbers = *warp.registers.wide(reg.index);
                let mut groups: Vec<(u32, u32)> = Vec::new();
                for lane in (0..32).filter(|l| active >> l & 1 != 0) {
                    let function = numbers[lane].wrapping_sub(1);
                    if function >= program.functions.len() as u64 {
                        let pointer = numbers[lane];
                        return Err(Stop::Refused(at, lane as u32, Refused::Function { pointer }));
                    }
                    match groups.iter_mut().find(|g| g.0 == function as u32) {
                        Some(group) => group.1 |= 1 << lane,
                        None => groups.push((function as u32, 1 << lane)),
                    }
                }
                self.enter(warp, group, at, number, &groups)
            }
        }
    }

    /// Enters functions, each with its lanes.
    fn enter(
        &mut self,
        warp: &mut Warp,
        group: usize,
        at: Site,
        number: u32,
        groups: &[(u32, u32)],
    ) -> Result<(), Stop> {
        let program = self.context.program;
        let caller = warp.groups[group];
        let frame = warp.frames[caller.frame as usize];
        let size = program.functions[frame.function as usize].registers;
        let local = program.functions[frame.function as usize].local_bytes;
        let join = warp.open_join(group, at.pc + 1);
        let called = groups.iter().fold(0, |all, g| all | g.1);
        for (i, &(function, mask)) in groups.iter().enumerate() {
            let site = CallSite { caller: caller.frame, number, pc: at.pc, function };
            let index = warp.enter_frame(site, mask, size, local);
            let callee = &program.functions[function as usize];
            let new = warp.frames[index as usize];
            let needed = new.local_base + callee.local_bytes;
            let registers = new.base.poison + callee.registers.total();
            if needed > LOCAL_LIMIT || new.depth > MAX_DEPTH || registers > MAX_REGISTERS {
                return Err(Stop::StackOverflow(at, mask.trailing_zeros()));
            }
            if needed > warp.local.stride {
                warp.local.grow(needed.next_power_of_two().min(LOCAL_LIMIT));
            }
            warp.reserve(new.base, callee.registers);
            warp.local.invalidate(new.local_base, callee.local_bytes, mask);
            for (from, to) in program.calls[number as usize].arguments.iter().zip(&callee.params) {
                copy(warp, (frame.local_base, frame.base), *from, (new.local_base, new.base), *to, mask);
            }
            warp.registers.base = new.base;
            let block = self.context.block_index(self.block);
            for &(reg, constant) in &callee.constants {
                warp.set_constant(self.context, reg, constant, block, mask);
                let poison = new.base.poison + callee.registers.unified(reg) as usize;
                warp.registers.poison[poison] &= !mask;
            }
            warp.clear_unset(&callee.unset, callee.registers, mask);
            let entered = super::warp::LaneGroup {
                pc: callee.entry,
                mask,
                join,
                state: State::Ready,
                frame: index,
                ..caller
            };
            if i == 0 {
                warp.groups[group] = entered;
            } else {
                warp.groups.push(entered);
            }
        }
        let others = caller.mask & !called;
        if others != 0 {
            warp.arrive(join, others);
        }
        Ok(())
    }

    /// Lanes of a group return: from the kernel they exit, from a function they meet behind the call.
    pub(crate) fn leave_function(&mut self, warp: &mut Warp, group: usize, at: Site, lanes: u32) {
        let from = warp.groups[group];
        let frame = warp.frames[from.frame as usize];
        let Some(&caller) = warp.frames.get(frame.parent as usize) else {
            return self.exit(warp, group, at, lanes);
        };
        let program = self.context.program;
        let callee = &program.functions[frame.function as usize];
        for (from, to) in callee.returns.iter().zip(&program.calls[frame.call as usize].results) {
            copy(warp, (frame.local_base, frame.base), *from, (caller.local_base, caller.base), *to, lanes);
        }
        warp.return_to(group, lanes, frame.parent, frame.call_pc + 1);
    }
}

type Base = (u32, crate::registers::FrameBase);

/// Copies a parameter between two frames.
fn copy(warp: &mut Warp, from_base: Base, from: Place, to_base: Base, to: Place, mask: u32) {
    let saved = warp.registers.base;
    match (from, to) {
        (Place::Local { offset: a, bytes }, Place::Local { offset: b, bytes: room }) => {
            let (a, b) = (from_base.0 + a, to_base.0 + b);
            for lane in (0..32).filter(|l| mask >> l & 1 != 0) {
                let start = lane * warp.local.stride as usize;
                let source = start + a as usize..start + (a + bytes.min(room)) as usize;
                warp.local.data.copy_within(source.clone(), start + b as usize);
                warp.local.valid.copy_within(source, start + b as usize);
            }
        }
        (Place::Register(reg), Place::Local { offset, bytes }) => {
            warp.registers.base = from_base.1;
            let value = values(warp, reg);
            for lane in crate::pattern::lanes(mask) {
                let start = (lane * warp.local.stride + to_base.0 + offset) as usize;
                let bytes = (bytes as usize).min(8);
                warp.local.data[start..start + bytes]
                    .copy_from_slice(&value[lane as usize].to_le_bytes()[..bytes]);
                warp.local.valid[start..start + bytes].fill(0xff);
            }
        }
        (Place::Local { offset, bytes }, Place::Register(reg)) => {
            let mut value = [0; 32];
            for lane in crate::pattern::lanes(mask) {
                let start = (lane * warp.local.stride + from_base.0 + offset) as usize;
                let bytes = (bytes as usize).min(8);
                let mut raw = [0; 8];
                raw[..bytes].copy_from_slice(&warp.local.data[start..start + bytes]);
                value[lane as usize] = u64::from_le_bytes(raw);
            }
            warp.registers.base = to_base.1;
            set_values(warp, reg, &value, mask);
        }
        (Place::Register(from), Place::Register(to)) => {
            warp.registers.base = from_base.1;
            let value = values(warp, from);
            warp.registers.base = to_base.1;
            set_values(warp, to, &value, mask);
        }
    }
    warp.registers.base = saved;
}

/// All lanes of a register, zero-extended.
fn values(warp: &Warp, reg: Register) -> Lanes<u64> {
    match reg.file {
        RegisterFile::Pred => {
            let bits = warp.registers.pred(reg.index);
            std::array::from_fn(|lane| u64::from(bits >> lane & 1))
        }
        RegisterFile::Word => warp.registers.word(reg.index).map(u64::from),
        RegisterFile::Wide => *warp.registers.wide(reg.index),
    }
}

pub(crate) fn set_values(warp: &mut Warp, reg: Register, value: &Lanes<u64>, mask: u32) {
    match reg.file {
        RegisterFile::Pred => {
            let bits = (0..32).fold(0, |bits, lane| bits | ((value[lane] & 1) as u32) << lane);
            warp.registers.set_pred(reg.index, bits, mask);
        }
        RegisterFile::Word => warp.registers.set_word(reg.index, &value.map(|v| v as u32), mask),
        RegisterFile::Wide => warp.registers.set_wide(reg.index, value, mask),
    }
}
