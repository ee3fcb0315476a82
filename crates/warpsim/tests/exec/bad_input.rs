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
fn what_is_refused_at_run_time_names_the_value() {
    let cases = [
        ("mov.u32 %r1, 16; barrier.sync %r1; ret;", "names barrier 16"),
        ("mov.u32 %r1, 7; barrier.sync 1, %r1; ret;", "a barrier for 7 threads"),
        ("mov.u32 %r1, 0; bar.arrive 1, %r1; ret;", "a barrier for 0 threads"),
        ("T: .branchtargets A; add.u32 %r1, %t, 1; brx.idx %r1, T; A: ret;", "by index 1 on line 10"),
        ("T: .branchtargets A; add.u32 %r1, %t, 1; brx.idx %r1, T; A: ret;", "the table there has 1 labels"),
        ("mov.u64 %rd1, 99; P: .callprototype _ (); call %rd1, (), P; ret;", "the pointer 0x63"),
        ("trap;", "must not be reached"),
    ];
    for (body, words) in cases {
        let mut run = Run::new(&by_hand(body), "k", 1, 32);
        run.room(1);
        let report = run.run();
        assert_eq!(
            (report.outcome.clone(), errors(&report)),
            (Outcome::Aborted, vec![FaultKind::Trap]),
            "{body}"
        );
        let fault = &report.faults[0];
        assert!(fault.to_string().contains(words), "{fault}");
        assert_eq!(fault.party.at.as_ref().map(|at| at.line), Some(BODY - 1), "{fault}");
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

/// Half a module is an error at the place where it ends, and a cut instruction one at its line.
#[test]
fn truncated_ptx_is_refused_with_a_line() {
    let text = by_hand("mov.u32 %r1, %t;");
    for (cut, words) in
        [("mov.u32 %r1, ", "found the end of the text"), ("ld.param.u64 %out", "found the end of the text")]
    {
        let end = text.find(cut).unwrap() + cut.len();
        let error = ptx::parse(&text[..end]).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.position.line as usize, text[..end].lines().count(), "{error}");
    }
}

#[test]
fn registers_of_the_wrong_type_are_named() {
    refused("add.f32 %r1, %p1, %r2;", "`%p1` is a predicate, where a register of at most 32 bits belongs");
    refused(
        "mul.wide.u32 %r1, %r2, %r3;",
        "`%r1` is a register of at most 32 bits, where a 64-bit register belongs",
    );
    refused("ld.global.u64 %r1, [%out];", "the destination is too narrow for 64 bits");
    refused("ld.global.u32 %r1, [%p1];", "`%p1` is a predicate and holds no address");
    refused(
        "setp.eq.u32 %r1, %r2, %r3;",
        "`%r1` is a register of at most 32 bits, where a predicate belongs",
    );
}

#[test]
fn missing_labels_functions_and_variables_are_named() {
    refused("@%p1 bra AWAY;", "there is no label `AWAY` in this function");
    refused("mov.u64 %rd1, nothing;", "`nothing` is not declared");
    let error = lower(&by_hand("call nowhere, ();"), "k").unwrap_err();
    assert!(
        error.to_string().contains("call to `nowhere`, which is not in this module at PTX line 10"),
        "{error}"
    );
}

#[test]
fn too_many_registers_are_refused_in_words() {
    let many: String = (0..70_000).map(|i| format!("mov.u32 %x{i}, 1;\n")).collect();
    let error = lower(&by_hand(&format!(".reg .b32 %x<70000>;\n{many}")), "k").unwrap_err();
    assert!(error.to_string().contains("`k` uses more than 65535 registers"), "{error}");
}

#[test]
fn an_overshoot_of_an_empty_buffer_says_that_it_is_empty() {
    let mut run = Run::new(&by_hand("st.global.u32 [%out], %t;"), "k", 1, 1);
    run.room(0);
    let report = run.run();
    assert_eq!(errors(&report), [FaultKind::OutOfBounds]);
    assert!(report.faults[0].to_string().contains("`buffer 0`"), "{}", report.faults[0]);
    assert!(run.device.read(warpsim_first(&run)).is_empty());
}

fn warpsim_first(run: &Run) -> warpsim::BufferId {
    let Some(Arg::Buffer(buffer)) = run.launch.args.first() else { panic!("the first argument is a buffer") };
    *buffer
}

#[test]
fn endless_recursion_names_its_line_and_what_to_do() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64
        .func down(.param .b32 n) { .reg .b32 %r; ld.param.u32 %r, [n];
        { .param .b32 m; st.param.b32 [m], %r; call down, (m); } ret; }
        .visible .entry k() { { .param .b32 m; st.param.b32 [m], 1; call down, (m); } ret; }";
    let report = Run::new(text, "k", 1, 32).run();
    assert_eq!(errors(&report), [FaultKind::StackOverflow]);
    let told = report.faults[0].to_string();
    assert!(told.contains("ran out of stack") && told.contains("Bound the recursion"), "{told}");
    assert_eq!(report.faults[0].party.at.as_ref().map(|at| at.line), Some(5), "{told}");
}

/// 2 GiB of which one element in 64 MiB is touched: the host gives memory for what is touched.
#[cfg(target_os = "linux")]
#[test]
fn a_huge_buffer_costs_what_is_touched() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/statm").unwrap();
        status.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    let body = "mul.wide.u32 %rd1, %t, 67108864; add.u64 %rd1, %rd1, %out; st.global.u32 [%rd1], %t;
        ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1+4], %r1;";
    let mut run = Run::new(&by_hand(body), "k", 1, 32);
    run.room(1 << 29);
    let (before, start) = (resident(), Instant::now());
    run.clean();
    let more = resident().saturating_sub(before);
    assert!(more < 200 << 20, "{} MiB", more >> 20);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

/// Whatever the address and the space: told in words, and nothing is touched.
#[test]
fn wild_addresses_are_told_in_every_space() {
    let addresses =
        [0, 1 << 20, 1 << 33, 1 << 40, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX - 3, u64::MAX];
    for space in [".global", ".shared", ".local", ".const", ".param", ""] {
        for address in addresses {
            let body = format!(
                ".shared .align 8 .b8 some[64]; mov.u32 %r2, some; mov.u64 %rd1, {address};
                ld{space}.u64 %rd2, [%rd1]; ld{space}.v2.u64 {{%rd2, %rd3}}, [%rd1+9223372036854775807];"
            );
            let mut run = Run::new(&by_hand(&body), "k", 1, 1);
            run.room(1);
            let report = run.run();
            assert_eq!(report.outcome, Outcome::Completed);
            let is_inside = address == 0 && matches!(space, ".shared" | ".param");
            assert!(is_inside || !errors(&report).is_empty(), "{space} {address:#x}");
            assert!(
                report.faults.iter().all(|fault| fault.to_string().ends_with('.')),
                "{:?}",
                report.faults
            );
        }
    }
}
