//! Which instructions of PTX files the simulator does not know: `cargo run --example unsupported -- FILE...`.
//!
//! Each is counted once for every kernel that needs it. Exit code 1 if there are any, or text that makes no sense.

use std::collections::BTreeMap;
use std::process::ExitCode;

use ptx::{Module, Statement};
use warpsim::{LowerError, Program};

fn main() -> ExitCode {
    let mut unknown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut files, mut kernels) = (0, 0);
    for path in std::env::args().skip(1) {
        files += 1;
        let parsed = std::fs::read_to_string(&path)
            .map_err(|e| e.to_string())
            .and_then(|text| ptx::parse(text.trim_end_matches('\0')).map_err(|e| e.to_string()));
        let mut module = match parsed {
            Ok(module) => module,
            Err(problem) => {
                unknown.entry(problem).or_default().push(path);
                continue;
            }
        };
        let names: Vec<String> = module
            .functions
            .iter()
            .filter(|f| f.is_entry && f.body.is_some())
            .map(|f| f.name.clone())
            .collect();
        for name in names {
            kernels += 1;
            // An unknown instruction ends lowering: take it out and go on behind it.
            while let Err(problem) = Program::new(&module, &name) {
                let LowerError::Unsupported { opcode, line, .. } = &problem else {
                    unknown.entry(problem.to_string()).or_default().push(path.clone());
                    break;
                };
                unknown.entry(opcode.clone()).or_default().push(path.clone());
                if !remove(&mut module, *line) {
                    break;
                }
            }
        }
    }
    for (what, paths) in &unknown {
        println!("{:5}  {what}  ({})", paths.len(), paths[0]);
    }
    println!("{files} files, {kernels} kernels, {} instructions not supported", unknown.len());
    if unknown.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Takes out the instructions at a line of the PTX text; whether there were any.
fn remove(module: &mut Module, line: u32) -> bool {
    let mut any = false;
    for body in module.functions.iter_mut().filter_map(|f| f.body.as_mut()) {
        let before = body.len();
        body.retain(|s| !matches!(s, Statement::Instruction(i) if i.position.line == line));
        any |= body.len() != before;
    }
    any
}
