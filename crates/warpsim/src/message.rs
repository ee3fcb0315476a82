//! Every sentence that a fault is told in: what happened, to which buffer, by which threads on which lines, and
//! what to do about it.

use std::fmt::{self, Display, Formatter};

use crate::fault::{BarrierProblem, Detail, Fault, FaultKind, Party, Refused, Sink, Space, Touch};

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Detail::Access { touch, bytes, address, buffer, buffer_bytes, outside } => {
                let place = Place {
                    bytes: *bytes,
                    address: *address,
                    buffer: buffer.as_deref(),
                    buffer_bytes: *buffer_bytes,
                    outside: *outside,
                };
                match self.kind {
                    FaultKind::Misaligned => misaligned(f, self, *touch, &place),
                    _ => out_of_bounds(f, self, *touch, &place),
                }
            }
            Detail::Race { .. } => race(f, self),
            Detail::Copy { touch, is_async, buffer, offset } => {
                copy_not_awaited(f, self, *touch, *is_async, buffer.as_deref(), *offset)
            }
            Detail::Uninitialized { sink, buffer, register } => {
                uninitialized(f, self, *sink, buffer.as_deref(), *register)
            }
            Detail::Barrier { problem, present, missing } => barrier(f, self, *problem, *present, *missing),
            Detail::AliasedShared { first, second } if first == second => write!(
                f,
                "two `extern __shared__` arrays named `{first}` are the same memory: both start at the same \
                 address. Declare one array and give each part its own offset in it."
            ),
            Detail::AliasedShared { first, second } => write!(
                f,
                "`{first}` and `{second}` are both `extern __shared__`, and so are the same memory: both start at \
                 the same address. Declare one array and give each part its own offset in it."
            ),
            Detail::Assert { message } => {
                write!(
                    f,
                    "the assertion `{message}` does not hold for {}{}.",
                    Who(&self.party),
                    On(&self.party)
                )
            }
            Detail::Timeout { executed, waits_for_block } => timeout(f, self, *executed, *waits_for_block),
            Detail::Refused(refused) => self::refused(f, self, *refused),
            Detail::None if self.kind == FaultKind::StackOverflow => write!(
                f,
                "{} ran out of stack{}: the calls nest too deeply. Bound the recursion, or turn it into a loop.",
                Who(&self.party),
                On(&self.party)
            ),
            Detail::None => write!(
                f,
                "{} stopped the kernel with a trap{}: the code says that this place must not be reached.",
                Who(&self.party),
                On(&self.party)
            ),
        }
    }
}

fn refused(f: &mut Formatter<'_>, fault: &Fault, refused: Refused) -> fmt::Result {
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

/// Where a bad access went.
struct Place<'a> {
    bytes: u32,
    address: u64,
    buffer: Option<&'a str>,
    buffer_bytes: u64,
    outside: i64,
}

fn out_of_bounds(f: &mut Formatter<'_>, fault: &Fault, touch: Touch, place: &Place<'_>) -> fmt::Result {
    let Place { bytes, address, buffer, buffer_bytes, outside } = place;
    write!(f, "{} {} {}", Who(&fault.party), verb(touch), Bytes(u64::from(*bytes)))?;
    let Some(name) = buffer else {
        match fault.space {
            Some(Space::Shared) => write!(f, " outside the block's shared memory, at offset {address}")?,
            Some(Space::Local) => write!(f, " outside its own stack, at offset {address}")?,
            Some(Space::Constant) => write!(f, " outside constant memory, at offset {address}")?,
            Some(Space::Param) => write!(f, " outside the kernel's parameters, at offset {address}")?,
            Some(Space::Global) | None if *address < 4096 => write!(f, " through a null pointer")?,
            Some(Space::Global) | None => write!(f, " at address {address:#x}, where there is no buffer")?,
        }
        return write!(f, "{}. Check the pointer and the index.", On(&fault.party));
    };
    if *outside < 0 {
        write!(f, " that start {} before `{name}`", Bytes(outside.unsigned_abs()))?;
        return write!(
            f,
            "{}. The index is negative there: guard it, or start further in.",
            On(&fault.party)
        );
    }
    let start =
        (*buffer_bytes as i64).saturating_add(*outside).saturating_sub(i64::from(*bytes)).max(0) as u64;
    write!(f, " at byte {start} of `{name}`, which has {buffer_bytes}")?;
    let size = u64::from(*bytes).max(1);
    if start.is_multiple_of(size) && buffer_bytes.is_multiple_of(size) && *buffer_bytes > 0 {
        write!(f, " (index {} where {} is the last)", start / size, buffer_bytes / size - 1)?;
    }
    if *buffer_bytes == 0 && fault.space == Some(Space::Shared) {
        return write!(
            f,
            "{}: the launch asks for no dynamic shared memory. Have it ask for as much as the array needs.",
            On(&fault.party)
        );
    }
    write!(
        f,
        "{}. Only indices inside `{name}` may get there: guard the access, or see what its guard lets through.",
        On(&fault.party)
    )
}

fn misaligned(f: &mut Formatter<'_>, fault: &Fault, touch: Touch, place: &Place<'_>) -> fmt::Result {
    let Place { bytes, address, buffer, .. } = place;
    write!(f, "{} {} {bytes} bytes at once", Who(&fault.party), verb(touch))?;
    if let Some(name) = buffer {
        write!(f, " in `{name}`")?;
    }
    write!(
        f,
        "{}, at an address that is {} past a multiple of {bytes}. An access of {bytes} bytes needs such a multiple: \
         make the row length fit, or use narrower accesses here.",
        On(&fault.party),
        address % u64::from(*bytes).max(1),
    )
}

/// What to say of two threads that write the same.
const SAME_VALUE: &str = "Both write the same value: if each should have a place of its own, look at the index, else let one \
                          of them do it.";

fn race(f: &mut Formatter<'_>, fault: &Fault) -> fmt::Result {
    let Detail::Race {
        touch,
        other: other_touch,
        buffer,
        offset,
        same_warp,
        same_block,
        same_value,
        after_copy,
    } = &fault.detail
    else {
        return Ok(());
    };
    let memory = match fault.space {
        Some(Space::Shared) => "shared",
        _ => "global",
    };
    let name = match buffer {
        Some(name) => format!("`{name}`"),
        None => format!("{memory} memory"),
    };
    let Some(other) = &fault.other else {
        return write!(
            f,
            "{} {} byte {offset} of {name} in a race{}.",
            Who(&fault.party),
            verb(*touch),
            On(&fault.party)
        );
    };
    let one_instruction = fault.party.pc == other.pc && *same_warp && *touch != Touch::Read;
    if one_instruction && *other_touch != Touch::Read {
        write!(
            f,
            "threads {} and {} of block {} write byte {offset} of {name} with one and the same instruction{}",
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
    write!(f, "{} {} byte {offset} of {name}{}, and ", Who(&fault.party), verb(*touch), On(&fault.party))?;
    if *same_block {
        write!(f, "thread {}", Index(other.thread))?;
    } else {
        write!(f, "{}", Who(other))?;
    }
    let did = if *after_copy { "copies to" } else { verb(*other_touch) };
    write!(f, " {did} it{}; nothing orders the two", On(other))?;
    if *same_value {
        return write!(f, ". {SAME_VALUE}");
    }
    if *after_copy {
        return write!(
            f,
            ". The copying thread's wait makes what it copied its own only: put `{}` after the wait, before the others read.",
            if *same_warp { "__syncwarp()" } else { "__syncthreads()" }
        );
    }
    match (touch, other_touch) {
        // A barrier would only decide which of them wins.
        (Touch::Write, Touch::Write) if *same_block && fault.space == Some(Space::Global) => {
            write!(f, ". Is the index right? Have one thread write each element, or use an atomic.")
        }
        (Touch::Write, Touch::Write) if *same_block && fault.party.pc == other.pc => write!(
            f,
            ". Is the index right? Give each thread an element of its own, unless the writes are meant to follow each \
             other: then `__syncthreads()` belongs between."
        ),
        _ if *same_warp => write!(
            f,
            ". Put `__syncthreads()` between, where all threads of the block come by; these two are in one warp, but not in \
             lock step."
        ),
        _ if *same_block => {
            write!(f, ". Put `__syncthreads()` between, where all threads of the block come by.")
        }
        (Touch::Write, Touch::Write) => {
            write!(
                f,
                ". Blocks run in any order: let only one thread of the grid write there, or use an atomic."
            )
        }
        _ => write!(
            f,
            ". Blocks run in any order: use separate buffers for input and output, an atomic, or two launches."
        ),
    }
}

fn copy_not_awaited(
    f: &mut Formatter<'_>,
    fault: &Fault,
    touch: Touch,
    is_async: bool,
    buffer: Option<&str>,
    offset: u64,
) -> fmt::Result {
    let verb = if is_async { "copies to" } else { verb(touch) };
    write!(f, "{} {verb} byte {offset} of ", Who(&fault.party))?;
    match buffer {
        Some(name) => write!(f, "`{name}`")?,
        None => write!(f, "shared memory")?,
    }
    write!(f, "{}, which the asynchronous copy", On(&fault.party))?;
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

fn uninitialized(
    f: &mut Formatter<'_>,
    fault: &Fault,
    sink: Sink,
    buffer: Option<&str>,
    register: bool,
) -> fmt::Result {
    let use_of_it = match sink {
        Sink::Branch => "decides a branch",
        Sink::Address => "becomes part of an address",
        // An atomic stores at once what it makes of it.
        Sink::Store if is_in_place(fault) => "goes into what is stored there",
        Sink::Store => "is stored to global memory",
    };
    if register {
        return write!(
            f,
            "a variable that was never given a value {use_of_it}{}, in {}. Give it one where it is declared.",
            On(&fault.party),
            Who(&fault.party)
        );
    }
    let memory = match fault.space {
        Some(Space::Shared) => "shared memory",
        Some(Space::Local) => "a local array",
        _ => "global memory",
    };
    write!(f, "{} reads ", Who(&fault.party))?;
    match buffer {
        Some(name) => write!(f, "`{name}`")?,
        None => write!(f, "{memory}")?,
    }
    write!(f, "{} where nothing was written, and the value {use_of_it}", On(&fault.party))?;
    if let Some(other) = fault.other.as_ref().filter(|other| other.at != fault.party.at) {
        write!(f, "{}", On(other))?;
    }
    match fault.space {
        Some(Space::Shared) => write!(
            f,
            ". Have every element written first, by the threads at the edge too, and `__syncthreads()` before reading."
        ),
        _ if is_in_place(fault) => {
            write!(f, ". Set every element before it is added to, or store instead of adding.")
        }
        _ => write!(f, ". Write every element before it is read."),
    }
}

/// Whether one instruction read a value that nobody set, and stored.
fn is_in_place(fault: &Fault) -> bool {
    fault.other.as_ref().is_some_and(|other| other.pc == fault.party.pc)
}

fn barrier(
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

fn timeout(f: &mut Formatter<'_>, fault: &Fault, executed: u64, waits_for_block: bool) -> fmt::Result {
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

fn verb(touch: Touch) -> &'static str {
    match touch {
        Touch::Read => "reads",
        Touch::Write => "writes",
        Touch::Atomic => "atomically updates",
    }
}

/// "thread (1, 0, 0) of block (0, 0, 0)".
struct Who<'a>(&'a Party);

impl Display for Who<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} of block {}", Index(self.0.thread), Index(self.0.block))
    }
}

/// " on line 12", or nothing where the line is not known.
struct On<'a>(&'a Party);

impl Display for On<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.at {
            Some(at) => write!(f, " on line {}", at.line),
            None => Ok(()),
        }
    }
}

/// A number of bytes.
struct Bytes(u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => write!(f, "1 byte"),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

/// A three-dimensional index.
struct Index([u32; 3]);

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x}, {y}, {z})")
    }
}
