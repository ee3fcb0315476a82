use super::window;

/// Names a buffer of a [`Device`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId(pub(crate) usize);

/// The global memory of the emulated device.
#[derive(Debug, Default)]
pub struct Device {
    pub(crate) buffers: Vec<Buffer>,
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
