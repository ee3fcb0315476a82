//! Two accesses that nothing orders.

use std::fmt::{self, Formatter};

use super::{At, Index, On, Who, verb};
use crate::fault::{Detail, Fault, Remedy, Round};

/// What to say of two threads that write the same.
const SAME_VALUE: &str = "Both write the same value: if each should have a place of its own, look at the index, else let one \
                          of them do it.";

pub(super) fn race(f: &mut Formatter<'_>, fault: &Fault) -> fmt::Result {
    let Detail::Race { touch, other: other_touch, place, same_block, same_value, after_copy, remedy, .. } =
        &fault.detail
    else {
        return Ok(());
    };
    let at = At(place.as_ref(), fault.space);
    let Some(other) = &fault.other else {
        return write!(f, "{} {} {at} in a race{}.", Who(&fault.party), verb(*touch), On(&fault.party));
    };
    if *remedy == Remedy::OneWriter && fault.party.pc == other.pc && *same_block {
        write!(
            f,
            "threads {} and {} of block {} write {at} with one and the same instruction{}",
            Index(other.thread),
            Index(fault.party.thread),
            Index(fault.party.block),
            On(&fault.party)
        )?;
        return if *same_value {
            write!(f, ". {SAME_VALUE}")
        } else {
            write!(f, ", and which value stays is not defined. Let only one thread write, or use an atomic.")
        };
    }
    write!(f, "{} {} {at}{}, and ", Who(&fault.party), verb(*touch), On(&fault.party))?;
    if *same_block {
        write!(f, "thread {}", Index(other.thread))?;
    } else {
        write!(f, "{}", Who(other))?;
    }
    let did = if *after_copy { "copies to" } else { verb(*other_touch) };
    write!(f, " {did} it{}; nothing orders the two. ", On(other))?;
    if *same_value {
        return write!(f, "{SAME_VALUE}");
    }
    advice(f, fault, remedy)
}

fn advice(f: &mut Formatter<'_>, fault: &Fault, remedy: &Remedy) -> fmt::Result {
    match remedy {
        Remedy::OneWriter => {
            write!(
                f,
                "Blocks run in any order: let only one thread of the grid write there, or use an atomic."
            )
        }
        Remedy::OwnElement { of_loop: false } => {
            write!(f, "Is the index right? Have one thread write each element, or use an atomic.")
        }
        Remedy::OwnElement { of_loop: true } => write!(
            f,
            "Is the index right? Give each thread an element of its own, unless the writes are meant to follow each other: \
             then `__syncthreads()` belongs between."
        ),
        Remedy::BarrierAfterWait { of_warp } => write!(
            f,
            "By its wait a thread knows of its own copies only: put `{}` after the wait, before others read what it copied.",
            sync(*of_warp)
        ),
        Remedy::Barrier { of_warp, round } => barrier(f, fault, *of_warp, *round),
        Remedy::Atomic => write!(
            f,
            "Beside atomics every access of other blocks must be one: read by `atomicAdd(p, 0)` or a volatile pointer, or in a \
             launch of its own."
        ),
        Remedy::Fence => write!(
            f,
            "If a flag or a counter tells the other block, `__threadfence()` is missing: after the write, before the atomic that \
             tells of it, and after the one that sees it."
        ),
        Remedy::Launches => write!(
            f,
            "Blocks run in any order: use separate buffers for input and output, an atomic, or two launches."
        ),
        Remedy::Unlock => write!(
            f,
            "If it is a lock, release it by `__threadfence()` and then `atomicExch`, not by an ordinary store; a barrier is no \
             help, for only one thread has the lock."
        ),
        Remedy::Lock => write!(
            f,
            "If a lock guards it, `__threadfence()` is missing: after the lock is taken, and before it is given back by an \
             atomic. A barrier is no help, for only one thread has the lock."
        ),
    }
}

fn sync(of_warp: bool) -> &'static str {
    if of_warp { "__syncwarp()" } else { "__syncthreads()" }
}

fn barrier(f: &mut Formatter<'_>, fault: &Fault, of_warp: bool, round: Round) -> fmt::Result {
    let call = sync(of_warp);
    let who = if of_warp {
        "the two are in one warp, but not in lock step"
    } else {
        "all threads of the block must come by"
    };
    let line = |side: bool| {
        let party = if side { fault.other.as_ref() } else { Some(&fault.party) };
        party.and_then(|party| party.at.as_ref()).map(|at| at.line)
    };
    match round {
        Round::Same { first_is_other } => match (line(first_is_other), line(!first_is_other)) {
            (Some(first), Some(second)) if first < second => {
                write!(f, "`{call}` is missing between line {first} and line {second}; {who}.")
            }
            _ => write!(f, "Put `{call}` between; {who}."),
        },
        Round::Next { first_is_other } => match line(first_is_other) {
            Some(line) => write!(
                f,
                "They are in different rounds of the loop: `{call}` is missing after line {line}, at the end of a round; {who}."
            ),
            None => {
                write!(
                    f,
                    "They are in different rounds of the loop: put `{call}` at the end of a round; {who}."
                )
            }
        },
        Round::Either => write!(
            f,
            "Put `{call}` after this line, before the next round of a loop; if it reads what others write here in the same \
             round, read into a variable first, with one between the read and the write. As for each: {who}."
        ),
    }
}
