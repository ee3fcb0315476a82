//! A look at CUDA source: which of it a device runs, which kernels it has, and how its host code launches them.
//!
//! No parser of C++: it reads tokens, and where declarations begin and end, in code that the compiler may yet refuse. It
//! says nothing where it is not sure.

mod branch;
mod constant;
mod division;
mod instance;
mod item;
mod launch;
mod macros;
mod parameter;
mod token;

pub(crate) use constant::Value;
pub(crate) use division::{Aside, Division, Kernel, divide};
pub(crate) use instance::instances;
pub(crate) use launch::{Extent, Given, Launch, Start, element_size, launches};
pub(crate) use parameter::{Parameter, kernel_line, kernel_parameters};
