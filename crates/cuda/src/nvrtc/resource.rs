//! What each kernel needs, read from the assembler's own report (`--ptxas-options=-v`).

use serde::Serialize;

/// Resources of one kernel on the architecture it was compiled for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct KernelResources {
    /// The symbol's name, mangled unless the kernel is `extern "C"`.
    pub name: String,
    /// Registers of 32 bits that each thread occupies.
    pub registers_per_thread: u32,
    /// Statically declared shared memory per block, in bytes.
    pub static_shared_bytes: u32,
    /// Bytes that each thread stores because registers ran out.
    pub spill_store_bytes: u32,
    /// Bytes that each thread loads back.
    pub spill_load_bytes: u32,
    /// Stack frame per thread, in bytes; with callees where the assembler knows them.
    pub stack_bytes: u32,
    /// Constant memory of all banks, in bytes, kernel parameters included.
    pub constant_bytes: u32,
    /// Barriers in use, of 16.
    pub barriers: u32,
}

/// Reads the report. Fields that it leaves out are 0; other functions' properties are passed over.
pub(super) fn parse(log: &str) -> Vec<KernelResources> {
    let mut kernels: Vec<KernelResources> = Vec::new();
    // Whether the lines that follow are about the last kernel: device functions are listed too.
    let mut about_kernel = false;
    for line in log.lines().filter(|line| line.starts_with("ptxas")) {
        if let Some(rest) = after(line, "Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(KernelResources { name, ..KernelResources::default() });
            about_kernel = true;
            continue;
        }
        let Some(kernel) = kernels.last_mut() else { continue };
        if let Some(function) = after(line, "Function properties for ") {
            about_kernel = function.trim().trim_matches('\'') == kernel.name;
        } else if about_kernel && line.contains("bytes stack frame") {
            kernel.stack_bytes = kernel.stack_bytes.max(number_before(line, " bytes stack frame"));
            kernel.spill_store_bytes = number_before(line, " bytes spill stores");
            kernel.spill_load_bytes = number_before(line, " bytes spill loads");
        } else if about_kernel && line.contains("Used ") && line.contains(" registers") {
            kernel.registers_per_thread = number_before(line, " registers");
            kernel.barriers = number_before(line, " barriers");
            kernel.static_shared_bytes = number_before(line, " bytes smem");
            kernel.stack_bytes = kernel.stack_bytes.max(number_before(line, " bytes cumulative stack size"));
            kernel.constant_bytes = line
                .split(',')
                .filter(|part| part.contains(" bytes cmem["))
                .map(|part| number_before(part, " bytes cmem["))
                .fold(0, u32::saturating_add);
        }
    }
    kernels
}

fn after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.find(mark).map(|at| &line[at + mark.len()..])
}

/// The number that stands right before `mark`, or 0.
fn number_before(line: &str, mark: &str) -> u32 {
    let Some(at) = line.find(mark) else { return 0 };
    let before = &line[..at];
    let digits = before.len() - before.bytes().rev().take_while(u8::is_ascii_digit).count();
    before[digits..].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NVRTC 12.9, two kernels and a device function that is not inlined.
    const LOG: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1tILi16EEvPf' for 'sm_80'
ptxas info    : Function properties for _Z1tILi16EEvPf
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]
ptxas info    : Compile time = 1.979 ms
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_80'
ptxas info    : Function properties for _Z1kPf
ptxas         .     160 bytes stack frame, 12 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 43 registers, used 1 barriers, 176 bytes cumulative stack size, 400 bytes smem, 360 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compile time = 6.824 ms
ptxas info    : Function properties for _Z1hfPf
ptxas         .     999 bytes stack frame, 9 bytes spill stores, 9 bytes spill loads
";

    #[test]
    fn kernels_are_read_and_device_functions_are_not() {
        let kernels = parse(LOG);
        assert_eq!(kernels.len(), 2);
        let first = KernelResources {
            name: "_Z1tILi16EEvPf".into(),
            registers_per_thread: 8,
            constant_bytes: 360,
            ..KernelResources::default()
        };
        assert_eq!(kernels[0], first);
        let second = KernelResources {
            name: "_Z1kPf".into(),
            registers_per_thread: 43,
            static_shared_bytes: 400,
            spill_store_bytes: 12,
            spill_load_bytes: 24,
            stack_bytes: 176,
            constant_bytes: 368,
            barriers: 1,
        };
        assert_eq!(kernels[1], second);
    }

    #[test]
    fn a_log_without_a_report_gives_nothing() {
        assert!(parse("kernel.cu(3): error: Compiling entry function 'x'").is_empty());
        assert!(parse("ptxas info : Used 8 registers").is_empty());
    }
}
