//! The driver, through cudarc, in the worker only. What an error leaves behind is not cleaned up: the process ends.

use std::cell::RefCell;
use std::ffi::{CString, c_int, c_void};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::ptr;
use std::time::{Duration, Instant};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use super::code::{
    INVALID_IMAGE, INVALID_PTX, INVALID_SOURCE, NO_BINARY_FOR_GPU, NO_JIT_COMPILER, NOT_FOUND, NOT_READY,
    OUT_OF_MEMORY, UNSUPPORTED_PTX, blame, code, explain, name, refused,
};
use super::job::transfer;
use super::{Arg, DeviceError, DeviceInfo, Image, Launch};

/// The oldest driver that runs cubins of CUDA 12, as (major, minor) of CUDA.
const OLDEST_DRIVER: (u32, u32) = (12, 0);

/// What a kernel may have of shared memory without asking, in bytes.
const SHARED_WITHOUT_ASKING: u32 = 48 << 10;

/// How much is copied at a time between files and the GPU, in bytes.
const PIECE: usize = 8 << 20;

/// The longest complaint of the driver's compiler that is kept, in bytes.
const LOG_BYTES: usize = 8 << 10;

/// How many parameters a kernel can have at most: 4 KiB of parameter space, and a byte is the smallest.
const MOST_PARAMETERS: usize = 4096;

/// Opens the driver.
pub(super) fn open() -> Result<(u32, u32), DeviceError> {
    // SAFETY: loads the driver's library, whose initialisers this process was started to run. cudarc panics where
    // it is missing, hence the question.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::NoDriver);
    }
    result::init().map_err(|error| explain(error, "opening the driver"))?;
    let mut version: c_int = 0;
    // SAFETY: the pointer is valid.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }
        .result()
        .map_err(|error| explain(error, "asking for the driver's version"))?;
    let version = version.unsigned_abs();
    let version = (version / 1000, version % 1000 / 10);
    if version < OLDEST_DRIVER {
        return Err(DeviceError::DriverTooOld { found: version, needed: OLDEST_DRIVER });
    }
    Ok(version)
}

/// All GPUs.
pub(super) fn devices() -> Result<Vec<DeviceInfo>, DeviceError> {
    let version = open()?;
    let count = count()?;
    (0..count).map(|ordinal| describe(ordinal, version)).collect()
}

fn count() -> Result<u32, DeviceError> {
    match result::device::get_count().map_err(|error| explain(error, "counting GPUs"))? {
        count if count > 0 => Ok(count.unsigned_abs()),
        _ => Err(DeviceError::NoDevice),
    }
}

fn describe(ordinal: u32, driver_version: (u32, u32)) -> Result<DeviceInfo, DeviceError> {
    use sys::CUdevice_attribute as Attribute;
    let failed = |error| explain(error, "asking for the GPU's properties");
    let device = result::device::get(ordinal as c_int).map_err(failed)?;
    let ask = |attribute: Attribute| {
        // SAFETY: the device comes from the driver.
        let value = unsafe { result::device::get_attribute(device, attribute) };
        value.map(i32::unsigned_abs).map_err(failed)
    };
    // Newer drivers may stop telling some of these.
    let ask_or_zero = |attribute: Attribute| ask(attribute).unwrap_or(0);
    let pci = (
        ask_or_zero(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
        ask_or_zero(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
        ask_or_zero(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID),
    );
    Ok(DeviceInfo {
        ordinal,
        name: result::device::get_name(device).map_err(failed)?,
        compute_capability: (
            ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: ask(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        l2_bytes: ask(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
        // SAFETY: the device comes from the driver.
        memory_bytes: unsafe { result::device::total_mem(device) }.map_err(failed)? as u64,
        clock_khz: ask_or_zero(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        memory_clock_khz: ask_or_zero(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
        memory_bus_bits: ask_or_zero(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
        shared_bytes_per_block_optin: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        shared_bytes_per_multiprocessor: ask(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        )?,
        registers_per_multiprocessor: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
        threads_per_multiprocessor: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        driver_version,
        pci_bus_id: format!("{:04x}:{:02x}:{:02x}.0", pci.0, pci.1, pci.2),
    })
}

/// One GPU with a context of its own and the two events that time launches.
pub(super) struct Gpu {
    pub(super) info: DeviceInfo,
    start: sys::CUevent,
    stop: sys::CUevent,
    /// Everything that is allocated now.
    allocated: RefCell<Vec<Memory>>,
}

/// Memory on the GPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    pub(super) address: sys::CUdeviceptr,
    pub(super) bytes: u64,
}

impl Memory {
    /// Its two halves, of equal length.
    pub(super) fn halves(self) -> [Self; 2] {
        let bytes = self.bytes / 2;
        [Self { bytes, ..self }, Self { address: self.address + bytes, bytes }]
    }
}

/// A kernel, loaded.
pub(super) struct Kernel {
    module: sys::CUmodule,
    function: sys::CUfunction,
}

/// Everything goes through the legacy default stream, which keeps it in order.
fn stream() -> sys::CUstream {
    result::stream::null()
}

impl Gpu {
    pub(super) fn open(ordinal: u32) -> Result<Self, DeviceError> {
        let version = open()?;
        let count = count()?;
        if ordinal >= count {
            return Err(DeviceError::NoSuchDevice { ordinal, count });
        }
        let info = describe(ordinal, version)?;
        let failed = |error| explain(error, "opening the GPU");
        let device = result::device::get(ordinal as c_int).map_err(failed)?;
        // SAFETY: the device comes from the driver; the context stays until the process ends.
        unsafe {
            let context = result::primary_ctx::retain(device).map_err(failed)?;
            result::ctx::set_current(context).map_err(failed)?;
        }
        let event = || result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(failed);
        Ok(Self { info, start: event()?, stop: event()?, allocated: RefCell::default() })
    }

    /// Fails unless this much memory is free.
    pub(super) fn reserve(&self, needed_bytes: u64) -> Result<(), DeviceError> {
        let (free, _) = result::mem_get_info().map_err(|error| explain(error, "asking for free memory"))?;
        let free_bytes = free as u64;
        if needed_bytes > free_bytes {
            return Err(DeviceError::OutOfMemory { needed_bytes, free_bytes });
        }
        Ok(())
    }

    pub(super) fn allocate(&self, bytes: u64) -> Result<Memory, DeviceError> {
        let size = usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
        // SAFETY: plain allocation in the current context.
        match unsafe { result::malloc_sync(size) } {
            Ok(address) => {
                let memory = Memory { address, bytes };
                self.allocated.borrow_mut().push(memory);
                Ok(memory)
            }
            Err(error) if code(error) == OUT_OF_MEMORY => {
                let free_bytes = result::mem_get_info().map_or(0, |(free, _)| free as u64);
                Err(DeviceError::OutOfMemory { needed_bytes: bytes, free_bytes })
            }
            Err(error) => Err(explain(error, "allocating memory on the GPU")),
        }
    }

    /// Overwrites and frees all memory, so that the next kernel finds nothing of this one's.
    pub(super) fn release(&self) -> Result<(), DeviceError> {
        let allocated = self.allocated.take();
        for memory in &allocated {
            self.fill(*memory, 0)?;
        }
        self.synchronize("wiping memory")?;
        for memory in allocated {
            // SAFETY: allocated by `allocate`, and nothing runs that could use it.
            unsafe { result::free_sync(memory.address) }
                .map_err(|error| explain(error, "freeing memory on the GPU"))?;
        }
        Ok(())
    }

    /// Copies a file to the GPU, piece by piece. It must have the memory's length.
    pub(super) fn upload(&self, to: Memory, path: &Path) -> Result<(), DeviceError> {
        let mut file = File::open(path).map_err(|error| transfer(&error))?;
        let length = file.metadata().map_err(|error| transfer(&error))?.len();
        if length != to.bytes {
            return Err(DeviceError::Transfer(format!("{length} of {} bytes arrived", to.bytes)));
        }
        let mut piece = vec![0; PIECE.min(to.bytes as usize)];
        for offset in (0..to.bytes).step_by(PIECE) {
            let bytes = piece.len().min((to.bytes - offset) as usize);
            file.read_exact(&mut piece[..bytes]).map_err(|error| transfer(&error))?;
            // SAFETY: `offset + bytes` is at most the memory's length.
            unsafe { result::memcpy_htod_sync(to.address + offset, &piece[..bytes]) }
                .map_err(|error| explain(error, "copying to the GPU"))?;
        }
        Ok(())
    }

    pub(super) fn download(&self, from: Memory) -> Result<Vec<u8>, DeviceError> {
        let mut contents = vec![0; from.bytes as usize];
        // SAFETY: the source has this length.
        unsafe { result::memcpy_dtoh_sync(&mut contents, from.address) }
            .map_err(|error| explain(error, "copying from the GPU"))?;
        Ok(contents)
    }

    /// Copies memory into a file, piece by piece.
    pub(super) fn download_to(&self, from: Memory, mut file: File) -> Result<(), DeviceError> {
        let mut piece = vec![0; PIECE.min(from.bytes as usize)];
        for offset in (0..from.bytes).step_by(PIECE) {
            let bytes = piece.len().min((from.bytes - offset) as usize);
            // SAFETY: `offset + bytes` is at most the memory's length.
            unsafe { result::memcpy_dtoh_sync(&mut piece[..bytes], from.address + offset) }
                .map_err(|error| explain(error, "copying from the GPU"))?;
            file.write_all(&piece[..bytes]).map_err(|error| transfer(&error))?;
        }
        Ok(())
    }

    /// Fills memory with one byte, in stream order.
    pub(super) fn fill(&self, memory: Memory, byte: u8) -> Result<(), DeviceError> {
        // SAFETY: the memory has this length.
        unsafe { result::memset_d8_async(memory.address, byte, memory.bytes as usize, stream()) }
            .map_err(|error| explain(error, "filling memory on the GPU"))
    }

    /// Copies all of `from` to the beginning of `to`, in stream order.
    pub(super) fn copy(&self, from: Memory, to: Memory) -> Result<(), DeviceError> {
        let bytes = from.bytes.min(to.bytes) as usize;
        // SAFETY: both have at least this length.
        unsafe { result::memcpy_dtod_async(to.address, from.address, bytes, stream()) }
            .map_err(|error| explain(error, "copying on the GPU"))
    }

    /// Loads code and prepares its kernel.
    pub(super) fn load(&self, launch: &Launch) -> Result<Kernel, DeviceError> {
        let label = &launch.label;
        let (loaded, log) = match &launch.image {
            Image::Cubin(cubin) => (self.load_cubin(cubin, &launch.kernel), String::new()),
            Image::Ptx(text) => self.load_ptx(text, &launch.kernel),
        };
        let is_ptx = matches!(launch.image, Image::Ptx(_));
        let kernel = loaded.map_err(|error| match code(error) {
            NOT_FOUND => DeviceError::NoKernel { label: label.clone(), kernel: launch.kernel.clone() },
            INVALID_IMAGE | NO_BINARY_FOR_GPU | INVALID_PTX | UNSUPPORTED_PTX | NO_JIT_COMPILER
            | INVALID_SOURCE
                if is_ptx =>
            {
                DeviceError::BadPtx { label: label.clone(), name: name(error), log }
            }
            INVALID_IMAGE | NO_BINARY_FOR_GPU | UNSUPPORTED_PTX | INVALID_SOURCE => {
                DeviceError::WrongArchitecture { label: label.clone(), name: name(error) }
            }
            _ => explain(error, "loading the kernel"),
        })?;
        if launch.dynamic_shared_bytes > SHARED_WITHOUT_ASKING {
            let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let bytes = c_int::try_from(launch.dynamic_shared_bytes).unwrap_or(c_int::MAX);
            // SAFETY: the function was just loaded.
            unsafe { result::function::set_function_attribute(kernel.function, attribute, bytes) }
                .map_err(|error| refused(error, label))?;
        }
        Ok(kernel)
    }

    fn load_cubin(&self, image: &[u8], kernel: &str) -> Result<Kernel, DriverError> {
        // SAFETY: the image is a whole ELF file; the driver copies it.
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) }?;
        self.kernel_of(module, kernel)
    }

    /// Has the driver compile PTX. The second value is what its compiler complains of.
    pub(super) fn load_ptx(&self, text: &str, kernel: &str) -> (Result<Kernel, DriverError>, String) {
        use sys::CUjit_option as Option;
        let Ok(text) = CString::new(text) else {
            return (Err(DriverError(sys::CUresult::CUDA_ERROR_INVALID_PTX)), "it holds a NUL byte".into());
        };
        let mut log = vec![0u8; LOG_BYTES];
        let mut options = [Option::CU_JIT_ERROR_LOG_BUFFER, Option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // The size is passed, and overwritten, in the place of a pointer.
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
        let mut module = ptr::null_mut();
        // SAFETY: the text ends in NUL; there are two options and two values, the first a buffer of the second's size.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(
                &raw mut module,
                text.as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
        let log = String::from_utf8_lossy(&log[..end]).trim().replace('\n', "; ");
        (loaded.result().and_then(|()| self.kernel_of(module, kernel)), log)
    }

    fn kernel_of(&self, module: sys::CUmodule, kernel: &str) -> Result<Kernel, DriverError> {
        let name = CString::new(kernel).map_err(|_| DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND))?;
        // SAFETY: the module was just loaded.
        let function = unsafe { result::module::get_function(module, name) }?;
        Ok(Kernel { module, function })
    }

    pub(super) fn unload(&self, kernel: &Kernel) -> Result<(), DeviceError> {
        // SAFETY: the module was loaded by this process and nothing runs in it any more.
        unsafe { result::module::unload(kernel.module) }.map_err(|error| explain(error, "unloading a kernel"))
    }

    /// Puts a launch into the stream.
    pub(super) fn enqueue(
        &self,
        kernel: &Kernel,
        grid_dim: [u32; 3],
        block_dim: [u32; 3],
        dynamic_shared_bytes: u32,
        args: &mut [u64],
    ) -> Result<(), DriverError> {
        // The driver reads as many pointers as the kernel has parameters: a wrong argument list must not lead it
        // astray. Every value sits in 8 little-endian bytes, of which it takes what the parameter's type needs.
        let mut zero = 0u64;
        let mut pointers: Vec<*mut c_void> = args.iter_mut().map(|arg| ptr::from_mut(arg).cast()).collect();
        pointers.resize(MOST_PARAMETERS.max(args.len()), ptr::from_mut(&mut zero).cast());
        let [grid, block] = [grid_dim, block_dim].map(|[x, y, z]| (x, y, z));
        // SAFETY: there are at least as many pointers as parameters, each to 8 readable bytes. What the kernel does
        // with them is the reason for this process.
        unsafe {
            result::launch_kernel(kernel.function, grid, block, dynamic_shared_bytes, stream(), &mut pointers)
        }
    }

    /// Events around what `work` puts into the stream, then the wait for its end. Milliseconds.
    pub(super) fn timed(
        &self,
        label: &str,
        limit: Duration,
        work: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        let failed = |error| blame(error, label);
        // SAFETY: both events belong to the current context.
        unsafe { result::event::record(self.start, stream()) }.map_err(failed)?;
        work()?;
        // SAFETY: as above.
        unsafe { result::event::record(self.stop, stream()) }.map_err(failed)?;
        self.wait(label, limit)?;
        // SAFETY: as above; both have happened.
        unsafe { result::event::elapsed(self.start, self.stop) }.map(f64::from).map_err(failed)
    }

    /// Waits for the last event, as long as `limit` allows.
    fn wait(&self, label: &str, limit: Duration) -> Result<(), DeviceError> {
        /// So long a thread looks without pause, so that the host's clock sees the end when it happens.
        const EAGER: Duration = Duration::from_millis(20);
        let started = Instant::now();
        loop {
            // SAFETY: the event belongs to the current context.
            match unsafe { result::event::query(self.stop) } {
                Ok(()) => return Ok(()),
                Err(error) if code(error) != NOT_READY => return Err(blame(error, label)),
                Err(_) => {}
            }
            let waited = started.elapsed();
            if waited > limit {
                return Err(DeviceError::Timeout { label: Some(label.into()), seconds: limit.as_secs_f64() });
            }
            if waited > EAGER {
                std::thread::sleep(Duration::from_micros(200));
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// Waits for everything in the stream.
    pub(super) fn synchronize(&self, during: &str) -> Result<(), DeviceError> {
        result::ctx::synchronize().map_err(|error| explain(error, during))
    }
}

/// Arguments as 8 bytes each; buffers by the addresses in `memory`.
pub(super) fn encode(args: &[Arg], memory: &[Memory]) -> Result<Vec<u64>, DeviceError> {
    let word = |arg: &Arg| {
        Ok(match *arg {
            Arg::Buffer(index) => memory.get(index).map(|memory| memory.address).ok_or_else(|| {
                DeviceError::BadRequest(format!("an argument names buffer {index}, which is not there"))
            })?,
            Arg::I32(value) => u64::from(value.cast_unsigned()),
            Arg::U32(value) => value.into(),
            Arg::I64(value) => value.cast_unsigned(),
            Arg::U64(value) => value,
            Arg::F32(value) => value.to_bits().into(),
            Arg::F64(value) => value.to_bits(),
        })
    };
    args.iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_sit_in_the_low_bytes() {
        let memory = [Memory { address: 0x7f00_0000_1000, bytes: 4 }];
        let args = [Arg::Buffer(0), Arg::I32(-1), Arg::F32(1.0), Arg::F64(-2.0), Arg::I64(-1), Arg::U32(7)];
        let words = encode(&args, &memory).unwrap();
        assert_eq!(words[0], 0x7f00_0000_1000);
        assert_eq!(words[1], 0xffff_ffff);
        assert_eq!(words[2].to_le_bytes()[..4], 1.0f32.to_le_bytes());
        assert_eq!(words[3].to_le_bytes(), (-2.0f64).to_le_bytes());
        assert_eq!((words[4], words[5]), (u64::MAX, 7));
        assert!(encode(&[Arg::Buffer(1)], &memory).is_err());
    }
}
