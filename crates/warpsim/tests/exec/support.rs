//! Running a kernel of `tests/kernels` in a few words.

use warpsim::observer::Observer;
use warpsim::{
    Arg, BufferId, Device, FaultKind, Instruction, Launch, LaunchError, LowerError, Program, Report, Severity,
};

pub(crate) const CONTROL: &str = include_str!("../kernels/control.ptx");
pub(crate) const CALLS: &str = include_str!("../kernels/calls.ptx");
pub(crate) const MEMORY: &str = include_str!("../kernels/memory.ptx");
pub(crate) const TOGETHER: &str = include_str!("../kernels/together.ptx");

/// A kernel, its buffers and its launch.
pub(crate) struct Run {
    program: Program,
    pub(crate) device: Device,
    pub(crate) launch: Launch,
}

impl Run {
    pub(crate) fn new(ptx: &str, kernel: &str, grid: u32, block: u32) -> Run {
        let program = lower(ptx, kernel).unwrap_or_else(|e| panic!("{kernel}: {e}"));
        Run { program, device: Device::new(), launch: Launch::new([grid, 1, 1], [block, 1, 1]) }
    }

    pub(crate) fn arg(&mut self, arg: impl Into<Arg>) {
        self.launch.args.push(arg.into());
    }

    /// An argument: a buffer of words with these values.
    pub(crate) fn words(&mut self, values: impl IntoIterator<Item = i32>) -> BufferId {
        self.bytes(values.into_iter().flat_map(i32::to_le_bytes).collect())
    }

    pub(crate) fn bytes(&mut self, bytes: Vec<u8>) -> BufferId {
        let name = format!("buffer {}", self.launch.args.len());
        let buffer = self.device.alloc_from(&name, bytes);
        self.arg(buffer);
        buffer
    }

    /// An argument: room for words, not written.
    pub(crate) fn room(&mut self, words: usize) -> BufferId {
        let buffer = self.device.alloc(&format!("buffer {}", self.launch.args.len()), 4 * words);
        self.arg(buffer);
        buffer
    }

    pub(crate) fn run(&mut self) -> Report {
        self.try_run().expect("a launch that the device takes")
    }

    pub(crate) fn try_run(&mut self) -> Result<Report, LaunchError> {
        self.launch.run(&self.program, &mut self.device)
    }

    pub(crate) fn run_with(&mut self, observer: &mut dyn Observer) -> Report {
        self.launch
            .run_with(&self.program, &mut self.device, observer)
            .expect("a launch that the device takes")
    }

    pub(crate) fn instructions(&self) -> &[Instruction] {
        self.program.instructions()
    }

    /// Runs a kernel that is right.
    pub(crate) fn clean(&mut self) -> Report {
        let report = self.run();
        assert!(report.is_clean(), "{}: {:?} {:#?}", self.program.kernel(), report.outcome, report.faults);
        report
    }

    pub(crate) fn ints(&self, buffer: BufferId) -> Vec<i32> {
        let bytes = self.device.read(buffer);
        bytes.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }
}

pub(crate) fn lower(ptx: &str, kernel: &str) -> Result<Program, LowerError> {
    Program::new(&ptx::parse(ptx).unwrap_or_else(|e| panic!("{e}")), kernel)
}

/// The kernel `k` with this body; its parameter is a buffer `out`, in `%out`, and the thread is in `%t`.
pub(crate) fn by_hand(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n\
         .reg .b64 %out, %rd<9>;\n.reg .b32 %t, %r<9>;\n.reg .pred %p<9>;\n\
         ld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\n{body}\n}}\n"
    )
}

/// Kinds of the faults that are errors.
pub(crate) fn errors(report: &Report) -> Vec<FaultKind> {
    report.faults.iter().filter(|f| f.severity == Severity::Error).map(|f| f.kind).collect()
}
