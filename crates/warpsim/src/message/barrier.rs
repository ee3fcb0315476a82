//! Barriers that not all threads come to, and arrays that are one.

use std::fmt::{self, Formatter};

use super::{Index, On, Who};
use crate::fault::{BarrierProblem, Fault};

pub(super) fn aliased_shared(f: &mut Formatter<'_>, first: &str, second: &str) -> fmt::Result {
    if first == second {
        write!(f, "two `extern __shared__` arrays named `{first}` are the same memory")?;
    } else {
        write!(f, "`{first}` and `{second}` are both `extern __shared__`, and so are the same memory")?;
    }
    write!(f, ": both start at the same address. Declare one array and give each part its own offset in it.")
}

pub(super) fn barrier(
    f: &mut Formatter<'_>,
    fault: &Fault,
    problem: BarrierProblem,
    present: u32,
    missing: u32,
) -> fmt::Result {
    let at = On(&fault.party);
    let block = Index(fault.party.block);
    match problem {
        BarrierProblem::DivergentWarp => write!(
            f,
            "only {present} of {} threads of a warp in block {block} reach the barrier{at} together; the others are \
             elsewhere in the code. Move `__syncthreads()` out of the condition, so that all threads of the block \
             execute it.",
            present + missing
        ),
        BarrierProblem::DifferentBarriers => {
            write!(f, "{} and others of its block wait at the barrier{at}", Who(&fault.party))?;
            if let Some(other) = &fault.other {
                write!(f, ", while thread {} waits at another{}", Index(other.thread), On(other))?;
            }
            write!(
                f,
                ": neither ever completes. Have all threads of the block meet at the same `__syncthreads()`."
            )
        }
        BarrierProblem::NeverComplete => write!(
            f,
            "{present} threads of block {block} wait at the barrier{at} for ever, because {missing} that should join \
             them never do. Have all threads of the block execute `__syncthreads()`, and give named barriers the right \
             number of threads."
        ),
        BarrierProblem::Mixed | BarrierProblem::OutOfStep => {
            write!(f, "{} waits at the barrier{at}", Who(&fault.party))?;
            if let Some(other) = &fault.other {
                write!(f, ", and thread {} at the one{}", Index(other.thread), On(other))?;
            }
            if problem == BarrierProblem::Mixed {
                return write!(
                    f,
                    ": they meet there only because each way has a barrier. All threads of a block are to come to the same \
                     `__syncthreads()`: put one after the condition instead of one in each part of it."
                );
            }
            write!(
                f,
                ": the hardware takes the two for one, and from there on some threads are a barrier ahead of the others, \
                 {missing} of which leave the kernel too soon. All threads of the block must come to the same \
                 `__syncthreads()`: move the one that only some come to out of its condition."
            )
        }
        BarrierProblem::LeftLoop => {
            write!(f, "{missing} threads of block {block} left")?;
            if let Some(other) = &fault.other {
                write!(f, "{}", On(other))?;
            }
            write!(
                f,
                " while the others come to the barrier{at} once more: they go round the loop less often. Have all threads of \
                 the block go round equally often, and guard only the work inside of the loop."
            )
        }
        BarrierProblem::ExitedEarlier => {
            write!(f, "{missing} threads of block {block} had already left the kernel")?;
            if let Some(other) = &fault.other {
                write!(f, "{}", On(other))?;
            }
            write!(
                f,
                " when the others met at the barrier{at}. They can't do their share before it: let all threads of the \
                 block reach `__syncthreads()`, and guard only the work around it."
            )
        }
        BarrierProblem::CallerNotInMask => write!(
            f,
            "{} takes part in a warp-level operation{at} whose mask does not name it. Use a mask that names exactly the \
             threads that get there, such as the result of `__ballot_sync` before the branch.",
            Who(&fault.party)
        ),
        BarrierProblem::NamedLaneElsewhere => write!(
            f,
            "the mask of a warp-level operation{at} names threads of the warp that are elsewhere in the code ({} is one \
             that got there). Move the operation out of the condition, or name only the threads that get there.",
            Who(&fault.party)
        ),
        BarrierProblem::PartOfWarp => write!(
            f,
            "only {present} of the 32 threads of a warp in block {block} got to the matrix operation{at}, which works \
             on whole warps and is undefined otherwise. Move it out of the condition, and guard the loads and stores of \
             what lies outside instead; launch whole warps."
        ),
    }
}
