//! The program from outside: exit codes, messages, files, JSON. One test binary, so that it is linked once.

mod adversary;
mod bad_kernel;
mod bad_run;
mod class;
mod corpus;
mod course;
mod day;
mod faults;
mod gpu;
mod grade;
mod gradescope;
mod hostile;
mod program;
mod report;
mod scratch;
#[cfg(target_os = "linux")]
mod slurm;
