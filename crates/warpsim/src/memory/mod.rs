//! Memory as the kernel sees it.

/// Names a buffer of a [`Device`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId(pub(crate) usize);

/// The global memory of the emulated device.
#[derive(Debug, Default)]
pub struct Device {}

impl Device {
    /// An empty device.
    pub fn new() -> Device {
        Device::default()
    }

    /// A buffer of `bytes` bytes that nothing has written: reading it is a fault. `name` is used in messages.
    pub fn alloc(&mut self, name: &str, bytes: usize) -> BufferId {
        let _ = (name, bytes);
        todo!()
    }

    /// A buffer holding `data`.
    pub fn alloc_from(&mut self, name: &str, data: Vec<u8>) -> BufferId {
        let _ = (name, data);
        todo!()
    }

    /// The bytes of a buffer; bytes that were never written are 0xFF (a float NaN).
    pub fn read(&self, buffer: BufferId) -> Vec<u8> {
        let _ = buffer;
        todo!()
    }

    /// Whether each byte of a buffer has been written.
    pub fn written(&self, buffer: BufferId) -> Vec<bool> {
        let _ = buffer;
        todo!()
    }
}
