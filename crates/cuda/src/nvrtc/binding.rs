//! The few functions of NVRTC that are needed, called in the child only.
//!
//! Own code rather than cudarc's bindings: those search for the library by name instead of taking the one that was
//! chosen, and turn result codes into closed Rust enums, which a newer library's code would make undefined.

use std::ffi::{CStr, CString, NulError, c_char, c_int};
use std::path::Path;
use std::ptr;

use libloading::{Library, Symbol};

type Program = *mut std::ffi::c_void;
type Code = c_int;

/// `NVRTC_SUCCESS`.
const SUCCESS: Code = 0;

/// A result code of NVRTC that is not success, with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) code: i32,
    pub(super) name: String,
}

/// NVRTC, loaded. The builtins library, which NVRTC opens by name when it compiles, is loaded first, so that
/// compiling opens no file at all.
pub(super) struct Nvrtc {
    nvrtc: Library,
    _builtins: Library,
}

/// What is compiled.
pub(super) struct Input<'a> {
    pub(super) source: &'a str,
    pub(super) name: &'a str,
    /// Names and texts.
    pub(super) headers: &'a [(String, String)],
    /// Name expressions of templates to instantiate.
    pub(super) instances: &'a [String],
}

/// What a compilation left.
pub(super) struct Output {
    pub(super) result: Result<(), Failure>,
    pub(super) log: Vec<u8>,
    pub(super) ptx: Vec<u8>,
    pub(super) cubin: Vec<u8>,
    /// The symbols of the instances; empty after a failure.
    pub(super) instances: Vec<String>,
}

impl Nvrtc {
    /// Loads both libraries.
    ///
    /// # Errors
    ///
    /// The loader's message.
    pub(super) fn load(library: &Path, builtins: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: these run the initialisers of NVIDIA's libraries, in a process that exists for nothing else.
        unsafe {
            let builtins = Library::new(builtins)?;
            let nvrtc = Library::new(library)?;
            nvrtc.get::<unsafe extern "C" fn() -> Code>(b"nvrtcGetCUBIN\0")?;
            Ok(Self { nvrtc, _builtins: builtins })
        }
    }

    /// Compiles one source. A failed compilation is an `Ok` with a failed `result`, since its log matters.
    pub(super) fn compile(&self, input: &Input<'_>, options: &[String]) -> Result<Output, Failure> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> Code;
        let Input { headers, .. } = input;
        let source = c_string(input.source)?;
        let name = c_string(input.name)?;
        let header_names = c_strings(headers.iter().map(|(name, _)| name))?;
        let header_texts = c_strings(headers.iter().map(|(_, text)| text))?;
        let instances = c_strings(input.instances)?;
        let options = c_strings(options)?;
        let (name_pointers, text_pointers, option_pointers) =
            (pointers(&header_names), pointers(&header_texts), pointers(&options));

        let mut program: Program = ptr::null_mut();
        // SAFETY: NVRTC's signatures; every pointer outlives the call it is passed to, NVRTC copies what it keeps.
        unsafe {
            let create: Symbol<'_, Create> = self.symbol(b"nvrtcCreateProgram\0")?;
            self.check(create(
                &raw mut program,
                source.as_ptr(),
                name.as_ptr(),
                headers.len() as c_int,
                text_pointers.as_ptr(),
                name_pointers.as_ptr(),
            ))?;
            let add: Symbol<'_, unsafe extern "C" fn(Program, *const c_char) -> Code> =
                self.symbol(b"nvrtcAddNameExpression\0")?;
            for instance in &instances {
                self.check(add(program, instance.as_ptr()))?;
            }
            let compile: Symbol<'_, unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Code> =
                self.symbol(b"nvrtcCompileProgram\0")?;
            let result = self.check(compile(program, options.len() as c_int, option_pointers.as_ptr()));
            let log = self.text(program, b"nvrtcGetProgramLogSize\0", b"nvrtcGetProgramLog\0")?;
            let (mut ptx, mut cubin, mut symbols) = (Vec::new(), Vec::new(), Vec::new());
            if result.is_ok() {
                for instance in &instances {
                    symbols.push(self.symbol_of(program, instance)?);
                }
                ptx = self.text(program, b"nvrtcGetPTXSize\0", b"nvrtcGetPTX\0")?;
                // Empty for a virtual architecture.
                cubin = self.bytes(program, b"nvrtcGetCUBINSize\0", b"nvrtcGetCUBIN\0")?;
            }
            // The program is not destroyed: the process is about to end.
            Ok(Output { result, log, ptx, cubin, instances: symbols })
        }
    }

    /// The symbol that a name expression led to.
    unsafe fn symbol_of(&self, program: Program, instance: &CStr) -> Result<String, Failure> {
        let mut lowered: *const c_char = ptr::null();
        // SAFETY: NVRTC's signature; the text it gives lives as long as the program.
        unsafe {
            let get: Symbol<'_, unsafe extern "C" fn(Program, *const c_char, *mut *const c_char) -> Code> =
                self.symbol(b"nvrtcGetLoweredName\0")?;
            self.check(get(program, instance.as_ptr(), &raw mut lowered))?;
            let text = (!lowered.is_null()).then(|| CStr::from_ptr(lowered).to_string_lossy().into_owned());
            Ok(text.unwrap_or_default())
        }
    }

    /// A result that ends in NUL, without it.
    unsafe fn text(&self, program: Program, size: &[u8], get: &[u8]) -> Result<Vec<u8>, Failure> {
        // SAFETY: the caller's.
        let mut bytes = unsafe { self.bytes(program, size, get)? };
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        Ok(bytes)
    }

    unsafe fn bytes(&self, program: Program, size: &[u8], get: &[u8]) -> Result<Vec<u8>, Failure> {
        let mut length = 0usize;
        // SAFETY: `size` and `get` name a pair of NVRTC's getters, which have these signatures; the buffer has the
        // length that NVRTC asked for.
        unsafe {
            let size: Symbol<'_, unsafe extern "C" fn(Program, *mut usize) -> Code> = self.symbol(size)?;
            self.check(size(program, &raw mut length))?;
            let mut bytes = vec![0u8; length];
            let get: Symbol<'_, unsafe extern "C" fn(Program, *mut c_char) -> Code> = self.symbol(get)?;
            self.check(get(program, bytes.as_mut_ptr().cast()))?;
            Ok(bytes)
        }
    }

    unsafe fn symbol<T>(&self, name: &[u8]) -> Result<Symbol<'_, T>, Failure> {
        // SAFETY: the caller gives the right type for the name.
        unsafe { self.nvrtc.get(name) }.map_err(|error| Failure { code: -1, name: error.to_string() })
    }

    fn check(&self, code: Code) -> Result<(), Failure> {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: NVRTC's signature; the text is static, and there is one for unknown codes too.
        let name = unsafe {
            self.nvrtc
                .get::<unsafe extern "C" fn(Code) -> *const c_char>(b"nvrtcGetErrorString\0")
                .ok()
                .map(|get| get(code))
                .filter(|text| !text.is_null())
                .map(|text| CStr::from_ptr(text).to_string_lossy().into_owned())
        };
        Err(Failure { code, name: name.unwrap_or_else(|| format!("NVRTC error {code}")) })
    }
}

fn c_string(text: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|error: NulError| Failure {
        code: -1,
        name: format!("the text holds a NUL character at byte {}", error.nul_position()),
    })
}

fn c_strings<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<Vec<CString>, Failure> {
    texts.into_iter().map(|text| c_string(text)).collect()
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).collect()
}
