use std::sync::Arc;

use super::window;
use crate::program::Program;

/// Names a buffer of a [`Device`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId(pub(crate) usize);

/// The global memory of the emulated device.
///
/// The first launch of a [`Program`] loads it: its module variables become allocations that stay, with whatever launches
/// leave in them, as on hardware while a module is loaded. Another `Program`, made of the same module or not, has
/// variables of its own.
#[derive(Debug, Default)]
pub struct Device {
    pub(crate) buffers: Vec<Buffer>,
    /// The programs that were run, and where the variables of each begin in `buffers`.
    pub(crate) loaded: Vec<(Arc<()>, usize)>,
}

/// One allocation.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
    /// For each byte 0xFF once it is written, 0 before; `None` if every byte is. Kept as bytes so that it can be
    /// moved together with the data.
    pub(crate) valid: Option<Vec<u8>>,
}

impl Device {
    /// An empty device.
    pub fn new() -> Device {
        Device::default()
    }

    /// A buffer of `bytes` bytes that nothing has written: reading it is a fault. `name` is used in messages.
    /// Memory is taken from the host only where the kernel touches it.
    pub fn alloc(&mut self, name: &str, bytes: usize) -> BufferId {
        self.push(Buffer { name: name.to_owned(), data: vec![0; bytes], valid: Some(vec![0; bytes]) })
    }

    /// A buffer holding `data`.
    pub fn alloc_from(&mut self, name: &str, data: Vec<u8>) -> BufferId {
        self.push(Buffer { name: name.to_owned(), data, valid: None })
    }

    fn push(&mut self, buffer: Buffer) -> BufferId {
        self.buffers.push(buffer);
        BufferId(self.buffers.len() - 1)
    }

    /// Gives a buffer new contents of its length, or takes away all it held: then nothing has written it.
    ///
    /// # Panics
    /// If the length is another.
    pub fn reset(&mut self, buffer: BufferId, contents: Option<&[u8]>) {
        let buffer = &mut self.buffers[buffer.0];
        if let Some(contents) = contents {
            buffer.data.copy_from_slice(contents);
            buffer.valid = None;
        } else {
            // Fresh zeros cost the host nothing until they are touched.
            let bytes = buffer.data.len();
            buffer.data = vec![0; bytes];
            buffer.valid = Some(vec![0; bytes]);
        }
    }

    /// The names, as in the source, of module variables of `program` that launches have left with other contents than
    /// they began with: what its next launch will find.
    pub fn changed_variables(&self, program: &Program) -> Vec<String> {
        super::variable::changed_variables(program, self)
    }

    /// Where the variables of `program` begin, if it was loaded.
    pub(crate) fn first_variable(&self, program: &Program) -> Option<usize> {
        let is_it = |(identity, _): &&(Arc<()>, usize)| Arc::ptr_eq(identity, &program.identity);
        self.loaded.iter().find(is_it).map(|(_, first)| *first)
    }

    /// The bytes of a buffer; bytes that were never written are 0xFF (as floats, NaN).
    pub fn read(&self, buffer: BufferId) -> Vec<u8> {
        let buffer = &self.buffers[buffer.0];
        match &buffer.valid {
            None => buffer.data.clone(),
            Some(valid) => buffer.data.iter().zip(valid).map(|(d, v)| d | !v).collect(),
        }
    }

    /// Whether each byte of a buffer has been written.
    pub fn written(&self, buffer: BufferId) -> Vec<bool> {
        let buffer = &self.buffers[buffer.0];
        match &buffer.valid {
            None => vec![true; buffer.data.len()],
            Some(valid) => valid.iter().map(|&v| v != 0).collect(),
        }
    }

    /// The device address of a buffer's first byte, 256-byte aligned.
    pub fn address(&self, buffer: BufferId) -> u64 {
        window::buffer_address(buffer.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Launch, Program};

    /// Writes the number of its launch to `out[0]`, as a variable tells it.
    const COUNTS: &str = ".version 7.0\n.target sm_80\n.address_size 64\n\
        .global .u32 launches = 1;\n.global .u64 where = launches;\n.global .u32 untouched = 7;\n\
        .visible .entry count(.param .u64 out)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<4>;\n\
        ld.global.u64 %rd1, [where];\nld.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r1, 1;\nst.global.u32 [%rd1], %r2;\n\
        ld.param.u64 %rd2, [out];\ncvta.to.global.u64 %rd3, %rd2;\nst.global.u32 [%rd3], %r1;\nret;\n}\n";

    fn program() -> Program {
        Program::new(&ptx::parse(COUNTS).expect("parses"), "count").expect("is supported")
    }

    fn count(program: &Program, device: &mut Device) -> u8 {
        let out = device.alloc("out", 4);
        let report = Launch::new([1; 3], [1; 3]).arg(out).run(program, device).expect("a legal launch");
        assert!(report.is_clean(), "{:?}", report.faults);
        device.read(out)[0]
    }

    #[test]
    fn variables_live_as_long_as_their_program_is_loaded() {
        let (program, other) = (program(), program());
        let mut device = Device::new();
        // A buffer more before each launch: the address that a variable holds stays right.
        assert_eq!([1, 2, 3].map(|_| count(&program, &mut device)), [1, 2, 3]);
        assert_eq!(count(&other, &mut device), 1);
        assert_eq!(count(&program, &mut device), 4);
        assert_eq!(count(&program, &mut Device::new()), 1);
    }

    #[test]
    fn only_changed_variables_are_named() {
        let (program, mut device) = (program(), Device::new());
        assert!(device.changed_variables(&program).is_empty());
        count(&program, &mut device);
        assert_eq!(device.changed_variables(&program), ["launches"]);
    }

    #[test]
    fn a_reset_buffer_is_as_new() {
        let mut device = Device::new();
        let (given, fresh) = (device.alloc_from("given", vec![1, 2]), device.alloc("fresh", 2));
        device.buffers[given.0].data[0] = 9;
        device.buffers[fresh.0] = Buffer { name: "fresh".into(), data: vec![5; 2], valid: None };
        device.reset(given, Some(&[1, 2]));
        device.reset(fresh, None);
        assert_eq!((device.read(given), device.written(fresh)), (vec![1, 2], vec![false; 2]));
    }
}
