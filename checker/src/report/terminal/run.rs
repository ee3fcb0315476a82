//! What `checker run` found.

use owo_colors::OwoColorize;
use serde_json::Value;

use super::excerpt::{self, Source};
use super::judgement::rejection;
use super::out::println;
use super::table::Table;
use super::text::{paragraph, printable_lines};
use crate::message;
use crate::report::{Run, RunVerdict};
use crate::submission::Submission;
use crate::workspace::Workspace;

pub(crate) fn run(submission: &Submission, run: &Run) {
    let path = Workspace::shown(&submission.path);
    let source = Source { path: &path, text: &submission.text };
    for note in &run.notes {
        println!("{}\n", paragraph(&format!("note: {}", message::run::note(note)), "      "));
    }
    if let Some(why) = &run.rejection {
        rejection(why, source);
    }
    for finding in &run.findings {
        println!("{}\n", excerpt::finding(finding, None, source));
    }
    if !run.printed.is_empty() {
        println!(
            "{}\n{}\n",
            "printed by the kernel:".bold(),
            printable_lines(run.printed.trim_end_matches('\n'))
        );
    }
    if let Some(counters) = &run.counters {
        counted(&serde_json::to_value(counters).unwrap_or_default());
    }
    let resources = run.resources;
    if resources.registers_per_thread > 0 {
        println!(
            "{} registers per thread, {} bytes of static shared memory, {} bytes of spills\n",
            resources.registers_per_thread, resources.static_shared_bytes, resources.spill_bytes
        );
    }
    if let Some((gpu, occupancy)) = &run.occupancy {
        println!("{}\n", paragraph(&message::occupancy(gpu, *occupancy), "  "));
    }
    let errors = run.findings.iter().filter(|finding| finding.is_error).count();
    match run.verdict {
        RunVerdict::Clean => {
            let machine = run.gpu.as_deref().unwrap_or("warpsim");
            // Warnings alone make no kernel wrong.
            let but = match run.findings.len() {
                0 => String::new(),
                warnings => format!(" but for {}", message::counted(warnings, "warning")),
            };
            println!("{}{but} in {:.3} s on {machine}", "clean".green().bold(), run.seconds);
        }
        RunVerdict::Faults => println!("{}", message::counted(errors, "fault").red().bold()),
        RunVerdict::Timeout => println!("{}", "timeout: the kernel did not finish".red().bold()),
        RunVerdict::CompileError => println!("{}", "compile error".red().bold()),
        RunVerdict::LaunchError => println!("{}", "launch error".red().bold()),
        RunVerdict::Unsupported => println!("{}", "unsupported: no verdict".yellow().bold()),
    }
}

/// The counters that are not zero.
fn counted(counters: &Value) {
    let mut table = Table::new(&["counter", "value"]);
    for (name, value) in
        counters.as_object().into_iter().flatten().filter(|(_, value)| value.as_u64() != Some(0))
    {
        table.row([name.clone(), value.to_string()]);
    }
    let lines = table.lines();
    if lines.len() > 1 {
        println!("{}", lines[0].dimmed());
        lines[1..].iter().for_each(|line| println!("{line}"));
        println!();
    }
}
