//! The parameters of a kernel, as its author named them.

use super::item;
use super::macros::Macros;
use super::token::{Token, after_close, line_of, split_commas, tokens};

/// A parameter as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// Its type, with single spaces: `const float *`.
    pub(crate) ty: String,
    /// Its name.
    pub(crate) name: String,
}

/// The parameters of the kernel `name`; `None` if they can't be told.
pub(crate) fn kernel_parameters(source: &str, name: &str) -> Option<Vec<Parameter>> {
    let all = tokens(source);
    let open = declaration(&all, name)?;
    let close = after_close(&all, open)?;
    let list = &all[open + 1..close - 1];
    let written = if list.is_empty() { Vec::new() } else { split_commas(list) };
    written.into_iter().map(parameter).collect()
}

/// The line (from 1) of the kernel `name`; `None` if it can't be told.
pub(crate) fn kernel_line(source: &str, name: &str) -> Option<u32> {
    let all = tokens(source);
    let open = declaration(&all, name)?;
    Some(line_of(source, all[open.checked_sub(1)?].at))
}

/// The parenthesis of the parameter list of the kernel `name`.
fn declaration(all: &[Token<'_>], name: &str) -> Option<usize> {
    let macros = Macros::of(all);
    item::items(all).iter().find_map(|item| {
        let open = item.parameters?;
        let words = all[item.head.clone()].iter().filter(|token| token.is_word()).map(|token| token.text);
        (item.names.contains(&name) && macros.expand(words).contains("__global__")).then_some(open)
    })
}

fn parameter(tokens: &[Token<'_>]) -> Option<Parameter> {
    let declared = tokens.split(|token| token.is("=")).next()?;
    let bracket = declared.iter().position(|token| token.is("["));
    let (head, array) = declared.split_at(bracket.unwrap_or(declared.len()));
    let (name, ty) = head.split_last()?;
    if ty.is_empty() || !name.is_word() {
        return None;
    }
    let mut ty: Vec<&str> = ty
        .iter()
        .map(|token| token.text)
        .filter(|text| !matches!(*text, "__restrict__" | "__restrict" | "__grid_constant__"))
        .collect();
    if !array.is_empty() {
        ty.push("*");
    }
    Some(Parameter { ty: ty.join(" "), name: name.text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str, kernel: &str) -> Option<Vec<String>> {
        kernel_parameters(source, kernel)
            .map(|all| all.into_iter().map(|p| format!("{}|{}", p.ty, p.name)).collect())
    }

    #[test]
    fn parameters_are_read_in_the_usual_forms() {
        let source = r#"
            #define K(x) __global__ void wrong(int x)
            // __global__ void add(int nothing)
            extern "C" __global__ void __launch_bounds__(256, 2) add(const float* __restrict__ a, float b[],
                /* the, size */ unsigned int n = 4, dim3 d) { }
        "#;
        let wanted = ["const float *|a", "float *|b", "unsigned int|n", "dim3|d"].map(String::from).to_vec();
        assert_eq!(names(source, "add"), Some(wanted));
    }

    #[test]
    fn templates_and_several_kernels_are_told_apart() {
        let source = "template <int T> __global__ void one(Pair<int, T> p) {}\n\
                      __global__ void two();\n\
                      __global__ void two(float *x) { one(x); }";
        assert_eq!(names(source, "one"), Some(vec!["Pair < int , T >|p".to_owned()]));
        assert_eq!(names(source, "two"), Some(vec![]));
        assert_eq!(names(source, "three"), None);
    }

    #[test]
    fn the_declaration_is_found_behind_comments() {
        let source = "/* add\n * add */\n#define ADD add\nint x;\n\n__global__ void\nadd(int n) {}\n";
        assert_eq!(kernel_line(source, "add"), Some(7));
        assert_eq!(kernel_line(source, "sub"), None);
    }

    #[test]
    fn unnamed_parameters_and_broken_text_say_nothing() {
        for source in
            ["__global__ void k(int, float*) {}", "__global__ void k(int a", "__global__", "", "\"", "/*"]
        {
            assert_eq!(names(source, "k"), None, "{source}");
        }
    }
}
