//! What is said about text that is not PTX, and where.

use crate::{kernel_text, module_text};

#[track_caller]
fn check(text: &str, place: (u32, u32), wanted: &str) {
    match ptx::parse(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => {
            let found = (error.position.line, error.position.column);
            assert!(
                error.message.contains(wanted),
                "wanted `{wanted}`, got `{}` for:\n{text}",
                error.message
            );
            assert_eq!(found, place, "{error}, in:\n{text}");
        }
    }
}

#[test]
fn the_whole_message() {
    let error = ptx::parse(&kernel_text("add.s32 %r1, %r2 %r3;")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "PTX line 5, column 18: expected `;` or `,` to go on with `add`, found `%r3`"
    );
}

#[test]
fn module_scope() {
    check("", (1, 1), "expected `.version`");
    check("int main() {}", (1, 1), "expected `.version`, with which PTX begins, found `int`");
    check(".version 8.0\n", (2, 1), "expected `.target`");
    check(".version eight\n", (1, 10), "a version such as `8.0`");
    check(".version 8.0\n.target sm_80\n.address_size 48", (3, 15), "32 or 64 bits, not 48");
    check(&module_text(".foo 3"), (4, 1), "unknown directive `.foo`");
    check(&module_text(".visible .bar x;"), (4, 1), "unknown directive `.bar`");
    check(&module_text(".local .b8 x;"), (4, 1), "`.local` variables are declared inside functions");
    check(&module_text("mov.u32 %r1, 0;"), (4, 1), "expected a directive such as `.entry`");
    check(&module_text(".section .debug_info { .b8 1"), (4, 29), "expected `}` at the end of the section");
    check(&module_text(".file 1 \"a\n\""), (4, 9), "this string is never closed");
    check(&module_text("  /* never"), (4, 3), "this comment is never closed");
    check(&module_text("\u{ac00}"), (4, 1), "unexpected character");
    check(&module_text(".alias a b;"), (4, 10), "expected `,` between the two names");
}

#[test]
fn functions() {
    check(&module_text(".entry () {}"), (4, 8), "expected the name of the function");
    check(&module_text(".entry k(.global .b32 a) {}"), (4, 10), "a parameter is `.param` or `.reg`");
    check(&module_text(".entry k(.param .b32 a .param .b32 b) {}"), (4, 24), "expected `)` or `,`");
    check(&module_text(".entry k() .maxntid x {}"), (4, 21), "expected a number of threads");
    check(&module_text(".entry k() .fast {}"), (4, 12), "unknown directive `.fast` in the head of `k`");
    check(&module_text(".entry k()"), (4, 11), "expected `{` or `;` after the head of `k`");
    check(&module_text(".entry k() {\n ret;"), (5, 6), "expected `}` to close the body of `k`");
    check(&kernel_text(".align 4;"), (5, 1), "unknown directive `.align` in a function");
}

#[test]
fn instructions() {
    check(&kernel_text("add.s32 %r1, ;"), (5, 14), "expected an operand, found `;`");
    check(&kernel_text("add.s32 %r1, %r2"), (6, 1), "expected `;` or `,` to go on with `add`, found `}`");
    check(&kernel_text("ret"), (6, 1), "found `}`");
    check(&kernel_text("ld.u32 %r1, [%rd1;"), (5, 18), "expected `]`");
    check(&kernel_text("ld.u32 %r1, [];"), (5, 14), "expected a constant");
    check(&kernel_text("ld.u32 %r1, [%rd1+%rd2];"), (5, 19), "expected a constant, found `%rd2`");
    check(&kernel_text("ld.u32 %r1, [%rd1+1.5];"), (5, 18), "`+` takes two integers or two doubles");
    check(&kernel_text("mov.b64 %rd1, {%r1, %r2;"), (5, 24), "expected `}`");
    check(&kernel_text("@%p1 ;"), (5, 6), "expected an instruction after the guard");
    check(&kernel_text("setp.eq.u32 p|3, a, b;"), (5, 15), "expected a register, found `3`");
    check(&kernel_text("t: .branchtargets ;"), (5, 19), "expected a label");
    check(&kernel_text("p: .callprototype (.param .b32 _);"), (5, 34), "`_` in the prototype");
    check(&kernel_text(".loc 1 2;"), (5, 9), "expected a column");
    check(&kernel_text(".loc 1 2 3, somewhere 3"), (5, 13), "goes on with `function_name` or `inlined_at`");
}

#[test]
fn numbers() {
    check(&kernel_text("mov.u32 a, 0x;"), (5, 12), "`0x` is not a number");
    check(&kernel_text("mov.u32 a, 089;"), (5, 12), "`089` is not a number");
    check(&kernel_text("mov.u32 a, 12ab;"), (5, 12), "`12ab` is not a number");
    check(&kernel_text("mov.u32 a, 0x10000000000000000;"), (5, 12), "is too large");
    check(&kernel_text("mov.f32 a, 0f3F8;"), (5, 12), "`0f` takes 8 hexadecimal digits");
    check(&kernel_text("mov.f64 a, 0d3FF;"), (5, 12), "`0d` takes 16 hexadecimal digits");
    check(&kernel_text("mov.f32 a, 0f+F800000;"), (5, 12), "is not a single-precision constant");
    check(&kernel_text("mov.f32 a, 1.5.2;"), (5, 12), "is not a floating-point number");
    check(&kernel_text("mov.u32 a, 1/0;"), (5, 13), "`/` by zero");
    check(&kernel_text("mov.u32 a, 1%0;"), (5, 13), "expected `;` or `,`");
    check(&kernel_text("mov.u32 a, ~1.5;"), (5, 12), "`~` takes an integer");
    check(&kernel_text("mov.u32 a, 1 + 1.5;"), (5, 14), "`+` takes two integers or two doubles");
    check(&kernel_text("mov.u32 a, (.f32)1;"), (5, 13), "constants are cast between `.s64` and `.u64`");
}

#[test]
fn declarations() {
    check(&kernel_text(".reg %r1;"), (5, 6), "expected a type such as `.b32`, found `%r1`");
    check(&kernel_text(".reg .b33 %r1;"), (5, 6), "expected a type such as `.b32`, found `.b33`");
    check(&kernel_text(".reg .b32 %r<x>;"), (5, 14), "expected the number of registers");
    check(&kernel_text(".reg .b32 %r<5000000000>;"), (5, 14), "5000000000 is too large");
    check(&kernel_text(".reg .b32 %r<4000000000>;"), (5, 1), "a function may declare 1048576 registers");
    check(&module_text(".global .align 3 .b32 x;"), (4, 16), "a power of two, not 3");
    check(&module_text(".global .b32 .u32 x;"), (4, 14), "a second type, `.u32`");
    check(&module_text(".global .texref t;"), (4, 9), "found `.texref`");
    check(&module_text(".global .b32 x[2][];"), (4, 19), "only the first dimension");
    check(&module_text(".global .b32 x[-1];"), (4, 16), "an array cannot have -1 elements");
    check(&module_text(".global .b32 x[1.5];"), (4, 16), "an integer");
    check(
        &module_text(".global .b64 x[0x7fffffffffffffff][0x7fffffffffffffff];"),
        (4, 1),
        "`x` is larger than any memory",
    );
}

#[test]
fn initialisers() {
    check(&module_text(".global .b32 x[2] = {1, 2, 3};"), (4, 21), "3 initial values for `x`, which has 2");
    check(&module_text(".global .b32 x[2][2] = {{1, 2, 3}};"), (4, 25), "3 initial values for a row of 2");
    check(
        &module_text(".global .b32 x[2] = {{{1}}};"),
        (4, 22),
        "more braces than the variable has dimensions",
    );
    check(&module_text(".global .b32 x = {1};"), (4, 18), "more braces than the variable has dimensions");
    check(&module_text(".global .b32 x[2] = {1 2};"), (4, 24), "expected `}` or `,`");
    check(&module_text(".global .b8 x[2] = {0xF0F(y)};"), (4, 21), "a mask of an address");
    check(
        &module_text(".global .b32 x[2][4000000000] = {{1}, {2}};"),
        (4, 34),
        "rows that are not written out add more than",
    );
}

#[test]
fn long_tokens_are_shortened_in_messages() {
    let error = ptx::parse(&"x".repeat(10_000)).unwrap_err();
    assert!(error.message.len() < 200, "{}", error.message.len());
}
