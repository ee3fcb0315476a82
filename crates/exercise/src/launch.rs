//! How a kernel asks to be launched: the macros of `kernels/warplings.cuh`, read back from the compiled PTX.
//!
//! Each macro leaves one constant behind, named after itself and its line:
//!
//! | macro | constant | `int`s in it |
//! |---|---|---|
//! | `LAUNCH(block, work per block)` | `warplings_launch_LINE` | block x, y, z; work x, y, z; 0 |
//! | `LAUNCH_YX(block, work per block)` | `warplings_launch_LINE` | block x, y, z; work x, y, z; 1 |
//! | `BLOCK_SHAPE(block)` | `warplings_block_LINE` | block x, y, z |
//! | `GRID(blocks)` | `warplings_grid_LINE` | blocks x, y, z |
//! | `SHARED(bytes)` | `warplings_shared_LINE` | bytes |

use thiserror::Error;

/// Limits of a launch on compute capability 8.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability"). `kernels/warplings.cuh` asserts the same ones at compile time.
pub mod limits {
    /// Threads per block.
    pub const THREADS_PER_BLOCK: u32 = 1024;
    /// Largest block in x, y and z.
    pub const BLOCK_DIM: [u32; 3] = [1024, 1024, 64];
    /// Largest grid in x, y and z.
    pub const GRID_DIM: [u32; 3] = [0x7fff_ffff, 65_535, 65_535];
    /// Static and dynamic shared memory of one block, in bytes.
    pub const SHARED_BYTES: u32 = 163 * 1024;
    /// Threads per warp.
    pub const WARP_SIZE: u32 = 32;
}

/// A launch as the kernel's file declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchSpec {
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// How the number of blocks follows.
    pub blocks: Blocks,
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u32,
}

/// Where the number of blocks comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Enough to cover the output: ceil(extent / work).
    Cover {
        /// Elements of the output that one block makes in x, y and z.
        work: [u32; 3],
        /// Whether the kernel's x counts rows and its y columns (`LAUNCH_YX`).
        swapped: bool,
    },
    /// As many as `GRID` says.
    Fixed([u32; 3]),
}

/// Why a file's launch macros make no launch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LaunchError {
    /// Neither LAUNCH nor GRID.
    #[error(
        "the file has no LAUNCH line, so nobody knows how to launch the kernel; \
         add the one of the stub below the #include: LAUNCH(/*block*/ x, y, z, /*work per block*/ x, y, z);"
    )]
    Missing,
    /// A macro is used twice.
    #[error("{name} stands at line {first} and again at line {second}; keep one of them")]
    Twice {
        /// The macro.
        name: &'static str,
        /// Line of the first.
        first: u32,
        /// Line of the second.
        second: u32,
    },
    /// `LAUNCH` beside `BLOCK_SHAPE` or `GRID`.
    #[error(
        "LAUNCH at line {launch} already says how many blocks there are; {name} at line {line} says it again. \
         Use either LAUNCH, or BLOCK_SHAPE and GRID together"
    )]
    Conflict {
        /// Line of `LAUNCH`.
        launch: u32,
        /// The other macro.
        name: &'static str,
        /// Its line.
        line: u32,
    },
    /// `BLOCK_SHAPE` without `GRID` or the other way round.
    #[error(
        "{name} at line {line} needs {other} beside it: BLOCK_SHAPE(x, y, z) gives the threads, GRID(x, y, z) the blocks"
    )]
    Half {
        /// The macro that is there.
        name: &'static str,
        /// Its line.
        line: u32,
        /// The macro that is missing.
        other: &'static str,
    },
    /// A number that no launch can have. The macros assert this when compiling; PTX written by hand may differ.
    #[error("{what} is {value}, but must be between {least} and {most}")]
    OutOfRange {
        /// What the number is: "the block's size in x".
        what: String,
        /// The number.
        value: i64,
        /// The least possible.
        least: u32,
        /// The most possible.
        most: u32,
    },
    /// More than 1,024 threads.
    #[error("a block of {} x {} x {} threads has {threads}, but {} is the most", .block[0], .block[1], .block[2], limits::THREADS_PER_BLOCK)]
    TooManyThreads {
        /// The block.
        block: [u32; 3],
        /// Its threads.
        threads: u64,
    },
    /// The problem needs more blocks than a grid can have.
    #[error(
        "{blocks} blocks are needed in {axis} to cover {extent} elements with {work} per block, but a grid has at most \
         {most} there; let a block do more work"
    )]
    GridTooBig {
        /// `x`, `y` or `z`.
        axis: char,
        /// Blocks needed.
        blocks: u64,
        /// Elements to cover.
        extent: u64,
        /// Elements per block.
        work: u32,
        /// Most blocks in this direction.
        most: u32,
    },
    /// A constant with the macros' prefix that is none of theirs.
    #[error("the constant `{0}` starts as the launch macros' own names do; call it something else")]
    Unknown(String),
}

/// A macro found in a file.
#[derive(Clone, Copy)]
struct Found {
    line: u32,
    values: [i32; 7],
}

/// The macros by the middle part of their constants' names.
#[derive(Default)]
struct Macros {
    launch: Option<Found>,
    block: Option<Found>,
    grid: Option<Found>,
    shared: Option<Found>,
}

impl LaunchSpec {
    /// Reads the launch from the constants of a compiled file: pairs of name and initialiser bytes (little-endian;
    /// trailing zeros may be missing, as NVRTC leaves them out). Constants of other names are skipped.
    pub fn from_constants<'a>(
        constants: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<LaunchSpec, LaunchError> {
        let macros = Macros::collect(constants)?;
        let shared_bytes = match macros.shared {
            None => 0,
            Some(found) => in_range("SHARED", found.values[0], 0, limits::SHARED_BYTES)?,
        };
        let (block, blocks) = match (macros.launch, macros.block, macros.grid) {
            (None, None, None) => return Err(LaunchError::Missing),
            (Some(launch), Some(other), _) => return Err(conflict(launch, "BLOCK_SHAPE", other)),
            (Some(launch), _, Some(other)) => return Err(conflict(launch, "GRID", other)),
            (None, Some(found), None) => {
                return Err(LaunchError::Half { name: "BLOCK_SHAPE", line: found.line, other: "GRID" });
            }
            (None, None, Some(found)) => {
                return Err(LaunchError::Half { name: "GRID", line: found.line, other: "BLOCK_SHAPE" });
            }
            (Some(launch), None, None) => {
                let [bx, by, bz, x, y, z, swapped] = launch.values;
                let work = triple("the work per block", [x, y, z], [i32::MAX as u32; 3])?;
                ([bx, by, bz], Blocks::Cover { work, swapped: swapped != 0 })
            }
            (None, Some(block), Some(grid)) => {
                let [x, y, z, ..] = grid.values;
                let [bx, by, bz, ..] = block.values;
                ([bx, by, bz], Blocks::Fixed(triple("the grid's size", [x, y, z], limits::GRID_DIM)?))
            }
        };
        let block = triple("the block's size", block, limits::BLOCK_DIM)?;
        let threads = block.iter().map(|n| u64::from(*n)).product();
        if threads > u64::from(limits::THREADS_PER_BLOCK) {
            return Err(LaunchError::TooManyThreads { block, threads });
        }
        Ok(LaunchSpec { block, blocks, shared_bytes })
    }

    /// Blocks in x, y and z for an output of `extent` elements in x (columns), y (rows) and z. At least one block, so
    /// that an empty output is a legal launch.
    pub fn grid(&self, extent: [usize; 3]) -> Result<[u32; 3], LaunchError> {
        let (work, swapped) = match self.blocks {
            Blocks::Fixed(grid) => return Ok(grid),
            Blocks::Cover { work, swapped } => (work, swapped),
        };
        let [x, y, z] = extent.map(|n| n as u64);
        let extent = if swapped { [y, x, z] } else { [x, y, z] };
        let mut grid = [0; 3];
        for (i, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
            let blocks = extent[i].div_ceil(u64::from(work[i])).max(1);
            let most = limits::GRID_DIM[i];
            grid[i] = u32::try_from(blocks)
                .ok()
                .filter(|blocks| *blocks <= most)
                .ok_or(LaunchError::GridTooBig { axis, blocks, extent: extent[i], work: work[i], most })?;
        }
        Ok(grid)
    }

    /// Threads per block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }
}

impl Macros {
    fn collect<'a>(constants: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Macros, LaunchError> {
        let mut macros = Macros::default();
        for (name, bytes) in constants {
            let Some(rest) = name.strip_prefix("warplings_") else { continue };
            let unknown = || LaunchError::Unknown(name.to_owned());
            let (kind, line) = rest.rsplit_once('_').ok_or_else(unknown)?;
            let line = line.parse().map_err(|_| unknown())?;
            let (name, place) = match kind {
                "launch" => ("LAUNCH", &mut macros.launch),
                "block" => ("BLOCK_SHAPE", &mut macros.block),
                "grid" => ("GRID", &mut macros.grid),
                "shared" => ("SHARED", &mut macros.shared),
                _ => return Err(unknown()),
            };
            if let Some(other) = place {
                let (first, second) = (other.line.min(line), other.line.max(line));
                return Err(LaunchError::Twice { name, first, second });
            }
            *place = Some(Found { line, values: ints(bytes) });
        }
        Ok(macros)
    }
}

/// Little-endian `int`s, the missing ones 0.
fn ints(bytes: &[u8]) -> [i32; 7] {
    let byte = |i: usize| bytes.get(i).copied().unwrap_or(0);
    std::array::from_fn(|i| i32::from_le_bytes(std::array::from_fn(|j| byte(4 * i + j))))
}

fn conflict(launch: Found, name: &'static str, other: Found) -> LaunchError {
    LaunchError::Conflict { launch: launch.line, name, line: other.line }
}

fn triple(what: &str, values: [i32; 3], most: [u32; 3]) -> Result<[u32; 3], LaunchError> {
    let mut out = [0; 3];
    for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
        out[i] = in_range(&format!("{what} in {axis}"), values[i], 1, most[i])?;
    }
    Ok(out)
}

fn in_range(what: &str, value: i32, least: u32, most: u32) -> Result<u32, LaunchError> {
    u32::try_from(value).ok().filter(|value| (least..=most).contains(value)).ok_or_else(|| {
        LaunchError::OutOfRange { what: what.to_owned(), value: i64::from(value), least, most }
    })
}

#[cfg(test)]
mod tests;
