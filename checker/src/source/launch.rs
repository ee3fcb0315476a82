//! Kernel launches in host code, as far as they can be told without running it.

use super::constant::{Names, Value, size_of};
use super::item::{self, Nature};
use super::macros::Macros;
use super::token::{Token, after_close, line_of, split_commas, tokens};

/// `kernel<<<grid, block, shared>>>(arguments)`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Launch {
    /// As it is written, with template arguments: `reduce<256>`.
    pub(crate) kernel: String,
    /// From 1.
    pub(crate) line: u32,
    pub(crate) grid: Extent,
    pub(crate) block: Extent,
    /// Bytes of dynamic shared memory.
    pub(crate) shared: Extent,
    pub(crate) arguments: Vec<Given>,
}

/// What stands between the angle brackets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Extent {
    Known([u64; 3]),
    /// As it is written.
    Unknown(String),
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given {
    Value(Value),
    /// A name that host code allocates device memory for.
    Buffer {
        bytes: Option<u64>,
        start: Start,
    },
    /// As it is written.
    Unknown(String),
}

/// What is in a buffer when the kernel starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Uninitialized,
    /// `cudaMemset` to 0.
    Zero,
    /// Something is copied or written to it.
    Filled,
}

/// All launches of a source, in order.
pub(crate) fn launches(source: &str) -> Vec<Launch> {
    let all = tokens(source);
    let items = item::items(&all);
    let macros = Macros::of(&all);
    let mut found = Vec::new();
    for function in items.iter().filter(|item| item.nature == Nature::Function) {
        let Some(body) = function.body.clone() else { continue };
        let names = Names { tokens: &all, items: &items, macros: &macros, function: Some(function) };
        found.extend(body.filter_map(|at| launch(source, names, at)));
    }
    found
}

/// The launch whose `<<<` begins at `at`.
fn launch<'a>(source: &str, names: Names<'_, 'a>, at: usize) -> Option<Launch> {
    let all = names.tokens;
    if !is_triple(all, at, "<") {
        return None;
    }
    let first = kernel_start(all, at)?;
    let close = (at + 3..all.len()).find(|&at| is_triple(all, at, ">"))?;
    if !all.get(close + 3)?.is("(") {
        return None;
    }
    let end = after_close(all, close + 3)?;
    let extents = split_commas(&all[at + 3..close]);
    let extent = |index: usize, absent: u64| match extents.get(index) {
        None => Extent::Known([absent, 1, 1]),
        Some(written) => {
            known(names, written).map_or_else(|| Extent::Unknown(text(source, written)), Extent::Known)
        }
    };
    let given = |written: &&[Token<'a>]| match (names.value(written), buffer(names, written)) {
        (Some(value), _) => Given::Value(value),
        (None, Some(buffer)) => buffer,
        (None, None) => Given::Unknown(text(source, written)),
    };
    let written = &all[close + 4..end - 1];
    let arguments = if written.is_empty() { Vec::new() } else { split_commas(written) };
    Some(Launch {
        kernel: text(source, &all[first..at]),
        line: line_of(source, all[at].at),
        grid: extent(0, 1),
        block: extent(1, 1),
        shared: extent(2, 0),
        arguments: arguments.iter().map(given).collect(),
    })
}

fn known<'a>(names: Names<'_, 'a>, written: &[Token<'a>]) -> Option<[u64; 3]> {
    let value = names.value(written)?;
    value.whole().or(matches!(value, Value::Dims(_)).then_some(0))?;
    let [x, y, z] = value.dims().map(|dim| u64::try_from(dim).ok());
    Some([x?, y?, z?])
}

/// Three of a kind that touch: `<<<`.
fn is_triple(tokens: &[Token<'_>], at: usize, mark: &str) -> bool {
    let all = tokens.get(at..at + 3).unwrap_or_default();
    all.len() == 3
        && all.iter().all(|token| token.is(mark))
        && all.windows(2).all(|pair| pair[0].end() == pair[1].at)
}

/// Where the kernel's name begins that ends before `at`: `ns::name<a, (b > c)>`.
fn kernel_start(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut first = at.checked_sub(1)?;
    if tokens[first].is(">") {
        let (mut angles, mut brackets) = (0_usize, 0_usize);
        loop {
            let token = &tokens[first];
            if token.is_any(&[")", "]", "}"]) {
                brackets += 1;
            } else if token.is_any(&["(", "[", "{"]) {
                brackets = brackets.checked_sub(1)?;
            } else if token.is(">") && brackets == 0 {
                angles += 1;
            } else if token.is("<") && brackets == 0 {
                angles -= 1;
            } else if token.is(";") {
                return None;
            }
            first = first.checked_sub(1)?;
            if angles == 0 {
                break;
            }
        }
    }
    if !tokens[first].is_word() {
        return None;
    }
    while first >= 2 && tokens[first - 1].is("::") && tokens[first - 2].is_word() {
        first -= 2;
    }
    Some(first)
}

/// A variable that gets device memory somewhere in the function.
fn buffer<'a>(names: Names<'_, 'a>, written: &[Token<'a>]) -> Option<Given> {
    let [.., last] = written else { return None };
    if !last.is_word() {
        return None;
    }
    let all = &names.tokens[names.function?.tokens.clone()];
    let mut found = None;
    let mut start = Start::Uninitialized;
    for (at, token) in all.iter().enumerate().filter(|(_, token)| token.is_word()) {
        let values = || {
            let close = after_close(all, at + 1)?;
            Some(split_commas(&all[at + 2..close - 1]))
        };
        let is_first = |values: &[&[Token<'_>]]| {
            values.first().is_some_and(|first| first.last().is_some_and(|token| token.is(last.text)))
        };
        if !all.get(at + 1).is_some_and(|next| next.is("(")) {
            // Managed memory is written by name.
            let sets = token.is(last.text) && all.get(at + 1).is_some_and(|next| next.is("["));
            let after = if sets { after_close(all, at + 1) } else { None };
            if after.is_some_and(|after| all.get(after).is_some_and(|next| next.is("="))) {
                start = Start::Filled;
            }
            continue;
        }
        let Some(values) = values().filter(|values| is_first(values)) else { continue };
        match token.text {
            "cudaMalloc" | "cudaMallocManaged" | "cudaMallocAsync" => {
                let bytes = values.get(1).and_then(|size| names.value(size)?.whole());
                found = Some(bytes.and_then(|bytes| u64::try_from(bytes).ok()));
            }
            "cudaMemcpy" | "cudaMemcpyAsync" => start = Start::Filled,
            "cudaMemset" | "cudaMemsetAsync" if start == Start::Uninitialized => start = Start::Zero,
            _ => {}
        }
    }
    found.map(|bytes| Given::Buffer { bytes, start })
}

/// Tokens as they are written, with single spaces.
fn text(source: &str, tokens: &[Token<'_>]) -> String {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return String::new() };
    source[first.at..last.end()].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Bytes of the element that a pointer of this type leads to, if that is known.
pub(crate) fn element_size(ty: &str) -> Option<u32> {
    let pointed = ty.strip_suffix('*')?;
    size_of(&tokens(pointed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(source: &str) -> Launch {
        let found = launches(source);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    #[test]
    fn literal_extents_are_known() {
        let launch = one("int main() {\n  int *d;\n  negate<<<2, 64>>>(d, 100);\n}\n");
        assert_eq!((launch.kernel.as_str(), launch.line), ("negate", 3));
        assert_eq!((launch.grid, launch.block), (Extent::Known([2, 1, 1]), Extent::Known([64, 1, 1])));
        assert_eq!(launch.shared, Extent::Known([0, 1, 1]));
        assert_eq!(launch.arguments, [Given::Unknown("d".into()), Given::Value(Value::Whole(100))]);
    }

    #[test]
    fn variables_macros_and_dim3_are_followed() {
        let launch = one(
            "#define N 1000\nvoid run(float* a) { dim3 block(16, 16); const dim3 grid((N + block.x - 1) / block.x, N / 8);\n\
                          ns::mm<float, (N > 3)><<<grid, block, 2 * sizeof(float) * block.x, stream>>>(a, N); }",
        );
        assert_eq!(launch.kernel, "ns::mm<float, (N > 3)>");
        assert_eq!((launch.grid, launch.block), (Extent::Known([63, 125, 1]), Extent::Known([16, 16, 1])));
        assert_eq!(launch.shared, Extent::Known([128, 1, 1]));
    }

    #[test]
    fn what_is_not_known_is_given_as_it_is_written() {
        let launch = one("void run(int n) { k<<<(n + 255) / 256, 256>>>(n); }");
        assert_eq!(launch.grid, Extent::Unknown("(n + 255) / 256".into()));
        assert_eq!(launch.block, Extent::Known([256, 1, 1]));
        assert_eq!(launch.arguments, [Given::Unknown("n".into())]);
    }

    #[test]
    fn buffers_have_their_size_and_their_start() {
        let source = "int main() { const int n = 100; float *in, *out, *sum; cudaMalloc((void**)&in, n * sizeof(float));\n\
                      CHECK(cudaMalloc(&out, n * 4)); cudaMalloc(&sum, size()); cudaMemset(sum, 0, 4);\n\
                      cudaMemcpy(in, h, n * 4, cudaMemcpyHostToDevice); k<<<1, 1>>>(in, out, sum, other); }";
        assert_eq!(
            one(source).arguments,
            [
                Given::Buffer { bytes: Some(400), start: Start::Filled },
                Given::Buffer { bytes: Some(400), start: Start::Uninitialized },
                Given::Buffer { bytes: None, start: Start::Zero },
                Given::Unknown("other".into())
            ]
        );
    }

    #[test]
    fn shifts_templates_and_broken_text_are_no_launches() {
        for source in [
            "int main() { int x = 1 << 2; A<B<C<int>>> y; std::cout << \"k<<<1, 1>>>()\"; }",
            "int main() { k<<<1, 1; }",
            "int main() { <<<1>>>(); }",
            "int main() { k<<<1>>> }",
            "// k<<<1, 1>>>();\nint main() {}",
        ] {
            assert_eq!(launches(source), [], "{source}");
        }
    }
}
