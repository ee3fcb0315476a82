//! One kernel of a compiled unit: finding it by name, and what can be known of it before it runs.

use cuda::nvrtc;
use exercise::{BlockResources, Limit, ParamType, limits, occupancy};
use ptx::{Initializer, Module, Type};
use warpsim::{LowerError, Program};

use crate::compile::{Rejection, Resources};

/// Why no kernel could be chosen.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameError {
    #[error("there is no `__global__` function in the file")]
    NoKernels,
    #[error("there is no kernel `{name}`; the file has {}", list(kernels))]
    Unknown { name: String, kernels: Vec<String> },
    #[error("`{name}` fits {}; give the whole name", list(kernels))]
    Ambiguous { name: String, kernels: Vec<String> },
    #[error("the file has {} kernels, {}; say which one with --kernel", kernels.len(), list(kernels))]
    Several { kernels: Vec<String> },
}

fn list(kernels: &[String]) -> String {
    let quoted: Vec<String> = kernels.iter().map(|kernel| format!("`{kernel}`")).collect();
    quoted.join(" and ")
}

/// A symbol as its author would write it. Names without C++ mangling stay as they are: `a` is no `signed char`.
fn demangle(symbol: &str) -> String {
    if symbol.starts_with("_Z") { nvrtc::demangle(symbol) } else { symbol.to_owned() }
}

/// The plain name of a function: without namespaces, template arguments and parameters.
pub(crate) fn base_name(symbol: &str) -> String {
    if symbol.starts_with("_Z") { nvrtc::base_name(symbol) } else { symbol.to_owned() }
}

/// The symbol that `name` means: the symbol itself, the demangled name with or without parameters, or the plain
/// name. Without a name: the only kernel there is.
///
/// # Errors
/// If none fits or several do; the kernels are named as their author would.
pub(crate) fn choose(module: &Module, name: Option<&str>) -> Result<String, NameError> {
    let symbols: Vec<&str> =
        module.functions.iter().filter(|f| f.is_entry && f.body.is_some()).map(|f| f.name.as_str()).collect();
    let shown = |symbols: &[&str]| symbols.iter().map(|symbol| demangle(symbol)).collect();
    let Some(name) = name else {
        return match symbols.as_slice() {
            [] => Err(NameError::NoKernels),
            [only] => Ok((*only).to_owned()),
            _ => Err(NameError::Several { kernels: shown(&symbols) }),
        };
    };
    let fits = |test: &dyn Fn(&str) -> bool| symbols.iter().copied().filter(|s| test(s)).collect::<Vec<_>>();
    let wanted = normalize(name);
    for fitting in [
        fits(&|symbol| symbol == name),
        fits(&|symbol| normalize(&demangle(symbol)) == wanted),
        fits(&|symbol| normalize(without_parameters(&demangle(symbol))) == wanted),
        fits(&|symbol| normalize(&own_name(&demangle(symbol))) == wanted),
        fits(&|symbol| base_name(symbol) == name),
    ] {
        match fitting.as_slice() {
            [] => {}
            [only] => return Ok((*only).to_owned()),
            _ => return Err(NameError::Ambiguous { name: name.to_owned(), kernels: shown(&fitting) }),
        }
    }
    if symbols.is_empty() {
        return Err(NameError::NoKernels);
    }
    Err(NameError::Unknown { name: name.to_owned(), kernels: shown(&symbols) })
}

/// A name in one of the ways to write it: without blanks, and numbers without the type that compilers give them, so that
/// `<int, (unsigned int)256>` and `<int, 256u>` are `<int,256>`.
fn normalize(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name.trim_start();
    while let Some(first) = rest.chars().next() {
        let cast = rest.strip_prefix('(').and_then(|inside| inside.split_once(')')).filter(|(ty, after)| {
            let is_type = !ty.is_empty()
                && ty.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ' ' | ':'));
            let is_after_separator = out.ends_with(['<', ',', '(']);
            is_type
                && is_after_separator
                && after.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-')
        });
        if let Some((_, after)) = cast {
            rest = after.trim_start();
            continue;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len()).max(if is_word(first) {
            0
        } else {
            first.len_utf8()
        });
        let word = &rest[..length];
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        let written = match word {
            "true" => "1",
            "false" => "0",
            _ if is_number && !word.starts_with("0x") => word.trim_end_matches(['u', 'U', 'l', 'L']),
            _ => word,
        };
        // Two words stay two: `unsigned int`.
        if out.ends_with(is_word) && written.starts_with(is_word) {
            out.push(' ');
        }
        out.push_str(written);
        rest = rest[length..].trim_start();
    }
    out
}

/// A demangled name up to its parameter list, whose parenthesis is the first outside of template arguments.
pub(crate) fn without_parameters(name: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 && !name[at..].starts_with("(anonymous namespace)") => return &name[..at],
            _ => {}
        }
    }
    name
}

/// The last part of a demangled name, with its template arguments: `twice<float>` of `mine::twice<float>(float*)`.
fn own_name(name: &str) -> String {
    let name = without_parameters(name);
    let end = name.find('<').unwrap_or(name.len());
    let start = name[..end].rfind("::").map_or(0, |at| at + 2);
    name[start..].to_owned()
}

/// Makes the kernel `symbol` a program for the simulator.
///
/// # Errors
/// If the simulator can't run it.
pub(crate) fn lower(module: &Module, symbol: &str) -> Result<Program, Rejection> {
    Program::new(module, symbol).map_err(rejection)
}

/// Whether a multiprocessor of compute capability 8.0 has the registers for even one block. The launch would fail on
/// a GPU with no more than "too many resources requested".
///
/// # Errors
/// What is needed and what there is.
pub(crate) fn check_registers(resources: Resources, threads: u32) -> Result<(), String> {
    let registers_per_thread = resources.registers_per_thread;
    let fit = occupancy(BlockResources { threads, registers_per_thread, shared_bytes: 0 });
    // A block of too many threads is refused for that.
    if fit.blocks_per_sm > 0 || fit.limit != Limit::Registers || threads > limits::THREADS_PER_BLOCK {
        return Ok(());
    }
    Err(format!(
        "a block of {threads} threads with {registers_per_thread} registers each needs more registers than the 65536 \
         of a multiprocessor; use fewer threads per block, or limit the registers with \
         `__launch_bounds__({threads})` on the kernel"
    ))
}

/// The parameters of the kernel `symbol` as the PTX declares them, in order.
pub(crate) fn parameters<'a>(module: &'a Module, symbol: &str) -> &'a [ptx::Variable] {
    let function = module.functions.iter().find(|function| function.is_entry && function.name == symbol);
    function.map(|function| function.params.as_slice()).unwrap_or_default()
}

/// The module's own variables in global memory, as the source calls them. What the compiler adds for `printf` and
/// `assert` is not among them.
pub(crate) fn variables(module: &Module) -> Vec<String> {
    let is_own = |variable: &&ptx::Variable| {
        variable.space == ptx::StateSpace::Global
            && !variable.name.starts_with('$')
            && !variable.name.starts_with("__")
    };
    module.variables.iter().filter(is_own).map(|variable| base_name(&variable.name)).collect()
}

/// The module's constants of whole numbers, by name, as their bytes.
pub(crate) fn constants(module: &Module) -> Vec<(&str, Vec<u8>)> {
    let constants = module.variables.iter().filter(|variable| variable.space == ptx::StateSpace::Constant);
    constants.filter_map(|variable| Some((variable.name.as_str(), bytes(variable)?))).collect()
}

fn bytes(variable: &ptx::Variable) -> Option<Vec<u8>> {
    let size = variable.ty.size_bytes() as usize;
    let mut bytes = Vec::with_capacity(size * variable.init.len());
    for value in &variable.init {
        let Initializer::Integer(value) = value else { return None };
        bytes.extend(&value.to_le_bytes()[..size]);
    }
    Some(bytes)
}

/// Whether a declared parameter can be given a value of type `ty`.
pub(crate) fn takes(declared: &ptx::Variable, ty: ParamType) -> bool {
    let is_one_of =
        |types: &[Type]| declared.dims.is_empty() && declared.vector == 1 && types.contains(&declared.ty);
    match ty {
        ParamType::FloatIn | ParamType::FloatOut => is_one_of(&[Type::U64, Type::B64]),
        ParamType::Int => is_one_of(&[Type::U32, Type::S32, Type::B32]),
        ParamType::Float => is_one_of(&[Type::F32, Type::B32]),
    }
}

fn rejection(error: LowerError) -> Rejection {
    match error {
        LowerError::Unsupported { line, ref source_line, .. } => Rejection::Unsupported {
            line: source_line.as_ref().map(|at| at.line).or(Some(line)),
            message: error.to_string(),
        },
        LowerError::Invalid { line, message } => Rejection::Refused { line: Some(line), message },
        LowerError::NoKernel { .. } => Rejection::Refused { line: None, message: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(symbols: &[&str]) -> Module {
        let entries: String =
            symbols.iter().map(|s| format!(".visible .entry {s}()\n{{\nret;\n}}\n")).collect();
        ptx::parse(&format!(".version 8.0\n.target sm_80\n.address_size 64\n{entries}")).expect("parses")
    }

    const TILE_16: &str = "_Z8mm_tiledILi16EEvPKfS1_Pfi";
    const TILE_32: &str = "_Z8mm_tiledILi32EEvPKfS1_Pfi";

    #[test]
    fn a_kernel_is_found_by_every_form_of_its_name() {
        let module = module(&[TILE_16, TILE_32, "_Z4copyPf"]);
        for name in [
            TILE_16,
            "mm_tiled<16>",
            "mm_tiled< 16 >",
            "mm_tiled<16>(float const*, float const*, float*, int)",
        ] {
            assert_eq!(choose(&module, Some(name)).as_deref(), Ok(TILE_16), "{name}");
        }
        assert_eq!(choose(&module, Some("copy")).as_deref(), Ok("_Z4copyPf"));
    }

    #[test]
    fn values_among_template_arguments_match_in_every_way_to_write_them() {
        const REDUCE: &str = "_Z7reduce4IiLj256EEvPiS0_";
        const SCALE: &str = "_ZN4mine5scaleIfLb1EEEvPT_";
        let module = module(&[REDUCE, SCALE]);
        for name in [
            "reduce4<int, (unsigned int)256>",
            "reduce4<int,256>",
            "reduce4<int, 256u>",
            "reduce4< int , 256U >",
        ] {
            assert_eq!(choose(&module, Some(name)).as_deref(), Ok(REDUCE), "{name}");
        }
        for name in ["mine::scale<float, true>", "scale<float, true>", "scale<float, (bool)1>", "scale"] {
            assert_eq!(choose(&module, Some(name)).as_deref(), Ok(SCALE), "{name}");
        }
        for name in ["reduce4<int, 128>", "reduce4<unsigned int, 256>", "reduce4<int"] {
            assert!(choose(&module, Some(name)).is_err(), "{name}");
        }
        assert_eq!(normalize("f<unsigned  int, -1, (x > 2)>"), "f<unsigned int,-1,(x>2)>");
        assert_eq!(without_parameters("f<(A)1, g(int)>(float*)"), "f<(A)1, g(int)>");
    }

    #[test]
    fn a_name_that_fits_two_kernels_names_both() {
        let error =
            choose(&module(&[TILE_16, TILE_32]), Some("mm_tiled")).expect_err("ambiguous").to_string();
        assert!(error.contains("`mm_tiled<16>(") && error.contains("`mm_tiled<32>("), "{error}");
        let error = choose(&module(&["a", "b"]), None).expect_err("several").to_string();
        assert!(error.contains("2 kernels, `a` and `b`"), "{error}");
    }

    #[test]
    fn a_block_that_needs_more_registers_than_there_are_is_refused() {
        let with = |registers_per_thread, threads| {
            check_registers(Resources { registers_per_thread, ..Resources::default() }, threads)
        };
        assert_eq!(
            (with(64, 1024), with(128, 512), with(0, 1024), with(255, 256)),
            (Ok(()), Ok(()), Ok(()), Ok(()))
        );
        let error = with(65, 1024).expect_err("too many");
        assert!(error.contains("1024 threads with 65 registers each"), "{error}");
        assert_eq!((with(16, 4096), with(65, 2000)), (Ok(()), Ok(())));
    }

    #[test]
    fn what_is_missing_is_said_with_what_exists() {
        let error = choose(&module(&["_Z4copyPf"]), Some("move")).expect_err("unknown").to_string();
        assert!(error.contains("no kernel `move`; the file has `copy(float*)`"), "{error}");
        assert_eq!(choose(&module(&[]), Some("move")), Err(NameError::NoKernels));
        assert_eq!(choose(&module(&[]), None), Err(NameError::NoKernels));
    }
}
