use warpsim::{FaultKind, Outcome};

use super::support::{CALLS, Run, errors};

#[test]
fn lanes_recurse_to_different_depths() {
    let mut run = Run::new(CALLS, "recursion", 1, 50);
    let out = run.room(50);
    run.clean();
    let fib = |n: usize| [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89][n];
    assert_eq!(run.ints(out), (0..50).map(|i| fib(i % 12)).collect::<Vec<_>>());
}

#[test]
fn endless_recursion_overflows_the_stack() {
    let mut run = Run::new(CALLS, "no_end", 1, 64);
    run.room(64);
    let report = run.run();
    assert_eq!((report.outcome.clone(), errors(&report)), (Outcome::Aborted, vec![FaultKind::StackOverflow]));
    assert!(report.faults[0].party.at.is_some());
}

#[test]
fn tables_hold_pointers_to_functions() {
    let mut run = Run::new(CALLS, "pointers", 1, 64);
    let out = run.room(64);
    run.clean();
    let negate = |x: i32| if x == 7 { 700 } else { -x };
    let one = |i: i32| {
        let r = match i % 3 {
            _ if i % 5 == 0 => i,
            0 => 2 * i,
            1 => i * i,
            _ => negate(i),
        };
        [negate(r), 2 * r, r * r][i as usize / 8 % 3]
    };
    assert_eq!(run.ints(out), (0..64).map(one).collect::<Vec<_>>());
}

#[test]
fn structures_are_passed_and_returned_by_value() {
    let mut run = Run::new(CALLS, "structures", 1, 32);
    let numbers =
        run.device.alloc_from("numbers", (0..32).flat_map(|i: i32| (i * i).to_le_bytes()).collect());
    let mut item = vec![0u8; 32];
    item[0] = 5;
    item[8..16].copy_from_slice(&2.5f64.to_le_bytes());
    for (at, v) in [(16, 1i16), (18, 2), (20, 3)] {
        item[at..at + 2].copy_from_slice(&v.to_le_bytes());
    }
    item[24..].copy_from_slice(&run.device.address(numbers).to_le_bytes());
    run.arg(warpsim::Arg::Bytes(item));
    let out = run.room(64);
    run.clean();
    let values: Vec<f64> =
        run.device.read(out).chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    let one = |i: i32| {
        let (mut a, mut b) = (1, 2);
        if i & 1 == 0 {
            a += i
        } else {
            b += i
        }
        2.5 * f64::from(i) + 6.0 + f64::from(a) + 10.0 * f64::from(b) + 300.0 + f64::from(i * i)
    };
    assert_eq!(values, (0..32).map(one).collect::<Vec<_>>());
}

#[test]
fn local_arrays_are_indexed_at_run_time() {
    let mut run = Run::new(CALLS, "local_array", 2, 40);
    let out = run.room(40);
    run.launch.grid = [1, 1, 1];
    run.arg(31i32);
    run.clean();
    let one = |i: i32| {
        let mut a: Vec<i32> = (0..24).map(|k| k * i).collect();
        for k in 0..31usize {
            a.swap(k % 24, (k * 7 + i as usize) % 24);
        }
        a.iter().fold(0i32, |sum, v| sum.wrapping_mul(3).wrapping_add(*v))
    };
    assert_eq!(run.ints(out), (0..40).map(one).collect::<Vec<_>>());
}

#[test]
fn one_instruction_reads_every_kind_of_memory() {
    let mut run = Run::new(CALLS, "generic", 1, 64);
    run.words((0..70).map(|i| i * 100));
    let out = run.room(64);
    run.arg(2i32);
    run.clean();
    let one = |i: i32| match i % 4 {
        0 => (0..4).map(|k| 10 * (i / 4 + k)).sum(),
        1 => (0..4).map(|k| (k + 6 - 2) % 6 + i).sum(),
        2 => 1 + 2 + 3 + 5,
        _ => (0..4).map(|k| 100 * (i + k)).sum::<i32>(),
    };
    assert_eq!(run.ints(out), (0..64).map(one).collect::<Vec<_>>());
}

#[test]
fn initialised_variables_hold_addresses_of_others() {
    let mut run = Run::new(CALLS, "linked", 1, 32);
    let out = run.room(32);
    run.clean();
    assert_eq!(run.ints(out), (0..32).map(|i| (3 + i % 3) * 100 + 70 + 5).collect::<Vec<_>>());
}

#[test]
fn lanes_call_one_function_from_two_branches() {
    let mut run = Run::new(CALLS, "call_in_branch", 1, 32);
    let out = run.room(32);
    run.clean();
    let (low, high) = ((0..16).sum::<i32>() * 2 + 1, (16..32).sum::<i32>());
    assert_eq!(run.ints(out), (0..32).map(|i| if i & 16 != 0 { high } else { low }).collect::<Vec<_>>());
}

#[test]
fn arguments_may_be_registers_and_constants() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64
        .func (.param .b32 r) f(.param .b32 a, .param .b64 b) {
            .reg .b32 %r<4>; .reg .b64 %d;
            ld.param.u32 %r0, [a]; ld.param.u64 %d, [b]; cvt.u32.u64 %r1, %d;
            mad.lo.u32 %r2, %r0, 10, %r1; st.param.b32 [r], %r2; ret;
        }
        .visible .entry k(.param .u64 out) {
            .reg .b32 %t, %s; .reg .b64 %out, %x, %at;
            ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; cvt.u64.u32 %x, %t;
            call (%s), f, (3, %x);
            mad.wide.u32 %at, %t, 4, %out; st.global.u32 [%at], %s; ret;
        }";
    let mut run = Run::new(ptx, "k", 1, 32);
    let out = run.room(32);
    run.clean();
    assert_eq!(run.ints(out), (0..32).map(|t| 30 + t).collect::<Vec<_>>());
}
