//! A program that is nothing but a worker: tests point [`cuda::worker::Command`] at it, and so may a host program
//! that cannot call `run_if_worker` first thing in its own `main`.

fn main() {
    cuda::worker::run_if_worker();
    eprintln!("cuda-worker serves the cuda crate through pipes; it is not meant to be run by hand");
    std::process::exit(2);
}
