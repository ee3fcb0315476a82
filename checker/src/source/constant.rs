//! Constant expressions as host code writes them: what a launch's extents and a buffer's size are, where that can be told
//! without running anything.

use std::cell::Cell;
use std::collections::HashMap;

use super::item::{Item, Nature};
use super::macros::Macros;
use super::token::{Kind, Token, after_close, split_commas};

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Whole(i128),
    Real(f64),
    /// A `dim3`.
    Dims([i128; 3]),
}

impl Value {
    /// As a `dim3` takes it.
    pub(super) fn dims(self) -> [i128; 3] {
        match self {
            Value::Dims(dims) => dims,
            _ => [self.whole().unwrap_or(0), 1, 1],
        }
    }

    /// Without its fraction.
    pub(super) fn whole(self) -> Option<i128> {
        match self {
            Value::Whole(value) => Some(value),
            Value::Real(value) if value.abs() < 1e18 => Some(value as i128),
            Value::Real(_) | Value::Dims(_) => None,
        }
    }

    fn real(self) -> Option<f64> {
        match self {
            Value::Whole(value) => Some(value as f64),
            Value::Real(value) => Some(value),
            Value::Dims(_) => None,
        }
    }
}

/// A source, for looking names up in.
#[derive(Clone, Copy)]
pub(super) struct Names<'t, 'a> {
    pub(super) tokens: &'t [Token<'a>],
    pub(super) items: &'t [Item<'a>],
    pub(super) macros: &'t Macros<'a>,
    /// The function whose variables come first.
    pub(super) function: Option<&'t Item<'a>>,
}

/// The most steps for one expression, and how deep it may nest: names can stand for each other without end.
const MOST_STEPS: u32 = 20_000;
const MOST_DEPTH: u32 = 64;

impl<'a> Names<'_, 'a> {
    /// The value of an expression, if it is a constant.
    pub(super) fn value(&self, expression: &[Token<'a>]) -> Option<Value> {
        let steps = Cell::new(0);
        Reader { names: self, bound: &HashMap::new(), steps: &steps, depth: 0, tokens: expression, at: 0 }
            .whole_of_it()
    }

    /// Where a name gets its only value: `NAME = ...`, `NAME(...)` or `NAME{...}` in the function, or in a declaration
    /// outside of all functions. `None` if it is ever changed.
    fn definition(&self, name: &str) -> Option<Definition<'_, 'a>> {
        if let Some(function) = self.function {
            let head = &self.tokens[function.head.clone()];
            if head.iter().any(|token| token.is(name)) {
                return None;
            }
            if let Some(body) = &function.body {
                let body = &self.tokens[body.clone()];
                if body.iter().any(|token| token.is(name)) {
                    match definitions(body, name)?.as_slice() {
                        [] => {}
                        [only] => return Some(*only),
                        _ => return None,
                    }
                }
            }
        }
        let holds = |item: &&Item<'a>| {
            matches!(item.nature, Nature::Variable | Nature::Type) && item.names.contains(&name)
        };
        let mut items = self.items.iter().filter(holds);
        let item = items.next().filter(|_| items.next().is_none())?;
        match definitions(&self.tokens[item.tokens.clone()], name)?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }
}

/// How a name gets its value.
#[derive(Clone, Copy)]
struct Definition<'t, 'a> {
    /// What stands after `=`, or in its parentheses or braces.
    values: &'t [Token<'a>],
    is_dim3: bool,
}

/// All definitions of a name among these tokens; `None` if it is changed in any other way.
fn definitions<'t, 'a>(tokens: &'t [Token<'a>], name: &str) -> Option<Vec<Definition<'t, 'a>>> {
    let mut found = Vec::new();
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.is(text));
    let touches = |at: usize| tokens.get(at).zip(tokens.get(at + 1)).is_some_and(|(a, b)| a.end() == b.at);
    for at in (0..tokens.len()).filter(|&at| tokens[at].is(name)) {
        let before = at.checked_sub(1).map(|before| tokens[before]);
        let is_counted =
            |from: usize| ["+", "-"].iter().any(|sign| is(from, sign) && is(from + 1, sign) && touches(from));
        let is_member = before.is_some_and(|token| token.is_any(&[".", "->"]));
        if is_member {
            continue;
        }
        let takes_address = before.is_some_and(|token| token.is("&"))
            && at.checked_sub(2).is_none_or(|two| {
                let two = tokens[two];
                // `&&` is none, and neither is what stands between two values.
                two.kind == Kind::Mark && !two.is_any(&[")", "]", "&"])
            });
        if is_counted(at + 1) || (at >= 2 && is_counted(at - 2)) || takes_address {
            return None;
        }
        let next_two = |sign: &str| is(at + 1, sign) && is(at + 2, "=") && touches(at + 1);
        let shifts = |sign: &str| is(at + 1, sign) && is(at + 2, sign) && is(at + 3, "=") && touches(at + 2);
        let is_compound = ["+", "-", "*", "/", "%", "|", "&", "^"].iter().any(|sign| next_two(sign));
        let sets_member = is(at + 1, ".") && is(at + 3, "=") && !is(at + 4, "=");
        if is_compound || shifts("<") || shifts(">") || sets_member {
            return None;
        }
        let is_dim3 = statement_has(tokens, at, "dim3");
        if is(at + 1, "=") && !(is(at + 2, "=") && touches(at + 1)) {
            found.push(Definition { values: until_end(&tokens[at + 2..]), is_dim3 });
        } else if is(at + 1, "(") || is(at + 1, "{") {
            let is_declared = before.is_some_and(|token| token.is_word() && !token.is("return"))
                || (before.is_some_and(|token| token.is(",")) && is_dim3);
            let close = after_close(tokens, at + 1)?;
            if is_declared {
                found.push(Definition { values: &tokens[at + 2..close - 1], is_dim3 });
            }
        }
    }
    Some(found)
}

/// Whether the statement that has the token at `at` begins with `word`.
fn statement_has(tokens: &[Token<'_>], at: usize, word: &str) -> bool {
    let start = tokens[..at].iter().rposition(|token| token.is_any(&[";", "{", "}"])).map_or(0, |at| at + 1);
    tokens[start..at].iter().take(2).any(|token| token.is(word))
}

/// Up to the comma or semicolon that ends an initialiser.
fn until_end<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.is_any(&[",", ";", ")", "}"]) {
            break;
        }
        let nested = token.is_any(&["(", "[", "{"]).then(|| after_close(tokens, at)).flatten();
        at = nested.unwrap_or(at + 1);
    }
    &tokens[..at.min(tokens.len())]
}

/// Reads one expression by recursive descent.
struct Reader<'r, 't, 'a> {
    names: &'r Names<'t, 'a>,
    /// Parameters of the function or macro whose body this is.
    bound: &'r HashMap<&'a str, Value>,
    steps: &'r Cell<u32>,
    depth: u32,
    tokens: &'r [Token<'a>],
    at: usize,
}

/// Operators by rising strength. Those of a line are equally strong.
const OPERATORS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

const TYPES: &[&str] = &[
    "const", "unsigned", "signed", "int", "long", "short", "char", "size_t", "uint", "float", "double",
    "int32_t", "uint32_t", "int64_t", "uint64_t", "bool",
];

impl<'a> Reader<'_, '_, 'a> {
    fn whole_of_it(mut self) -> Option<Value> {
        let value = self.choice()?;
        (self.at == self.tokens.len()).then_some(value)
    }

    fn is(&self, text: &str) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.is(text))
    }

    fn skip(&mut self, text: &str) -> Option<()> {
        self.is(text).then(|| self.at += 1)
    }

    fn part(&self, tokens: &[Token<'a>]) -> Option<Value> {
        self.read(tokens, self.bound)
    }

    /// What stands elsewhere, with these parameters.
    fn read(&self, tokens: &[Token<'a>], bound: &HashMap<&'a str, Value>) -> Option<Value> {
        let depth = self.depth + 1;
        let reader = Reader { names: self.names, bound, steps: self.steps, depth, tokens, at: 0 };
        if depth > MOST_DEPTH { None } else { reader.whole_of_it() }
    }

    /// Notes one step; `None` after too many.
    fn step(&mut self) -> Option<()> {
        self.steps.set(self.steps.get() + 1);
        self.depth += 1;
        (self.steps.get() <= MOST_STEPS && self.depth <= MOST_DEPTH).then_some(())
    }

    /// `a ? b : c`, or less.
    fn choice(&mut self) -> Option<Value> {
        let condition = self.binary(0)?;
        if self.skip("?").is_none() {
            return Some(condition);
        }
        self.step()?;
        let yes = self.choice()?;
        self.skip(":")?;
        let no = self.choice()?;
        Some(if condition.real()? != 0.0 { yes } else { no })
    }

    fn binary(&mut self, level: usize) -> Option<Value> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.sees(operator)) {
            self.at += operator.len();
            let right = self.binary(level + 1)?;
            left = apply(operator, left, right)?;
        }
        Some(left)
    }

    /// Whether this operator is next, and no longer one.
    fn sees(&self, operator: &str) -> bool {
        let rest = &self.tokens[self.at..];
        let mut marks = String::new();
        for (index, token) in rest.iter().take(3).enumerate() {
            if !token.is_any(&["|", "&", "=", "!", "<", ">", "^", "+", "-", "*", "/", "%"])
                || (index > 0 && rest[index - 1].end() != token.at)
            {
                break;
            }
            marks.push_str(token.text);
        }
        let longest = ["||", "&&", "==", "!=", "<=", ">=", "<<", ">>"];
        let long = longest.iter().find(|long| marks.starts_with(**long));
        long.map_or_else(|| marks.starts_with(operator), |long| long == &operator)
    }

    fn unary(&mut self) -> Option<Value> {
        let depth = self.depth;
        self.step()?;
        let value = self.signed()?;
        self.depth = depth;
        Some(value)
    }

    fn signed(&mut self) -> Option<Value> {
        if self.skip("-").is_some() {
            return match self.unary()? {
                Value::Whole(value) => value.checked_neg().map(Value::Whole),
                Value::Real(value) => Some(Value::Real(-value)),
                Value::Dims(_) => None,
            };
        }
        if self.skip("+").is_some() {
            return self.unary();
        }
        if self.skip("!").is_some() {
            return Some(Value::Whole(i128::from(self.unary()?.real()? == 0.0)));
        }
        let value = self.primary()?;
        if self.skip(".").is_some() {
            let Value::Dims(dims) = value else { return None };
            let axis = ["x", "y", "z"].iter().position(|axis| self.is(axis))?;
            self.at += 1;
            return Some(Value::Whole(dims[axis]));
        }
        Some(value)
    }

    fn primary(&mut self) -> Option<Value> {
        let token = *self.tokens.get(self.at)?;
        if token.kind == Kind::Number {
            self.at += 1;
            return number(token.text);
        }
        if token.is("(") {
            let close = after_close(self.tokens, self.at)?;
            let inside = &self.tokens[self.at + 1..close - 1];
            self.at = close;
            if !inside.is_empty() && inside.iter().all(|token| token.is_any(TYPES)) {
                let value = self.unary()?;
                return cast(inside, value);
            }
            return self.part(inside);
        }
        if !token.is_word() {
            return None;
        }
        self.at += 1;
        // Of a qualified name, the last part tells.
        let mut name = token.text;
        while self.skip("::").is_some() {
            name = self.tokens.get(self.at)?.text;
            self.at += 1;
        }
        if name == "static_cast" {
            let close = super::token::after_angle(self.tokens, self.at)?;
            let ty = &self.tokens[self.at + 1..close - 1];
            self.at = close;
            let value = self.primary()?;
            return cast(ty, value);
        }
        if self.is("(") || (name == "dim3" && self.is("{")) {
            let close = after_close(self.tokens, self.at)?;
            let inside = &self.tokens[self.at + 1..close - 1];
            self.at = close;
            return self.call(name, inside);
        }
        if let Some(value) = self.bound.get(name) {
            return Some(*value);
        }
        if self.names.macros.has(name) {
            return self.read(&self.names.macros.only(name)?.body, &HashMap::new());
        }
        let Definition { values, is_dim3 } = self.names.definition(name)?;
        // `dim3 block = {16, 16};`
        let inside = match values.split_first() {
            Some((first, rest)) if first.is("{") => &rest[..rest.len().saturating_sub(1)],
            _ => values,
        };
        let nothing = HashMap::new();
        let value = match split_commas(inside).as_slice() {
            [only] => self.read(only, &nothing)?,
            _ => dims(self, inside)?,
        };
        Some(if is_dim3 { Value::Dims(value.dims()) } else { value })
    }

    fn call(&self, name: &str, inside: &[Token<'a>]) -> Option<Value> {
        let given = split_commas(inside);
        let value = |index: usize| self.part(given.get(index)?);
        if TYPES.contains(&name) {
            let is_real = matches!(name, "float" | "double");
            let value = value(0)?;
            return if is_real { value.real().map(Value::Real) } else { value.whole().map(Value::Whole) };
        }
        if let Some(one) = self.names.macros.only(name) {
            let parameters = one.parameters.as_ref().filter(|names| names.len() == given.len())?;
            let bound = parameters.iter().enumerate().map(|(at, name)| Some((*name, value(at)?)));
            return self.read(&one.body, &bound.collect::<Option<_>>()?);
        }
        match name {
            "dim3" => dims(self, inside),
            "sizeof" => size_of(inside).map(|size| Value::Whole(size.into())),
            "min" | "max" => {
                let (left, right) = (value(0)?, value(1)?);
                let takes_left = (left.real()? < right.real()?) == (name == "min");
                Some(if takes_left { left } else { right })
            }
            "ceil" | "ceilf" => Some(Value::Real(value(0)?.real()?.ceil())),
            "floor" | "floorf" => Some(Value::Real(value(0)?.real()?.floor())),
            _ => self.function(name, &given),
        }
    }

    /// A function of the file that only returns an expression of its parameters; `ceil_div` without one is libcu++'s.
    fn function(&self, name: &str, given: &[&[Token<'a>]]) -> Option<Value> {
        let values: Vec<Value> = given.iter().map(|tokens| self.part(tokens)).collect::<Option<_>>()?;
        let names = self.names;
        let is_it = |item: &&Item<'a>| {
            item.nature == Nature::Function && item.names.contains(&name) && item.body.is_some()
        };
        let Some(item) = names.items.iter().find(is_it) else {
            let (&[left, right], "ceil_div") = (values.as_slice(), name) else { return None };
            let (left, right) = (left.whole()?, right.whole()?);
            return left.checked_add(right)?.checked_sub(1)?.checked_div(right).map(Value::Whole);
        };
        let body = &names.tokens[item.body.clone()?];
        let (first, rest) = body.split_first()?;
        let (last, expression) = rest.split_last()?;
        if !first.is("return") || !last.is(";") || expression.iter().any(|token| token.is(";")) {
            return None;
        }
        let open = item.parameters?;
        let close = after_close(names.tokens, open)?;
        let parameters = split_commas(&names.tokens[open + 1..close - 1]);
        let bound =
            parameters.iter().zip(values).map(|(parameter, value)| Some((parameter.last()?.text, value)));
        self.read(expression, &bound.collect::<Option<_>>()?)
    }
}

fn dims<'a>(reader: &Reader<'_, '_, 'a>, inside: &[Token<'a>]) -> Option<Value> {
    let mut dims = [1; 3];
    let given = split_commas(inside);
    if given.len() > 3 {
        return None;
    }
    for (dim, tokens) in dims.iter_mut().zip(given) {
        *dim = reader.part(tokens)?.whole()?;
    }
    Some(Value::Dims(dims))
}

fn cast(ty: &[Token<'_>], value: Value) -> Option<Value> {
    if ty.iter().any(|token| token.is_any(&["float", "double"])) {
        return value.real().map(Value::Real);
    }
    value.whole().map(Value::Whole)
}

/// Bytes of a type.
pub(super) fn size_of(ty: &[Token<'_>]) -> Option<u32> {
    let has = |word: &str| ty.iter().any(|token| token.is(word));
    if has("*") {
        return Some(8);
    }
    let last = ty.iter().rev().find(|token| token.is_word())?;
    Some(match last.text {
        "char" | "bool" | "uint8_t" | "int8_t" | "uchar" => 1,
        "short" | "half" | "__half" | "uint16_t" | "int16_t" | "__nv_bfloat16" | "ushort" => 2,
        "double" | "size_t" | "int64_t" | "uint64_t" | "float2" | "int2" | "long" => 8,
        "int" if has("long") => 8,
        "int" if has("short") => 2,
        "int" | "float" | "unsigned" | "uint" | "int32_t" | "uint32_t" | "signed" => 4,
        "float4" | "int4" | "double2" | "uint4" => 16,
        _ => return None,
    })
}

fn apply(operator: &str, left: Value, right: Value) -> Option<Value> {
    let truth = |holds: bool| Some(Value::Whole(i128::from(holds)));
    match operator {
        "==" => return truth(left.real()? == right.real()?),
        "!=" => return truth(left.real()? != right.real()?),
        "<=" => return truth(left.real()? <= right.real()?),
        ">=" => return truth(left.real()? >= right.real()?),
        "<" => return truth(left.real()? < right.real()?),
        ">" => return truth(left.real()? > right.real()?),
        "||" => return truth(left.real()? != 0.0 || right.real()? != 0.0),
        "&&" => return truth(left.real()? != 0.0 && right.real()? != 0.0),
        _ => {}
    }
    let (Value::Whole(a), Value::Whole(b)) = (left, right) else {
        let (a, b) = (left.real()?, right.real()?);
        return Some(Value::Real(match operator {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" => a / b,
            _ => return None,
        }));
    };
    let bits = u32::try_from(b).ok();
    let value = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        "%" => a.checked_rem(b),
        "<<" => bits.filter(|bits| *bits < 64).and_then(|bits| a.checked_mul(1 << bits)),
        ">>" => bits.and_then(|bits| a.checked_shr(bits)),
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "&" => Some(a & b),
        _ => None,
    };
    value.map(Value::Whole)
}

/// A number as C++ writes it.
fn number(text: &str) -> Option<Value> {
    let text = text.replace('\'', "");
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        return i128::from_str_radix(digits.trim_end_matches(['u', 'l']), 16).ok().map(Value::Whole);
    }
    if let Some(digits) = lower.strip_prefix("0b") {
        return i128::from_str_radix(digits.trim_end_matches(['u', 'l']), 2).ok().map(Value::Whole);
    }
    if lower.contains(['.', 'e']) || lower.ends_with('f') {
        return lower.trim_end_matches(['f', 'l']).parse().ok().map(Value::Real);
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let is_octal = digits.len() > 1 && digits.starts_with('0');
    i128::from_str_radix(digits, if is_octal { 8 } else { 10 }).ok().map(Value::Whole)
}

#[cfg(test)]
mod tests {
    use super::super::item::items;
    use super::super::token::tokens;
    use super::*;

    /// The value of `expression` at the end of `body`, in a function after `before`.
    fn value(before: &str, body: &str, expression: &str) -> Option<Value> {
        let source = format!("{before}\nint main(int argc) {{ {body} }}\n");
        let all = tokens(&source);
        let found = items(&all);
        let macros = Macros::of(&all);
        let function = found.iter().find(|item| item.names.contains(&"main"));
        let wanted = tokens(expression);
        // The tokens of the expression live shorter than those of the source.
        let names = Names { tokens: &all, items: &found, macros: &macros, function };
        names.value(&wanted)
    }

    fn whole(before: &str, body: &str, expression: &str) -> Option<i128> {
        match value(before, body, expression) {
            Some(Value::Whole(value)) => Some(value),
            _ => None,
        }
    }

    #[test]
    fn arithmetic_is_that_of_whole_numbers() {
        for (text, wanted) in [
            ("1 + 2 * 3", 7),
            ("(1000 + 255) / 256", 4),
            ("1 << 20", 1 << 20),
            ("-7 / 2", -3),
            ("0x10u | 3UL", 19),
            ("1'000 % 7", 6),
            ("3 > 2 ? 10 : 20", 10),
            ("(unsigned int)(5.9f)", 5),
            ("(int)ceil(1000 / 256.0)", 4),
            ("static_cast<int>(std::ceil((float)1000 / 256))", 4),
            ("std::min(3, 5) + max(1, 2)", 5),
            ("sizeof(float) * 4 + sizeof(double*)", 24),
            ("cuda::ceil_div(1000, 256)", 4),
            ("1 == 1 && 2 != 3 || 0", 1),
            ("256 >> 2 >> 1", 32),
        ] {
            assert_eq!(whole("", "", text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn names_are_followed_where_they_have_one_value() {
        let before = "#define N 1000\n#define CEIL(a, b) (((a) + (b) - 1) / (b))\nconst int M = N * 2, K = M;\n\
                      enum { TILE = 32, HALF = TILE / 2 };\nstatic int cdiv(int a, int b) { return (a + b - 1) / b; }\n";
        let body = "int threads = 256; const int blocks = (N + threads - 1) / threads; dim3 block(16, TILE), other(8);\n\
                    dim3 grid((K + block.x - 1) / block.x, cdiv(M, block.y)); dim3 list = {1, 2}; int z{5};";
        for (text, wanted) in [
            ("blocks", 4),
            ("CEIL(N, TILE)", 32),
            ("K", 2000),
            ("HALF", 16),
            ("grid.x", 125),
            ("grid.y", 63),
            ("list.y", 2),
            ("other.z", 1),
            ("z", 5),
        ] {
            assert_eq!(whole(before, body, text), Some(wanted), "{text}");
        }
        assert_eq!(value(before, body, "grid"), Some(Value::Dims([125, 63, 1])));
        assert_eq!(value(before, body, "dim3(2, N)"), Some(Value::Dims([2, 1000, 1])));
    }

    #[test]
    fn what_changes_or_comes_from_outside_is_no_constant() {
        for body in [
            "int n = 5; n = 6;",
            "int n = 5; n += 1;",
            "int n = 5; ++n;",
            "int n = 5; n--;",
            "int n = 5; read(&n);",
            "int n = 5; n <<= 1;",
            "int n = atoi(argv[1]);",
            "int n;",
            "dim3 n(1); n.x = 4;",
        ] {
            assert_eq!(value("", body, "n"), None, "{body}");
        }
        assert_eq!(whole("", "int n = 5; if (n == 5 && n <= 6) f(1 & n);", "n"), Some(5));
        assert_eq!(value("", "", "argc"), None);
        assert_eq!(value("#ifdef A\n#define N 1\n#else\n#define N 2\n#endif\n", "", "N"), None);
    }

    #[test]
    fn definitions_without_an_end_have_one() {
        assert_eq!(value("#define A B\n#define B A\n", "", "A"), None);
        assert_eq!(value("#define A (A + A)\n", "", "A"), None);
        assert_eq!(value("int f(int x) { return f(x) + f(x); }\n", "", "f(1)"), None);
        let deep = "(".repeat(3000) + "1" + &")".repeat(3000);
        let _ = value("", "", &deep);
        for text in ["", "1 +", "(", "a.b", "1 / 0", "1 << 200", "dim3(1,2,3,4)", "f(", "09", "0x"] {
            assert_eq!(value("", "", text), None, "{text}");
        }
    }
}
