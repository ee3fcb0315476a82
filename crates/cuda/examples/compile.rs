//! Compiles CUDA files as the checker does and prints what came of it:
//! `cargo run -p cuda --example compile -- kernel.cu`.

use std::time::Instant;

use cuda::nvrtc::{self, Arch, CompileError, CompileRequest};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    cuda::worker::run_if_worker();
    let toolchain = nvrtc::find_or_fetch(&mut |step| eprintln!("{step:?}"))?;
    eprintln!("NVRTC {}.{} from the {}", toolchain.version.0, toolchain.version.1, toolchain.origin);
    for path in std::env::args().skip(1) {
        let source = std::fs::read_to_string(&path)?;
        let request = CompileRequest::new(&source, &path, Arch::SM_80);
        let started = Instant::now();
        let result = nvrtc::compile(&toolchain, &request);
        eprintln!("{path}: {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
        match result {
            Ok(compiled) => {
                for kernel in &compiled.kernels {
                    eprintln!("{}: {kernel:?}", nvrtc::demangle(&kernel.name));
                }
                println!("{}", compiled.ptx);
            }
            Err(CompileError::Diagnostics(all)) => all.iter().for_each(|one| eprintln!("{one:?}")),
            Err(error) => eprintln!("{error}"),
        }
    }
    Ok(())
}
