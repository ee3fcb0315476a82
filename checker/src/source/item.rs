//! The declarations of a source, outside of functions: where each begins and ends, what it is and what it declares.

use std::ops::Range;

use super::branch;
use super::token::{Kind, Token, after_angle, after_close};

/// What a declaration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// With a body or without.
    Function,
    Variable,
    /// A class, a union or an enumeration, with a body or without.
    Type,
    /// A `typedef`, a `using NAME = ...` or a namespace's other name.
    Alias,
    /// `using namespace ...`, a macro with arguments, `static_assert`: what declares no name.
    Other,
}

/// One declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item<'a> {
    pub(super) nature: Nature,
    /// Its tokens, by index into all of the source's.
    pub(super) tokens: Range<usize>,
    /// Those before its body or its first initialiser.
    pub(super) head: Range<usize>,
    /// Those within the braces of its body, if it has one.
    pub(super) body: Option<Range<usize>>,
    /// What it declares.
    pub(super) names: Vec<&'a str>,
    /// The namespaces that it stands in, from the outside.
    pub(super) scope: Vec<&'a str>,
    /// The index of the first token of the function's parameter list, its parenthesis.
    pub(super) parameters: Option<usize>,
    pub(super) is_template: bool,
}

/// All declarations of a source. Namespaces and `extern "C"` blocks are gone into; their own braces belong to none.
pub(super) fn items<'a>(tokens: &[Token<'a>]) -> Vec<Item<'a>> {
    within(tokens, 0..tokens.len())
}

/// The declarations among `range`: of a source, or of the body of a class.
pub(super) fn within<'a>(tokens: &[Token<'a>], range: Range<usize>) -> Vec<Item<'a>> {
    let counted = branch::counted(tokens);
    // Indices of the tokens that make the structure.
    let structure: Vec<usize> =
        range.clone().filter(|&index| counted[index] && tokens[index].kind != Kind::Directive).collect();
    let plain: Vec<Token<'a>> = structure.iter().map(|&index| tokens[index]).collect();
    let mut reader = Reader { tokens: &plain, at: 0, scopes: Vec::new() };
    let mut found = Vec::new();
    while let Some(item) = reader.next() {
        // Alternatives to its last tokens belong to it.
        let last = structure[item.tokens.end - 1];
        let is_alternative = |index: &usize| !counted[*index] || tokens[*index].kind == Kind::Directive;
        let alternatives = (last + 1..range.end).take_while(is_alternative);
        let end = alternatives.filter(|index| !counted[*index]).last().unwrap_or(last) + 1;
        let place = |at: usize| structure.get(at).copied().unwrap_or(range.end);
        let places = |range: &Range<usize>| match range.is_empty() {
            true => place(range.start)..place(range.start),
            false => place(range.start)..structure[range.end - 1] + 1,
        };
        found.push(Item {
            tokens: structure[item.tokens.start]..end,
            head: places(&item.head),
            body: item.body.as_ref().map(places),
            parameters: item.parameters.map(place),
            ..item
        });
    }
    found
}

/// One open brace: of a namespace by its names, or of `extern "C"`.
type Scope<'a> = Vec<&'a str>;

struct Reader<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    scopes: Vec<Scope<'a>>,
}

/// Words before parentheses that are no parameter list.
const ATTRIBUTES: &[&str] = &[
    "__launch_bounds__",
    "__cluster_dims__",
    "__maxnreg__",
    "__block_size__",
    "__align__",
    "alignas",
    "__attribute__",
    "__declspec",
    "noexcept",
    "decltype",
    "explicit",
    "requires",
    "asm",
    "throw",
];

impl<'a> Reader<'_, 'a> {
    fn token(&self, at: usize) -> Option<&Token<'a>> {
        self.tokens.get(at)
    }

    fn is(&self, at: usize, text: &str) -> bool {
        self.token(at).is_some_and(|token| token.is(text))
    }

    /// The next declaration, through the braces of namespaces.
    fn next(&mut self) -> Option<Item<'a>> {
        loop {
            let first = *self.token(self.at)?;
            if first.is("}") {
                self.scopes.pop();
                self.at += 1;
            } else if first.is(";") {
                self.at += 1;
            } else if first.is_any(&["public", "private", "protected"]) && self.is(self.at + 1, ":") {
                self.at += 2;
            } else if let Some((names, after)) = self.opening() {
                self.scopes.push(names);
                self.at = after;
            } else {
                return Some(self.item());
            }
        }
    }

    /// A namespace or an `extern "C"` block that opens here: its names, and the index after its brace.
    fn opening(&self) -> Option<(Scope<'a>, usize)> {
        let mut at = self.at;
        if self.is(at, "extern") {
            let is_linkage = self.token(at + 1).is_some_and(|token| token.kind == Kind::Literal);
            return (is_linkage && self.is(at + 2, "{")).then(|| (Vec::new(), at + 3));
        }
        at += usize::from(self.is(at, "inline"));
        if !self.is(at, "namespace") {
            return None;
        }
        let mut names = Vec::new();
        for index in at + 1.. {
            let token = self.token(index)?;
            if token.is("{") {
                return Some((names, index + 1));
            }
            if token.is_word() {
                names.push(token.text);
            } else if !token.is("::") {
                return None;
            }
        }
        None
    }

    fn item(&mut self) -> Item<'a> {
        let start = self.at;
        let after_template = self.template_lists();
        let mut item = Item {
            nature: Nature::Other,
            tokens: start..start,
            head: start..start,
            body: None,
            names: Vec::new(),
            scope: self.scopes.iter().flatten().copied().collect(),
            parameters: None,
            is_template: after_template > start,
        };
        let end = self.extent(&mut item, after_template);
        item.tokens = start..end;
        self.at = end;
        self.name(&mut item, after_template);
        item
    }

    /// The index after `template <...>`, as often as it stands here.
    fn template_lists(&self) -> usize {
        let mut at = self.at;
        while self.is(at, "template") && self.is(at + 1, "<") {
            let Some(after) = after_angle(self.tokens, at + 1) else { break };
            at = after;
        }
        at
    }

    /// Goes to the end of the declaration that begins here, and notes head, body and nature. Gives the index after it.
    fn extent(&self, item: &mut Item<'a>, from: usize) -> usize {
        let first = item.tokens.start;
        let mut at = from;
        let mut has_initializer = false;
        let mut constructs = false;
        let is_class = |reader: &Self, until: usize| {
            reader.tokens[from..until].iter().any(|token| token.is_any(&["class", "struct", "union", "enum"]))
        };
        while let Some(token) = self.token(at) {
            if token.is(";") {
                self.close_head(item, first, at);
                item.nature = self.nature(item, from, at);
                return at + 1;
            }
            if token.is("}") {
                // Of the scope around: a macro without a semicolon came before.
                self.close_head(item, first, at);
                return at;
            }
            if token.is("{") {
                let Some(after) = after_close(self.tokens, at) else { return self.tokens.len() };
                let before = self.token(at.wrapping_sub(1));
                let is_member_init =
                    constructs && before.is_some_and(|token| token.is_word() || token.is(">"));
                if has_initializer || is_member_init {
                    at = after;
                    continue;
                }
                self.close_head(item, first, at);
                if item.parameters.is_some() {
                    item.nature = Nature::Function;
                    item.body = Some(at + 1..after - 1);
                    return after;
                }
                if is_class(self, at) {
                    item.body = Some(at + 1..after - 1);
                }
                // A class goes on to its semicolon, and so does a variable with braces.
                has_initializer = true;
                at = after;
                continue;
            }
            if token.is("(") {
                let is_attribute = at > from && self.tokens[at - 1].is_any(ATTRIBUTES);
                if !is_attribute && !has_initializer && item.parameters.is_none() {
                    item.parameters = Some(at);
                }
                at = after_close(self.tokens, at).unwrap_or(self.tokens.len());
                continue;
            }
            if token.is("[") {
                at = after_close(self.tokens, at).unwrap_or(self.tokens.len());
                continue;
            }
            // `a < b` has no end before the semicolon; a template list has.
            if token.is("<") && at > from && self.tokens[at - 1].is_word() {
                let is_operator = self.tokens[at - 1].is("operator");
                at = after_angle(self.tokens, at).filter(|_| !is_operator).unwrap_or(at + 1);
                continue;
            }
            if token.is("=") && !self.is_operator_name(at) && item.parameters.is_none() {
                self.close_head(item, first, at);
                has_initializer = true;
            }
            constructs |= token.is(":") && item.parameters.is_some();
            at += 1;
        }
        self.close_head(item, first, at);
        item.nature = self.nature(item, from, at);
        at
    }

    fn is_operator_name(&self, at: usize) -> bool {
        (at.saturating_sub(2)..at).any(|before| self.is(before, "operator"))
    }

    fn close_head(&self, item: &mut Item<'a>, first: usize, at: usize) {
        if item.head.is_empty() {
            item.head = first..at;
        }
    }

    /// What a declaration is that a semicolon ends.
    fn nature(&self, item: &Item<'a>, from: usize, end: usize) -> Nature {
        let head = &self.tokens[from..item.head.end.max(from)];
        let is_first = |texts: &[&str]| head.first().is_some_and(|token| token.is_any(texts));
        if is_first(&["using", "typedef", "namespace"]) {
            let declares = !self.is(from + 1, "namespace");
            return if declares { Nature::Alias } else { Nature::Other };
        }
        // `NAME(...);` with no type before it: a macro's, or an assertion.
        if item.parameters == Some(from + 1) {
            return Nature::Other;
        }
        let has_class = head.iter().any(|token| token.is_any(&["class", "struct", "union", "enum"]));
        if has_class && item.parameters.is_none() {
            let has_declarators = item.body.is_none() && head.len() > 2 && !self.is_forward(head);
            return if has_declarators { Nature::Variable } else { Nature::Type };
        }
        match item.parameters {
            // `dim3 block(16, 16);` has values where a function has types: a number or a literal tells them apart.
            Some(open) => {
                let close = after_close(self.tokens, open).unwrap_or(end);
                let inside = &self.tokens[open..close.min(end)];
                let first = inside.get(1).map(|token| token.kind);
                if matches!(first, Some(Kind::Number | Kind::Literal)) {
                    Nature::Variable
                } else {
                    Nature::Function
                }
            }
            None => Nature::Variable,
        }
    }

    /// `class NAME`, or the same with an attribute or a base's type before the semicolon.
    fn is_forward(&self, head: &[Token<'a>]) -> bool {
        let words = head.iter().filter(|token| token.is_word() && !token.is_any(ATTRIBUTES)).count();
        words <= 2 || head.first().is_some_and(|token| token.is_any(&["enum", "friend"]))
    }

    fn name(&self, item: &mut Item<'a>, from: usize) {
        let all = &self.tokens[from..item.tokens.end];
        match item.nature {
            Nature::Other => {}
            Nature::Function => {
                let before = item.parameters.and_then(|open| self.token(open.checked_sub(1)?));
                item.names.extend(before.filter(|token| token.is_word()).map(|token| token.text));
            }
            Nature::Alias if all.iter().any(|token| token.is("=")) => {
                let name =
                    all.iter().take_while(|token| !token.is("=")).filter(|token| token.is_word()).last();
                item.names.extend(name.map(|token| token.text));
            }
            Nature::Alias => {
                let ends = |next: Option<&Token<'_>>| {
                    next.is_none_or(|next| next.is_any(&["=", ";", ",", "[", ")"]))
                };
                let named =
                    all.iter().enumerate().filter(|(at, token)| is_name(token) && ends(all.get(at + 1)));
                item.names.extend(named.map(|(_, token)| token.text));
            }
            Nature::Variable => {
                let ends = |next: Option<&Token<'_>>| {
                    next.is_none_or(|next| next.is_any(&["=", ";", ",", "[", "(", "{", ":"]))
                };
                let mut at = 0;
                while let Some(token) = all.get(at) {
                    if is_name(token) && ends(all.get(at + 1)) && !token.is_any(ATTRIBUTES) {
                        item.names.push(token.text);
                    }
                    let nested = token.is_any(&["(", "[", "{"]).then(|| after_close(all, at)).flatten();
                    let nested = nested.or_else(|| token.is("<").then(|| after_angle(all, at)).flatten());
                    at = nested.unwrap_or(at + 1);
                }
            }
            Nature::Type => {
                // The name, and whatever may be declared with it: enumerators, variables after the brace.
                let key = all.iter().position(|token| token.is_any(&["class", "struct", "union", "enum"]));
                let mut at = key.map_or(0, |key| key + 1);
                while let Some(token) = all.get(at) {
                    if token.is_any(ATTRIBUTES) || token.is_any(&["class", "struct"]) {
                        let open = all.get(at + 1).is_some_and(|next| next.is("("));
                        at = open.then(|| after_close(all, at + 1)).flatten().unwrap_or(at + 1);
                        continue;
                    }
                    if token.is("[") {
                        at = after_close(all, at).unwrap_or(at + 1);
                        continue;
                    }
                    break;
                }
                item.names.extend(all.get(at).filter(|token| token.is_word()).map(|token| token.text));
                let is_enum = key.is_some_and(|key| all[key].is("enum"));
                if let Some(body) = item.body.clone() {
                    let after = (body.end + 1).min(item.tokens.end)..item.tokens.end;
                    let inside = if is_enum { body } else { 0..0 };
                    let words = self.tokens[inside].iter().chain(&self.tokens[after]);
                    item.names.extend(words.filter(|token| token.is_word()).map(|token| token.text));
                }
            }
        }
    }
}

/// Whether a word can be something's name.
fn is_name(token: &Token<'_>) -> bool {
    const TYPES: &[&str] = &[
        "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto",
        "const",
    ];
    token.is_word() && !token.is_any(TYPES)
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    /// `nature names` of each declaration, with its scope.
    fn read(source: &str) -> Vec<String> {
        let all = tokens(source);
        let shown = |item: &Item<'_>| {
            let scope: String = item.scope.iter().map(|name| format!("{name}::")).collect();
            format!("{:?} {scope}{}", item.nature, item.names.join(" ")).trim_end().to_owned()
        };
        items(&all).iter().map(shown).collect()
    }

    #[test]
    fn functions_of_all_kinds_are_whole() {
        let source = r#"
            extern "C" __global__ void __launch_bounds__(256, 2) a(int x = (1 < 2), float* = nullptr) { if (x) { } }
            template <typename T, int N = (3 > 2), template <typename> class C = Box>
            __global__ void b(Pair<C<T>>* p) { auto f = [=](int i) { return i; }; f(1); }
            static inline float (*c(int n))(float) { return nullptr; }
            auto d(int x) -> decltype(x) { return x; }
            Foo::Foo(int n) : a{n}, b(n), Base<int>{} { }
            bool operator<(const K& a, const K& b) { return a.x < b.x; }
            float e(float), f;
            int main() try { } catch (...) { }
        "#;
        let found = read(source);
        assert_eq!(found[..2], ["Function a", "Function b"]);
        assert_eq!(found[3..5], ["Function d", "Function Foo"]);
        assert!(found[5].starts_with("Function"), "{found:?}");
        assert_eq!(found[6], "Function e");
        assert!(found[7].starts_with("Function main"), "{found:?}");
    }

    #[test]
    fn variables_types_and_aliases_tell_their_names() {
        let source = "const int N = 1 << 20, M[2] = {1, 2};\n__constant__ float taps[5];\n\
                      struct __align__(16) V { float x; float len() { return x; } } v, *w;\n\
                      enum Color { RED, GREEN = 2 };\nclass F;\nstruct V other;\n\
                      typedef float real, (*fn)(int);\nusing T = std::vector<int>;\nusing cg::sync;\n\
                      using namespace std;\nnamespace cg = cooperative_groups;\nLAUNCH(1, 2);\n\
                      static_assert(sizeof(int) == 4, \"four\");\ndim3 block(16, 16);\nstd::vector<std::pair<int, int>> p{{1, 2}};\n";
        assert_eq!(
            read(source),
            [
                "Variable N M",
                "Variable taps",
                "Type V v w",
                "Type Color RED GREEN",
                "Type F",
                "Variable other",
                "Alias real fn",
                "Alias T",
                "Alias sync",
                "Other",
                "Alias cg",
                "Other",
                "Other",
                "Variable block",
                "Variable p",
            ]
        );
    }

    #[test]
    fn scopes_are_gone_into() {
        let source = "namespace a::b { inline namespace c { int x; } namespace { int y; } }\n\
                      extern \"C\" { void f(); int z; }\nextern \"C\" int w;\nint last;";
        assert_eq!(
            read(source),
            [
                "Variable a::b::c::x",
                "Variable a::b::y",
                "Function f",
                "Variable z",
                "Variable w",
                "Variable last"
            ]
        );
    }

    #[test]
    fn alternatives_belong_to_what_they_are_in() {
        let source = "#ifdef A\nint main(int argc) {\n#else\nint main() {\n#endif\n  int x;\n#ifdef B\n}\n#else\n  f(); }\n#endif\nint y;\n";
        let all = tokens(source);
        let found = items(&all);
        assert_eq!(found.len(), 2);
        let last = &all[found[0].tokens.end - 1];
        assert_eq!((last.text, found[1].names.as_slice()), ("}", &["y"][..]));
        assert!(all[found[0].tokens.clone()].iter().any(|token| token.is("f")));
    }

    #[test]
    fn broken_text_ends() {
        for source in [
            "int main() {",
            "}",
            "}}} int x;",
            "template <",
            "struct",
            "(",
            "x = {",
            "namespace",
            "f(]) {}",
            "using",
        ] {
            let _ = read(source);
        }
        assert_eq!(read("} int x;"), ["Variable x"]);
    }
}
