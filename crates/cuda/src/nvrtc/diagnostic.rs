//! The compiler's log, read into typed messages about the learner's file.
//!
//! NVRTC's front end prints a block per message, ended by an empty line:
//!
//! ```text
//! kernel.cu(3): error: identifier "x" is undefined
//!       int a = x;
//!               ^
//!           detected during instantiation of ...
//! ```
//!
//! The source line is indented by two and followed by a caret; every other line of a block belongs to the message.
//! The assembler prints single lines: `ptxas error   : ...`, or `ptxas application ptx input, line 28; error   : ...`,
//! where the line is the PTX's and its `.loc` names the source's.
//!
//! Only the learner's own file is ever quoted. A message from a header that the learner included is moved to the
//! `#include`; a message from any other file is replaced, so that no foreign content gets out.

mod absent;

use serde::Serialize;

use super::serve::ASSEMBLERS_PLACE;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The kernel does not compile.
    Error,
    /// It compiles, but look.
    Warning,
    /// Remarks.
    Note,
}

/// One message about the learner's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file's name as the request gave it.
    pub file: String,
    /// Line, from 1; none where the compiler does not say.
    pub line: Option<u32>,
    /// Column in characters, from 1; a tab counts as one.
    pub column: Option<u32>,
    /// The compiler's number for it, such as `177-D`.
    pub code: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What belongs to it: candidates, instantiations, advice.
    pub notes: Vec<String>,
}

/// What the log is read against.
pub(super) struct Context<'a> {
    /// The learner's file, as NVRTC was told.
    pub(super) file: &'a str,
    /// Its text, to find `#include` lines.
    pub(super) source: &'a str,
    /// Names of the virtual headers.
    pub(super) headers: Vec<&'a str>,
    /// Those that came with the request, and their texts.
    pub(super) given: &'a [(&'a str, &'a str)],
    /// Whether CUDA's device headers are at hand.
    pub(super) has_cuda_headers: bool,
    /// The PTX that the assembler's messages speak of; may be empty.
    pub(super) ptx: &'a str,
}

/// Reads all messages. Equal ones are given once.
pub(super) fn parse(log: &str, context: &Context<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut block: Vec<&str> = Vec::new();
    let mut finish = |block: &mut Vec<&str>| {
        // Of an instance that cannot be made, the first message says why.
        let raw = Raw::read(block).filter(|raw| found.is_empty() || !raw.repeats_instance());
        if let Some(diagnostic) = raw.map(|raw| raw.for_learner(context))
            && !found.contains(&diagnostic)
        {
            found.push(diagnostic);
        }
        block.clear();
    };
    for line in log.lines() {
        let starts = Raw::head(line).is_some() || line.starts_with("ptxas") || is_summary(line);
        if line.trim().is_empty() || starts {
            finish(&mut block);
        }
        if !line.trim().is_empty() && !is_summary(line) {
            block.push(line);
        }
    }
    finish(&mut block);
    found
}

/// Says with the first error which headers were passed over: what is missing may be theirs.
pub(super) fn blame_left_out(diagnostics: &mut [Diagnostic], left_out: &[String]) {
    if let Some(first) = diagnostics.iter_mut().find(|one| one.severity == Severity::Error) {
        first.notes.extend(left_out.iter().map(|name| absent::left_out(name)));
    }
}

/// Lines that count messages or tell how to silence them.
fn is_summary(line: &str) -> bool {
    line.contains("detected in the compilation of")
        || line.starts_with("Compilation terminated")
        || line.starts_with("Compilation aborted")
        || line.starts_with("Remark: The warnings can be suppressed")
        || line.starts_with("ptxas info")
        || line.starts_with("ptxas         .")
        || line.starts_with("ptxas fatal   : Ptx assembly aborted")
}

/// A block as it was printed.
struct Raw<'a> {
    head: Head<'a>,
    column: Option<u32>,
    /// The line of the source that it is about.
    echo: Option<&'a str>,
    notes: Vec<&'a str>,
}

struct Head<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    severity: Severity,
    code: Option<&'a str>,
    message: &'a str,
}

impl<'a> Raw<'a> {
    fn read(block: &[&'a str]) -> Option<Self> {
        let (first, rest) = block.split_first()?;
        let head = Self::head(first)?;
        let caret = rest.iter().position(|line| line.trim() == "^");
        // The caret line repeats the indentation of two that the source line got.
        let column = caret
            .and_then(|at| rest[at].chars().position(|c| c == '^'))
            .and_then(|at| u32::try_from(at.checked_sub(1)?).ok().filter(|&column| column > 0));
        let quoted = caret.and_then(|at| rest.get(at.checked_sub(1)?)).map(|line| line.trim());
        let echo = caret.map(|at| at.saturating_sub(1)..=at);
        let notes = rest
            .iter()
            .enumerate()
            .filter(|(at, _)| echo.as_ref().is_none_or(|echo| !echo.contains(at)))
            .map(|(_, line)| line.trim())
            .collect();
        Some(Self { head, column, echo: quoted, notes })
    }

    /// Reads a line such as `kernel.cu(3): warning #177-D: ...`, `error: ...` or `ptxas error   : ...`.
    fn head(line: &'a str) -> Option<Head<'a>> {
        if line.starts_with(char::is_whitespace) {
            return None;
        }
        if let Some(rest) = line.strip_prefix("ptxas ") {
            let (place, rest) = match rest.split_once(ASSEMBLERS_PLACE) {
                Some((_, rest)) => rest.split_once(';')?,
                None => ("", rest),
            };
            let (word, message) = rest.split_once(':')?;
            let line = place.parse().ok();
            let (file, severity) = (line.map(|_: u32| PTX), severity(word.trim())?);
            return Some(Head { file, line, severity, code: None, message: message.trim() });
        }
        if let Some(rest) = line.strip_prefix("At end of source: ") {
            let (severity, code, message) = severity_and_message(rest)?;
            return Some(Head { file: Some(END), line: None, severity, code, message });
        }
        // A name may hold brackets and colons: look for the first place that reads `(N): severity`.
        let located = line.match_indices("): ").find_map(|(at, _)| {
            let (before, rest) = (&line[..at], &line[at + 3..]);
            let (file, number) = before.rsplit_once('(')?;
            let (severity, code, message) = severity_and_message(rest)?;
            Some(Head { file: Some(file), line: Some(number.parse().ok()?), severity, code, message })
        });
        located.or_else(|| {
            let (severity, code, message) = severity_and_message(line)?;
            Some(Head { file: None, line: None, severity, code, message })
        })
    }

    fn repeats_instance(&self) -> bool {
        self.head.file == Some(INSTANCES) && self.head.message.starts_with("Error in parsing name expression")
    }

    fn for_learner(&self, context: &Context<'_>) -> Diagnostic {
        let Head { file, line, severity, code, message } = &self.head;
        let mut diagnostic = Diagnostic {
            severity: *severity,
            file: context.file.to_owned(),
            line: *line,
            column: self.column,
            code: code.map(str::to_owned),
            message: (*message).to_owned(),
            notes: self.notes.iter().map(|note| (*note).to_owned()).collect(),
        };
        let own = |name: &str| name.trim_start_matches('/') == context.file;
        match file {
            None => {}
            Some(END) => {
                let last = context.source.trim_end().lines().count().max(1);
                diagnostic.line = u32::try_from(last).ok();
                diagnostic.notes.push("the file ends here, and something is still open".into());
            }
            Some(PTX) => diagnostic.line = line.and_then(|line| source_line(context.ptx, line)),
            Some(INSTANCES) => explain_instance(&mut diagnostic, self.echo),
            Some(name) if own(name) => explain_include(&mut diagnostic, context),
            Some(name) => {
                diagnostic.column = None;
                diagnostic.line = self.line_in(context.file);
                if let Some(header) = context.headers.iter().find(|header| same_header(name, header)) {
                    diagnostic.line = diagnostic.line.or_else(|| include_line(context.source, header));
                    explain_include(&mut diagnostic, context);
                    diagnostic.notes.insert(0, format!("in `{header}`, line {}", line.unwrap_or_default()));
                } else {
                    diagnostic.code = None;
                    diagnostic.message = "an error in a file outside the kernel, which is not shown".into();
                    diagnostic.notes = vec![absent::OTHER.into()];
                }
            }
        }
        explain(&mut diagnostic, context);
        diagnostic
    }

    /// The learner's line that a chain of instantiations names: `... at line 12 of kernel.cu`.
    fn line_in(&self, file: &str) -> Option<u32> {
        self.notes.iter().find_map(|note| {
            let (_, rest) = note.split_once("at line ")?;
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            rest.contains(file).then(|| digits.parse().ok()).flatten()
        })
    }
}

/// Stands for the file of a message about the end of the learner's file.
const END: &str = "end of source";

/// Stands for the file of a message about a line of the PTX.
const PTX: &str = "ptx input";

/// Stands for the file of a message about an instance that was asked for: NVRTC's own name for it.
const INSTANCES: &str = "__nv_name_map";

/// The source's line of a line of PTX: what the last `.loc` before it says. Only the learner's file, which is file 1, counts.
fn source_line(ptx: &str, line: u32) -> Option<u32> {
    let until = usize::try_from(line).ok()?;
    ptx.lines().take(until).collect::<Vec<_>>().into_iter().rev().find_map(|text| {
        let mut words = text.trim().strip_prefix(".loc")?.split_whitespace();
        (words.next()? == "1").then(|| words.next()?.parse().ok()).flatten().filter(|&line| line > 0)
    })
}

const NO_CUDA_HEADERS_NOTE: &str = "this NVRTC came without CUDA's headers; \
     `pip install nvidia-cuda-runtime-cu12 nvidia-cuda-cccl-cu12` puts them beside one that pip installed";

/// Whether the compiler's name for a header is that header's: it may put the current folder, `/`, before it.
fn same_header(printed: &str, header: &str) -> bool {
    printed == header || printed.strip_prefix('/').is_some_and(|rest| rest == header)
}

/// Says in other words, or adds, what helps in a file that holds a kernel and nothing else.
fn explain(diagnostic: &mut Diagnostic, context: &Context<'_>) {
    let message = diagnostic.message.as_str();
    if message.contains("host functions are not allowed in JIT mode") {
        diagnostic.message =
            "a function here needs `__global__` (it is a kernel) or `__device__` (one calls it) before its type; \
             there is no host code in this file"
                .into();
    } else if message.contains("host variables are not allowed in JIT mode") {
        diagnostic.message =
            "a variable outside of all functions needs `constexpr`, `__constant__` or `__device__` before its type, \
             or is better a macro"
                .into();
    } else if message.starts_with("device-side kernel launch could not be processed")
        || message.starts_with("kernel launch from __device__ or __global__ functions")
    {
        diagnostic.message =
            "a kernel that launches another (dynamic parallelism) cannot be run here; run the other by itself".into();
    } else if message
        .strip_prefix("identifier \"cuda")
        .is_some_and(|rest| rest.starts_with(char::is_uppercase))
    {
        diagnostic.notes.push(absent::HOST_CODE.into());
    } else if let Some(name) = message.strip_prefix("namespace \"std\" has no member \"") {
        diagnostic.notes.push(absent::standard_member(name.trim_end_matches('"')));
    } else if message.starts_with("this declaration has no storage class") {
        let line = diagnostic.line.and_then(|line| context.source.lines().nth(line as usize - 1));
        let words = line.map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_')));
        let used: Vec<&str> = words.into_iter().flatten().filter(|word| !word.is_empty()).collect();
        let missing = context.given.iter().filter(|(header, text)| {
            include_line(context.source, header).is_none() && used.iter().any(|word| defines(text, word))
        });
        diagnostic
            .notes
            .extend(missing.map(|(header, _)| format!("this file does not `#include \"{header}\"`")));
    }
}

/// Whether a header defines the macro `name`.
fn defines(header: &str, name: &str) -> bool {
    header.lines().any(|line| {
        let rest = line.trim_start().strip_prefix("#define ").map(str::trim_start);
        rest.and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// An instance of a template that the source does not have. NVRTC has a file of lines such as `#pragma nv_mangled_name
/// f<1>` for them.
fn explain_instance(diagnostic: &mut Diagnostic, echo: Option<&str>) {
    let instance =
        echo.and_then(|line| line.strip_prefix("#pragma nv_mangled_name")).unwrap_or_default().trim();
    let why = match diagnostic.message.as_str() {
        message if message.starts_with("Extra tokens found") => "something follows its name",
        message => message,
    };
    diagnostic.message = format!("there is no instance `{instance}` of a kernel in this file: {why}");
    diagnostic.line = None;
    diagnostic.column = None;
}

/// A header that is not found: the same words whether the path exists, is forbidden or is not there.
fn explain_include(diagnostic: &mut Diagnostic, context: &Context<'_>) {
    let Some(rest) = ["cannot open source file \"", "could not open source file \""]
        .iter()
        .find_map(|start| diagnostic.message.strip_prefix(start))
    else {
        return;
    };
    let Some((name, _)) = rest.rsplit_once('"') else { return };
    let name = name.to_owned();
    diagnostic.notes = vec![absent::header(&name).into()];
    if !context.has_cuda_headers {
        diagnostic.notes.push(NO_CUDA_HEADERS_NOTE.into());
    }
    diagnostic.message = format!("cannot open source file \"{name}\"");
}

/// The line, from 1, of the `#include` that names this header.
fn include_line(source: &str, header: &str) -> Option<u32> {
    let at =
        source.lines().position(|line| super::header::included(line).is_some_and(|name| name == header))?;
    u32::try_from(at + 1).ok()
}

fn severity_and_message(text: &str) -> Option<(Severity, Option<&str>, &str)> {
    let (kind, message) = text.split_once(':')?;
    let (word, code) = match kind.split_once('#') {
        Some((word, code)) => (word.trim(), Some(code.trim())),
        None => (kind.trim(), None),
    };
    Some((severity(word)?, code, message.trim()))
}

fn severity(word: &str) -> Option<Severity> {
    Some(match word {
        "error" | "fatal" | "catastrophic error" | "internal error" | "command-line error" => Severity::Error,
        "warning" => Severity::Warning,
        "remark" | "note" | "info" => Severity::Note,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(log: &str) -> Vec<Diagnostic> {
        let source = "#include \"warplings.cuh\"\n#include <tool.h>\n__global__ void k() {}\n";
        let ptx = ".version 8.8\n.entry k()\n{\n\t.loc\t1 17 0\n\tadd.s32 %r1, %r2, %r3;\n\t.loc 2 99 0\n\tbogus;\n}\n";
        parse(
            log,
            &Context {
                file: "kernel.cu",
                source,
                headers: vec!["warplings.cuh", "tool.h", "habit.h"],
                given: &[("warplings.cuh", "#define LAUNCH(x) x\n"), ("tool.h", "")],
                has_cuda_headers: true,
                ptx,
            },
        )
    }

    /// NVRTC 12.9.
    const FRONT_END: &str = r##"kernel.cu(3): error: identifier "undefined_thing" is undefined
  	p[0] = f(a) + undefined_thing;   int unused;
  	              ^

kernel.cu(4): error: identifier "g" is undefined
      g(3) ;
      ^

kernel.cu(3): warning #177-D: variable "unused" was declared but never referenced
  	p[0] = f(a) + undefined_thing;   int unused;
  	                                     ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

kernel.cu(4): error: identifier "g" is undefined
      g(3) ;
      ^

2 errors detected in the compilation of "kernel.cu".
"##;

    #[test]
    fn messages_have_place_code_and_text() {
        let found = read(FRONT_END);
        assert_eq!(found.len(), 3, "the repeated message is given once");
        assert_eq!((found[0].line, found[0].column), (Some(3), Some(16)));
        assert_eq!(found[0].message, r#"identifier "undefined_thing" is undefined"#);
        assert_eq!((found[1].line, found[1].column), (Some(4), Some(5)));
        assert_eq!(found[2].severity, Severity::Warning);
        assert_eq!(found[2].code.as_deref(), Some("177-D"));
        assert!(found.iter().all(|d| d.file == "kernel.cu" && d.notes.is_empty()));
    }

    #[test]
    fn foreign_files_are_never_quoted() {
        let log = "/etc/passwd(1): error: expected a \";\"\n  root:x:0:0:root:/root:/bin/bash\n      ^\n\n\
                   /etc/passwd(2): error: identifier \"daemon\" is undefined\n  daemon:x:1\n  ^\n\n\
                   kernel.cu(2): catastrophic error: cannot open source file \"/etc/shadow\" (Permission denied)\n\
                   \x20 #include \"/etc/shadow\"\n                  ^\n\n\
                   2 errors and 1 catastrophic error detected in the compilation of \"kernel.cu\".\n\
                   Compilation terminated.\n";
        let found = read(log);
        assert_eq!(found.len(), 2);
        let text = format!("{found:?}");
        for secret in ["root", "daemon", "passwd", "Permission"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert_eq!(found[1].message, "cannot open source file \"/etc/shadow\"");
        assert_eq!(found[1].line, Some(2));
    }

    #[test]
    fn an_error_in_a_header_is_moved_to_the_include() {
        let found = read("tool.h(7): error: static assertion failed\n  static_assert(0);\n  ^\n");
        assert_eq!((found[0].line, found[0].column), (Some(2), None));
        assert_eq!(found[0].message, "static assertion failed");
        assert_eq!(found[0].notes, ["in `tool.h`, line 7"]);
    }

    #[test]
    fn an_instantiation_names_the_learners_line() {
        let log = "warplings.cuh(7): error: static assertion failed with \"no\"\n    static_assert(N < 3, \"no\");\n    ^\n\
                   \x20         detected during instantiation of \"void f<N>() [with N=5]\" at line 3 of kernel.cu\n";
        let found = read(log);
        assert_eq!(found[0].line, Some(3));
        assert_eq!(found[0].notes.len(), 2);
    }

    #[test]
    fn a_brace_that_is_never_closed_is_missed_at_the_end() {
        let found = read(
            "At end of source: error: expected a \"}\"\n\n1 error detected in the compilation of \"kernel.cu\".\n",
        );
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].severity, found[0].message.as_str()), (Severity::Error, "expected a \"}\""));
        assert_eq!(found[0].line, Some(3));
    }

    #[test]
    fn what_a_kernel_file_lacks_is_said_in_its_own_words() {
        let found = read(
            "kernel.cu(3): error: A function without execution space annotations (__host__/__device__/__global__) is \
             considered a host function, and host functions are not allowed in JIT mode. Consider using -default-device \
             flag to process unannotated functions as __device__ functions in JIT mode\n  void k() {}\n       ^\n\n\
             kernel.cu(3): error: namespace \"std\" has no member \"max\"\n  std::max\n       ^\n\n\
             kernel.cu(3): error: namespace \"std\" has no member \"vector\"\n  std::vector\n       ^\n",
        );
        assert!(found[0].message.contains("needs `__global__`"), "{found:?}");
        assert!(found[1].notes[0].contains("#include <algorithm>"), "{found:?}");
        assert!(found[2].notes[0].contains("a pointer"), "{found:?}");
        let log = "kernel.cu(1): error: this declaration has no storage class or type specifier\n  LAUNCH(1);\n  ^\n";
        // Both headers are included.
        assert!(read(log)[0].notes.is_empty());
    }

    #[test]
    fn only_the_header_that_has_the_macro_is_missed() {
        let source = "__global__ void k() {}\nLAUNCH(1);\nOTHER(1);\n";
        let given = &[("warplings.cuh", "#pragma once\n#define LAUNCH(x) int x##y\n"), ("more.h", "")];
        let context = Context {
            file: "kernel.cu",
            source,
            headers: vec!["warplings.cuh", "more.h", "math.h", "stdio.h"],
            given,
            has_cuda_headers: true,
            ptx: "",
        };
        let error = "error: this declaration has no storage class or type specifier\n";
        let found = parse(&format!("kernel.cu(2): {error}\nkernel.cu(3): {error}"), &context);
        assert_eq!(found[0].notes, ["this file does not `#include \"warplings.cuh\"`"]);
        assert!(found[1].notes.is_empty());
    }

    #[test]
    fn an_instance_that_cannot_be_made_is_named() {
        let found = read(
            "__nv_name_map(3): error: identifier \"x\" is undefined\n  #pragma nv_mangled_name f<x>\n  ^\n",
        );
        assert_eq!((found[0].line, found[0].column), (None, None));
        assert_eq!(
            found[0].message,
            "there is no instance `f<x>` of a kernel in this file: identifier \"x\" is undefined"
        );
    }

    #[test]
    fn the_assemblers_errors_have_no_line() {
        let log = "ptxas info    : 0 bytes gmem\n\
                   ptxas error   : Entry function 'k' uses too much shared data (0xcb20 bytes, 0xc000 max)\n";
        let found = read(log);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].severity, found[0].line), (Severity::Error, None));
        assert!(found[0].message.starts_with("Entry function 'k' uses"));
    }

    #[test]
    fn the_assemblers_lines_lead_to_the_sources() {
        let found = read(
            "ptxas application ptx input, line 7; error   : Not a name of any known instruction: 'bogus'\n",
        );
        assert_eq!((found[0].severity, found[0].line), (Severity::Error, Some(17)));
        assert_eq!(found[0].message, "Not a name of any known instruction: 'bogus'");
        assert_eq!(read("ptxas application ptx input, line 2; error : x")[0].line, None);
    }

    #[test]
    fn odd_text_is_no_message_and_no_panic() {
        for log in [
            "",
            "^",
            "): error: ",
            "kernel.cu(x): error: y",
            "  ^\n\n^",
            "é(3): error: ü\n  ü\n  ^",
            "ptxas ",
        ] {
            let _ = read(log);
        }
        assert!(read("kernel.cu(x): nothing").is_empty());
    }
}
