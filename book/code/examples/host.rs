//! Runs a kernel from this course in a program of its own, through cudarc:
//!
//! ```console
//! $ nvcc -ptx -I kernels -o transpose.ptx exercises/05_transpose_coalescing/kernel.cu
//! $ cargo run -p book --example host -- transpose.ptx
//! ```

use std::error::Error;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: host FILE.ptx")?;
    // cudarc loads the driver when it is first used, and panics if there is none.
    if !unsafe { cudarc::driver::sys::is_culib_present() } {
        return Err("there is no NVIDIA driver on this machine".into());
    }

    // A context on the first GPU, a stream to work in, the module, and the kernel in it.
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let text = std::fs::read_to_string(&path)?;
    // The compiler has mangled the kernel's name (`_Z9transposePKfPfii`), unless it is declared `extern "C"`.
    let name = text
        .split(".entry ")
        .nth(1)
        .and_then(|rest| rest.split('(').next())
        .ok_or("no kernel in the file")?;
    let transpose = context.load_module(Ptx::from_src(&text))?.load_function(name.trim())?;

    // The matrix goes to the GPU; the result gets a place there.
    let (rows, cols) = (1000, 700);
    let input: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
    let input_there = stream.clone_htod(&input)?;
    let mut output_there = stream.alloc_zeros::<f32>(rows * cols)?;

    // LAUNCH(32, 8, 1, 32, 32, 1) by hand: as many blocks as cover the matrix, rounded up.
    let config = LaunchConfig {
        grid_dim: (cols.div_ceil(32) as u32, rows.div_ceil(32) as u32, 1),
        block_dim: (32, 8, 1),
        shared_mem_bytes: 0,
    };
    let (rows_arg, cols_arg) = (rows as i32, cols as i32);
    let mut launch = stream.launch_builder(&transpose);
    launch.arg(&input_there).arg(&mut output_there).arg(&rows_arg).arg(&cols_arg);
    // SAFETY: these are the kernel's parameters in order, and it stays within both buffers; the checker has seen to that.
    unsafe { launch.launch(config)? };

    // Copying back waits for the kernel.
    let output = stream.clone_dtoh(&output_there)?;
    let wrong = (0..rows * cols).filter(|i| output[i % cols * rows + i / cols] != input[*i]).count();
    println!("{rows} x {cols} on {}: {wrong} wrong", context.name()?);
    Ok(())
}
