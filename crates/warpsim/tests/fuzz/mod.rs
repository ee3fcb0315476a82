//! Fuzzing without nightly tools: cases made from a seed, run, and held against what must always be so.
//!
//! - Whatever the text: parsing and lowering end, with a result or an error that says where.
//! - Whatever the program: the launch ends, and its bytes, faults and counters are those of any other number of
//!   worker threads, and those of the program executed strictly instruction by instruction.
//!
//! `tests/fuzz.rs` runs some cases in a few seconds; `cargo run --release --example fuzz -- --minutes 60` many more.

pub(crate) mod body;
pub(crate) mod mutate;
pub(crate) mod operands;
pub(crate) mod program;

use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpsim::{Arg, Checks, Device, FaultKind, Launch, LowerError, Program, Report};

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Text that the parser or the lowering refused.
    Refused,
    /// It ran.
    Ran,
}

/// The longest that one launch of a case may take: fuel is small, so more means that it does not bound the work.
const PATIENCE: Duration = Duration::from_secs(60);

/// The text of case `seed`: a changed module for every third, else a program that is meant to run.
pub(crate) fn text(seed: u64) -> String {
    let mut rng = SmallRng::seed_from_u64(seed);
    if seed.is_multiple_of(3) { mutate::module(&mut rng) } else { program::module(&mut rng) }
}

/// Runs case `seed`.
///
/// # Errors
/// What is wrong with how it ended. Panics are left to the caller.
pub(crate) fn run(seed: u64) -> Result<Ended, String> {
    check(&text(seed), seed)
}

/// Runs a text with what case `seed` launches.
///
/// # Errors
/// As [`run`].
pub(crate) fn check(text: &str, seed: u64) -> Result<Ended, String> {
    let start = Instant::now();
    let module = match ptx::parse(text) {
        Ok(module) => module,
        Err(error) if error.position.line >= 1 && !error.message.is_empty() => return Ok(Ended::Refused),
        Err(error) => return Err(format!("a parse error without place or message: {error}")),
    };
    let mut rng = SmallRng::seed_from_u64(!seed);
    let kernels: Vec<_> = module.functions.iter().filter(|f| f.is_entry && f.body.is_some()).collect();
    let Some(kernel) = pick(&mut rng, &kernels) else { return Ok(Ended::Refused) };
    check_kernel(&module, &kernel.name, start, &mut rng)
}

/// Runs one kernel of a module with a launch that `rng` chooses.
///
/// # Errors
/// As [`run`].
pub(crate) fn check_kernel(
    module: &ptx::Module,
    kernel: &str,
    start: Instant,
    rng: &mut SmallRng,
) -> Result<Ended, String> {
    let lower = || Program::new(module, kernel);
    let program = match lower() {
        Ok(program) => program,
        Err(LowerError::Invalid { line, .. } | LowerError::Unsupported { line, .. }) if line == 0 => {
            return Err("an error without a line".to_owned());
        }
        Err(error) => {
            if std::env::var_os("FUZZ_SHOW").is_some() {
                eprintln!("{error}");
            }
            return Ok(Ended::Refused);
        }
    };
    if start.elapsed() > PATIENCE {
        return Err(format!("parsing and lowering took {:?}", start.elapsed()));
    }
    let one_by_one = lower().map_err(|error| format!("refused the second time: {error}"))?.one_by_one();
    launches(&program, &one_by_one, rng)
}

/// Runs a program with several numbers of worker threads, and instruction by instruction.
fn launches(program: &Program, one_by_one: &Program, rng: &mut SmallRng) -> Result<Ended, String> {
    let grid = [rng.random_range(1..8), rng.random_range(1..4), rng.random_range(1..3)];
    let block =
        *pick(rng, &[[32, 1, 1], [48, 1, 1], [1, 1, 1], [8, 4, 3], [64, 2, 1], [5, 7, 2]]).expect("one");
    let mut launch = Launch::new(grid, block);
    launch.shared_bytes = rng.random_range(0..600);
    launch.fuel = rng.random_range(1..20_000);
    launch.wall_limit = Duration::from_secs(3600);
    launch.checks = match rng.random_range(0..6) {
        0 => Checks::NONE,
        1 => Checks { race: true, ..Checks::NONE },
        2 => Checks { init: true, sync: true, ..Checks::NONE },
        _ => Checks::ALL,
    };
    let sizes: Vec<usize> = (0..3).map(|_| rng.random_range(0..600)).collect();
    let scalars: Vec<u8> = (0..64).map(|_| rng.random()).collect();
    if std::env::var_os("FUZZ_SHOW").is_some() {
        eprintln!("{launch:?}, buffers of {sizes:?} bytes");
    }
    let mut first: Option<([String; 2], Vec<Vec<u8>>)> = None;
    for (program, threads) in [(program, 1), (program, 2), (program, 5), (one_by_one, 1)] {
        let (way, order) = if std::ptr::eq(program, one_by_one) {
            ("instruction by instruction".to_owned(), 1)
        } else {
            (format!("{threads} threads"), 0)
        };
        let mut device = Device::new();
        let buffers = [
            device.alloc("unwritten", sizes[0]),
            device.alloc_from("numbers", (0..sizes[1]).map(|i| i as u8).collect()),
            device.alloc_from("zeros", vec![0; sizes[2]]),
        ];
        launch.threads = Some(threads);
        launch.args.clear();
        for (i, (_, bytes)) in program.params().enumerate() {
            launch.args.push(match bytes {
                8 if i < 6 => Arg::Buffer(buffers[i % 3]),
                n => Arg::Bytes(scalars.iter().copied().cycle().take(n).collect()),
            });
        }
        let start = Instant::now();
        let Ok(report) = launch.run(program, &mut device) else { return Ok(Ended::Refused) };
        if start.elapsed() > PATIENCE {
            return Err(format!("{} of fuel took {:?}", launch.fuel, start.elapsed()));
        }
        report.faults.iter().for_each(|fault| drop(fault.to_string()));
        if report.counters.warp_instructions > launch.fuel {
            return Err(format!(
                "{} instructions on {} of fuel",
                report.counters.warp_instructions, launch.fuel
            ));
        }
        let report = Report { seconds: 0.0, ..report };
        let told = [format!("{report:#?}"), in_any_order(report)];
        let bytes: Vec<Vec<u8>> = buffers.iter().map(|&b| device.read(b)).collect();
        match &first {
            None => first = Some((told, bytes)),
            Some((one, _)) if one[order] != told[order] => {
                return Err(format!("{way}: another report, {}", difference(&one[order], &told[order])));
            }
            Some((_, one)) if *one != bytes => return Err(format!("{way}: other bytes")),
            Some(_) => {}
        }
    }
    Ok(Ended::Ran)
}

/// A report without what the order of loads between which nothing happens decides: the order of faults, and which of
/// several accesses that all race with another one are named.
fn in_any_order(mut report: Report) -> String {
    let mut faults: Vec<String> = std::mem::take(&mut report.faults)
        .into_iter()
        .map(|fault| match fault.kind {
            FaultKind::Race => format!("{:?} race in {:?}", fault.severity, fault.space),
            _ => format!("{fault:#?}"),
        })
        .collect();
    faults.sort();
    faults.dedup();
    format!("{report:#?}\n{}", faults.join("\n"))
}

/// The first line in which two reports differ.
fn difference(one: &str, other: &str) -> String {
    let line = one.lines().zip(other.lines()).position(|(a, b)| a != b).unwrap_or(0);
    let around =
        |text: &str| text.lines().skip(line.saturating_sub(40)).take(60).collect::<Vec<_>>().join("\n");
    format!("line {line}:\n{}\n--- and ---\n{}", around(one), around(other))
}

pub(crate) fn pick<'a, T>(rng: &mut SmallRng, from: &'a [T]) -> Option<&'a T> {
    if from.is_empty() { None } else { Some(&from[rng.random_range(0..from.len())]) }
}
