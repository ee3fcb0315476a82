//! What is known of the alignment of values: how many of their lowest bits are zero.

use ptx::Operand;

use super::listing::Listing;

/// Zeros of a value that is zero altogether.
const ALL: u32 = 40;
/// Kernels take pointers that the driver has aligned to 256 bytes.
const POINTER: u32 = 8;
/// Rounds after which values that loops change have settled.
const ROUNDS: usize = 12;

/// For each register the number of low bits that are zero whenever it is written.
pub(super) fn trailing_zeros(listing: &Listing<'_>, shared_offset: &dyn Fn(&str) -> Option<u64>) -> Vec<u32> {
    let mut zeros = vec![ALL; listing.kinds.len()];
    for _ in 0..ROUNDS {
        for at in 0..listing.lines.len() {
            let found = of_result(listing, at, &zeros, shared_offset);
            for reg in &listing.lines[at].writes {
                let known = &mut zeros[*reg as usize];
                *known = found.min(*known);
            }
        }
    }
    zeros
}

fn of_result(
    listing: &Listing<'_>,
    at: usize,
    zeros: &[u32],
    shared_offset: &dyn Fn(&str) -> Option<u64>,
) -> u32 {
    let instruction = listing.lines[at].instruction;
    let of = |index: usize| match instruction.operands.get(index) {
        Some(Operand::Integer(value)) => of_integer(*value),
        Some(Operand::Name(name)) => match listing.register(at, name) {
            Some(reg) => zeros[reg as usize],
            None => shared_offset(name).map_or(0, |offset| of_integer(i128::from(offset))),
        },
        _ => 0,
    };
    let shift = || match instruction.operands.get(2) {
        Some(Operand::Integer(by)) => u32::try_from(*by).ok(),
        _ => None,
    };
    let found = match instruction.opcode.as_str() {
        "mov" | "cvt" | "cvta" => of(1),
        "add" | "sub" | "or" | "xor" | "selp" => of(1).min(of(2)),
        "and" => of(1).max(of(2)),
        "mul" => of(1).saturating_add(of(2)),
        "mad" => of(1).saturating_add(of(2)).min(of(3)),
        "shl" => of(1).saturating_add(shift().unwrap_or(0)),
        "shr" => shift().map_or(0, |by| of(1).saturating_sub(by)),
        "ld" if instruction.has("param") && (instruction.has("u64") || instruction.has("b64")) => POINTER,
        _ => 0,
    };
    found.min(ALL)
}

fn of_integer(value: i128) -> u32 {
    if value == 0 { ALL } else { value.trailing_zeros().min(ALL) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_settles_on_what_holds_in_every_turn() {
        let module = crate::testing::module(
            ".reg .b32 %r<6>;
             mov.u32 %r1, %tid.x;
             shl.b32 %r2, %r1, 4;
             mov.u32 %r3, 64;
             loop:
             add.s32 %r3, %r3, 8;
             add.s32 %r4, %r3, %r2;
             bra loop;",
        );
        let listing = Listing::new(&module, "k");
        let zeros = trailing_zeros(&listing, &|_| None);
        let of = |name| zeros[listing.register(0, name).expect("declared") as usize];
        assert_eq!((of("%r1"), of("%r2"), of("%r3"), of("%r4")), (0, 4, 3, 3));
    }
}
