//! A whole program, divided into what a device runs and what the host does.
//!
//! As nvcc has it: a function without `__global__` or `__device__` is host code, and so is a variable that is neither in a
//! device's memory nor constant. What a file needs beside its kernels (types, constants, other names) is what they
//! mention, and what that mentions in turn. The rest is blanked, so that every line and column stays where it was.

use std::collections::HashSet;
use std::ops::Range;

use super::item::{self, Item, Nature};
use super::macros::Macros;
use super::token::{Kind, Token, after_angle, line_of, split_commas, tokens};

/// A source's two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    /// The source with its host code blanked.
    pub(crate) device: String,
    /// The functions and variables of the host, in order.
    pub(crate) host: Vec<Aside>,
    /// The kernels, in order.
    pub(crate) kernels: Vec<Kernel>,
    /// All names that are declared or defined in the device's part, outside of functions.
    pub(crate) names: HashSet<String>,
}

impl Division {
    /// Whether the file has host code, too.
    pub(crate) fn is_program(&self) -> bool {
        !self.host.is_empty()
    }
}

/// A function or a variable that only the host can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aside {
    pub(crate) name: String,
    pub(crate) is_function: bool,
    /// First and last line, from 1.
    pub(crate) lines: (u32, u32),
}

/// A kernel as it is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    /// The same with its namespaces: `mine::twice`.
    pub(crate) path: String,
    /// The names of its template parameters; `None` if it is no template.
    pub(crate) template: Option<Vec<String>>,
    /// Of its name, from 1.
    pub(crate) line: u32,
}

/// Divides a source. Without functions or variables of the host it stays as it is.
pub(crate) fn divide(source: &str) -> Division {
    let all = tokens(source);
    let program = Program { items: item::items(&all), macros: Macros::of(&all), tokens: &all };
    let kept = program.kept();
    let set_aside = |(index, item): (usize, &Item<'_>)| {
        (!kept.contains(&index) && program.is_host(item)).then(|| Aside {
            name: item.names.first().copied().unwrap_or_default().to_owned(),
            is_function: item.nature == Nature::Function,
            lines: (
                line_of(source, all[item.tokens.start].at),
                line_of(source, all[item.tokens.end - 1].end().saturating_sub(1)),
            ),
        })
    };
    let host: Vec<Aside> = program.items.iter().enumerate().filter_map(set_aside).collect();
    let is_program = !host.is_empty();
    let mut blanked: Vec<Range<usize>> = Vec::new();
    if is_program {
        for (index, item) in program.items.iter().enumerate() {
            if !kept.contains(&index) {
                blanked.push(item.tokens.clone());
            } else if item.nature == Nature::Type {
                program.host_members(item, &mut blanked);
            }
        }
    }
    Division {
        device: blank(source, &all, &blanked),
        host,
        kernels: program.kernels(source),
        names: program.names(&kept, is_program),
    }
}

struct Program<'t, 'a> {
    tokens: &'t [Token<'a>],
    items: Vec<Item<'a>>,
    macros: Macros<'a>,
}

/// What makes a declaration one of the device.
const SPACES: &[&str] = &["__global__", "__device__", "__constant__", "__managed__", "__shared__"];

impl<'a> Program<'_, 'a> {
    fn words(&self, range: &Range<usize>) -> impl Iterator<Item = &'a str> {
        self.tokens[range.clone()].iter().filter(|token| token.is_word()).map(|token| token.text)
    }

    /// The words of a declaration's head, with what its macros stand for.
    fn head(&self, item: &Item<'a>) -> HashSet<&'a str> {
        self.macros.expand(self.words(&item.head))
    }

    /// Whether it is a function or a variable that a device can never use.
    fn is_host(&self, item: &Item<'a>) -> bool {
        let head = self.head(item);
        let has = |words: &[&str]| words.iter().any(|word| head.contains(word));
        match item.nature {
            Nature::Function => !has(SPACES) && !has(&["constexpr", "consteval"]),
            Nature::Variable => !has(SPACES) && !has(&["constexpr", "const"]),
            Nature::Type | Nature::Alias | Nature::Other => false,
        }
    }

    /// Whether it belongs to the device, whatever else mentions it.
    fn is_root(&self, item: &Item<'a>) -> bool {
        let head = self.head(item);
        let is_for_both = head.contains("__host__") && !head.contains("__global__");
        SPACES.iter().any(|space| head.contains(space)) && !is_for_both
    }

    /// The indices of all declarations that the device's compiler is to see.
    fn kept(&self) -> HashSet<usize> {
        let mut kept: HashSet<usize> = HashSet::new();
        let mut mentioned: HashSet<&str> = HashSet::new();
        let mut waiting: Vec<usize> =
            (0..self.items.len()).filter(|&index| self.is_root(&self.items[index])).collect();
        while let Some(index) = waiting.pop() {
            if !kept.insert(index) {
                continue;
            }
            mentioned.extend(self.macros.expand(self.words(&self.items[index].tokens)));
            let needed = |(index, item): (usize, &Item<'a>)| {
                let is_needed = item.names.iter().any(|name| mentioned.contains(name)) && !self.is_host(item);
                (is_needed && !kept.contains(&index)).then_some(index)
            };
            waiting.extend(self.items.iter().enumerate().filter_map(needed));
        }
        // What declares no name stays unless it speaks of what does not.
        let names = |are_kept: bool| {
            let items = self.items.iter().enumerate().filter(|(index, _)| kept.contains(index) == are_kept);
            items.flat_map(|(_, item)| item.names.iter().copied()).collect::<HashSet<_>>()
        };
        let (there, gone) = (names(true), names(false));
        let stays = |item: &Item<'a>| {
            item.nature == Nature::Other
                && self.words(&item.tokens).all(|word| there.contains(word) || !gone.contains(word))
        };
        let others = self.items.iter().enumerate().filter(|(_, item)| stays(item)).map(|(index, _)| index);
        let others: Vec<usize> = others.collect();
        kept.extend(others);
        kept
    }

    fn names(&self, kept: &HashSet<usize>, is_program: bool) -> HashSet<String> {
        let items = self.items.iter().enumerate().filter(|(index, _)| !is_program || kept.contains(index));
        let declared = items.flat_map(|(_, item)| item.names.iter().copied());
        declared.chain(self.macros.names()).map(str::to_owned).collect()
    }

    /// The names between the angle brackets of `template <typename T, int N = 4>`.
    fn template_parameters(&self, item: &Item<'a>) -> Vec<String> {
        let tokens = &self.tokens[item.tokens.clone()];
        let Some(after) = after_angle(tokens, 1) else { return Vec::new() };
        let name = |parameter: &&[Token<'a>]| {
            let declared = parameter.split(|token| token.is("=")).next()?;
            declared.last().filter(|token| token.is_word()).map(|token| token.text.to_owned())
        };
        split_commas(&tokens[2..after - 1])
            .iter()
            .map(|parameter| name(parameter).unwrap_or_default())
            .collect()
    }

    /// Members of a class that only the host can call, and that only a host compiler would understand.
    fn host_members(&self, class: &Item<'a>, blanked: &mut Vec<Range<usize>>) {
        let Some(body) = class.body.clone() else { return };
        for member in item::within(self.tokens, body) {
            if member.nature == Nature::Type {
                self.host_members(&member, blanked);
            } else if member.nature == Nature::Function
                && self.is_host(&member)
                && self.speaks_of_the_host(&member.tokens)
            {
                blanked.push(member.tokens.clone());
            }
        }
    }

    fn speaks_of_the_host(&self, range: &Range<usize>) -> bool {
        let is_api = |word: &str| {
            let rest = word.strip_prefix("cuda").or_else(|| word.strip_prefix("cu"));
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        self.macros
            .expand(self.words(range))
            .iter()
            .any(|word| matches!(*word, "std" | "throw" | "try" | "fprintf" | "exit") || is_api(word))
    }

    fn kernels(&self, source: &str) -> Vec<Kernel> {
        let is_kernel = |item: &&Item<'a>| {
            item.nature == Nature::Function && self.head(item).contains("__global__") && item.body.is_some()
        };
        let kernel = |item: &Item<'a>| {
            let name = item.names.first()?;
            let at = self.tokens[item.parameters?.checked_sub(1)?].at;
            let path = item.scope.iter().chain([name]).copied().collect::<Vec<_>>().join("::");
            Some(Kernel {
                name: (*name).to_owned(),
                path,
                template: item.is_template.then(|| self.template_parameters(item)),
                line: line_of(source, at),
            })
        };
        self.items.iter().filter(is_kernel).filter_map(kernel).collect()
    }
}

/// The source with blanks in the place of these tokens and what is between them, but for directives and line ends.
fn blank(source: &str, tokens: &[Token<'_>], ranges: &[Range<usize>]) -> String {
    let mut bytes = source.as_bytes().to_vec();
    for range in ranges {
        let mut start = tokens[range.start].at;
        for token in &tokens[range.clone()] {
            if token.kind == Kind::Directive {
                fill(&mut bytes[start..token.at]);
                start = token.end();
            }
        }
        let end = tokens[range.end - 1].end();
        fill(&mut bytes[start.min(end)..end]);
    }
    // Whole tokens went, so what is left is the text it was.
    String::from_utf8(bytes).unwrap_or_else(|_| source.to_owned())
}

fn fill(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the device's part, trimmed, without those that are empty.
    fn device(source: &str) -> Vec<String> {
        let divided = divide(source);
        assert_eq!(divided.device.len(), source.len());
        assert_eq!(divided.device.lines().count(), source.lines().count());
        divided.device.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    }

    fn host(source: &str) -> Vec<(String, u32, u32)> {
        divide(source).host.into_iter().map(|aside| (aside.name, aside.lines.0, aside.lines.1)).collect()
    }

    #[test]
    fn a_file_without_host_code_stays_as_it_is() {
        let source = "struct Unused { int x; };\n#define N 4\nconst int M = N;\n\
                      __device__ int twice(int x) { return 2 * x; }\n__global__ void k(int* p) { *p = twice(M); }\n";
        let divided = divide(source);
        assert_eq!((divided.device.as_str(), divided.host.len()), (source, 0));
        assert_eq!(divided.kernels.len(), 1);
        assert_eq!((divided.kernels[0].path.as_str(), divided.kernels[0].line), ("k", 5));
    }

    #[test]
    fn host_functions_and_variables_go_and_lines_stay() {
        let source = "#include <cuda_runtime.h>\nfloat* d_x;\nint count = 0;\n__global__ void k(float* x) {\n  x[0] = 1;\n}\n\
                      int main() {\n#ifdef TIMED\n  timer t;\n#endif\n  const char* text = R\"(} __global__ {)\";\n  \
                      auto run = [&](int n) { k<<<n, 32>>>(d_x); };\n  run(1); // é }\n}\n__global__ void last() {}\n";
        assert_eq!(
            device(source),
            [
                "#include <cuda_runtime.h>",
                "__global__ void k(float* x) {",
                "x[0] = 1;",
                "}",
                "#ifdef TIMED",
                "#endif",
                "__global__ void last() {}"
            ]
        );
        let names = [("d_x", 2, 2), ("count", 3, 3), ("main", 7, 14)];
        assert_eq!(host(source), names.map(|(name, from, to)| (name.to_owned(), from, to)));
        let line = |text: &str| divide(source).device.lines().position(|line| line.contains(text));
        assert_eq!(line("last"), Some(14));
    }

    #[test]
    fn what_kernels_mention_stays_and_what_that_mentions() {
        let source = "constexpr int A = 2;\nconst int B = A * 2;\nconst int ONLY_HOST = f();\n\
                      typedef float real;\nstruct Inner { real x; };\nstruct Box { Inner in[B]; };\n\
                      struct Timer { std::string name; };\nusing Clock = std::chrono::steady_clock;\n\
                      enum { RED, GREEN };\n#define STEP GREEN\n\
                      template <typename T> __global__ void k(Box b, T* p) { p[0] = b.in[1].x + STEP; }\n\
                      int main() { Timer t; Clock c; }\n";
        assert_eq!(
            device(source),
            [
                "constexpr int A = 2;",
                "const int B = A * 2;",
                "typedef float real;",
                "struct Inner { real x; };",
                "struct Box { Inner in[B]; };",
                "enum { RED, GREEN };",
                "#define STEP GREEN",
                "template <typename T> __global__ void k(Box b, T* p) { p[0] = b.in[1].x + STEP; }"
            ]
        );
        assert_eq!(divide(source).kernels[0].template, Some(vec!["T".to_owned()]));
    }

    #[test]
    fn macros_name_the_device_too() {
        let source = "#define HD __host__ __device__\n#define KERNEL(name) extern \"C\" __global__ void name\n\
                      HD inline float sq(float x) { return x * x; }\nHD float unused() { return time(0); }\n\
                      KERNEL(k)(float* x) { x[0] = sq(x[0]); }\nint main() {}\n";
        let kept = device(source);
        assert!(kept.iter().any(|line| line.starts_with("HD inline")), "{kept:?}");
        assert!(kept.iter().any(|line| line.starts_with("KERNEL(k)")), "{kept:?}");
        assert!(!kept.iter().any(|line| line.contains("unused") || line.contains("main")), "{kept:?}");
    }

    #[test]
    fn namespaces_and_linkage_blocks_stay_open_and_closed() {
        let source = "namespace mine {\nvoid host() {}\n__global__ void k() {}\n}\nextern \"C\" {\nvoid run();\n\
                      __global__ void c() {}\n}\n";
        assert_eq!(
            device(source),
            [
                "namespace mine {",
                "__global__ void k() {}",
                "}",
                "extern \"C\" {",
                "__global__ void c() {}",
                "}"
            ]
        );
        let paths: Vec<String> = divide(source).kernels.into_iter().map(|kernel| kernel.path).collect();
        assert_eq!(paths, ["mine::k", "c"]);
    }

    #[test]
    fn members_that_only_the_host_understands_go() {
        let source = "struct Array {\n  float* p;\n  Array(int n) { cudaMalloc(&p, n); }\n  ~Array() { cudaFree(p); }\n  \
                      __device__ float& at(int i) { return p[i]; }\n  int size() const { return 1; }\n};\n\
                      __global__ void k(Array a) { a.at(0) = 1; }\nint main() {}\n";
        assert_eq!(
            device(source),
            [
                "struct Array {",
                "float* p;",
                "__device__ float& at(int i) { return p[i]; }",
                "int size() const { return 1; }",
                "};",
                "__global__ void k(Array a) { a.at(0) = 1; }"
            ]
        );
    }

    #[test]
    fn macros_with_arguments_stay_unless_they_speak_of_the_host() {
        let source = "LAUNCH(TILE, 8, 1);\nstatic_assert(sizeof(Host) == 4, \"\");\nstruct Host { int x; };\n\
                      constexpr int TILE = 8;\nusing namespace std;\n__global__ void k() { int x = TILE; }\nvoid f() {}\n";
        let kept = device(source);
        assert_eq!(kept[..2], ["LAUNCH(TILE, 8, 1);", "constexpr int TILE = 8;"]);
        assert!(kept.iter().any(|line| line == "using namespace std;"), "{kept:?}");
    }

    #[test]
    fn broken_text_is_divided_without_a_panic() {
        for source in [
            "int main() {",
            "}",
            "__global__",
            "void f(",
            "#if 0\nint main() {\n",
            "\"",
            "int é() {}",
            "f(){}}}",
        ] {
            let _ = divide(source);
        }
    }
}
