//! Of `checker run`: what was left out of a file, and how it could be launched.

use super::{command, counted};
use crate::report::Note;
use crate::source::{Aside, Kernel};

/// What is worth knowing beside the verdict.
pub(crate) fn note(note: &Note) -> String {
    match note {
        Note::HostCode(host) => host_code(host),
        Note::LeftOut(headers) => {
            let names: Vec<String> = headers.iter().map(|name| format!("`{name}`")).collect();
            let are = if headers.len() == 1 { "is not here and was" } else { "are not here and were" };
            format!("{} {are} passed over; the kernels do without", names.join(", "))
        }
    }
}

/// That host code is not run. Functions have names worth telling; of variables, the number will do.
fn host_code(host: &[Aside]) -> String {
    let functions: Vec<&Aside> = host.iter().filter(|aside| aside.is_function).collect();
    let shown: Vec<String> = functions
        .iter()
        .take(3)
        .map(|aside| match aside.lines {
            (from, to) if from == to => format!("`{}` (line {from})", aside.name),
            (from, to) => format!("`{}` (lines {from} to {to})", aside.name),
        })
        .collect();
    let mut parts = shown;
    if functions.len() > 3 {
        parts.push(counted(functions.len() - 3, "more function"));
    }
    let variables = host.len() - functions.len();
    if variables > 0 {
        parts.push(counted(variables, "variable"));
    }
    format!(
        "host code is set aside: {}; the kernel gets what --grid, --block and --arg say",
        parts.join(", ")
    )
}

/// A name that only the host can use.
pub(crate) fn host_name(aside: &Aside) -> String {
    let (what, needs) = if aside.is_function {
        ("function", "`__device__`")
    } else {
        ("variable", "`__device__`, `__constant__` or `constexpr`")
    };
    format!(
        "`{}` is a {what} of the host (line {}); for a kernel to use it, it needs {needs} before its type",
        aside.name, aside.lines.0
    )
}

/// A file whose kernels are templates that nothing instantiates.
pub(crate) fn template_without_instance(kernel: &Kernel) -> String {
    format!(
        "`{}` is a template that nothing instantiates; name an instance of it, such as --kernel '{}<float>'",
        kernel.path, kernel.name
    )
}

/// Where `--grid` or `--block` is missing. `launches`: lines, and what to type for each.
pub(crate) fn extents_missing(launches: &[(u32, String)]) -> String {
    let missing = "--grid and --block are missing: how many blocks, and how many threads in each";
    if launches.is_empty() {
        return format!("{missing}; {} tells more", command("help run"));
    }
    let commands: Vec<String> =
        launches.iter().map(|(line, command)| format!("  line {line}:  {command}")).collect();
    format!("{missing}. The file's own launches would be\n{}", commands.join("\n"))
}
