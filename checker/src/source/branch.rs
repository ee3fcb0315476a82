//! Which tokens make the structure of a source where `#if` gives alternatives.

use super::token::{Kind, Token};

/// For each token, whether it counts for the nesting of brackets. Where the branches of an `#if` open or close something,
/// as two heads of one function do, only the first of them counts; what stands in `#if 0` never does.
pub(super) fn counted(tokens: &[Token<'_>]) -> Vec<bool> {
    let mut counted = vec![true; tokens.len()];
    let mut index = 0;
    while index < tokens.len() {
        index = match word(&tokens[index]) {
            Some("if" | "ifdef" | "ifndef") => group(tokens, index, &mut counted).after,
            _ => index + 1,
        };
    }
    counted
}

/// A whole `#if` to its `#endif`.
struct Group {
    after: usize,
    /// How many brackets are open after it that were not before.
    net: i64,
}

fn group(tokens: &[Token<'_>], start: usize, counted: &mut [bool]) -> Group {
    // First and last index and net of each branch; the directives belong to none.
    let mut branches: Vec<(usize, usize, i64)> = Vec::new();
    let (mut from, mut net, mut index) = (start + 1, 0, start + 1);
    let after = loop {
        let Some(token) = tokens.get(index) else { break index };
        match word(token) {
            Some("if" | "ifdef" | "ifndef") => {
                let inner = group(tokens, index, counted);
                (net, index) = (net + inner.net, inner.after);
                continue;
            }
            Some("else" | "elif" | "elifdef" | "elifndef") => {
                branches.push((from, index, net));
                (from, net) = (index + 1, 0);
            }
            Some("endif") => break index + 1,
            _ => net += bracket(token),
        }
        index += 1;
    };
    branches.push((from, index, net));
    let is_dead = |branch: usize| branch == 0 && is_false(&tokens[start]);
    let first = (0..branches.len()).find(|branch| !is_dead(*branch));
    let is_even = branches.iter().enumerate().all(|(at, (_, _, net))| *net == 0 || is_dead(at));
    for (at, (from, to, _)) in branches.iter().enumerate() {
        if is_dead(at) || !(is_even || Some(at) == first) {
            counted[*from..*to].fill(false);
        }
    }
    Group { after, net: first.map_or(0, |first| branches[first].2) }
}

fn bracket(token: &Token<'_>) -> i64 {
    if token.is_any(&["(", "[", "{"]) {
        1
    } else if token.is_any(&[")", "]", "}"]) {
        -1
    } else {
        0
    }
}

fn is_false(token: &Token<'_>) -> bool {
    let condition = token.text.trim_start_matches('#').trim_start().strip_prefix("if");
    condition.is_some_and(|condition| matches!(condition.trim(), "0" | "false"))
}

/// The word after the `#` of a directive.
pub(super) fn word<'a>(token: &Token<'a>) -> Option<&'a str> {
    let rest = token.text.strip_prefix('#').filter(|_| token.kind == Kind::Directive)?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    fn structure(source: &str) -> String {
        let all = tokens(source);
        let counted = counted(&all);
        let kept = all.iter().zip(counted).filter(|(token, counts)| *counts && token.kind != Kind::Directive);
        kept.map(|(token, _)| token.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn of_branches_that_open_something_the_first_counts() {
        assert_eq!(structure("#ifdef A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}"), "void f ( ) { }");
        assert_eq!(
            structure("#if A\nint a;\n#elif B\nint b;\n#else\nint c;\n#endif"),
            "int a ; int b ; int c ;"
        );
    }

    #[test]
    fn what_is_switched_off_never_counts() {
        assert_eq!(structure("#if 0\nvoid f() {\n#else\nvoid g() {\n#endif\n}"), "void g ( ) { }");
        assert_eq!(structure("#if 0\ndon't }\n#endif\nint a;"), "int a ;");
    }

    #[test]
    fn groups_nest_and_may_be_left_open() {
        let nested = "#if A\n#if B\nf(\n#else\ng(\n#endif\n1)\n#else\nh(2)\n#endif\n;";
        assert_eq!(structure(nested), "f ( 1 ) h ( 2 ) ;");
        for source in ["#if A\n{", "#endif", "#else\n}", "#if 0", "#if A\n#else\n#else\n#endif"] {
            let _ = structure(source);
        }
    }
}
