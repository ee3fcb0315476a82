//! The driver's result codes, and what they mean to a caller. Codes are integers: a newer driver may know more of them.

use cudarc::driver::result::DriverError;

use super::{DeviceError, FaultKind};

pub(super) const OUT_OF_MEMORY: u32 = 2;
pub(super) const STUB_LIBRARY: u32 = 34;
pub(super) const DEVICE_UNAVAILABLE: u32 = 46;
pub(super) const NO_DEVICE: u32 = 100;
pub(super) const INVALID_IMAGE: u32 = 200;
pub(super) const NO_BINARY_FOR_GPU: u32 = 209;
pub(super) const INVALID_PTX: u32 = 218;
pub(super) const NO_JIT_COMPILER: u32 = 221;
pub(super) const UNSUPPORTED_PTX: u32 = 222;
pub(super) const INVALID_SOURCE: u32 = 300;
pub(super) const NOT_FOUND: u32 = 500;
pub(super) const NOT_READY: u32 = 600;
pub(super) const INVALID_VALUE: u32 = 1;
pub(super) const OUT_OF_RESOURCES: u32 = 701;
pub(super) const SYSTEM_DRIVER_MISMATCH: u32 = 803;
pub(super) const COMPAT_NOT_SUPPORTED: u32 = 804;

pub(super) fn code(error: DriverError) -> u32 {
    error.0 as u32
}

pub(super) fn name(error: DriverError) -> String {
    let text = error.error_name().map(|name| name.to_string_lossy().into_owned());
    text.unwrap_or_else(|_| format!("CUDA error {}", code(error)))
}

pub(super) fn text(error: DriverError) -> String {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|_| "no explanation".into())
}

/// An error that is nobody's kernel's.
pub(super) fn explain(error: DriverError, during: &str) -> DeviceError {
    match code(error) {
        STUB_LIBRARY => DeviceError::NoDriver,
        NO_DEVICE => DeviceError::NoDevice,
        DEVICE_UNAVAILABLE => DeviceError::Busy,
        SYSTEM_DRIVER_MISMATCH | COMPAT_NOT_SUPPORTED => DeviceError::DriverMismatch { name: name(error) },
        other => {
            DeviceError::Driver { during: during.into(), code: other, name: name(error), text: text(error) }
        }
    }
}

/// An error that may be the kernel's.
pub(super) fn blame(error: DriverError, label: &str) -> DeviceError {
    match FaultKind::of(code(error)) {
        Some(kind) => DeviceError::Fault { label: label.into(), kind, name: name(error) },
        None => explain(error, &format!("running `{label}`")),
    }
}

/// An error of the call that launches.
pub(super) fn refused(error: DriverError, label: &str) -> DeviceError {
    match code(error) {
        INVALID_VALUE | OUT_OF_RESOURCES => {
            DeviceError::Refused { label: label.into(), name: name(error), text: text(error) }
        }
        _ => blame(error, label),
    }
}
