//! Every sentence that a fault is told in: what happened, to which buffer, by which threads on which lines, and
//! what to do about it.

mod access;
mod barrier;
mod race;
mod stop;

use std::fmt::{self, Display, Formatter};

use crate::fault::{Detail, Fault, FaultKind, Party, Place, Space, Touch};

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Detail::Access { touch, bytes, address, place } => match self.kind {
                FaultKind::Misaligned => {
                    access::misaligned(f, self, *touch, (*bytes, *address), place.as_ref())
                }
                _ => access::out_of_bounds(f, self, *touch, (*bytes, *address), place.as_ref()),
            },
            Detail::Race { .. } => race::race(f, self),
            Detail::Copy { touch, is_async, place } => {
                access::copy_not_awaited(f, self, *touch, *is_async, place)
            }
            Detail::Uninitialized { sink, source } => access::uninitialized(f, self, *sink, source),
            Detail::Barrier { problem, present, missing } => {
                barrier::barrier(f, self, *problem, *present, *missing)
            }
            Detail::AliasedShared { first, second } => barrier::aliased_shared(f, first, second),
            Detail::Assert { message } => {
                write!(
                    f,
                    "the assertion `{message}` does not hold for {}{}.",
                    Who(&self.party),
                    On(&self.party)
                )
            }
            Detail::Timeout { executed, waits_for_block } => {
                stop::timeout(f, self, *executed, *waits_for_block)
            }
            Detail::Refused(refused) => stop::refused(f, self, *refused),
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

fn verb(touch: Touch) -> &'static str {
    match touch {
        Touch::Read => "reads",
        Touch::Write => "writes",
        Touch::Atomic => "atomically updates",
    }
}

/// What people call a memory.
fn memory(space: Option<Space>) -> &'static str {
    match space {
        Some(Space::Shared) => "shared memory",
        Some(Space::Local) => "a local array",
        Some(Space::Constant) => "constant memory",
        Some(Space::Param) => "the kernel's parameters",
        Some(Space::Global) | None => "global memory",
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

/// "`tile[3][1]`", as the source would write it; the memory where the buffer is not known.
struct At<'a>(Option<&'a Place>, Option<Space>);

impl Display for At<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(place) = self.0 else { return write!(f, "{}", memory(self.1)) };
        let element = i64::from(place.element.max(1));
        let within = place.offset.rem_euclid(element);
        if within != 0 {
            write!(f, "{} of ", if element == 1 { String::new() } else { format!("byte {within}") })?;
        }
        let index = place.offset.div_euclid(element);
        write!(f, "`{}", place.name)?;
        // Row-major: the last index counts single elements. The first one has no bound here.
        let mut left = index;
        let inner: u64 = place.inner.iter().product();
        let mut size = i64::try_from(inner).unwrap_or(i64::MAX).max(1);
        write!(f, "[{}]", left.div_euclid(size))?;
        left = left.rem_euclid(size);
        for &dim in &place.inner {
            size = (size / dim.max(1) as i64).max(1);
            write!(f, "[{}]", left.div_euclid(size))?;
            left = left.rem_euclid(size);
        }
        write!(f, "`")
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
