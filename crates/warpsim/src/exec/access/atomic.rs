//! Atomics.

use super::{Request, next_space_of};
use crate::exec::interpret::origin as source;
use crate::exec::warp::Warp;
use crate::exec::{Issue, Machine};
use crate::fault::{Sink, Touch};
use crate::isa::AtomicFn;
use crate::observer::Observer;
use crate::program::{Memory, Register};
use crate::registers::RegisterFile;

impl<O: Observer> Machine<'_, '_, O> {
    pub(crate) fn atomic(&mut self, warp: &mut Warp, issue: &Issue<'_>, memory: &Memory, function: AtomicFn) {
        let &Issue { at, group, active, ops } = issue;
        let addresses = self.addresses(warp, issue, memory, ops.src[0]);
        warp.groups[group].polled = true;
        let mut changed = false;
        let wide = memory.class == RegisterFile::Wide;
        let operand = |slot: usize| {
            if wide {
                *warp.registers.wide(ops.src[slot])
            } else {
                warp.registers.word(ops.src[slot]).map(u64::from)
            }
        };
        let (b, c) = (operand(1), operand(2));
        let bytes = usize::from(memory.bytes);
        let keep = u64::MAX >> (64 - 8 * bytes);
        let value = Register { file: memory.class, index: ops.src[1] };
        let poisoned = self.poison_of(warp, value) & active;
        let mut old = [0u64; 32];
        let mut left = active;
        while let Some((space, mask, own)) = next_space_of(memory.space, &addresses, &mut left) {
            let request = Request::new(Touch::Atomic, space, mask, &own);
            let admitted = self.admit(warp, at, &request, memory);
            self.observe(at, &request, &admitted, memory, Some(&b));
            let mask = admitted.mask;
            if poisoned & mask != 0 {
                let origin = source(self.origin_of(warp, value));
                self.observer.poison(at, poisoned & mask, Sink::Store, origin);
            }
            let mut unknown = request.mask & !mask;
            // Lanes that store what depends on a value nobody set.
            let mut guessed = 0;
            for lane in crate::pattern::lanes(mask).map(|l| l as usize) {
                let address = request.addresses[lane];
                let (mut raw, mut valid) = ([0u8; 8], [0u8; 8]);
                let place = self.place(warp, request.space, lane, address);
                self.read_place(warp, place, &mut raw[..bytes], &mut valid[..bytes]);
                old[lane] = u64::from_le_bytes(raw);
                let result = |old: u64| function(old, b[lane] & keep, c[lane] & keep) & keep;
                let new = result(old[lane]);
                if valid[..bytes].iter().any(|&v| v != 0xff) {
                    unknown |= 1 << lane;
                    // An exchange, for one, doesn't mind what was there; the least and the greatest number would show.
                    let others = [!old[lane] & keep, 0, keep >> 1, keep - (keep >> 1)];
                    guessed |= u32::from(others.iter().any(|&old| result(old) != new)) << lane;
                }
                changed |= new != old[lane];
                self.write_place(warp, place, &new.to_le_bytes()[..bytes]);
            }
            let unwritten = unknown & mask;
            let origin = match unwritten {
                0 => 0,
                _ if !self.context.track_poison => 0,
                _ => self.origin_in_memory(warp, at, &request, unwritten, 0),
            };
            if guessed != 0 && self.context.track_poison {
                self.observer.poison(at, guessed, Sink::Store, source(origin));
            }
            if wide {
                warp.registers.set_wide(ops.dst[0], &old, request.mask);
            } else {
                warp.registers.set_word(ops.dst[0], &old.map(|v| v as u32), request.mask);
            }
            let unknown = if self.context.track_poison { unknown } else { 0 };
            self.set_poison(
                warp,
                Register { file: memory.class, index: ops.dst[0] },
                request.mask,
                unknown,
                origin,
            );
        }
        let this = &mut warp.groups[group];
        this.idle = if changed { 0 } else { this.idle + 1 };
    }
}
