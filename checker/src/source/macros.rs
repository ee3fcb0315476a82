//! What a source `#define`s.

use std::collections::{HashMap, HashSet};

use super::branch;
use super::token::{Token, tokens};

/// A macro's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Macro<'a> {
    /// The names of its parameters; `None` for a macro without parentheses.
    pub(super) parameters: Option<Vec<&'a str>>,
    pub(super) body: Vec<Token<'a>>,
}

/// All macros of a source, each with all its definitions, whatever `#if` they stand in.
#[derive(Debug, Default)]
pub(super) struct Macros<'a>(HashMap<&'a str, Vec<Macro<'a>>>);

impl<'a> Macros<'a> {
    pub(super) fn of(source: &[Token<'a>]) -> Macros<'a> {
        let mut all: HashMap<&str, Vec<Macro<'_>>> = HashMap::new();
        for (name, definition) in source.iter().filter_map(read) {
            let known = all.entry(name).or_default();
            if !known.iter().any(|other| is_same(other, &definition)) {
                known.push(definition);
            }
        }
        Macros(all)
    }

    /// The definition of `name`, if there is one and only one.
    pub(super) fn only(&self, name: &str) -> Option<&Macro<'a>> {
        match self.0.get(name)?.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether `name` is a macro.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// All of their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.0.keys().copied()
    }

    /// These words, and all those that they stand for.
    pub(super) fn expand(&self, words: impl IntoIterator<Item = &'a str>) -> HashSet<&'a str> {
        let mut found: HashSet<&str> = HashSet::new();
        let mut waiting: Vec<&str> = words.into_iter().collect();
        while let Some(word) = waiting.pop() {
            if found.insert(word) {
                let bodies = self.0.get(word).into_iter().flatten().flat_map(|one| &one.body);
                waiting.extend(bodies.filter(|token| token.is_word()).map(|token| token.text));
            }
        }
        found
    }
}

fn is_same(one: &Macro<'_>, other: &Macro<'_>) -> bool {
    let texts = |body: &[Token<'_>]| body.iter().map(|token| token.text.to_owned()).collect::<Vec<_>>();
    one.parameters == other.parameters && texts(&one.body) == texts(&other.body)
}

/// A `#define`.
fn read<'a>(directive: &Token<'a>) -> Option<(&'a str, Macro<'a>)> {
    if branch::word(directive) != Some("define") {
        return None;
    }
    let (_, text) = directive.text.split_once("define")?;
    let text = text.trim_start();
    let name_end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(name_end);
    // Only a parenthesis that touches the name makes parameters.
    let (parameters, body) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((list, body)) => {
            (Some(list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()), body)
        }
        None => (None, rest),
    };
    (!name.is_empty()).then(|| (name, Macro { parameters, body: tokens(body) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_read_with_and_without_parameters() {
        let all = tokens(
            "#define N 1024 // why\n#  define CEIL(a, b) \\\n  (((a) + (b) - 1) / (b))\n#define P (1 + 2)\n#define E\n",
        );
        let macros = Macros::of(&all);
        let body = |name: &str| {
            macros.only(name).map(|one| one.body.iter().map(|token| token.text).collect::<String>())
        };
        assert_eq!(body("N").as_deref(), Some("1024"));
        assert_eq!(body("CEIL").as_deref(), Some("(((a)+(b)-1)/(b))"));
        assert_eq!(macros.only("CEIL").and_then(|one| one.parameters.clone()), Some(vec!["a", "b"]));
        assert_eq!((body("P").as_deref(), body("E").as_deref()), (Some("(1+2)"), Some("")));
    }

    #[test]
    fn of_two_definitions_none_is_the_only_one_and_both_expand() {
        let all = tokens(
            "#ifdef X\n#define HD __host__ __device__\n#else\n#define HD\n#endif\n#define F HD inline\n#define S 1\n#define S 1\n",
        );
        let macros = Macros::of(&all);
        assert!(macros.only("HD").is_none() && macros.has("HD") && macros.only("S").is_some());
        assert!(macros.expand(["F"]).contains("__device__"));
        // A macro that names itself has an end.
        let own = tokens("#define A B\n#define B A\n");
        assert_eq!(Macros::of(&own).expand(["A"]).len(), 2);
    }
}
