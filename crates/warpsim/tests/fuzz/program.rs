//! Programs that mostly make sense: a kernel, two functions it calls, variables in every space.

use rand::Rng;
use rand::rngs::SmallRng;

use super::body::Body;
use super::operands::{REGISTERS, register, source};
use super::pick;

/// A module with the kernel `k`.
pub(crate) fn module(rng: &mut SmallRng) -> String {
    let kernel = function(rng, true);
    let first = function(rng, false);
    let second = function(rng, false);
    format!(
        ".version 8.0
.target sm_90
.address_size 64
.global .align 16 .b8 variable[160] = {{1, 2, 3, 4, 5, 6, 7, 8}};
.global .align 8 .u64 pointers[2] = {{variable, generic(table)}};
.global .align 1 .b8 format[12] = {{37, 100, 32, 37, 115, 37, 108, 102, 37, 42, 99, 0}};
.const .align 16 .b8 table[80] = {{9, 8, 7, 6}};
.shared .align 16 .b8 fixed[400];
.extern .shared .align 16 .b8 dynamic[];
.extern .func (.param .b32 result) vprintf (.param .b64 a, .param .b64 b);
.extern .func (.param .b64 result) malloc (.param .b64 a);
.extern .func free (.param .b64 a);
.func (.param .b32 result) f(.param .b32 number, .param .b64 pointer);
.func (.param .b32 result) g(.param .b32 number, .param .b64 pointer);
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 number, .param .align 8 .b8 bytes[40])
{{
{kernel}}}
.func (.param .b32 result) f(.param .b32 number, .param .b64 pointer)
{{
{first}}}
.func (.param .b32 result) g(.param .b32 number, .param .b64 pointer)
{{
{second}}}
"
    )
}

fn function(rng: &mut SmallRng, is_kernel: bool) -> String {
    let mut text = format!(
        ".reg .pred %p<{REGISTERS}>; .reg .b16 %h<{REGISTERS}>; .reg .b32 %r<{REGISTERS}>; .reg .b64 %d<{REGISTERS}>;
.reg .b64 %buffer<3>, %lane<3>, %generic<4>, %inlocal, %inparam; .reg .b32 %inshared, %count<6>;
.local .align 16 .b8 mine[96];
mov.u64 %inlocal, mine; mov.u32 %inshared, fixed; mov.u64 %inparam, 0;
"
    );
    if is_kernel {
        text += "ld.param.u64 %buffer0, [a]; ld.param.u64 %buffer1, [b]; ld.param.u64 %buffer2, [c];\n";
    } else {
        text += "ld.param.u64 %buffer0, [pointer]; mov.u64 %buffer1, variable; ld.param.u64 %buffer2, [pointer];\n";
    }
    text += "mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4;
add.u64 %lane0, %d0, %buffer0; add.u64 %lane1, %d0, %buffer1; add.u64 %lane2, %d0, %buffer2;
cvta.local.u64 %generic0, %inlocal; mov.u64 %generic1, fixed; cvta.shared.u64 %generic1, %generic1;
mov.u64 %generic2, table; cvta.const.u64 %generic2, %generic2; mov.u64 %generic3, variable;
";
    // Some registers begin with a value; reading one of the others is a fault of its own. But several instructions are
    // executed at once only while all registers hold something.
    let all_are_set = rng.random_bool(0.4);
    if all_are_set {
        text += "setp.eq.u32 %p0, %r0, 0; cvt.u16.u32 %h0, %r0;\n";
        for i in 1..REGISTERS {
            text += &format!(
                "mov.u32 %r{i}, {i}; mov.b64 %d{i}, {i}; mov.b16 %h{i}, {i}; setp.ne.u32 %p{i}, %r0, 3;\n"
            );
        }
        (0..6).for_each(|i| text += &format!("mov.u32 %count{i}, 0;\n"));
    }
    for i in 1..REGISTERS {
        if all_are_set || rng.random_bool(0.8) {
            text += &format!("mov.u32 %r{i}, {}; mov.b64 %d{i}, {};\n", source(rng, 'w'), source(rng, 'd'));
            text += &format!("cvt.u16.u32 %h{i}, %r{i}; setp.lt.u32 %p{i}, %r{i}, %r0;\n");
        }
    }
    let length = rng.random_range(3..40);
    let mut body = Body::new(is_kernel);
    if all_are_set && is_kernel {
        body.fill_shared();
        (0..rng.random_range(1..4)).for_each(|_| body.dot_product(rng));
    }
    for _ in 0..length {
        body.statement(rng, 0);
    }
    text += &body.finish(rng);
    if !is_kernel {
        text += &format!("st.param.b32 [result], {};\n", register(rng, 'w'));
    }
    text + pick(rng, &["ret;\n", "ret;\n", "exit;\n", ""]).expect("some")
}
