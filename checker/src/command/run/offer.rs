//! Commands to type, made of the launches that host code has.

use super::program::Program;
use crate::message;
use crate::source::{self, Extent, Given, Launch, Parameter, Start, Value};
use crate::workspace::Workspace;

/// What to say where `--grid` or `--block` is missing: the file's own launches, as commands.
pub(super) fn without_extents(program: &Program<'_>, kernel: Option<&str>) -> String {
    let wanted = |launch: &&Launch| kernel.is_none_or(|kernel| base(&launch.kernel) == base(kernel));
    let launches = program.launches.iter().filter(wanted);
    let commands: Vec<(u32, String)> =
        launches.map(|launch| (launch.line, command(program, launch))).collect();
    message::run::extents_missing(&commands)
}

/// A kernel's name without namespaces and template arguments.
fn base(name: &str) -> &str {
    let name = name.split('<').next().unwrap_or(name).trim();
    name.rsplit("::").next().unwrap_or(name)
}

/// The launch as a command, with capital letters where something is left to fill in.
fn command(program: &Program<'_>, launch: &Launch) -> String {
    let mut words = vec!["run".to_owned(), quoted(&Workspace::shown(&program.submission.path))];
    let kernels = program.division.as_ref().map_or(0, |division| division.kernels.len());
    if kernels != 1 || launch.kernel.contains('<') {
        words.extend(["--kernel".to_owned(), quoted(&launch.kernel)]);
    }
    words.extend(["--grid".to_owned(), extent(&launch.grid), "--block".to_owned(), extent(&launch.block)]);
    match &launch.shared {
        Extent::Known([0, ..]) => {}
        Extent::Known([bytes, ..]) => words.extend(["--shared".to_owned(), bytes.to_string()]),
        Extent::Unknown(_) => words.extend(["--shared".to_owned(), "BYTES".to_owned()]),
    }
    let parameters = parameters(program, launch);
    for (index, given) in launch.arguments.iter().enumerate() {
        words.extend(["--arg".to_owned(), quoted(&argument(parameters.get(index), given))]);
    }
    message::command(&words.join(" "))
}

/// The kernel's parameters, with the launch's template arguments in the place of their names.
fn parameters(program: &Program<'_>, launch: &Launch) -> Vec<Parameter> {
    let name = base(&launch.kernel);
    let mut parameters = source::kernel_parameters(&program.submission.text, name).unwrap_or_default();
    let kernels = program.division.iter().flat_map(|division| &division.kernels);
    let template = kernels.filter(|kernel| kernel.name == name).find_map(|kernel| kernel.template.as_ref());
    let arguments = launch.kernel.split_once('<').map(|(_, rest)| rest.trim_end().trim_end_matches('>'));
    for (name, argument) in template.into_iter().flatten().zip(arguments.unwrap_or_default().split(',')) {
        for parameter in &mut parameters {
            let words = parameter.ty.split(' ').map(|word| if word == name { argument.trim() } else { word });
            parameter.ty = words.collect::<Vec<_>>().join(" ");
        }
    }
    parameters
}

fn extent(extent: &Extent) -> String {
    match extent {
        Extent::Known([x, 1, 1]) => x.to_string(),
        Extent::Known([x, y, 1]) => format!("{x},{y}"),
        Extent::Known([x, y, z]) => format!("{x},{y},{z}"),
        Extent::Unknown(_) => "X,Y,Z".to_owned(),
    }
}

fn argument(parameter: Option<&Parameter>, given: &Given) -> String {
    let ty = parameter.map(|parameter| parameter.ty.as_str()).unwrap_or_default();
    let is_pointer = ty.ends_with('*');
    match given {
        Given::Buffer { bytes, start } => {
            let element = element(ty.trim_end_matches('*'));
            let size = source::element_size(ty).map(u64::from).filter(|size| *size > 0);
            // Of an element that has no name here, there are as many bytes.
            let (name, size) = element.zip(size).unwrap_or(("u8", 1));
            let count = bytes.map_or("COUNT".to_owned(), |bytes| (bytes / size).to_string());
            let start = match start {
                Start::Filled => ":rand",
                Start::Zero => ":zero",
                Start::Uninitialized => "",
            };
            format!("buf:{name}:{count}{start}")
        }
        _ if is_pointer => format!("buf:{}:COUNT", element(ty.trim_end_matches('*')).unwrap_or("u8")),
        Given::Value(value) => {
            let name = element(ty).unwrap_or(if matches!(value, Value::Real(_)) { "f32" } else { "i32" });
            match value {
                Value::Whole(value) => format!("{name}:{value}"),
                Value::Real(value) => format!("{name}:{value}"),
                Value::Dims(_) => format!("{name}:VALUE"),
            }
        }
        Given::Unknown(_) => format!("{}:VALUE", element(ty).unwrap_or("i32")),
    }
}

/// The element that a C++ type is called here.
fn element(ty: &str) -> Option<&'static str> {
    let words: Vec<&str> =
        ty.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile" | "signed")).collect();
    Some(match words.as_slice() {
        ["float"] => "f32",
        ["double"] => "f64",
        ["int" | "int32_t"] => "i32",
        ["unsigned" | "uint" | "uint32_t"] | ["unsigned", "int"] => "u32",
        ["long", "long"] | ["long"] | ["int64_t"] => "i64",
        ["unsigned", "long", ..] | ["size_t" | "uint64_t"] => "u64",
        ["unsigned", "char"] | ["char" | "bool" | "uint8_t" | "uchar"] => "u8",
        ["half" | "__half"] => "f16",
        _ => return None,
    })
}

/// A word as a shell takes it for one.
fn quoted(word: &str) -> String {
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | ',' | '=' | '@' | '+');
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_called_as_buffers_call_them() {
        for (ty, wanted) in [
            ("const float", Some("f32")),
            ("unsigned long long", Some("u64")),
            ("const volatile unsigned char", Some("u8")),
            ("T", None),
        ] {
            assert_eq!(element(ty), wanted, "{ty}");
        }
    }

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        assert_eq!(quoted("a/b-1.cu"), "a/b-1.cu");
        assert_eq!(quoted("reduce<int, 2>"), "'reduce<int, 2>'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
