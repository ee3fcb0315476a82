//! Clocks and the reasons that hold them back, from the driver's management library where it is there.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr;

use libloading::{Library, Symbol};

use super::Clocks;

type Device = *mut c_void;

/// `NVML_CLOCK_SM`.
const CLOCK_MULTIPROCESSORS: c_uint = 1;
/// `NVML_CLOCK_MEM`.
const CLOCK_MEMORY: c_uint = 2;

/// Bits of `nvmlClocksEventReasons` that mean less speed than the card could give. Idle is none.
const REASONS: &[(u64, &str)] = &[
    (0x2, "clocks set by an application"),
    (0x4, "power limit"),
    (0x8, "hardware slowdown"),
    (0x10, "synchronised with other GPUs"),
    (0x20, "software temperature limit"),
    (0x40, "hardware temperature limit"),
    (0x80, "power brake"),
];

/// The management library, open for one GPU.
pub(super) struct Nvml {
    library: Library,
    device: Device,
}

impl Nvml {
    /// `None` without the library or if it does not know the GPU: clocks are for the record, not for the verdict.
    pub(super) fn open(pci_bus_id: &str) -> Option<Self> {
        let name = if cfg!(windows) { "nvml.dll" } else { "libnvidia-ml.so.1" };
        let bus = CString::new(pci_bus_id).ok()?;
        // SAFETY: NVML's signatures; codes are taken as integers.
        unsafe {
            let library = Library::new(name).ok()?;
            let init: Symbol<'_, unsafe extern "C" fn() -> c_int> = library.get(b"nvmlInit_v2\0").ok()?;
            if init() != 0 {
                return None;
            }
            let find: Symbol<'_, unsafe extern "C" fn(*const c_char, *mut Device) -> c_int> =
                library.get(b"nvmlDeviceGetHandleByPciBusId_v2\0").ok()?;
            let mut device: Device = ptr::null_mut();
            let found = find(bus.as_ptr(), &raw mut device) == 0;
            found.then_some(Self { library, device })
        }
    }

    /// What the clocks are now.
    pub(super) fn clocks(&self) -> Option<Clocks> {
        // SAFETY: NVML's signature; the device was given by this library.
        let reasons = unsafe {
            let get: Symbol<'_, unsafe extern "C" fn(Device, *mut u64) -> c_int> =
                self.library.get(b"nvmlDeviceGetCurrentClocksThrottleReasons\0").ok()?;
            let mut bits = 0u64;
            if get(self.device, &raw mut bits) == 0 { bits } else { 0 }
        };
        Some(Clocks {
            multiprocessor_mhz: self.clock(CLOCK_MULTIPROCESSORS)?,
            memory_mhz: self.clock(CLOCK_MEMORY)?,
            throttled_by: in_words(reasons),
        })
    }

    fn clock(&self, kind: c_uint) -> Option<u32> {
        // SAFETY: as above.
        unsafe {
            let get: Symbol<'_, unsafe extern "C" fn(Device, c_uint, *mut c_uint) -> c_int> =
                self.library.get(b"nvmlDeviceGetClockInfo\0").ok()?;
            let mut mhz = 0;
            (get(self.device, kind, &raw mut mhz) == 0).then_some(mhz)
        }
    }
}

fn in_words(reasons: u64) -> Vec<String> {
    REASONS.iter().filter(|(bit, _)| reasons & bit != 0).map(|(_, words)| (*words).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_is_no_reason_and_limits_are() {
        assert!(in_words(0x1).is_empty());
        assert_eq!(in_words(0x1 | 0x4 | 0x40), ["power limit", "hardware temperature limit"]);
    }
}
