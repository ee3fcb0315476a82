//! Small PTX programs of one register instruction each, from text to memory, against what an H200 computed.
//!
//! `isa/programs.txt` has a line for each: the instruction, its immediate, the kinds of its destinations and sources
//! (`p`redicate, `b`yte, `h`alf, `w`ord, `d`ouble word), the sources of some lanes, `=`, and the destinations.
//! `isa/record.py` wrote it, from the programs that [`kernel`] makes too.

use warpsim::{Checks, Device, Launch, Outcome, Program};

struct Case<'a> {
    name: &'a str,
    immediate: u32,
    destinations: &'a str,
    sources: &'a str,
    inputs: Vec<Vec<u64>>,
    outputs: Vec<Vec<u64>>,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let values = |word: &str| word.split(',').map(|bits| u64::from_str_radix(bits, 16).unwrap()).collect();
    text.lines()
        .map(|line| {
            let (before, after) = line.split_once(" = ").unwrap();
            let mut words = before.split(' ');
            let mut next = || words.next().unwrap();
            Case {
                name: next(),
                immediate: next().parse().unwrap(),
                destinations: next(),
                sources: next(),
                inputs: words.map(values).collect(),
                outputs: after.split(' ').map(values).collect(),
            }
        })
        .collect()
}

fn register(kind: char) -> &'static str {
    match kind {
        'p' => ".pred",
        'b' | 'h' => ".b16",
        'w' => ".b32",
        _ => ".b64",
    }
}

/// A kernel that loads each lane's sources, runs the instruction, and stores its destinations, 8 bytes a value.
fn kernel(number: usize, case: &Case<'_>) -> String {
    let mut text = format!(
        ".visible .entry k{number}(.param .u64 pin, .param .u64 pout) {{
.reg .b64 %in, %out, %t; .reg .b32 %n, %x;
ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];
mov.u32 %n, %tid.x;
mul.wide.u32 %t, %n, {}; add.u64 %in, %in, %t;
mul.wide.u32 %t, %n, {}; add.u64 %out, %out, %t;\n",
        8 * case.sources.len(),
        8 * case.destinations.len()
    );
    for (i, kind) in case.sources.chars().enumerate() {
        text += &format!(".reg {} %s{i};\n", register(kind));
        let at = format!("[%in+{}]", 8 * i);
        text += &match kind {
            'p' => format!("ld.global.u32 %x, {at}; setp.ne.u32 %s{i}, %x, 0;\n"),
            'b' => format!("ld.global.u8 %s{i}, {at};\n"),
            'h' => format!("ld.global.b16 %s{i}, {at};\n"),
            'w' => format!("ld.global.b32 %s{i}, {at};\n"),
            _ => format!("ld.global.b64 %s{i}, {at};\n"),
        };
    }
    for (i, kind) in case.destinations.chars().enumerate() {
        text += &format!(".reg {} %d{i};\n", register(kind));
    }
    text += &instruction(case);
    for (i, kind) in case.destinations.chars().enumerate() {
        text += &match kind {
            'p' => format!("selp.u32 %x, 1, 0, %d{i}; cvt.u64.u32 %t, %x;\n"),
            'd' => format!("mov.b64 %t, %d{i};\n"),
            'w' => format!("cvt.u64.u32 %t, %d{i};\n"),
            _ => format!("cvt.u64.u16 %t, %d{i};\n"),
        };
        text += &format!("st.global.b64 [%out+{}], %t;\n", 8 * i);
    }
    text + "ret; }\n"
}

fn list(prefix: &str, range: std::ops::Range<usize>, separator: &str) -> String {
    range.map(|i| format!("%{prefix}{i}")).collect::<Vec<_>>().join(separator)
}

fn instruction(case: &Case<'_>) -> String {
    let Case { name, immediate, sources, destinations, .. } = case;
    let parts: Vec<&str> = name.split('.').collect();
    let opcode = parts[0];
    let mut count = sources.len();
    match opcode {
        "mma" => {
            let [d, a, b, c] = [0, 4, 8, 12].map(|shift| (immediate >> shift & 15) as usize);
            let vector = |prefix, range| format!("{{{}}}", list(prefix, range, ", "));
            return format!(
                "{name} {}, {}, {}, {};\n",
                vector("d", 0..d),
                vector("s", 0..a),
                vector("s", a..a + b),
                vector("s", a + b..a + b + c)
            );
        }
        "atom" => {
            let bits = match destinations.chars().next() {
                Some('h') => 16,
                Some('w') => 32,
                _ => 64,
            };
            let (space, third) = (parts[1], if name.contains(".cas.") { ", %s2" } else { "" });
            let address = if space == "shared" {
                ".shared .align 8 .b8 memory[256]; .reg .b32 %m, %y; mov.u32 %m, memory; shl.b32 %y, %n, 3; \
                 add.u32 %m, %m, %y;"
            } else {
                ".reg .b64 %m; mov.b64 %m, %out;"
            };
            return format!(
                "{address}\nst.{space}.b{bits} [%m], %s0;\n{name} %d1, [%m], %s1{third};\nld.{space}.b{bits} %d0, [%m];\n"
            );
        }
        "lop3" if count == 4 => return format!("{name} %d0|%d1, %s0, %s1, %s2, {immediate}, %s3;\n"),
        "lop3" => return format!("{name} %d0, %s0, %s1, %s2, {immediate};\n"),
        _ => {}
    }
    let mut text = String::new();
    // The carry flag comes from an addition or a subtraction before, and goes to one after.
    if matches!(opcode, "addc" | "subc" | "madc") {
        count -= 1;
        text += &format!("selp.u32 %x, 1, 0, %s{count};\n");
        text += if opcode == "subc" { "sub.cc.u32 %x, 0, %x;\n" } else { "add.cc.u32 %x, %x, 0xffffffff;\n" };
    }
    if parts.contains(&"cc") {
        let after = if opcode.starts_with("sub") { "subc" } else { "addc" };
        return text
            + &format!(
                "{name} %d0, {};\n{after}.u32 %x, 0, 0; setp.ne.u32 %d1, %x, 0;\n",
                list("s", 0..count, ", ")
            );
    }
    let name = name.replace(".|q", "");
    text + &format!("{name} {}, {};\n", list("d", 0..destinations.len(), "|"), list("s", 0..count, ", "))
}

#[test]
fn programs_compute_what_the_hardware_does() {
    let cases = cases(include_str!("isa/programs.txt"));
    let mut wrong = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        // Approximations are compared, with their errors, where the instructions are.
        if case.name.contains(".approx") || case.name.contains(".full") {
            continue;
        }
        let text = format!(".version 8.6\n.target sm_90\n.address_size 64\n{}", kernel(number, case));
        match run(&text, number, case) {
            Ok(outputs) if outputs == case.outputs => {}
            Ok(outputs) => {
                wrong.push(format!(
                    "{} of {:x?} is {outputs:x?}, not {:x?}",
                    case.name, case.inputs, case.outputs
                ));
            }
            Err(problem) => wrong.push(format!("{}: {problem}\n{text}", case.name)),
        }
    }
    assert!(cases.len() > 1_500);
    assert!(
        wrong.is_empty(),
        "{} programs are wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
}

fn run(text: &str, number: usize, case: &Case<'_>) -> Result<Vec<Vec<u64>>, String> {
    let module = ptx::parse(text).map_err(|e| e.to_string())?;
    let program = Program::new(&module, &format!("k{number}")).map_err(|e| e.to_string())?;
    let mut device = Device::new();
    let bytes = case.inputs.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    let input = device.alloc_from("in", bytes);
    let output = device.alloc_from("out", vec![0; 8 * case.outputs.len() * case.destinations.len()]);
    let mut launch = Launch::new([1, 1, 1], [case.inputs.len() as u32, 1, 1]).arg(input).arg(output);
    launch.checks = Checks::ALL;
    launch.threads = Some(1);
    let report = launch.run(&program, &mut device).map_err(|e| e.to_string())?;
    if let Some(fault) = report.faults.first() {
        return Err(fault.to_string());
    }
    if report.outcome != Outcome::Completed {
        return Err(format!("{:?}", report.outcome));
    }
    let values: Vec<u64> = device
        .read(output)
        .chunks_exact(8)
        .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    Ok(values.chunks_exact(case.destinations.len()).map(<[u64]>::to_vec).collect())
}
