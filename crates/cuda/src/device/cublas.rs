//! cuBLAS, where it is there: four of its functions, to time its matrix product beside a kernel.

use std::ffi::{c_int, c_void};
use std::ptr;

use libloading::{Library, Symbol};

use super::DeviceError;
use super::driver::Memory;

/// Names of the library, newest first.
const NAMES: &[&str] = if cfg!(windows) {
    &["cublas64_13.dll", "cublas64_12.dll"]
} else {
    &["libcublas.so.13", "libcublas.so.12", "libcublas.so"]
};

/// `CUBLAS_PEDANTIC_MATH`: single precision throughout, no tensor cores.
const PEDANTIC: c_int = 2;
/// `CUBLAS_TF32_TENSOR_OP_MATH`: tensor cores, with factors in TF32.
const TF32: c_int = 3;
/// `CUBLAS_OP_N`.
const NOT_TRANSPOSED: c_int = 0;

type Handle = *mut c_void;
type Sgemm = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const f32,
    u64,
    c_int,
    u64,
    c_int,
    *const f32,
    u64,
    c_int,
) -> c_int;

/// The library with a handle for the current context and its default stream.
pub(super) struct Cublas {
    library: Library,
    handle: Handle,
}

impl Cublas {
    pub(super) fn open() -> Result<Self, DeviceError> {
        let missing = || DeviceError::NoLibrary { library: NAMES[0].into() };
        // SAFETY: loading runs the library's initialisers, which this process is for; signatures as in `cublas_api.h`.
        unsafe {
            let library = NAMES.iter().find_map(|name| Library::new(*name).ok()).ok_or_else(missing)?;
            let mut handle: Handle = ptr::null_mut();
            let create: Symbol<'_, unsafe extern "C" fn(*mut Handle) -> c_int> =
                library.get(b"cublasCreate_v2\0").map_err(|_| missing())?;
            check(create(&raw mut handle), "starting cuBLAS")?;
            Ok(Self { library, handle })
        }
    }

    /// Lets products be made in TF32, or keeps them to single precision.
    pub(super) fn allow_tf32(&self, is_allowed: bool) -> Result<(), DeviceError> {
        // SAFETY: the signature is that of `cublas_api.h`.
        let status = unsafe {
            let set_mode: Symbol<'_, unsafe extern "C" fn(Handle, c_int) -> c_int> = self
                .library
                .get(b"cublasSetMathMode\0")
                .map_err(|_| DeviceError::NoLibrary { library: NAMES[0].into() })?;
            set_mode(self.handle, if is_allowed { TF32 } else { PEDANTIC })
        };
        check(status, "telling cuBLAS which precision to use")
    }

    /// Puts C = A B into the default stream: row-major, A of m x k, B of k x n.
    pub(super) fn multiply(&self, [a, b, c]: [Memory; 3], [m, n, k]: [u32; 3]) -> Result<(), DeviceError> {
        let [m, n, k] = [m, n, k].map(|extent| c_int::try_from(extent).unwrap_or(c_int::MAX));
        let (one, zero) = (1.0f32, 0.0f32);
        // SAFETY: the signature is cuBLAS'; the parent has checked that the buffers are long enough. cuBLAS counts
        // column by column, in which a row-major matrix is its transpose: it makes C' = B' A'.
        let status = unsafe {
            let sgemm: Symbol<'_, Sgemm> = self
                .library
                .get(b"cublasSgemm_v2\0")
                .map_err(|_| DeviceError::NoLibrary { library: NAMES[0].into() })?;
            sgemm(
                self.handle,
                NOT_TRANSPOSED,
                NOT_TRANSPOSED,
                n,
                m,
                k,
                &raw const one,
                b.address,
                n,
                a.address,
                k,
                &raw const zero,
                c.address,
                n,
            )
        };
        check(status, "multiplying with cuBLAS")
    }
}

fn check(status: c_int, during: &str) -> Result<(), DeviceError> {
    if status == 0 {
        return Ok(());
    }
    Err(DeviceError::Driver {
        during: during.into(),
        code: status.unsigned_abs(),
        name: format!("cuBLAS status {status}"),
        text: "see cublasStatus_t".into(),
    })
}
