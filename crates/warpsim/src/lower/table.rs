//! The list of supported instructions in `docs/instructions.md`, made from the tables that decode them.

use ptx::Module;

use crate::alu::alu;
use crate::isa::{self, Form};
use crate::program::{LowerError, Program};

/// Instructions that are more than a function of registers, in the order of the dispatch in `instruction`.
const OTHERS: &[(&str, &[&str])] = &[
    (
        "Memory",
        &[
            "ld{.volatile|.relaxed.gpu|.acquire.gpu|}{.global|.shared|.local|.const|.param|}{.v2|.v4|}{.b8|.u16|.s32|.f32}",
            "ld{.global|}{.v2|}{.b64|.f64}",
            "ldu.global{.u32|.f32}",
            "st{.volatile|.relaxed.gpu|.release.gpu|}{.global|.shared|.local|.param|}{.v2|.v4|}{.b8|.u16|.s32|.f32}",
            "st{.global|}{.v2|}{.b64|.f64}",
            "atom{.global|.shared|}{.relaxed.gpu|.acq_rel.gpu|}{.add.u32|.add.s32|.add.u64|.add.f32|.add.f64|.min.s32|.max.u64|.inc.u32|.dec.u32|.and.b32|.or.b64|.xor.b32|.exch.b64|.cas.b32|.cas.b64}",
            "red{.global|.shared|}{.add.u32|.add.f32|.min.s32|.max.u64|.and.b32|.or.b64|.xor.b32}",
            "cp.async{.ca|.cg}.shared.global",
            "cp.async.commit_group",
            "cp.async{.wait_group|.wait_all}",
            "ldmatrix.sync.aligned.m8n8{.x1|.x2|.x4}{.trans|}.shared.b16",
            "{prefetch.global.L2|discard.global.L2|applypriority.global.L2::evict_normal}",
            "createpolicy.fractional.L2::evict_last.b64",
        ],
    ),
    (
        "Moving and addresses",
        &[
            "mov{.pred|.b16|.b32|.b64|.f32|.f64}",
            "cvta{.to|}{.global|.shared|.local|.const|.param}.u64",
            "isspacep{.global|.shared|.local|.const|.param}",
        ],
    ),
    ("Control flow", &["{bra|bra.uni|brx.idx|call|call.uni|ret|exit|trap|brkpt|nanosleep.u32|pmevent}"]),
    (
        "Barriers and fences",
        &[
            "{bar|barrier}{.sync|.arrive}",
            "{bar|barrier}.red{.popc.u32|.and.pred|.or.pred}",
            "bar.warp.sync",
            "mbarrier{.init|.inval|.arrive|.arrive.noComplete|.arrive_drop}{.shared|}.b64",
            "mbarrier{.test_wait|.try_wait}{.parity|}{.shared|}.b64",
            "mbarrier.pending_count.b64",
            "membar{.cta|.gl|.sys}",
            "fence{.sc|.acq_rel}{.cta|.gpu|.sys}",
        ],
    ),
    (
        "Warps",
        &[
            "shfl{.sync|}{.up|.down|.bfly|.idx}.b32",
            "vote{.sync|}{.all.pred|.any.pred|.uni.pred|.ballot.b32}",
            "match{.any|.all}.sync{.b32|.b64}",
            "redux.sync{.add.s32|.min.s32|.max.u32|.and.b32|.or.b32|.xor.b32}",
            "{activemask.b32|elect.sync}",
            "mma.sync.aligned{.m16n8k4|.m16n8k8}.row.col.f32.tf32.tf32.f32",
            "mma.sync.aligned{.m16n8k8|.m16n8k16}.row.col{.f32.f16.f16.f32|.f16.f16.f16.f16|.f32.bf16.bf16.f32}",
            "mma.sync.aligned.m8n8k4{.row|.col}{.row|.col}{.f32|.f16}.f16.f16{.f32|.f16}",
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
            "mma.sync.aligned{.m8n8k16|.m16n8k16|.m16n8k32}.row.col{.satfinite|}.s32{.u8|.s8}{.u8|.s8}.s32",
            "mma.sync.aligned{.m8n8k32|.m16n8k32|.m16n8k64}.row.col{.satfinite|}.s32{.u4|.s4}{.u4|.s4}.s32",
            "mma.sync.aligned{.m8n8k128|.m16n8k128|.m16n8k256}.row.col.s32.b1.b1.s32{.xor|.and}.popc",
            "wmma.load{.a|.b}.sync.aligned{.row|.col}{.m16n16k16|.m32n8k16|.m8n32k16}{.global|.shared|}{.f16|.bf16|.u8|.s8}",
            "wmma.load{.a|.b}.sync.aligned{.row|.col}.m16n16k8{.global|.shared|}.tf32",
            "wmma.load{.a|.b}.sync.aligned{.row|.col}.m8n8k4{.global|.shared|}.f64",
            "{wmma.load.a.sync.aligned.row|wmma.load.b.sync.aligned.col}{.m8n8k32.s4|.m8n8k32.u4|.m8n8k128.b1}",
            "wmma{.load.c|.store.d}.sync.aligned{.row|.col}{.m16n16k16|.m32n8k16|.m8n32k16}{.global|.shared|}{.f16|.f32|.s32}",
            "wmma{.load.c|.store.d}.sync.aligned{.row|.col}{.m16n16k8.f32|.m8n8k4.f64|.m8n8k32.s32|.m8n8k128.s32}",
            "wmma.mma.sync.aligned{.row|.col}{.row|.col}{.m16n16k16|.m32n8k16|.m8n32k16}{.f32.f32|.f32.f16|.f16.f32|.f16.f16}",
            "wmma.mma.sync.aligned{.row|.col}{.row|.col}{.m16n16k16|.m32n8k16|.m8n32k16}{.f32.bf16.bf16.f32|.s32.s8.s8.s32|.s32.u8.u8.s32}",
            "wmma.mma.sync.aligned{.row|.col}{.row|.col}{.m16n16k8.f32.tf32.tf32.f32|.m8n8k4.f64.f64.f64.f64}",
            "wmma.mma.sync.aligned.row.col.m8n8k32{.s32.s4.s4.s32|.s32.u4.u4.s32}",
            "wmma.mma{.xor|.and}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
        ],
    ),
];

fn table() -> String {
    let mut text = String::from(
        "# Supported instructions\n\nMade from the decode tables (`cargo test -p warpsim instructions`, with \
         `WARPSIM_BLESS=1` to write it). `{a|b|}` stands for each of its alternatives.\n",
    );
    for (title, patterns) in OTHERS {
        text.push_str(&format!("\n## {title}\n\n"));
        patterns.iter().for_each(|pattern| text.push_str(&format!("- `{pattern}`\n")));
    }
    text.push_str("\n## From registers to registers\n\n");
    isa::forms().for_each(|form| text.push_str(&format!("- `{}`\n", form.pattern)));
    text
}

/// What lowering says of an instruction without operands.
fn lower(name: &str) -> Result<Program, LowerError> {
    let text =
        format!(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{\n{name};\n}}\n");
    let module: Module = ptx::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    Program::new(&module, "k")
}

#[test]
fn instructions_in_the_list_are_known() {
    for (_, patterns) in OTHERS {
        for name in patterns.iter().flat_map(|p| Form::new(p, alu!(|a: bool| !a)).names()) {
            let known = !matches!(lower(&name), Err(LowerError::Unsupported { .. }));
            assert!(known, "`{name}` is in the list and not supported");
        }
    }
    assert!(matches!(lower("tex.1d.v4.f32.s32"), Err(LowerError::Unsupported { .. })));
}

#[test]
fn the_list_of_instructions_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/instructions.md");
    if std::env::var_os("WARPSIM_BLESS").is_some() {
        std::fs::write(path, table()).expect("the file can be written");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == table(), "docs/instructions.md is stale: run this test with WARPSIM_BLESS=1");
}
