//! Memory as the kernel sees it.

mod device;
mod variable;
mod view;
pub(crate) mod window;

pub(crate) use device::Buffer;
pub use device::{BufferId, Device};
pub(crate) use variable::{constant_memory, load};
pub(crate) use view::{View, Writes, commit};
