//! What one warp-wide access looks like: sectors, wavefronts, and which lanes touch the same word.
//!
//! Kernels repeat their access patterns over and over, so a pattern is computed from addresses relative to the
//! first active lane and remembered per instruction: a repeat costs one vector compare.

/// Facts about a warp-wide access that depend only on relative addresses, the lane mask, the size and, for
/// sectors, on the alignment of the first address within 32 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Distinct 32-byte sectors.
    pub sectors: u32,
    /// Passes through the 32 banks of shared memory, for a load.
    pub load_wavefronts: u32,
    /// The same for a store.
    pub store_wavefronts: u32,
    /// Distinct start addresses, each as (offset in bytes from the lowest active address, lanes), by ascending offset.
    pub groups: Vec<(u64, u32)>,
    /// Distance in bytes from the lowest active address to the end of the highest access.
    pub span: u64,
    /// Whether accesses of different groups overlap (start addresses closer than the access size).
    pub overlapping: bool,
}

impl Pattern {
    /// Computes the pattern of an access of `bytes` (1, 2, 4, 8 or 16) per lane.
    pub fn new(bytes: u32, mask: u32, addresses: &[u64; 32]) -> Pattern {
        let _ = (bytes, mask, addresses);
        todo!()
    }
}
