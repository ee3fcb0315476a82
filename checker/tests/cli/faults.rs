//! Kernels with one fault each, and right ones that look like them: `tests/faults/NAME.cu` says how to launch it (`// run:`),
//! and beside it stands the whole report. Those whose name ends in `_ok` are clean.
//!
//! A changed report is looked at by `cargo insta review`, or taken as it is by `INSTA_UPDATE=always`.

use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::scratch::Scratch;

#[test]
fn every_fault_is_reported_as_it_should_be() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults");
    let entries = std::fs::read_dir(&folder).expect("the folder");
    let mut kernels: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu" || extension == "ptx"))
        .collect();
    kernels.sort();
    let reports: Vec<(String, String)> = kernels.par_iter().map(|kernel| report(kernel)).collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    for (name, report) in &reports {
        insta::assert_snapshot!(name.as_str(), report);
    }
    for (name, report) in &reports {
        let has_finding = report.contains("error") || report.contains("warning");
        assert_eq!(!has_finding, name.ends_with("_ok"), "{name}:\n{report}");
    }
}

/// A kernel's name, and what its runs print.
fn report(kernel: &Path) -> (String, String) {
    let source = std::fs::read_to_string(kernel).expect("readable");
    let name = kernel.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
    let file = kernel.file_name().and_then(|file| file.to_str()).expect("a name");
    let scratch = Scratch::new();
    scratch.write(file, &source);
    let mut report = String::new();
    for line in source.lines().filter_map(|line| line.strip_prefix("// run: ")) {
        let arguments = ["run", file, "--no-counters"].into_iter().chain(line.split_whitespace());
        let (code, out, err) = scratch.run(&arguments.collect::<Vec<_>>());
        report += &format!("$ checker run {file} {line}\n{}{err}[exit code {code}]\n", settled(&out));
    }
    assert!(!report.is_empty(), "{name} says nowhere how to run it");
    (name, report)
}

/// A report without what differs from machine to machine or compiler to compiler.
fn settled(report: &str) -> String {
    let lines = report.lines().filter(|line| !line.contains(" registers per thread, "));
    let lines = lines.map(|line| match line.split_once(" in 0.") {
        Some((before, _)) if line.starts_with("clean") => before.to_owned(),
        _ => line.trim_end().to_owned(),
    });
    lines.map(|line| line + "\n").collect()
}
