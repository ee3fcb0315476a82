//! Kernels whose time can be told with a pencil.

use clock::{Argument, BUDGET, Cause, Flaw, Gpu, Obstacle, Prediction, Resources, Work, predict};

/// Turns of each kernel's loop.
const TURNS: u32 = 200;
/// Instructions of a kind in each turn; more than what counts as a small loop.
const BODY: usize = 64;

/// A kernel that computes with lane and block, then runs `body` in a loop. `%r1` is the lane, `%rd1` the buffer,
/// `%r9` counts.
fn text(setup: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 buffer)\n{{\n\
         .reg .pred %p<3>;\n.reg .b32 %r<200>;\n.reg .f32 %f<200>;\n.reg .f64 %fd<9>;\n.reg .b64 %rd<20>;\n\
         .shared .align 16 .b8 tile[16384];\n\
         ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %laneid;\nmov.u32 %r9, 0;\n{setup}\n\
         LOOP:\n{body}\nadd.s32 %r9, %r9, 1;\nsetp.lt.s32 %p1, %r9, {TURNS};\n@%p1 bra LOOP;\nret;\n}}\n"
    )
}

struct Launch {
    blocks: u32,
    threads: u32,
    registers: u32,
    shared: u32,
}

const ONE_WARP: Launch = Launch { blocks: 1, threads: 32, registers: 32, shared: 0 };

fn try_run(text: &str, launch: &Launch) -> Result<Prediction, Obstacle> {
    let module = ptx::parse(text).expect("PTX");
    let work = Work {
        module: &module,
        kernel: "k",
        resources: Resources {
            registers_per_thread: launch.registers,
            static_shared_bytes: launch.shared,
            spill_bytes: 0,
        },
        grid: [launch.blocks, 1, 1],
        block: [launch.threads, 1, 1],
        dynamic_shared_bytes: 0,
        arguments: vec![Argument::Buffer { name: "buffer".into(), bytes: 1 << 28 }],
    };
    predict(&work, &h200(), BUDGET)
}

fn run(text: &str, launch: &Launch) -> Prediction {
    try_run(text, launch).expect("predicted")
}

fn h200() -> Gpu {
    Gpu::named("h200").expect("built in")
}

/// Cycles without those of the launch.
fn cycles(prediction: &Prediction) -> f64 {
    let gpu = h200();
    (prediction.milliseconds - gpu.launch_microseconds / 1e3) * gpu.clock_mhz * 1e3
}

/// Cycles of each instruction of the body.
fn each(prediction: &Prediction) -> f64 {
    cycles(prediction) / f64::from(TURNS) / BODY as f64
}

fn assert_near(found: f64, wanted: f64, tolerance: f64) {
    assert!((found / wanted - 1.0).abs() < tolerance, "{found} instead of {wanted}");
}

fn chain(count: usize) -> String {
    "fma.rn.f32 %f1, %f1, %f1, %f1;\n".repeat(count)
}

/// Loads of `stride` bytes from lane to lane, from L1 after the first turn.
fn loads(space: &str, stride: u32) -> String {
    let base =
        if space == "shared" { "mov.u32 %r2, tile;\ncvt.u64.u32 %rd2, %r2;" } else { "mov.u64 %rd2, %rd1;" };
    let setup = format!("{base}\nmul.wide.u32 %rd3, %r1, {stride};\nadd.s64 %rd4, %rd2, %rd3;");
    let body: String = (0..BODY).map(|at| format!("ld.{space}.f32 %f{}, [%rd4];\n", at + 2)).collect();
    text(&setup, &body)
}

#[test]
fn a_chain_takes_the_latency_of_each_link_and_says_so() {
    let prediction = run(&text("", &chain(BODY)), &ONE_WARP);
    assert_near(each(&prediction), h200().math_latency, 0.1);
    let (cause, share) = prediction.by_cause()[0];
    // Three quarters of the SM have no warp at all.
    assert_eq!(cause, Cause::Idle);
    assert!(share > 0.7, "{share}");
    assert_eq!(prediction.by_cause()[1].0, Cause::Dependency);
}

#[test]
fn four_warps_of_a_quarter_hide_each_other_s_latency() {
    let one = run(&text("", &chain(BODY)), &ONE_WARP);
    let sixteen = run(&text("", &chain(BODY)), &Launch { threads: 512, ..ONE_WARP });
    assert_near(cycles(&sixteen), cycles(&one), 0.15);
    let more = run(&text("", &chain(BODY)), &Launch { threads: 1024, ..ONE_WARP });
    assert_near(cycles(&more), 2.0 * cycles(&one), 0.15);
    assert_eq!(more.by_cause()[0].0, Cause::Issue);
}

#[test]
fn a_global_request_takes_a_turn_for_each_line() {
    let warps = Launch { threads: 512, ..ONE_WARP };
    for (stride, lines) in [(128, 32.0), (32, 8.0), (16, 4.0)] {
        let prediction = run(&loads("global", stride), &warps);
        assert_near(each(&prediction) / 16.0, lines, 0.1);
        assert_eq!(prediction.by_cause()[0].0, Cause::LoadStore, "{stride}");
    }
}

#[test]
fn a_bank_conflict_takes_a_turn_for_each_way() {
    let warps = Launch { threads: 512, ..ONE_WARP };
    let mut last = 0.0;
    for ways in [2_u32, 4, 8, 16, 32] {
        let prediction = run(&loads("shared", 4 * ways), &warps);
        assert_near(each(&prediction) / 16.0, f64::from(ways), 0.1);
        assert!(cycles(&prediction) > last, "{ways} ways");
        last = cycles(&prediction);
        let remark = prediction.remarks.iter().find(|remark| remark.flaw == Flaw::BankConflicts);
        assert_eq!(remark.map(|remark| remark.amount), Some(f64::from(ways)));
    }
    let without = run(&loads("shared", 4), &warps);
    assert!(without.remarks.iter().all(|remark| remark.flaw != Flaw::BankConflicts));
}

#[test]
fn another_wave_takes_as_long_as_the_first() {
    // Two blocks of 1,024 threads fit an SM.
    let launch = |blocks| Launch { blocks, threads: 1024, registers: 32, shared: 0 };
    let time = |blocks| cycles(&run(&text("", &chain(BODY)), &launch(blocks)));
    let sms = h200().sms as u32;
    let full = time(2 * sms);
    assert_near(time(sms), full / 2.0, 0.2);
    assert_near(time(4 * sms), 2.0 * full, 0.1);
    assert_near(time(64 * sms), 32.0 * full, 0.1);
    // A single block more is a wave of its own.
    assert!(time(2 * sms + 1) > 1.4 * full);
}

#[test]
fn a_single_block_is_one_of_few() {
    let prediction = run(&text("", &chain(BODY)), &ONE_WARP);
    let remark = prediction.remarks.iter().find(|remark| remark.flaw == Flaw::FewBlocks).expect("a remark");
    assert_eq!(remark.amount, 1.0);
}

#[test]
fn fewer_resident_blocks_are_never_faster() {
    let setup = "mov.u32 %r2, %ctaid.x;\nshl.b32 %r3, %r2, 20;\ncvt.u64.u32 %rd5, %r3;\nand.b64 %rd6, %rd5, 0xfffffff;\n\
                 mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd7, %rd1, %rd6;\nadd.s64 %rd4, %rd7, %rd3;\nmov.f32 %f1, 0f00000000;";
    let body: String = (0..BODY)
        .map(|at| format!("ld.global.f32 %f2, [%rd4+{}];\nadd.f32 %f1, %f1, %f2;\n", 128 * at))
        .collect();
    let body = format!("{body}add.s64 %rd4, %rd4, 4096;");
    let time = |shared| {
        cycles(&run(&text(setup, &body), &Launch { blocks: 132 * 8, threads: 128, registers: 32, shared }))
    };
    let times: Vec<f64> = [0, 40 << 10, 100 << 10, 200 << 10].into_iter().map(time).collect();
    assert!(times.windows(2).all(|pair| pair[1] >= 0.99 * pair[0]), "{times:?}");
    assert!(times[3] > times[0], "{times:?}");
}

#[test]
fn the_same_work_takes_the_same_time() {
    let launch = Launch { blocks: 1000, threads: 256, registers: 32, shared: 0 };
    let kernel = loads("shared", 8);
    assert_eq!(run(&kernel, &launch), run(&kernel, &launch));
}

#[test]
fn shares_sum_to_one() {
    for kernel in [loads("global", 4), loads("shared", 64), text("", &chain(BODY))] {
        let prediction = run(&kernel, &Launch { blocks: 500, threads: 256, registers: 32, shared: 0 });
        let sum: f64 = prediction.parts.iter().map(|part| part.share).sum();
        assert_near(sum, 1.0, 0.02);
    }
}

#[test]
fn doubles_are_remarked_upon() {
    let body = "add.f64 %fd1, %fd1, %fd1;\n".repeat(BODY);
    let prediction = run(&text("", &body), &ONE_WARP);
    assert!(prediction.remarks.iter().any(|remark| remark.flaw == Flaw::Doubles));
    let single = run(&text("", &chain(BODY)), &ONE_WARP);
    assert!(single.remarks.iter().all(|remark| remark.flaw != Flaw::Doubles));
}

#[test]
fn what_cannot_be_run_or_does_not_end_is_not_predicted() {
    let launch = |shared| Launch { blocks: 1, threads: 32, registers: 32, shared };
    let kernel = text("", &chain(BODY));
    assert!(matches!(
        try_run(&kernel, &launch(1 << 20)),
        Err(Obstacle::TooMuchShared { needs: 1_048_576, .. })
    ));
    let large = Launch { threads: 1024, registers: 200, ..launch(0) };
    assert!(matches!(try_run(&kernel, &large), Err(Obstacle::NoRoom { .. })));
    let endless = text("", "").replace("setp.lt.s32 %p1, %r9, 200", "setp.ne.s32 %p1, %r9, -1");
    assert!(matches!(try_run(&endless, &launch(0)), Err(Obstacle::Endless { .. })));
    let outside = text("", "st.global.f32 [%rd1+-4], %f1;");
    assert!(run(&outside, &ONE_WARP).milliseconds > 0.0);
}
