//! `mbarrier`: barriers that are objects in shared memory, as `cuda::barrier` uses them.
//!
//! What such an object holds is left open by the manual. Here it is, from the lowest bit on: 20 bits for the arrivals that
//! the current phase still waits for, 20 bits for the arrivals of a whole phase, 24 bits for the number of the phase. To
//! arrive is an atomic operation that releases, and gives the old contents; to test is a load that acquires, and
//! compares phases.

use ptx::{Instruction, Operand};

use super::function::{Draft, FunctionLowerer};
use crate::alu::{Alu, alu};
use crate::isa::AtomicFn;
use crate::observer::Order;
use crate::program::{Constant, LowerError, Memory, Register, Step};
use crate::registers::{Kind, Operands, RegisterFile};

const COUNT_BITS: u32 = 20;
const COUNT: u64 = (1 << COUNT_BITS) - 1;
const PHASE: u32 = 2 * COUNT_BITS;

/// The contents after `arrivals` more; those of a drop are not expected in later phases either.
fn arrive(state: u64, arrivals: u64, drops: bool) -> u64 {
    let (pending, expected, phase) = (state & COUNT, state >> COUNT_BITS & COUNT, state >> PHASE);
    let expected = if drops { expected.saturating_sub(arrivals) } else { expected };
    match pending.saturating_sub(arrivals) {
        0 => expected | expected << COUNT_BITS | phase.wrapping_add(1) << PHASE,
        left => left | expected << COUNT_BITS | phase << PHASE,
    }
}

impl FunctionLowerer<'_, '_> {
    pub(super) fn mbarrier(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let parity = instruction.has("parity");
        match instruction.modifiers.first().map(String::as_str) {
            Some("init") => self.mbarrier_init(instruction),
            Some("inval") => self.plain(Step::Nothing),
            Some("arrive") => self.mbarrier_arrive(instruction, |old, n, _| arrive(old, n, false)),
            Some("arrive_drop") => self.mbarrier_arrive(instruction, |old, n, _| arrive(old, n, true)),
            Some("test_wait" | "try_wait") if parity => {
                let alu = alu!(|now: u64, parity: u32| (now >> PHASE) as u32 & 1 != parity & 1);
                self.mbarrier_test(instruction, alu, Kind::Bits(32))
            }
            Some("test_wait" | "try_wait") => {
                let alu = alu!(|now: u64, token: u64| now >> PHASE != token >> PHASE);
                self.mbarrier_test(instruction, alu, Kind::Bits(64))
            }
            Some("pending_count") => {
                let [to, state] = self.exactly(instruction)?;
                let from = Register { file: RegisterFile::Wide, index: self.source(state, Kind::Bits(64))? };
                let to =
                    Register { file: RegisterFile::Word, index: self.destination(to, RegisterFile::Word)? };
                self.compute(alu!(|state: u64| (state & COUNT) as u32), &[from], to);
                Ok(())
            }
            _ => Err(self.unsupported()),
        }
    }

    /// `mbarrier.init [object], count`.
    fn mbarrier_init(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let [object, count] = self.exactly(instruction)?;
        let (memory, mut ops, mut draft) = self.mbarrier_object(instruction, object)?;
        let count = Register { file: RegisterFile::Word, index: self.source(count, Kind::Bits(32))? };
        let state = self.temporary(RegisterFile::Wide);
        self.compute(
            alu!(|n: u32| u64::from(n) & COUNT | (u64::from(n) & COUNT) << COUNT_BITS),
            &[count],
            state,
        );
        ops.src[1] = state.index;
        draft.reads.push(state);
        self.emit(Step::Store(memory), ops, draft);
        Ok(())
    }

    /// `mbarrier.arrive token, [object]{, count}`; the token may be left out.
    fn mbarrier_arrive(&mut self, instruction: &Instruction, function: AtomicFn) -> Result<(), LowerError> {
        let (token, object, count) = match instruction.operands.as_slice() {
            [token, object @ Operand::Address(_), rest @ ..] if rest.len() < 2 => {
                (token, object, rest.first())
            }
            [object @ Operand::Address(_), rest @ ..] if rest.len() < 2 => {
                (&Operand::Sink, object, rest.first())
            }
            _ => return Err(self.error("it takes a token, an address in brackets and, perhaps, a count")),
        };
        let (mut memory, mut ops, mut draft) = self.mbarrier_object(instruction, object)?;
        if memory.order == Order::Weak {
            memory.order = Order::Release;
        }
        let arrivals = self.temporary(RegisterFile::Wide);
        match count {
            Some(count) => {
                let count = Register { file: RegisterFile::Word, index: self.source(count, Kind::Bits(32))? };
                self.compute(alu!(|n: u32| u64::from(n)), &[count], arrivals);
                ops.src[1] = arrivals.index;
            }
            None => ops.src[1] = self.constant(Constant::Bits(1), RegisterFile::Wide),
        }
        draft.reads.push(Register { file: RegisterFile::Wide, index: ops.src[1] });
        ops.dst[0] = self.destination(token, RegisterFile::Wide)?;
        draft.writes.push(Register { file: RegisterFile::Wide, index: ops.dst[0] });
        self.emit(Step::Atomic(memory, function), ops, draft);
        Ok(())
    }

    /// `mbarrier.test_wait p, [object], token`: whether the phase of the token, or of the parity, is over. A hint how
    /// long to sleep may follow.
    fn mbarrier_test(&mut self, instruction: &Instruction, alu: Alu, kind: Kind) -> Result<(), LowerError> {
        let [to, object, token, hint @ ..] = instruction.operands.as_slice() else {
            return Err(self.error("operands are missing"));
        };
        if hint.len() > 1 {
            return Err(self.error("it takes 3 operands, and a hint how long to wait"));
        }
        let (mut memory, mut ops, mut draft) = self.mbarrier_object(instruction, object)?;
        if memory.order == Order::Weak {
            memory.order = Order::Acquire;
        }
        let state = self.temporary(RegisterFile::Wide);
        ops.dst[0] = state.index;
        draft.writes.push(state);
        self.emit(Step::Load(memory), ops, draft);
        let token = Register { file: kind.class(), index: self.source(token, kind)? };
        let to = Register { file: RegisterFile::Pred, index: self.destination(to, RegisterFile::Pred)? };
        self.compute(alu, &[state, token], to);
        Ok(())
    }

    /// How the object in shared memory is accessed.
    fn mbarrier_object(
        &mut self,
        instruction: &Instruction,
        object: &Operand,
    ) -> Result<(Memory, Operands, Draft), LowerError> {
        let target = self.target(object)?;
        let (mut memory, ty) = self.memory(instruction, &target)?;
        if ty.size_bytes() != 8 || memory.count != 1 {
            return Err(self.unsupported());
        }
        memory.class = RegisterFile::Wide;
        let (mut ops, mut draft) = (Operands::default(), Draft::default());
        self.base_operand(&target, &mut ops, &mut draft);
        Ok((memory, ops, draft))
    }

    /// An instruction from registers to a register.
    fn compute(&mut self, alu: Alu, from: &[Register], to: Register) {
        let mut ops = Operands { dst: [to.index, 0], ..Operands::default() };
        ops.src.iter_mut().zip(from).for_each(|(slot, reg)| *slot = reg.index);
        self.emit(Step::Alu(alu.select()), ops, Draft::new(from.to_vec(), vec![to]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_end_with_the_last_arrival() {
        let start = 3 | 3 << COUNT_BITS;
        let one = arrive(start, 1, false);
        assert_eq!((one & COUNT, one >> PHASE), (2, 0));
        let over = arrive(one, 2, false);
        assert_eq!((over & COUNT, over >> COUNT_BITS & COUNT, over >> PHASE), (3, 3, 1));
        let dropped = arrive(arrive(over, 1, true), 2, false);
        assert_eq!((dropped & COUNT, dropped >> PHASE), (2, 2));
        // More than is expected ends the phase too, and contents that make no sense do no harm.
        assert_eq!(arrive(start, 9, false) >> PHASE, 1);
        arrive(u64::MAX, u64::MAX, true);
    }
}
