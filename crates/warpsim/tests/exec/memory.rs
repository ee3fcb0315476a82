use warpsim::{FaultKind, Outcome};

use super::support::{MEMORY, Run, errors};

#[test]
fn narrow_loads_extend_as_their_type_says() {
    let mut run = Run::new(MEMORY, "narrow", 1, 64);
    let byte = |t: i32| (t * 37 % 256) as u8;
    let half = |t: i32| (t * 3001 % 65536) as u16;
    run.bytes((0..64).map(byte).collect());
    run.bytes((0..64).map(byte).collect());
    run.bytes((0..64).flat_map(|t| half(t).to_le_bytes()).collect());
    run.bytes((0..64).flat_map(|t| half(t).to_le_bytes()).collect());
    let out = run.room(128);
    run.clean();
    let one = |t: i32| {
        let (b, h) = (byte(t), half(t));
        i64::from(b as i8)
            + 1000 * i64::from(b)
            + 1_000_000 * i64::from(h as i16)
            + 1_000_000_000_000 * i64::from(h)
    };
    let values: Vec<i64> =
        run.device.read(out).chunks_exact(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(values, (0..64).map(one).collect::<Vec<_>>());
}

#[test]
fn narrow_stores_leave_their_neighbours_alone() {
    let mut run = Run::new(MEMORY, "narrow_stores", 1, 50);
    let c = run.bytes(vec![9; 52]);
    let s = run.bytes(vec![9; 104]);
    run.arg(-7i32);
    run.clean();
    let (bytes, halves) = (run.device.read(c), run.device.read(s));
    for t in 0..50 {
        assert_eq!(bytes[t] as i8, (t as i32 * -7) as i8);
        assert_eq!(i16::from_le_bytes([halves[2 * t], halves[2 * t + 1]]), (t as i32 * -7 * 77) as i16);
    }
    assert_eq!((&bytes[50..], &halves[100..]), (&[9; 2][..], &[9; 4][..]));
}

#[test]
fn vectors_move_whole_and_must_be_aligned() {
    let widths = [("copy2", 8), ("copy4", 16), ("copy_double2", 16), ("copy_uchar4", 4), ("copy_short2", 4)];
    for (kernel, width) in widths {
        let bytes = 32 * width + width;
        let data: Vec<u8> = (0..bytes).map(|i| (i * 31 % 251) as u8).collect();
        for shift in [0, width / 2, width] {
            let mut run = Run::new(MEMORY, kernel, 1, 32);
            run.bytes(data.clone());
            let out = run.bytes(vec![0; bytes]);
            run.arg(shift as i32);
            let report = run.run();
            if shift == width / 2 {
                assert!(errors(&report).contains(&FaultKind::Misaligned), "{kernel}: {:?}", report.faults);
                assert_eq!(run.device.read(out), vec![0; bytes], "{kernel}: nothing is written");
                // The load and the store are on one line, but of two buffers.
                assert_eq!(report.faults.iter().map(|fault| fault.count).collect::<Vec<_>>(), [32, 32]);
            } else {
                assert!(report.is_clean(), "{kernel}: {:?}", report.faults);
                assert_eq!(run.device.read(out)[shift..shift + 32 * width], data[shift..shift + 32 * width]);
            }
        }
    }
}

#[test]
fn every_lane_that_reads_through_a_null_pointer_is_told() {
    for address in [0u64, 1, 7 << 34] {
        let mut run = Run::new(MEMORY, "through_null", 1, 32);
        run.arg(address);
        let _out = run.room(8);
        let report = run.run();
        assert_eq!(report.faults[0].kind, FaultKind::OutOfBounds);
        assert_eq!(report.faults[0].count, 32, "address {address:#x}");
    }
}

#[test]
fn empty_buffers_have_no_byte_to_read() {
    let mut run = Run::new(MEMORY, "through_null", 1, 32);
    run.bytes(Vec::new());
    run.room(0);
    let report = run.run();
    assert_eq!(errors(&report)[0], FaultKind::OutOfBounds);
    assert_eq!(report.outcome, Outcome::Completed);
}

#[test]
fn printf_writes_as_c_does() {
    let mut run = Run::new(MEMORY, "say", 1, 32);
    run.arg(2i32);
    let report = run.clean();
    let expected = "0| 0.00|text|a|0xff|1099511627776|0   |%|1.234568e+04\n\
                    1| 0.50|text|b|0xff|1099511627776|1   |%|1.234568e+04\n";
    assert_eq!(report.printed, expected);
}

#[test]
fn a_failed_assertion_and_a_trap_end_the_launch() {
    let mut run = Run::new(MEMORY, "claim", 1, 32);
    run.words((0..32).map(|i| 9 - i));
    let report = run.run();
    assert_eq!((report.outcome.clone(), errors(&report)), (Outcome::Aborted, vec![FaultKind::Assert]));
    assert_eq!(report.faults[0].party.thread, [10, 0, 0]);
    assert!(report.faults[0].to_string().contains("v >= 0"));

    let mut run = Run::new(MEMORY, "trapped", 1, 32);
    run.words(0..32);
    let report = run.run();
    assert_eq!((report.outcome.clone(), errors(&report)), (Outcome::Aborted, vec![FaultKind::Trap]));
    assert_eq!(report.faults[0].party.thread, [3, 0, 0]);
}

#[test]
fn an_asynchronous_copy_reads_no_more_than_it_is_told_to() {
    let mut run = Run::new(MEMORY, "async_tail", 1, 32);
    // The last lane that copies reads 8 bytes of its 16: the buffer ends there.
    let n = 4 * 20 + 2;
    run.bytes((0..n).flat_map(|i| (i as f32).to_le_bytes()).collect());
    let out = run.room(128);
    run.arg(n);
    run.clean();
    let expected: Vec<i32> = (0..128).map(|i| if i < n { (i as f32).to_bits() as i32 } else { 0 }).collect();
    assert_eq!(run.ints(out), expected);
}

/// What one block loads into a register and never looks at is no fault, nor is it one of the blocks that run after it.
#[test]
fn what_a_register_held_in_another_block_is_forgotten() {
    let text = ".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 fresh, .param .u64 out) {
.reg .pred %p<2>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
ld.param.u64 %rd0, [fresh];
ld.param.u64 %rd1, [out];
mov.u32 %r0, %ctaid.x;
and.b32 %r1, %r0, 1;
setp.eq.u32 %p0, %r1, 1;
@%p0 bra ODD;
ld.global.u32 %r2, [%rd0];
bra END;
ODD:
mov.u32 %r2, 0;
ld.global.u32 %r3, [%rd0];
mul.wide.u32 %rd2, %r2, 4;
add.s64 %rd2, %rd2, %rd1;
st.global.u32 [%rd2], %r0;
END:
ret;
}";
    let mut run = Run::new(text, "k", 64, 1);
    run.room(1);
    run.words([0]);
    let report = run.run();
    // (All odd blocks store to one place.)
    let others: Vec<_> = report.faults.iter().filter(|fault| fault.kind != FaultKind::Race).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// A kernel of one pointer, `%rd0`, and dynamic shared memory at `%r0`, with `%r1` and `%r2` for results.
fn with_pointer(body: &str) -> Run {
    Run::new(
        &format!(
            ".version 8.0
.target sm_80
.address_size 64
.extern .shared .align 4 .b8 dynamic[];
.visible .entry k(.param .u64 out) {{
.reg .b32 %r<4>;
.reg .b64 %rd<2>;
ld.param.u64 %rd0, [out];
mov.u32 %r0, dynamic;
{body}
ret;
}}"
        ),
        "k",
        1,
        32,
    )
}

#[test]
fn an_atomic_on_what_nobody_wrote_is_told_unless_it_does_not_mind() {
    for (operation, minds) in [
        ("atom.global.add.u32 %r1, [%rd0], 1;", true),
        ("red.global.max.s32 [%rd0], 7;", true),
        ("atom.global.cas.b32 %r1, [%rd0], 0, 1;", true),
        ("atom.shared.inc.u32 %r1, [%r0], 7;", true),
        ("atom.global.exch.b32 %r1, [%rd0], 1;", false),
        ("red.global.and.b32 [%rd0], 0;", false),
    ] {
        let mut run = with_pointer(operation);
        run.room(1);
        run.launch.shared_bytes = 4;
        let report = run.run();
        let expected = if minds { vec![FaultKind::UninitializedRead] } else { vec![] };
        assert_eq!(errors(&report), expected, "{operation}");
        if let Some(fault) = report.faults.first() {
            assert!(fault.to_string().contains("goes into what is stored there"), "{fault}");
        }
        let mut run =
            with_pointer(&format!("mov.u32 %r2, 0;\nst.shared.u32 [%r0], %r2;\nbar.sync 0;\n{operation}"));
        run.words([0]);
        run.launch.shared_bytes = 4;
        // (All lanes store the same to one place.)
        assert!(errors(&run.run()).is_empty(), "{operation}");
    }
}

#[test]
fn dynamic_shared_memory_is_as_long_as_the_launch_says() {
    let mut run = with_pointer("mov.u32 %r1, 1;\nst.shared.u32 [%r0+400], %r1;");
    run.words([0]);
    for (bytes, told) in [
        (256, "`dynamic[100]` on line 11, but `dynamic` has 64 elements"),
        (0, "the launch asks for no dynamic shared memory"),
    ] {
        run.launch.shared_bytes = bytes;
        let report = run.run();
        assert!(report.faults[0].to_string().contains(told), "{}", report.faults[0]);
    }
}
