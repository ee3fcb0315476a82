//! Names of kernels without `extern "C"`.

/// The name as the source has it: `mm_tiled<16>(float const*, float*)`. A name that is not mangled comes back as
/// it is.
pub fn demangle(symbol: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new().no_return_type();
    cpp_demangle::Symbol::new(symbol)
        .ok()
        .and_then(|name| name.demangle_with_options(&options).ok())
        .unwrap_or_else(|| symbol.to_owned())
}

/// The name alone, without namespace, template arguments and parameters: `mm_tiled`.
pub fn base_name(symbol: &str) -> String {
    let full = demangle(symbol);
    // Brackets nest, and a template argument may itself have parameters: cut at the outermost of either.
    let mut depth = 0usize;
    let mut start = 0;
    let mut end = full.len();
    let bytes = full.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            b'(' if depth == 0 && !full[at..].starts_with("(anonymous namespace)") => {
                end = at;
                break;
            }
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => start = at + 2,
            _ => {}
        }
    }
    let name = &full[start.min(end)..end];
    name.split('<').next().unwrap_or(name).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_and_parameters_are_spelled_out() {
        assert_eq!(
            demangle("_Z8mm_tiledILi16EEvPKfS1_Pfi"),
            "mm_tiled<16>(float const*, float const*, float*, int)"
        );
        assert_eq!(base_name("_Z8mm_tiledILi16EEvPKfS1_Pfi"), "mm_tiled");
    }

    #[test]
    fn namespaces_are_dropped_from_the_base_name() {
        assert_eq!(demangle("_ZN4tile4copyEPf"), "tile::copy(float*)");
        assert_eq!(base_name("_ZN4tile4copyEPf"), "copy");
        assert_eq!(base_name("_ZN12_GLOBAL__N_14copyEPf"), "copy");
    }

    #[test]
    fn plain_names_stay() {
        assert_eq!(demangle("vector_add"), "vector_add");
        assert_eq!(base_name("vector_add"), "vector_add");
        assert_eq!(demangle("_Zgarbage"), "_Zgarbage");
    }
}
