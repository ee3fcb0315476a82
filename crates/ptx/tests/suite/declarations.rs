//! Functions, variables, registers and the other directives.

use ptx::{Initializer, RegisterDeclaration, StateSpace, Statement, Type, Variable};

use crate::{module, statements};

#[track_caller]
fn variable(text: &str) -> Variable {
    module(text).variables.remove(0)
}

fn integers(values: &[i128]) -> Vec<Initializer> {
    values.iter().copied().map(Initializer::Integer).collect()
}

#[test]
fn module_head() {
    let module =
        ptx::parse("// comment\n.version 6.0\n.target sm_70, texmode_independent, debug\n\0").unwrap();
    assert_eq!(module.version, (6, 0));
    assert_eq!(module.target, "sm_70");
    assert_eq!(module.address_size, 32, "what PTX assumes where none is given");
    assert_eq!(ptx::parse("\u{feff}.version 7.10\r\n.target sm_90a\r\n").unwrap().version, (7, 10));
}

#[test]
fn files_may_come_last() {
    let module =
        module(".entry k() { ret; }\n.file 1 \"/home/k.cu\"\n.file 2 \"C:\\\\a \\\"b\\\".h\", 12, 34");
    assert_eq!(module.files[&1], "/home/k.cu");
    assert_eq!(module.files[&2], "C:\\a \"b\".h");
}

#[test]
fn entry_with_directives() {
    let module = module(
        ".visible .entry k(.param .u64 .ptr .global .align 16 k_param_0, .param .u64 .ptr .align 1 p1,\n\
         .param .align 8 .b8 k_param_2[24], .param .f32 x)\n\
         .maxntid 16, 8\n.minnctapersm 4\n.maxnreg 40\n.reqnctapercluster 2, 1, 1\n.explicitcluster\n{ ret; }",
    );
    let kernel = module.function("k").unwrap();
    assert!(kernel.is_entry);
    assert_eq!(kernel.position.line, 4);
    assert_eq!(kernel.max_block, Some([16, 8, 1]));
    assert_eq!(kernel.required_block, None);
    assert_eq!((kernel.min_blocks_per_sm, kernel.max_registers), (Some(4), Some(40)));
    let [pointer, generic, structure, scalar] = &kernel.params[..] else { panic!("{:?}", kernel.params) };
    assert_eq!((pointer.pointee, pointer.align, pointer.ty), (Some(StateSpace::Global), None, Type::U64));
    assert_eq!((generic.pointee, generic.name.as_str()), (None, "p1"));
    assert_eq!((structure.size_bytes(), structure.alignment()), (24, 8));
    assert_eq!((scalar.space, scalar.ty, scalar.dims.len()), (StateSpace::Param, Type::F32, 0));
}

#[test]
fn block_limits_with_one_to_three_numbers() {
    let module =
        module(".entry a .reqntid 128 { }\n.entry b() .maxntid 1,2,3 { }\n.entry c() .reqntid 4, 5 { }");
    assert_eq!(module.function("a").unwrap().required_block, Some([128, 1, 1]));
    assert_eq!(module.function("b").unwrap().max_block, Some([1, 2, 3]));
    assert_eq!(module.function("c").unwrap().required_block, Some([4, 5, 1]));
    assert_eq!(module.entries().count(), 3);
}

#[test]
fn functions_and_declarations() {
    let module = module(
        ".extern .func (.param .b32 func_retval0) vprintf\n(\n.param .b64 p0,\n.param .b64 p1\n)\n;\n\
         .func f;\n.extern .entry later();\n\
         .weak .func (.reg .u32 r, .reg .f64 s) f (.reg .u32 a) .noreturn { ret; }\n\
         .func .attribute(.unified(1, 2)) g(.param .align 16 .b8 g_param_0[16]) { }\n.alias h, f;",
    );
    let print = module.function("vprintf").unwrap();
    assert!(!print.is_entry && print.body.is_none());
    assert_eq!((print.returns.len(), print.params.len()), (1, 2));
    let f = module.function("f").unwrap();
    assert!(f.body.is_some(), "the definition, not the declaration before it");
    assert_eq!((f.returns.len(), f.returns[1].ty, f.returns[1].space), (2, Type::F64, StateSpace::Register));
    assert_eq!(module.function("h").unwrap().name, "f");
    assert!(module.function("nothing").is_none());
    assert_eq!(module.entries().count(), 0, "a declaration is not a kernel to launch");
    assert_eq!(module.functions.len(), 5);
}

#[test]
fn registers() {
    let body =
        statements(".reg .b32 %r<48>, t;\n.reg .v4 .f32 %v;\n.reg .pred p, q;\n.reg .b128 %w<1000000>;");
    let found: Vec<_> = body
        .iter()
        .map(|statement| match statement {
            Statement::Registers(RegisterDeclaration { ty, vector, name, range, position }) => {
                (*ty, *vector, name.as_str(), *range, position.line)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        found,
        [
            (Type::B32, 1, "%r", Some(48), 5),
            (Type::B32, 1, "t", None, 5),
            (Type::F32, 4, "%v", None, 6),
            (Type::Pred, 1, "p", None, 7),
            (Type::Pred, 1, "q", None, 7),
            (Type::B128, 1, "%w", Some(1_000_000), 8),
        ]
    );
}

#[test]
fn variables_in_functions() {
    let body = statements(
        ".local .align 16 .b8 __local_depot0[64];\n.shared .align 4 .f32 tile[16][17];\n.param .b64 param0;",
    );
    let found: Vec<_> = body
        .iter()
        .map(|statement| match statement {
            Statement::Variable(v) => (v.space, v.name.as_str(), v.dims.clone(), v.size_bytes(), v.align),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        found,
        [
            (StateSpace::Local, "__local_depot0", vec![64], 64, Some(16)),
            (StateSpace::Shared, "tile", vec![16, 17], 1088, Some(4)),
            (StateSpace::Param, "param0", vec![], 8, None),
        ]
    );
}

#[test]
fn module_variables() {
    let module = module(
        ".extern .shared .align 16 .b8 pool[];\n.visible .global .align 4 .u32 a, b[(1<<4)+2];\n\
         .const .v4 .f32 quad;\n.global .attribute(.managed) .align 8 .f64 m = 0d3FF0000000000000;\n\
         .common .global .b16 c;\n.weak .const .align 2 .b16 d[2][3][4];\n.extern .global .u32 b[18];",
    );
    let pool = module.variable("pool").unwrap();
    assert!(pool.is_extern);
    assert_eq!((pool.space, &pool.dims[..], pool.size_bytes()), (StateSpace::Shared, &[0][..], 0));
    let b = module.variable("b").unwrap();
    assert!(!b.is_extern, "the definition, not the declaration");
    assert_eq!((b.size_bytes(), b.alignment()), (72, 4));
    let quad = module.variable("quad").unwrap();
    assert_eq!((quad.size_bytes(), quad.alignment(), quad.space), (16, 16, StateSpace::Constant));
    assert_eq!(module.variable("m").unwrap().init, [Initializer::Float(1.0)]);
    assert_eq!(module.variable("d").unwrap().size_bytes(), 48);
    assert_eq!(module.variables.len(), 8);
}

#[test]
fn initial_values() {
    for (text, wanted) in [
        (".global .u32 x = 5;", integers(&[5])),
        (".global .s32 x[3] = {-1, (1<<4)+3, 0x10};", integers(&[-1, 19, 16])),
        (".global .b8 x[4] = {};", vec![]),
        (".const .f32 x[2] = {0f3F800000, -2.5};", vec![Initializer::Float(1.0), Initializer::Float(-2.5)]),
        (".const .f64 x = 3;", vec![Initializer::Float(3.0)]),
        (".global .u32 x[3][2] = {{1}, {}, {5, 6}};", integers(&[1, 0, 0, 0, 5, 6])),
        (".global .u32 x[2][2][2] = {{{1}, {3, 4}}, {{5}}};", integers(&[1, 0, 3, 4, 5, 0, 0, 0])),
        (".global .v2 .u32 x[2] = {{1, 2}, {3, 4}};", integers(&[1, 2, 3, 4])),
        (".global .v4 .u32 x = {1, 2, 3, 4};", integers(&[1, 2, 3, 4])),
    ] {
        assert_eq!(variable(text).init, wanted, "{text}");
    }
}

#[test]
fn an_initialiser_closes_an_open_dimension() {
    assert_eq!(variable(".global .b8 x[] = {1, 2, 3};").dims, [3]);
    assert_eq!(variable(".global .b8 x[][4] = {{1}, {2}, {3}};").dims, [3, 4]);
    assert_eq!(variable(".global .v2 .b8 x[] = {{1, 2}, {3, 4}};").dims, [2]);
}

#[test]
fn addresses_as_initial_values() {
    let symbol = |name: &str, offset, generic, mask| Initializer::Symbol {
        name: name.to_owned(),
        offset,
        generic,
        mask,
    };
    let table = variable(
        ".global .u64 x[] = {f, table+8, generic(table), generic(table)+16, generic(table+4), generic, 0xFF00(x),\n\
         0XFF(generic(y)-4)};",
    );
    assert_eq!(
        table.init,
        [
            symbol("f", 0, false, None),
            symbol("table", 8, false, None),
            symbol("table", 0, true, None),
            symbol("table", 16, true, None),
            symbol("table", 4, true, None),
            symbol("generic", 0, false, None),
            symbol("x", 0, false, Some(0xFF00)),
            symbol("y", -4, true, Some(0xFF)),
        ]
    );
}

#[test]
fn debug_sections_are_skipped() {
    let module = module(
        ".entry k() { ret; }\n.section .debug_str\n{\n$L__info_string0:\n.b8 95,90,0\n}\n\
         .section .debug_info { .b32 466 .b8 2 .b32 .debug_abbrev .b64 $L__func_begin0 .b32 $a-$b }\n\
         .section .debug_macinfo { }",
    );
    assert_eq!(module.functions.len(), 1);
}

#[test]
fn sizes_of_types() {
    for (name, size) in
        [("b8", 1), ("pred", 1), ("bf16", 2), ("f16x2", 4), ("tf32", 4), ("s32", 4), ("f64", 8), ("b128", 16)]
    {
        assert_eq!(Type::from_name(name).unwrap().size_bytes(), size, "{name}");
    }
    assert_eq!(Type::from_name("global"), None);
    assert_eq!(StateSpace::from_name("const"), Some(StateSpace::Constant));
}
