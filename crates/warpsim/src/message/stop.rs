//! Why a kernel was stopped.

use std::fmt::{self, Formatter};

use super::{On, Who};
use crate::fault::{Fault, Refused};

pub(super) fn refused(f: &mut Formatter<'_>, fault: &Fault, refused: Refused) -> fmt::Result {
    let (who, at) = (Who(&fault.party), On(&fault.party));
    match refused {
        Refused::Barrier { id } => {
            write!(f, "{who} names barrier {id}{at}. A block has the barriers 0 to 15.")
        }
        Refused::BarrierThreads { threads } => write!(
            f,
            "{who} waits at a barrier for {threads} threads{at}. Barriers count whole warps: the number must be a \
             multiple of 32, and not 0."
        ),
        Refused::Jump { index, targets } => write!(
            f,
            "{who} jumps by index {index}{at}, but the table there has {targets} labels. Check the index before the jump."
        ),
        Refused::Free { pointer } => write!(
            f,
            "{who} frees {pointer:#x}{at}, which `malloc` or `new` did not give, or which was freed before."
        ),
        Refused::Function { pointer } => write!(
            f,
            "{who} calls through the pointer {pointer:#x}{at}, which is not the address of a function of this module. \
             Give the pointer a value on every path that leads to the call."
        ),
    }
}

pub(super) fn timeout(
    f: &mut Formatter<'_>,
    fault: &Fault,
    executed: u64,
    waits_for_block: bool,
) -> fmt::Result {
    write!(
        f,
        "stopped after {executed} warp instructions, in the loop{} with {}. ",
        On(&fault.party),
        Who(&fault.party)
    )?;
    if waits_for_block {
        write!(
            f,
            "It waits for a block that has not started: blocks may run in any order, even one after another, so a block \
             must not wait for a later one."
        )
    } else {
        write!(
            f,
            "Check that its condition can become false, and that what it waits for is written by someone; if it would have \
             ended, share its work between more threads."
        )
    }
}
