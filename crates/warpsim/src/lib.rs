//! Runs CUDA kernels, as PTX, warp by warp on the CPU, and reports faults and hardware counters.
//!
//! No GPU and no CUDA are needed: the input is the PTX that NVRTC, `nvcc -ptx` or clang writes, or PTX written by
//! hand. A run finds accesses outside of buffers, races, values that nothing wrote and barriers that not all
//! threads reach, and counts what the hardware would count: sectors, bank conflicts, divergent branches. The same
//! launch gives the same bytes, faults and counters every time, whatever the number of cores.
//!
//! ```
//! use warpsim::{Device, FaultKind, Launch, Program};
//!
//! // Every thread doubles one value, but nobody asks whether there is one.
//! let module = ptx::parse(
//!     ".version 8.0
//!      .target sm_80
//!      .address_size 64
//!      .visible .entry twice(.param .u64 data) {
//!          .reg .b32 %t;
//!          .reg .b64 %d, %at;
//!          .reg .f32 %x;
//!          ld.param.u64 %d, [data];
//!          mov.u32 %t, %tid.x;
//!          mad.wide.u32 %at, %t, 4, %d;
//!          ld.global.f32 %x, [%at];
//!          add.f32 %x, %x, %x;
//!          st.global.f32 [%at], %x;
//!          ret;
//!      }",
//! )?;
//! let program = Program::new(&module, "twice")?;
//!
//! let mut device = Device::new();
//! let ones: Vec<u8> = [1.0f32; 30].iter().flat_map(|x| x.to_le_bytes()).collect();
//! let data = device.alloc_from("data", ones);
//! let report = Launch::new([1, 1, 1], [32, 1, 1]).arg(data).run(&program, &mut device)?;
//!
//! // The 30 values lie in 4 sectors of 32 bytes, and two threads went too far.
//! assert_eq!(report.counters.global_load_sectors, 4);
//! assert_eq!(&device.read(data)[..4], &2.0f32.to_le_bytes()[..]);
//! let fault = &report.faults[0];
//! assert_eq!((fault.kind, fault.count), (FaultKind::OutOfBounds, 2));
//! assert_eq!(fault.party.thread, [30, 0, 0]);
//! println!("{fault}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Program::new`] decodes a kernel once; an instruction that is not supported is an error with its line.
//! - [`Device`] holds buffers. Bytes that nothing has written are known to be so.
//! - [`Launch`] says how to run it, what to look for ([`Checks`]) and when to give up (fuel, wall time).
//! - [`Report`] has typed [`Fault`]s, whose `Display` is a sentence, and [`Counters`], in total and by line.
//! - [`observe`] and [`observer`] are the interface behind the checks.

mod alu;
mod counters;
mod exec;
mod fault;
#[cfg(feature = "fuse")]
mod fuse;
mod isa;
mod launch;
mod lower;
mod memory;
mod message;
mod name;
pub mod observe;
pub mod observer;
pub mod pattern;
mod program;
mod registers;
mod report;
mod run;

pub use counters::Counters;
pub use fault::{
    Absent, BarrierProblem, Detail, Fault, FaultKind, Party, Place, Refused, Remedy, Round, Severity, Sink,
    Source, SourceLine, Space, Touch,
};
pub use launch::{Arg, Checks, Launch, LaunchError, limits};
pub use memory::{BufferId, Device};
pub use program::{Instruction, LowerError, Program, Register};
pub use registers::RegisterFile;
pub use report::{Footprint, LineCounters, Outcome, Report, TouchedWord, WorstAccess};
