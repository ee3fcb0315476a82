//! Threads that return early are gone: a barrier that the others reach together is right.

use warpsim::{Device, Launch, Program, Severity};

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
