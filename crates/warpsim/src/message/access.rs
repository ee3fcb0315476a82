//! Accesses that go wrong by themselves: outside, misaligned, too early, or to what nothing wrote.

use std::fmt::{self, Formatter};

use super::{At, Bytes, Index, On, Who, verb};
use crate::fault::{Absent, Fault, Place, Sink, Source, Space, Touch};

pub(super) fn out_of_bounds(
    f: &mut Formatter<'_>,
    fault: &Fault,
    touch: Touch,
    (bytes, address): (u32, u64),
    place: Option<&Place>,
) -> fmt::Result {
    let (who, on) = (Who(&fault.party), On(&fault.party));
    let Some(place) = place else {
        write!(f, "{who} {} {}", verb(touch), Bytes(u64::from(bytes)))?;
        match fault.space {
            Some(Space::Shared) => write!(f, " outside the block's shared memory, at offset {address}")?,
            Some(Space::Local) => write!(f, " outside its own stack, at offset {address}")?,
            Some(Space::Constant) => write!(f, " outside constant memory, at offset {address}")?,
            Some(Space::Param) => write!(f, " outside the kernel's parameters, at offset {address}")?,
            Some(Space::Global) | None if address < 4096 => write!(f, " through a null pointer")?,
            Some(Space::Global) | None => write!(f, " at address {address:#x}, where there is no buffer")?,
        }
        return write!(f, "{on}. Check the pointer and the index.");
    };
    let name = &place.name;
    let element = u64::from(place.element.max(1));
    let is_whole = place.offset.rem_euclid(element as i64) == 0 && place.bytes % element == 0;
    if place.is_dynamic && place.bytes == 0 {
        return write!(
            f,
            "{who} {} `{name}`{on}, and the launch asks for no dynamic shared memory. Have it ask for as much as the array \
             needs: `SHARED(bytes)` in an exercise, `--shared BYTES` of `checker run`.",
            verb(touch)
        );
    }
    write!(f, "{who} {} ", verb(touch))?;
    if is_whole {
        write!(f, "{}{on}", At(Some(place), fault.space))?;
    } else {
        write!(f, "{} at byte {} of `{name}`{on}", Bytes(u64::from(bytes)), place.offset)?;
    }
    if place.offset < 0 {
        return write!(
            f,
            ", {} before the start of `{name}`. The index is negative there: guard it, or start further in.",
            Bytes(place.offset.unsigned_abs())
        );
    }
    let is_flat = place.inner.is_empty();
    match place.bytes / element {
        0 => write!(f, ", which has no element")?,
        1 if is_whole => write!(f, ", but `{name}` has 1 element")?,
        count if is_whole && is_flat => write!(f, ", but `{name}` has {count} elements")?,
        _ if is_whole => {
            let rows = place.bytes / element / place.inner.iter().product::<u64>().max(1);
            write!(f, ", but it is declared `{name}[{rows}]")?;
            place.inner.iter().try_for_each(|dim| write!(f, "[{dim}]"))?;
            write!(f, "`")?;
        }
        _ => write!(f, ", which has {}", place.bytes)?,
    }
    if fault.space == Some(Space::Shared) && place.is_dynamic {
        return write!(
            f,
            ": the launch asks for {} of dynamic shared memory. Guard the access, or have it ask for more: `SHARED(bytes)` in an \
             exercise, `--shared BYTES` of `checker run`.",
            Bytes(place.bytes)
        );
    }
    write!(
        f,
        ". Only indices inside `{name}` may get there: guard the access, or see what its guard lets through."
    )
}

pub(super) fn misaligned(
    f: &mut Formatter<'_>,
    fault: &Fault,
    touch: Touch,
    (bytes, address): (u32, u64),
    place: Option<&Place>,
) -> fmt::Result {
    write!(f, "{} {} {bytes} bytes at once", Who(&fault.party), verb(touch))?;
    if let Some(place) = place {
        write!(f, " in `{}`", place.name)?;
    }
    write!(
        f,
        "{}, at an address that is {} past a multiple of {bytes}. An access of {bytes} bytes needs such a multiple: \
         make the row length fit, or use narrower accesses here.",
        On(&fault.party),
        address % u64::from(bytes).max(1),
    )
}

pub(super) fn copy_not_awaited(
    f: &mut Formatter<'_>,
    fault: &Fault,
    touch: Touch,
    is_async: bool,
    place: &Option<Place>,
) -> fmt::Result {
    let verb = if is_async { "copies to" } else { verb(touch) };
    write!(f, "{} {verb} {}{}", Who(&fault.party), At(place.as_ref(), fault.space), On(&fault.party))?;
    write!(f, ", which the asynchronous copy")?;
    if let Some(other) = &fault.other {
        write!(f, " of thread {}{}", Index(other.thread), On(other))?;
    }
    write!(
        f,
        " may still be filling: that thread has not waited for it. First have each thread wait for the group of its copies \
         (`__pipeline_wait_prior(n)` or `cp.async.wait_group n`, where n groups that were committed later may stay in flight), \
         then `__syncthreads()`."
    )
}

pub(super) fn uninitialized(
    f: &mut Formatter<'_>,
    fault: &Fault,
    sink: Sink,
    source: &Source,
) -> fmt::Result {
    let use_of_it = match sink {
        Sink::Branch => "decides a branch",
        Sink::Address => "becomes part of an address",
        // An atomic stores at once what it makes of it.
        Sink::Store if is_in_place(fault) => "goes into what is stored there",
        Sink::Store => "is stored to global memory",
    };
    let (who, on) = (Who(&fault.party), On(&fault.party));
    match source {
        Source::Register => {
            return write!(
                f,
                "a variable that was never given a value {use_of_it}{on}, in {who}. Give it one where it is declared."
            );
        }
        Source::Lane { lane, why } => {
            write!(f, "{who} takes the value of lane {lane} of its warp{on}, which ")?;
            match why {
                Absent::NotInBlock => write!(f, "does not exist, for the block ends before it")?,
                Absent::Left => write!(f, "has left the kernel")?,
                Absent::Elsewhere => write!(f, "does not take part")?,
            }
        }
        Source::Memory { place } => {
            write!(f, "{who} reads {}{on} where nothing was written", At(place.as_ref(), fault.space))?;
        }
    }
    write!(f, ", and the value {use_of_it}")?;
    if let Some(other) = fault.other.as_ref().filter(|other| other.at != fault.party.at) {
        write!(f, "{}", On(other))?;
    }
    match (source, fault.space) {
        (Source::Lane { why: Absent::NotInBlock, .. }, _) => write!(
            f,
            ". Launch whole warps and let the surplus threads hold a neutral value, or take nothing from lanes beyond the last."
        ),
        (Source::Lane { .. }, _) => write!(
            f,
            ". Have all lanes that are asked come to this instruction: guard what they contribute, not whether they come."
        ),
        (_, Some(Space::Shared)) => write!(
            f,
            ". Have every element written first, by the threads at the edge too, and `__syncthreads()` before reading."
        ),
        _ if is_in_place(fault) => {
            write!(f, ". Set every element before it is added to, or store instead of adding.")
        }
        (_, space) => write!(
            f,
            ". Write every element of {} before it is read.",
            match space {
                Some(Space::Local) => "the array",
                _ => "the buffer",
            }
        ),
    }
}

/// Whether one instruction read a value that nobody set, and stored.
fn is_in_place(fault: &Fault) -> bool {
    fault.other.as_ref().is_some_and(|other| other.pc == fault.party.pc)
}
