//! What a full warp executes in one go must come to the same as one instruction after another: memory, faults, counters.

use warpsim::{Checks, Device, FaultKind, Launch, Program, Report};

/// A kernel of two pointers, which has `%r` (with `%r0` the thread's index and `%r1` four times that), `%rd0` the first one
/// plus `%r1`, `%rd2` the other one, to what nobody wrote, `%f`, and 1 KiB of shared memory, the first 512 bytes of which each thread fills with its index.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[1024];
.visible .entry k(.param .u64 p, .param .u64 q) {{
.reg .pred %p<4>;
.reg .b32 %r<40>;
.reg .f32 %f<40>;
.reg .b64 %rd<8>;
mov.u32 %r0, %tid.x;
shl.b32 %r1, %r0, 2;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd1, %rd1;
mul.wide.u32 %rd0, %r0, 4;
add.s64 %rd0, %rd1, %rd0;
ld.param.u64 %rd2, [q];
mov.u32 %r2, tile;
add.s32 %r3, %r2, %r1;
setp.ge.s32 %p0, %r1, %r0;
st.shared.u32 [%r3], %r0;
bar.sync 0;
{body}
ret;
}}"
    )
}

fn run(text: &str, launches: u32) -> (Report, Vec<u8>) {
    let module = ptx::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::new(&module, "k").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut device = Device::new();
    let out = device.alloc_from("out", vec![7; 4096]);
    let fresh = device.alloc("fresh", 4096);
    let mut launch = Launch::new([1, 1, 1], [128, 1, 1]).arg(out).arg(fresh);
    launch.checks = Checks::ALL;
    let mut report = launch.run(&program, &mut device).expect("runs");
    for _ in 1..launches {
        report = launch.run(&program, &mut device).expect("runs");
    }
    (report, device.read(out).to_vec())
}

/// Runs `body` three times over, for what an access looks like is known from the second time on; as it is, and with a guard
/// that always holds before every instruction, which a straight line has none of. Compares, and returns the report.
fn same(body: &str) -> Report {
    let looped = |body: &str| {
        let begin = "mov.u32 %r39, 0;\nAGAIN:\n";
        let end = "\nadd.s32 %r39, %r39, 1;\nsetp.lt.u32 %p1, %r39, 3;\n@%p1 bra AGAIN;";
        kernel(&format!("{begin}{body}{end}"))
    };
    let guarded: String = body.lines().map(|line| format!("@%p0 {}\n", line.trim())).collect();
    let (report, memory) = run(&looped(body), 2);
    let (other, expected) = run(&looped(guarded.trim_end()), 2);
    assert_eq!(memory, expected, "{body}");
    assert_eq!(report.counters, other.counters, "{body}");
    let told = |report: &Report| -> Vec<_> {
        report
            .faults
            .iter()
            .map(|f| (f.kind, f.party.clone(), f.other.clone(), f.count, f.detail.clone()))
            .collect()
    };
    assert_eq!(told(&report), told(&other), "{body}");
    assert_eq!(report.worst, other.worst, "{body}");
    report
}

#[test]
fn a_register_that_is_loaded_twice_holds_each_value_in_its_time() {
    let report = same(
        "ld.shared.u32 %r10, [%r2];
        add.s32 %r11, %r10, 1;
        ld.shared.u32 %r10, [%r2+4];
        add.s32 %r11, %r11, %r10;
        mov.u32 %r12, %r11;
        ld.shared.u32 %r11, [%r2+8];
        add.s32 %r12, %r12, %r11;
        st.global.u32 [%rd0], %r12;",
    );
    assert!(report.faults.is_empty(), "{:?}", report.faults);
    let (_, memory) = run(&kernel("ld.shared.u32 %r10, [%r2+4];\nst.global.u32 [%rd0], %r10;"), 1);
    assert_eq!(memory[..4], 1u32.to_le_bytes());
}

#[test]
fn a_base_that_a_load_overwrites_is_another_base_from_then_on() {
    // Word 4 i holds i.
    same(
        "mov.u32 %r20, %r2;
        ld.shared.u32 %r21, [%r20+12];
        ld.shared.u32 %r20, [%r20+32];
        ld.shared.u32 %r22, [%r20+4];
        add.s32 %r21, %r21, %r22;
        st.global.u32 [%rd0], %r21;",
    );
}

#[test]
fn loads_behind_a_store_see_it() {
    let report = same(
        "ld.shared.u32 %r10, [%r3];
        add.s32 %r11, %r10, 100;
        st.shared.u32 [%r3], %r11;
        ld.shared.u32 %r12, [%r3];
        st.global.u32 [%rd0], %r12;",
    );
    assert!(report.faults.is_empty(), "{:?}", report.faults);
    // And a race of the store with what other threads loaded before and load after it is told alike.
    let report = same(
        "ld.shared.u32 %r10, [%r2];
        st.shared.u32 [%r2+4], %r0;
        ld.shared.u32 %r12, [%r2+4];
        st.global.u32 [%rd0], %r12;",
    );
    assert!(report.faults.iter().any(|fault| fault.kind == FaultKind::Race), "{:?}", report.faults);
}

#[test]
fn of_several_loads_the_one_out_of_bounds_is_told_of() {
    let report = same(
        "ld.shared.u32 %r10, [%r3];
        ld.shared.u32 %r11, [%r3+128];
        ld.shared.u32 %r12, [%r3+900];
        ld.shared.u32 %r13, [%r3-8];
        ld.shared.u32 %r14, [%r3+6];
        add.s32 %r10, %r10, %r11;
        st.global.u32 [%rd0], %r10;",
    );
    let kinds: Vec<FaultKind> = report.faults.iter().map(|fault| fault.kind).collect();
    assert!(kinds.contains(&FaultKind::OutOfBounds) && kinds.contains(&FaultKind::Misaligned), "{kinds:?}");
}

#[test]
fn what_nothing_wrote_is_told_of_by_the_load_that_read_it() {
    // Rows of which the last bytes are padding, which nobody reads.
    let report = same(
        "mul.lo.s32 %r20, %r0, 4;
        add.s32 %r20, %r20, %r2;
        ld.shared.u32 %r10, [%r20];
        ld.shared.u32 %r11, [%r20+256];
        add.s32 %r10, %r10, %r11;
        st.global.u32 [%rd0], %r10;",
    );
    assert_eq!(report.faults.len(), 1, "{:?}", report.faults);
    assert_eq!(report.faults[0].kind, FaultKind::UninitializedRead);
    let report = same(
        "ld.shared.u32 %r10, [%r2+508];
        ld.shared.u32 %r11, [%r2];
        ld.shared.u32 %r12, [%r2+4];
        st.shared.u32 [%r3+512], %r11;
        ld.shared.u32 %r13, [%r3+512];
        add.s32 %r10, %r10, %r13;
        st.global.u32 [%rd0], %r10;",
    );
    assert!(report.faults.is_empty(), "{:?}", report.faults);
}

#[test]
fn lanes_may_lie_in_any_way() {
    for address in [
        "xor.b32 %r20, %r0, 5;",
        "and.b32 %r20, %r0, 7;",
        "shr.u32 %r20, %r0, 4;",
        "mul.lo.s32 %r20, %r0, 33;",
        "sub.s32 %r20, 127, %r0;",
        "mov.u32 %r20, 3;",
    ] {
        let report = same(&format!(
            "{address}
            and.b32 %r20, %r20, 63;
            shl.b32 %r20, %r20, 2;
            add.s32 %r20, %r20, %r2;
            ld.shared.f32 %f0, [%r20];
            ld.shared.f32 %f1, [%r20+128];
            ld.shared.f32 %f2, [%r20+252];
            fma.rn.f32 %f3, %f0, %f1, %f2;
            fma.rn.f32 %f3, %f3, 0f7fc00001, %f0;
            st.global.f32 [%rd0], %f3;"
        ));
        assert!(report.faults.is_empty(), "{address} {:?}", report.faults);
    }
}

#[test]
fn rows_that_lie_in_another_way_every_time_are_told_of_once() {
    let report = same(
        "mov.f32 %f8, 0f00000000;
        mul.lo.s32 %r20, %r0, %r39;
        and.b32 %r20, %r20, 31;
        shl.b32 %r20, %r20, 2;
        add.s32 %r20, %r20, %r2;
        ld.shared.f32 %f0, [%r3];
        ld.shared.f32 %f1, [%r20];
        fma.rn.f32 %f8, %f0, %f1, %f8;
        ld.shared.f32 %f2, [%r3];
        ld.shared.f32 %f3, [%r20+128];
        fma.rn.f32 %f8, %f2, %f3, %f8;
        ld.shared.f32 %f4, [%r3];
        ld.shared.f32 %f5, [%r20+256];
        fma.rn.f32 %f8, %f4, %f5, %f8;
        st.global.f32 [%rd0], %f8;",
    );
    assert!(report.faults.is_empty(), "{:?}", report.faults);
}

/// What one launch stores for thread 0, as a float.
fn first_of(body: &str) -> f32 {
    let (_, memory) = run(&kernel(body), 1);
    f32::from_le_bytes(memory[..4].try_into().expect("four bytes"))
}

/// Loads words 1, 2, 3 and words 4, 5, 6 of what each thread's index says, as floats.
const ROWS: &str = "bar.sync 0;
        cvt.rn.f32.u32 %f30, %r0;
        st.shared.f32 [%r3], %f30;
        bar.sync 0;
        ld.shared.f32 %f1, [%r2+4];
        ld.shared.f32 %f11, [%r4+16];
        ld.shared.f32 %f2, [%r2+8];
        ld.shared.f32 %f12, [%r4+20];
        ld.shared.f32 %f3, [%r2+12];
        ld.shared.f32 %f13, [%r4+24];
        mov.f32 %f20, 0f3f800000;";

#[test]
fn chains_of_multiply_adds_give_what_each_by_itself_does() {
    for chain in [
        // All of it is summed; 1 + 4 + 10 + 18 for lanes that load the same words.
        "fma.rn.f32 %f21, %f1, %f11, %f20;
        fma.rn.f32 %f22, %f12, %f2, %f21;
        fma.rn.f32 %f23, %f3, %f13, %f22;",
        // In place.
        "fma.rn.f32 %f20, %f1, %f11, %f20;
        fma.rn.f32 %f20, %f12, %f2, %f20;
        fma.rn.f32 %f20, %f3, %f13, %f20;
        mov.f32 %f23, %f20;",
        // Something on the way, or a factor, is wanted later, too.
        "fma.rn.f32 %f21, %f1, %f11, %f20;
        fma.rn.f32 %f22, %f12, %f2, %f21;
        fma.rn.f32 %f23, %f3, %f13, %f22;
        add.f32 %f23, %f23, %f22;
        sub.f32 %f23, %f23, %f22;
        add.f32 %f23, %f23, %f13;
        sub.f32 %f23, %f23, 0f40c00000;",
        // Of registers.
        "mov.f32 %f24, %f13;
        mov.f32 %f25, %f12;
        fma.rn.f32 %f21, %f1, %f11, %f20;
        fma.rn.f32 %f22, %f25, %f2, %f21;
        fma.rn.f32 %f23, %f3, %f24, %f22;",
        // The sum is a factor of the next one: 5 = 1 + 4, 5 + 5 * 5, 30 + 3.
        "fma.rn.f32 %f21, %f1, %f11, %f20;
        fma.rn.f32 %f22, %f21, %f12, %f21;
        fma.rn.f32 %f23, %f3, 0f3f800000, %f22;",
    ] {
        let report = same(&format!("mov.u32 %r4, %r2;\n{ROWS}\n{chain}\nst.global.f32 [%rd0], %f23;"));
        assert!(report.faults.is_empty(), "{chain}: {:?}", report.faults);
        for base in ["mov.u32 %r4, %r2;", "mov.u32 %r4, %r3;"] {
            // Often enough that how the rows lie is known.
            let again = format!(
                "mov.u32 %r39, 0;
                AGAIN:
                {base}
                {ROWS}
                {chain}
                add.s32 %r39, %r39, 1;
                setp.lt.u32 %p1, %r39, 3;
                @%p1 bra AGAIN;
                st.global.f32 [%rd0], %f23;"
            );
            assert_eq!(first_of(&again), 33.0, "{base} {chain}");
        }
    }
}

#[test]
fn a_chain_behind_a_store_has_what_was_loaded_before_it() {
    let report = same(&format!(
        "add.s32 %r4, %r2, 0;
        {ROWS}
        bar.sync 0;
        ld.shared.f32 %f4, [%r3];
        ld.shared.f32 %f14, [%r4+28];
        ld.shared.f32 %f5, [%r3];
        ld.shared.f32 %f15, [%r4+32];
        st.shared.f32 [%r3], %f20;
        fma.rn.f32 %f21, %f4, %f14, %f20;
        fma.rn.f32 %f22, %f5, %f15, %f21;
        st.global.f32 [%rd0], %f22;"
    ));
    assert!(report.faults.iter().all(|fault| fault.kind == FaultKind::Race), "{:?}", report.faults);
}

#[test]
fn a_chain_keeps_the_one_payload_of_a_nan() {
    for value in ["0f7fc12345", "0fffc00001", "0f7f800000"] {
        let body = format!(
            "st.shared.f32 [%r3], {value};
            bar.sync 0;
            ld.shared.f32 %f1, [%r3];
            ld.shared.f32 %f2, [%r2];
            ld.shared.f32 %f3, [%r3];
            ld.shared.f32 %f4, [%r2+4];
            fma.rn.f32 %f5, %f1, %f2, 0fff800000;
            fma.rn.f32 %f6, %f3, %f4, %f5;
            st.global.f32 [%rd0], %f6;"
        );
        same(&body);
        let (_, memory) = run(&kernel(&body), 1);
        assert_eq!(memory[..4], 0x7fff_ffffu32.to_le_bytes(), "{value}");
    }
}

#[test]
fn a_chain_of_what_nothing_wrote_tells_of_it_once() {
    // In the first round all is known; in later ones the second row reaches what was never written.
    let report = same(
        "mul.lo.s32 %r20, %r39, 256;
        add.s32 %r20, %r20, %r2;
        mov.f32 %f8, 0f00000000;
        ld.shared.f32 %f0, [%r3];
        ld.shared.f32 %f1, [%r20];
        fma.rn.f32 %f9, %f0, %f1, %f8;
        ld.shared.f32 %f2, [%r3];
        ld.shared.f32 %f3, [%r20+128];
        fma.rn.f32 %f10, %f2, %f3, %f9;
        add.f32 %f10, %f10, 0f3f800000;
        st.global.f32 [%rd0], %f10;",
    );
    assert!(
        report.faults.iter().all(|fault| fault.kind == FaultKind::UninitializedRead),
        "{:?}",
        report.faults
    );
    assert!(!report.faults.is_empty());
}

#[test]
fn a_line_goes_on_behind_a_global_load_of_what_nothing_wrote() {
    let report = same(
        "ld.global.u32 %r10, [%rd2];
        add.s32 %r11, %r10, 1;
        ld.shared.u32 %r12, [%r3];
        mov.u32 %r13, 5;
        add.s32 %r13, %r13, %r12;
        st.global.u32 [%rd0], %r13;",
    );
    assert!(report.faults.is_empty(), "{:?}", report.faults);
    let report = same(
        "mov.u32 %r13, 5;
        ld.global.u32 %r10, [%rd2];
        add.s32 %r11, %r10, %r13;
        st.global.u32 [%rd0], %r11;
        mov.u32 %r14, 7;
        mov.u32 %r15, 8;",
    );
    assert_eq!(report.faults.len(), 1, "{:?}", report.faults);
    assert_eq!(report.faults[0].kind, FaultKind::UninitializedRead);
    // And no further than the line.
    let report = same(
        "mov.u32 %r13, 5;
        ld.global.u32 %r10, [%rd2];
        st.shared.u32 [%r3+512], %r13;
        bar.sync 0;
        ld.shared.u32 %r12, [%r2+1020];
        bar.sync 0;
        st.global.u32 [%rd0], %r12;",
    );
    assert!(report.faults.is_empty(), "{:?}", report.faults);
}

#[test]
fn what_was_loaded_before_a_store_stays_when_a_later_load_is_of_nothing() {
    let report = same(
        "shr.u32 %r20, %r39, 1;
        mul.lo.u32 %r20, %r20, 512;
        add.s32 %r20, %r20, %r3;
        mov.u32 %r13, 77;
        ld.shared.u32 %r12, [%r3];
        ld.shared.u32 %r17, [%r3];
        st.shared.u32 [%r3], %r13;
        ld.shared.u32 %r14, [%r20];
        add.s32 %r15, %r12, %r17;
        st.shared.u32 [%r3], %r0;
        st.global.u32 [%rd0], %r15;",
    );
    assert!(report.faults.is_empty(), "{:?}", report.faults);
}

#[test]
fn a_store_in_a_line_shows_that_a_loop_does_more_than_wait() {
    let text = ".version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 lock = 1;
.shared .align 16 .b8 tile[512];
.visible .entry k() {
.reg .b32 %r<6>;
mov.u32 %r0, %tid.x;
mov.u32 %r1, tile;
mov.u32 %r2, 0;
AGAIN:
atom.global.cas.b32 %r3, [lock], %r2, %r2;
mad.lo.u32 %r4, %r0, 4, %r1;
st.shared.u32 [%r4], %r0;
add.u32 %r5, %r0, 1;
bra AGAIN;
}";
    let module = ptx::parse(text).expect("parses");
    let run = |program: Program| {
        let mut launch = Launch::new([2, 1, 1], [128, 1, 1]);
        launch.fuel = 19_064;
        let report = launch.run(&program, &mut Device::new()).expect("runs");
        (report.counters, report.faults)
    };
    let program = || Program::new(&module, "k").expect("lowers");
    assert_eq!(run(program()), run(program().one_by_one()));
}
