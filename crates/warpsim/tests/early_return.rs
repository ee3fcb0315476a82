//! Threads that return early are gone: a barrier that the others reach together is right.

use warpsim::{Device, FaultKind, Launch, Program, Severity};

const KERNEL: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd2, %r2, 4;
    mov.u64 %rd3, tile;
    add.s64 %rd3, %rd3, %rd2;
    st.shared.u32 [%rd3], %r2;
    bar.sync 0;
    ld.shared.u32 %r3, [%rd3];
    add.s64 %rd2, %rd1, %rd2;
    st.global.u32 [%rd2], %r3;
DONE:
    ret;
}
";

#[test]
fn lanes_that_jumped_to_the_end_are_not_waited_for() {
    let module = ptx::parse(KERNEL).expect("well formed");
    let program = Program::new(&module, "k").expect("lowers");
    let mut device = Device::new();
    let out = device.alloc("out", 40 * 4);
    let launch = Launch::new([1, 1, 1], [64, 1, 1]).arg(out).arg(40u32);
    let report = launch.run(&program, &mut device).expect("legal");
    let errors: Vec<_> = report.faults.iter().filter(|f| f.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let values: Vec<u8> = (0..40u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(device.read(out), values);
}

/// As NVRTC writes it: every `return` is a jump to the one exit, which stands on the line of the closing brace (27).
const COMPILED: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 first, .param .u32 second)
{
    .reg .pred %p<4>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<2>;
    .loc 1 13 0
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [first];
    ld.param.u32 %r2, [second];
    .loc 1 16 5
    mov.u32 %r3, %tid.x;
    .loc 1 17 5
    setp.eq.s32 %p1, %r3, %r1;
    @%p1 bra $EXIT;
    .loc 1 19 5
    setp.lt.s32 %p2, %r3, %r2;
    @%p2 bra $WORK;
    bra.uni $EDGE;
$WORK:
    .loc 1 24 5
    bar.sync 0;
    .loc 1 25 5
    setp.eq.s32 %p3, %r3, 3;
    @%p3 bra $EXIT;
    .loc 1 26 9
    st.global.u32 [%rd1], %r3;
    bra.uni $EXIT;
$EDGE:
    .loc 1 20 9
    st.global.u32 [%rd1+4], 1;
$EXIT:
    .loc 1 27 1
    ret;
}
.file 1 \"kernel.cu\"
";

/// The line that the message about a barrier says the missing threads returned on.
fn returned_on(first: u32, second: u32) -> Option<u32> {
    let module = ptx::parse(COMPILED).expect("well formed");
    let program = Program::new(&module, "k").expect("lowers");
    let mut device = Device::new();
    let out = device.alloc("out", 8);
    let launch = Launch::new([1, 1, 1], [64, 1, 1]).arg(out).arg(first).arg(second);
    let report = launch.run(&program, &mut device).expect("legal");
    let fault = report.faults.iter().find(|fault| fault.kind == FaultKind::BarrierDivergence)?;
    let line = fault.other.as_ref()?.at.as_ref()?.line;
    assert!(fault.to_string().contains(&format!("had already left the kernel on line {line} ")), "{fault}");
    Some(line)
}

#[test]
fn an_early_return_is_found_where_its_threads_left_the_way_of_the_others() {
    const NONE: u32 = 1000;
    assert_eq!(returned_on(NONE, NONE), None, "all threads come to the barrier");
    assert_eq!(returned_on(70 % 64, NONE), Some(17), "one thread jumps to the exit");
    assert_eq!(returned_on(NONE, 32), Some(20), "a warp falls into the exit behind its last statement");
    assert_eq!(returned_on(NONE, 40), Some(20), "part of a warp does");
    assert_eq!(returned_on(3, 40), Some(17), "the first of both");
}
