//! Whole modules that NVRTC wrote. The counts were taken from the text by other means than this parser, and the
//! instructions are printed again and compared with the text.

use std::path::PathBuf;

use ptx::{Initializer, Module, Statement};

/// Every sample: file name, definitions, declarations, kernels, module variables, instructions.
const SAMPLES: [(&str, usize, usize, usize, usize, usize); 12] = [
    ("asm", 1, 0, 1, 0, 28),
    ("asm_debug", 1, 0, 1, 0, 30),
    ("calls", 9, 8, 3, 9, 235),
    ("control", 1, 0, 1, 0, 150),
    ("control_13_sm100", 1, 0, 1, 0, 143),
    ("data", 1, 0, 1, 25, 144),
    ("data_13_sm100_debug", 1, 0, 1, 25, 210),
    ("linkage_rdc", 7, 2, 4, 4, 101),
    ("linkage_sm90", 7, 1, 5, 4, 78),
    ("templates", 3, 0, 3, 0, 181),
    ("tensor", 1, 0, 1, 0, 111),
    ("tensor_13_sm90", 1, 0, 1, 1, 109),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/ptx")
}

pub(crate) fn text(sample: &str) -> String {
    let path = folder().join(sample).with_extension("ptx");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn texts() -> impl Iterator<Item = (&'static str, String)> {
    SAMPLES.iter().map(|sample| (sample.0, text(sample.0)))
}

fn parsed(sample: &str) -> Module {
    ptx::parse(&text(sample)).unwrap_or_else(|error| panic!("{sample}: {error}"))
}

#[test]
fn every_sample_is_listed() {
    let files = std::fs::read_dir(folder()).unwrap().filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "ptx")
    });
    assert_eq!(files.count(), SAMPLES.len());
}

#[test]
fn counts() {
    for (sample, definitions, declarations, kernels, variables, instructions) in SAMPLES {
        let module = parsed(sample);
        let defined = module.functions.iter().filter(|function| function.body.is_some()).count();
        let found: usize = module.functions.iter().map(|function| function.instructions().count()).sum();
        assert_eq!(
            (defined, module.functions.len() - defined, module.entries().count()),
            (definitions, declarations, kernels),
            "{sample}"
        );
        assert_eq!((module.variables.len(), found), (variables, instructions), "{sample}");
        assert_eq!(module.files[&1], "/kernel.cu", "{sample}");
    }
}

/// Printing all instructions gives the text again: none is lost, invented, moved or changed.
#[test]
fn printed_again() {
    for (sample, text) in texts().filter(|(sample, _)| !sample.starts_with("asm")) {
        let text = squeezed(&text);
        let mut rest = text.as_str();
        for function in &parsed(sample).functions {
            for instruction in function.instructions() {
                let printed = squeezed(&instruction.to_string());
                let start = rest.find(&printed).unwrap_or_else(|| panic!("{sample}: no {instruction}"));
                assert_only_directives(&rest[..start], sample);
                rest = &rest[start + printed.len()..];
            }
        }
        assert_only_directives(rest, sample);
    }
}

/// Each statement that ends in `;` is a declaration.
fn assert_only_directives(gap: &str, sample: &str) {
    let ended = gap.rsplit_once(';').map_or("", |(before, _)| before);
    for statement in ended.split(';').filter(|statement| !statement.is_empty()) {
        let directives = [
            ".reg.",
            ".param.",
            ".local.",
            ".shared.",
            ".global.",
            ".const.",
            ".func",
            ".pragma",
            ".callprototype",
        ];
        let declares = directives.iter().any(|directive| statement.contains(directive));
        assert!(declares || statement == "}", "{sample}: lost {statement:?}");
    }
}

/// Without comments and blanks, and with numbers as `Display` writes them.
fn squeezed(text: &str) -> String {
    let bare: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace() && *c != '\0')
        .collect();
    let mut parts = bare.split("0x");
    let mut decimal = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
        decimal += &u64::from_str_radix(&part[..end], 16).unwrap().to_string();
        decimal += part[end..].strip_prefix('U').unwrap_or(&part[end..]);
    }
    decimal.replace("+0]", "]").replace("+-", "-")
}

#[test]
fn inline_assembly() {
    let module = parsed("asm");
    let printed: Vec<String> = module.functions[0].instructions().map(ToString::to_string).collect();
    for wanted in [
        "setp.lt.u32 p|q, %r5, 5;",
        "mov.u32 t0, 16;",
        "@p add.u32 t0, t0, 19;",
        "@!q mov.u32 t0, %laneid;",
        "selp.u32 %r1, t0, 63, p;",
        "bra.uni L_out_0;",
    ] {
        assert!(printed.iter().any(|instruction| instruction == wanted), "{wanted} in {printed:#?}");
    }
}

#[test]
fn lines_of_the_kernel() {
    let module = parsed("control");
    let body = module.function("control").unwrap().body.as_ref().unwrap();
    let line_of_the_store = body.iter().enumerate().find_map(|(index, statement)| match statement {
        Statement::Instruction(instruction) if instruction.opcode == "atom" => {
            body[..index].iter().rev().find_map(|before| match before {
                Statement::Location(location) if location.line > 0 => Some(location.line),
                _ => None,
            })
        }
        _ => None,
    });
    let source = std::fs::read_to_string(folder().join("control.cu")).unwrap();
    let line = source.lines().position(|line| line.contains("atomicAdd")).unwrap() as u32 + 1;
    assert_eq!(line_of_the_store, Some(line));
}

#[test]
fn initial_values() {
    let module = parsed("data");
    let init = |name: &str| module.variable(name).unwrap().init.clone();
    let symbol =
        |name: &str, offset| Initializer::Symbol { name: name.to_owned(), offset, generic: true, mask: None };
    assert_eq!(init("rows"), [symbol("table", 0), symbol("table", 16), symbol("table", 44)]);
    assert_eq!(init("pi"), [Initializer::Float(std::f64::consts::PI)]);
    assert_eq!(init("counter_address"), [symbol("counter", 0)]);
    let bytes: Vec<u8> = init("weights")
        .iter()
        .map(|value| match value {
            Initializer::Integer(value) => u8::try_from(*value).unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    let weights: Vec<f32> =
        bytes.chunks(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(weights, [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]);
    let masks: Vec<_> = init("really_packed")
        .into_iter()
        .filter_map(|value| match value {
            Initializer::Symbol { mask, .. } => mask,
            _ => None,
        })
        .collect();
    assert_eq!(masks, (0..8).map(|byte| 0xFF << (8 * byte)).collect::<Vec<u64>>());
}
