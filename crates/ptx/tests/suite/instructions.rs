//! Instructions, operands, labels and blocks.

use ptx::{Address, Guard, Operand, Position, SourceLocation, Statement};

use crate::{instruction, name, operands, statements};

fn address(base: &str, offset: i64) -> Operand {
    Operand::Address(Address { base: Some(base.to_owned()), offset })
}

#[test]
fn opcode_and_modifiers() {
    let load = instruction("ld.global.L2::128B.v4.f32 {%f1, %f2, _, %f4}, [%rd1+16];");
    assert_eq!(load.opcode, "ld");
    assert_eq!(load.modifiers, ["global", "L2::128B", "v4", "f32"]);
    assert!(load.has("global") && load.has("v4") && !load.has("v2"));
    assert_eq!(load.full_opcode(), "ld.global.L2::128B.v4.f32");
    assert_eq!(load.operands[0], Operand::Vector(vec![name("%f1"), name("%f2"), Operand::Sink, name("%f4")]));
    assert_eq!(load.operands[1], address("%rd1", 16));
    assert_eq!(load.position, Position { line: 5, column: 1 });
    assert_eq!(load.guard, None);
}

#[test]
fn modifiers_may_stand_apart_and_begin_with_digits() {
    assert_eq!(
        instruction("atom .global.cta .add.u32 %r1, [%rd1], 1;").modifiers,
        ["global", "cta", "add", "u32"]
    );
    assert_eq!(instruction("tex.1d.v4.f32.s32 {a,b,c,d}, [t, {x}];").modifiers, ["1d", "v4", "f32", "s32"]);
    assert_eq!(
        instruction("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [a], b, [c];").modifiers,
        ["async", "shared::cluster", "mbarrier::complete_tx::bytes", "u32"]
    );
}

#[test]
fn no_operands() {
    let ret = instruction("ret;");
    assert!(ret.opcode == "ret" && ret.modifiers.is_empty() && ret.operands.is_empty());
    assert_eq!(instruction("cp.async.commit_group ;").modifiers, ["async", "commit_group"]);
}

#[test]
fn guards() {
    let guard = |register: &str, negated| Some(Guard { register: register.to_owned(), negated });
    let jump = instruction("  @%p1 bra $L__BB0_3;");
    assert_eq!(jump.guard, guard("%p1", false));
    assert_eq!(jump.operands, [name("$L__BB0_3")]);
    assert_eq!(jump.position.column, 3, "an instruction begins at its guard");
    assert_eq!(instruction("@!p bra.uni L;").guard, guard("p", true));
    assert_eq!(instruction("@ ! q exit;").guard, guard("q", true));
}

#[test]
fn pairs_negations_and_sinks() {
    let pair = |first, second| Operand::Pair(Box::new(first), Box::new(second));
    assert_eq!(
        operands("setp.lt.and.s32 p|q, %r1, -4, !r;"),
        [pair(name("p"), name("q")), name("%r1"), Operand::Integer(-4), Operand::Not("r".to_owned())]
    );
    assert_eq!(
        operands("shfl.sync.down.b32 %r1 | %p1, %r2, 16, 31, 0xffffffff;")[0],
        pair(name("%r1"), name("%p1"))
    );
    assert_eq!(operands("setp.eq.f32 _|q, a, b;")[0], pair(Operand::Sink, name("q")));
    assert_eq!(operands("atom.add.u32 _, [p], 1;")[0], Operand::Sink);
}

#[test]
fn addresses() {
    for (text, wanted) in [
        ("[%rd1]", address("%rd1", 0)),
        ("[ %rd1 + 0 ]", address("%rd1", 0)),
        ("[%rd1+8]", address("%rd1", 8)),
        ("[%rd1+-8]", address("%rd1", -8)),
        ("[%rd1-8]", address("%rd1", -8)),
        ("[%rd1+(1<<4)+3]", address("%rd1", 19)),
        ("[%rd1+0xFFFFFFFFFFFFFFFC]", address("%rd1", -4)),
        ("[k_param_0+4]", address("k_param_0", 4)),
        ("[%v.y+4]", address("%v.y", 4)),
        ("[1024]", Operand::Address(Address { base: None, offset: 1024 })),
        ("[(1<<4)+WARP_SZ]", Operand::Address(Address { base: None, offset: 48 })),
    ] {
        assert_eq!(operands(&format!("ld.u32 %r1, {text};"))[1], wanted, "{text}");
    }
}

#[test]
fn names_with_components_and_offsets() {
    assert_eq!(operands("mov.u32 %r1, %tid.x;"), [name("%r1"), name("%tid.x")]);
    assert_eq!(operands("vadd.u32.u32.u32 d, a.b0, b.h1, c;")[1], name("a.b0"));
    assert_eq!(operands("mov.u64 %rd1, table+4;")[1], Operand::Offset("table".to_owned(), 4));
    assert_eq!(operands("mov.u64 %rd1, table-4;")[1], Operand::Offset("table".to_owned(), -4));
    assert_eq!(operands("mov.u32 %r1, %laneid;")[1], name("%laneid"));
}

#[test]
fn brackets_with_several_parts() {
    let texture = operands("tex.2d.v4.f32.f32 {a,b,c,d}, [tex, sampler, {x, y}];");
    let coordinates = Operand::Vector(vec![name("x"), name("y")]);
    assert_eq!(texture[1], Operand::Bracketed(vec![name("tex"), name("sampler"), coordinates]));
    let tensor = operands("op [%rd1+64, {0, 1}], [bar];");
    let coordinates = Operand::Vector(vec![Operand::Integer(0), Operand::Integer(1)]);
    assert_eq!(tensor[0], Operand::Bracketed(vec![Operand::Offset("%rd1".to_owned(), 64), coordinates]));
}

#[test]
fn calls() {
    let list = |names: &[&str]| Operand::List(names.iter().map(|text| name(text)).collect());
    assert_eq!(
        operands("call (r), %rd1, (a, b), proto;"),
        [list(&["r"]), name("%rd1"), list(&["a", "b"]), name("proto")]
    );
    assert_eq!(operands("call.uni f;"), [name("f")]);
    assert_eq!(operands("call f, (param0);"), [name("f"), list(&["param0"])]);
    assert_eq!(operands("call.uni\n(retval0)\n,\nvprintf,\n(\nparam0,\nparam1\n)\n;").len(), 3);
    assert_eq!(
        operands("call f, (1, (2+3)*2, %r1);")[1],
        Operand::List(vec![Operand::Integer(1), Operand::Integer(10), name("%r1")])
    );
}

#[test]
fn labels_and_blocks() {
    let body = statements("{ .reg .b32 a; L: mov.b32 a, 1; bra.uni M; M: }\n$L__BB0_1 :\nret;\nend:");
    let kinds: Vec<String> = body
        .iter()
        .map(|statement| match statement {
            Statement::Instruction(instruction) => instruction.opcode.clone(),
            Statement::Label(label, position) => format!("{label}:{}:{}", position.line, position.column),
            Statement::Registers(registers) => format!("reg {}", registers.name),
            Statement::BlockStart(_) => "{".to_owned(),
            Statement::BlockEnd(_) => "}".to_owned(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        ["{", "reg a", "L:5:16", "mov", "bra", "M:5:44", "}", "$L__BB0_1:6:1", "ret", "end:8:1"]
    );
}

#[test]
fn jump_tables() {
    let body = statements("ts: .branchtargets L0, L1,\n L2;\nbrx.idx.uni %r1, ts;\nL0: L1: L2: ret;");
    let Statement::BranchTargets(table, targets, position) = &body[0] else { panic!("{:?}", body[0]) };
    assert_eq!((table.as_str(), position.line), ("ts", 5));
    assert_eq!(targets[..], ["L0", "L1", "L2"]);
    let Statement::Instruction(jump) = &body[1] else { panic!("{:?}", body[1]) };
    assert_eq!(jump.operands, [name("%r1"), name("ts")]);
}

#[test]
fn indirect_calls() {
    let body = statements(
        "p0: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[12]);\n\
         p1 : .callprototype ()_ (.param .b32 a) .noreturn;\n\
         p2: .callprototype _ ();\n\
         fs: .calltargets f, g;",
    );
    let Statement::CallPrototype { name, returns, params } = &body[0] else { panic!("{:?}", body[0]) };
    assert_eq!((name.as_str(), returns.len(), params.len()), ("p0", 1, 2));
    assert_eq!((params[1].name.as_str(), params[1].size_bytes(), params[1].align), ("", 12, Some(8)));
    let Statement::CallPrototype { returns, params, .. } = &body[1] else { panic!("{:?}", body[1]) };
    assert_eq!((returns.len(), params[0].name.as_str()), (0, "a"));
    assert!(matches!(&body[2], Statement::CallPrototype { params, .. } if params.is_empty()));
    assert!(
        matches!(&body[3], Statement::CallTargets(name, targets, _) if name == "fs" && targets[..] == ["f", "g"])
    );
}

#[test]
fn source_locations() {
    let body = statements(
        ".loc 1 34 0\n.loc\t1 19 5, function_name $L__info_string0, inlined_at 1 39 5\n\
         .loc 2 0 3, function_name $L__info_string0+16, inlined_at 1 7 1\nret;",
    );
    let place = |file, line, column, inlined_at| SourceLocation { file, line, column, inlined_at };
    let found: Vec<_> = body
        .iter()
        .filter_map(|statement| match statement {
            Statement::Location(location) => Some(location.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(
        found,
        [place(1, 34, 0, None), place(1, 19, 5, Some((1, 39, 5))), place(2, 0, 3, Some((1, 7, 1)))]
    );
}

#[test]
fn comments_pragmas_and_preprocessor_lines() {
    let body = statements(
        "# 1 \"kernel.cu\"\n  #line 3\n.pragma \"nounroll\";\n/* a\n b */ mov.u32 %r1 /* c */, 1; // d; e\n;;ret;",
    );
    let lines: Vec<_> = body
        .iter()
        .map(|statement| match statement {
            Statement::Instruction(instruction) => (instruction.opcode.as_str(), instruction.position.line),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lines, [("mov", 9), ("ret", 10)]);
}

#[test]
fn columns_count_characters() {
    let body = statements("/* 커널 */ ret;");
    assert!(
        matches!(&body[0], Statement::Instruction(ret) if ret.position == Position { line: 5, column: 10 })
    );
}

#[test]
fn printed_as_ptx() {
    for text in [
        "@!%p1 ld.global.nc.v2.f32 {%f1, _}, [%rd1-8];",
        "setp.lt.and.f64 %p1|%p2, %fd1, 0d3FF0000000000000, !%p3;",
        "mov.f32 %f1, 0fBF800000;",
        "call.uni (retval0), vprintf, (param0, param1);",
        "tex.2d.v4.f32.f32 {a, b, c, d}, [tex, {x, y}];",
        "mov.u64 %rd1, table+4;",
        "ld.u32 %r1, [1024];",
        "ret;",
    ] {
        assert_eq!(instruction(text).to_string(), text);
    }
}
