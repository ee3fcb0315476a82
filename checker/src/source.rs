//! A light look at CUDA source: the parameters of a kernel, as its author named them.
//!
//! No parser of C++: it only has to find `__global__ ... name(parameters)` in code that the compiler has accepted,
//! and says nothing where it is not sure.

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
    let code = without_comments(source);
    let tokens = tokens(&code);
    let mut at = 0;
    while let Some(found) = tokens[at..].iter().position(|token| *token == "__global__") {
        at += found + 1;
        // Between the two may stand the return type and `__launch_bounds__(...)`, but no body and no statement.
        let end = tokens[at..].iter().position(|t| matches!(*t, "{" | ";")).map_or(tokens.len(), |n| at + n);
        let open = (at..end.saturating_sub(1)).find(|i| tokens[*i] == name && tokens[i + 1] == "(");
        if let Some(open) = open {
            return parameters(&tokens[open + 2..]);
        }
    }
    None
}

/// The line (from 1) of the kernel `name`; `None` if it can't be told.
pub(crate) fn kernel_line(source: &str, name: &str) -> Option<u32> {
    kernel_parameters(source, name)?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let has_word = |line: &str| line.split(|c| !is_word(c)).any(|word| word == name);
    let code = without_comments(source);
    // The blanked source keeps its lines, so the first one with the name behind `__global__` is the declaration's.
    let at = code.lines().position(|line| line.contains("__global__"))?;
    let below = code.lines().skip(at).position(has_word)?;
    u32::try_from(at + below + 1).ok()
}

/// Reads up to the closing parenthesis.
fn parameters(tokens: &[&str]) -> Option<Vec<Parameter>> {
    let mut all = Vec::new();
    let mut current: Vec<&str> = Vec::new();
    let mut depth = 0_usize;
    for token in tokens {
        match *token {
            ")" if depth == 0 => {
                if !current.is_empty() {
                    all.push(parameter(&current)?);
                }
                return Some(all);
            }
            "," if depth == 0 => all.push(parameter(&std::mem::take(&mut current))?),
            other => {
                match other {
                    "(" | "<" | "[" | "{" => depth += 1,
                    ")" | ">" | "]" | "}" => depth = depth.checked_sub(1)?,
                    _ => {}
                }
                current.push(other);
            }
        }
    }
    None
}

fn parameter(tokens: &[&str]) -> Option<Parameter> {
    let declared = tokens.split(|token| *token == "=").next()?;
    let bracket = declared.iter().position(|token| *token == "[");
    let (head, array) = declared.split_at(bracket.unwrap_or(declared.len()));
    let (name, ty) = head.split_last()?;
    if ty.is_empty() || !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    let mut ty: Vec<&str> =
        ty.iter().copied().filter(|t| !matches!(*t, "__restrict__" | "__restrict")).collect();
    if !array.is_empty() {
        ty.push("*");
    }
    Some(Parameter { ty: ty.join(" "), name: (*name).to_owned() })
}

fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (token, after) = rest.split_at(word.max(first.len_utf8() * usize::from(word == 0)));
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// The source with comments, string literals and preprocessor lines blanked.
fn without_comments(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    let mut line_start = true;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") || (line_start && c == '#') {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if c == '"' {
            string_literal(rest)
        } else {
            0
        };
        if skipped > 0 {
            out.push(' ');
            out.extend(rest[..skipped].chars().filter(|c| *c == '\n'));
            rest = &rest[skipped..];
        } else {
            line_start = c == '\n' || (line_start && c.is_whitespace());
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// Length in bytes of the string literal that `text` begins with.
fn string_literal(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            '\n' => return at,
            _ => {}
        }
    }
    text.len()
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
