//! Whatever the PTX and the launch: an error that says where, and never a panic.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use warpsim::{Arg, Device, FaultKind, Launch, LaunchError, LowerError, Outcome, Program};

use super::support::{CALLS, CONTROL, MEMORY, Run, TOGETHER, by_hand, errors, lower};

/// The line at which `by_hand` puts the first line of a body.
const BODY: u32 = 11;

#[track_caller]
fn refused(body: &str, words: &str) {
    let text = by_hand(body);
    let line = text.lines().position(|l| l.contains(body.lines().next().unwrap())).unwrap() as u32 + 1;
    assert_eq!(line, BODY - 1, "the body begins at a known line");
    match ptx::parse(&text) {
        Err(error) => assert!(error.to_string().contains(words), "{error}"),
        Ok(module) => match Program::new(&module, "k") {
            Err(LowerError::Invalid { line: at, message }) => {
                assert_eq!(at, line, "{message}");
                assert!(message.contains(words), "{message}");
            }
            other => panic!("{other:?}"),
        },
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_its_line() {
    refused("bra NOWHERE;", "NOWHERE");
    refused("add.u32 %r1, %rd1, 1;", "64-bit");
    refused("add.u32 %r1, %r2;", "operands");
    refused("mov.u32 %unknown, 1;", "not declared");
    refused("bar.sync 16;", "0 to 15");
    refused("bar.sync 1, 33;", "multiple");
    refused("bar.arrive 1;", "how many");
    refused("brx.idx %r1, NO_TABLE;", "NO_TABLE");
    refused("ld.param.u64 %rd1, [out+9223372036854775807];", "outside");
    refused("cp.async.wait_group -1;", "groups");
    refused("ld.global.v4.f32 {%r1, %r2}, [%out];", "4 values");
    refused("@%r1 bra END; END:", "predicate");
}

#[test]
fn an_unknown_instruction_is_unsupported() {
    let error = lower(&by_hand("tex.1d.v4.f32.s32 {%r1,%r2,%r3,%r4}, [%rd1, {%r5}];"), "k").unwrap_err();
    assert!(matches!(&error, LowerError::Unsupported { opcode, .. } if opcode.starts_with("tex")), "{error}");
    assert!(
        matches!(lower(CONTROL, "no_such").unwrap_err(), LowerError::NoKernel { kernels, .. } if kernels.len() == 6)
    );
}

#[test]
fn huge_declarations_cost_nothing() {
    let start = Instant::now();
    refused(".reg .b32 %x<4294967295>;", "registers");
    assert!(lower(&by_hand(".reg .b32 %x<1000000>; mov.u32 %x999999, 1; ret;"), "k").is_ok());
    for text in [".global .b8 a[1073741824]; .global .b8 b[1073741824];", ".const .b8 a[1073741824];"] {
        let text = by_hand("ret;").replace(".visible", &format!("{text} .visible"));
        assert!(lower(&text, "k").is_err());
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn barriers_and_tables_are_checked_at_run_time_too() {
    let cases = [
        "mov.u32 %r1, 16; barrier.sync %r1; ret;",
        "mov.u32 %r1, 7; barrier.sync 1, %r1; ret;",
        "T: .branchtargets A; add.u32 %r1, %t, 1; brx.idx %r1, T; A: ret;",
        "mov.u64 %rd1, 99; P: .callprototype _ (); call %rd1, (), P; ret;",
        "trap;",
    ];
    for body in cases {
        let mut run = Run::new(&by_hand(body), "k", 1, 32);
        run.room(1);
        let report = run.run();
        assert_eq!(
            (report.outcome.clone(), errors(&report)),
            (Outcome::Aborted, vec![FaultKind::Trap]),
            "{body}"
        );
        assert!(report.faults[0].party.at.is_some(), "{body}");
    }
}

#[test]
fn a_grid_of_a_billion_blocks_ends_at_a_limit() {
    for threads in [Some(1), None] {
        let mut run = Run::new(CONTROL, "empty", 1_000_000_000, 32);
        (run.launch.wall_limit, run.launch.threads) = (Duration::from_millis(200), threads);
        let start = Instant::now();
        assert_eq!(run.run().outcome, Outcome::Timeout);
        assert!(start.elapsed() < Duration::from_secs(10));
        (run.launch.fuel, run.launch.wall_limit) = (1000, Duration::from_secs(30));
        let report = run.run();
        assert_eq!((report.outcome, report.counters.warp_instructions), (Outcome::Timeout, 1000));
    }
}

#[test]
fn illegal_launches_are_refused() {
    let refuse = |change: &dyn Fn(&mut Launch)| {
        let mut launch = Launch::new([1, 1, 1], [32, 1, 1]);
        change(&mut launch);
        launch.run(&lower(CONTROL, "empty").unwrap(), &mut Device::new()).unwrap_err()
    };
    let most = u32::MAX;
    assert!(matches!(refuse(&|l| l.grid = [0, 1, 1]), LaunchError::Grid { .. }));
    assert!(matches!(refuse(&|l| l.grid = [1, 65_536, 1]), LaunchError::Grid { .. }));
    assert!(matches!(refuse(&|l| l.block = [0, most, most]), LaunchError::Block { .. }));
    assert!(matches!(refuse(&|l| l.block = [most; 3]), LaunchError::Threads { .. }));
    assert!(matches!(refuse(&|l| l.block = [1, 1, 65]), LaunchError::Block { .. }));
    assert!(matches!(refuse(&|l| l.shared_bytes = most), LaunchError::Shared { .. }));
    assert!(matches!(
        refuse(&|l| l.args = vec![Arg::from(1i32)]),
        LaunchError::ArgumentCount { takes: 0, given: 1 }
    ));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Real PTX with lines and tokens changed, dropped, doubled or swapped: whatever becomes of it, it ends.
    #[test]
    fn changed_ptx_never_panics(
        which in 0usize..5,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..7), 1..6),
        kernel in any::<prop::sample::Index>(),
    ) {
        let tiled = include_str!("../ptx/tiled.ptx");
        let mut tokens: Vec<&str> = Vec::new();
        for line in [CONTROL, CALLS, MEMORY, TOGETHER, tiled][which].split_inclusive('\n') {
            tokens.extend(line.split_inclusive([' ', '\t', ',', ';', '[', ']', '+', '.', '\n']));
        }
        for (at, other, change) in changes {
            let (i, j) = (at.index(tokens.len()), other.index(tokens.len()));
            match change {
                0 => { tokens.remove(i); }
                1 => tokens.insert(i, tokens[j]),
                2 => tokens.swap(i, j),
                3 => tokens[i] = tokens[j],
                4 => tokens[i] = ["-1", "9223372036854775807", "0", "4294967296", "0f7FC00000"][j % 5],
                5 => tokens[i] = [".u8", ".s64", ".f64", ".pred", ".v4", ".shared"][j % 6],
                _ => tokens.truncate(i.max(tokens.len() / 2)),
            }
        }
        let Ok(module) = ptx::parse(&tokens.concat()) else { return Ok(()) };
        let kernels: Vec<_> = module.functions.iter().filter(|f| f.is_entry && f.body.is_some()).collect();
        if kernels.is_empty() { return Ok(()) }
        let Ok(program) = Program::new(&module, &kernels[kernel.index(kernels.len())].name) else { return Ok(()) };
        let mut device = Device::new();
        let mut launch = Launch::new([2, 1, 1], [48, 1, 1]);
        (launch.fuel, launch.wall_limit) = (20_000, Duration::from_secs(5));
        for (_, bytes) in program.params() {
            let arg = match bytes {
                8 => Arg::Buffer(device.alloc("buffer", 256)),
                n => Arg::Bytes(vec![7; n]),
            };
            launch = launch.arg(arg);
        }
        if let Ok(report) = launch.run(&program, &mut device) {
            report.faults.iter().for_each(|fault| drop(fault.to_string()));
        }
    }
}
