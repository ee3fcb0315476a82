//! Headers that learners' kernels include and NVRTC does not have.
//!
//! NVRTC defines device functions, vector types, `printf`, `assert` and `size_t` by itself, so most of this crate's
//! own are empty: `nvcc` users write `#include <cuda_runtime.h>` out of habit, and a habit is no error.
//!
//! CUDA's device headers, such as `cuda_fp16.h`, are read from the toolchain's folders. It is the parent that reads
//! them, and only those that the source leads to: the compiler itself sees no file.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// At most so many headers are read for one source, and so many bytes; cooperative groups, the largest, lead to 700
/// and 6 MB.
const MOST_HEADERS: usize = 4000;
const MOST_BYTES: usize = 32 << 20;

/// All headers that a source can reach: the request's, this crate's own, and those of the toolchain's folders that
/// some `#include` leads to, whatever `#if` it stands in. Names are as the `#include`s have them.
pub(super) fn collect(source: &str, given: &[(&str, &str)], dirs: &[PathBuf]) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    for (name, text) in given.iter().chain(OWN) {
        if known.insert((*name).to_owned()) {
            headers.push(((*name).to_owned(), (*text).to_owned()));
        }
    }
    // Names to look up, with the folder of the header that has them.
    let texts = std::iter::once(source).chain(given.iter().map(|(_, text)| *text));
    let mut queue: VecDeque<(String, Option<PathBuf>)> = texts
        .flat_map(|text| text.lines().filter_map(included))
        .map(|name| (name.to_owned(), None))
        .collect();
    let mut bytes = 0;
    while let Some((name, beside)) = queue.pop_front() {
        if headers.len() >= MOST_HEADERS || bytes >= MOST_BYTES || known.contains(&name) {
            continue;
        }
        let Some((path, text)) = read(&name, beside.as_deref(), dirs) else { continue };
        let folder = path.parent().map(Path::to_path_buf);
        queue.extend(text.lines().filter_map(included).map(|name| (name.to_owned(), folder.clone())));
        bytes += text.len();
        known.insert(name.clone());
        headers.push((name, text));
    }
    headers
}

/// Reads a header from beside its includer or from one of the folders, never from anywhere else.
fn read(name: &str, beside: Option<&Path>, dirs: &[PathBuf]) -> Option<(PathBuf, String)> {
    let relative = Path::new(name);
    if !relative
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::ParentDir | Component::CurDir))
    {
        return None;
    }
    beside.into_iter().chain(dirs.iter().map(PathBuf::as_path)).find_map(|dir| {
        let path = fs::canonicalize(dir.join(relative)).ok()?;
        let inside = dirs.iter().any(|dir| path.starts_with(dir)) && path.is_file();
        inside.then(|| fs::read_to_string(&path).ok().map(|text| (path, text))).flatten()
    })
}

/// Name and text of each.
pub(super) const OWN: &[(&str, &str)] = &[
    ("cuda_runtime.h", ""),
    ("cuda_runtime_api.h", ""),
    ("cuda.h", ""),
    ("device_launch_parameters.h", ""),
    ("device_functions.h", ""),
    ("vector_types.h", ""),
    ("vector_functions.h", ""),
    ("sm_20_intrinsics.h", ""),
    ("assert.h", ""),
    ("cassert", ""),
    ("stdio.h", ""),
    ("cstdio", ""),
    ("stdlib.h", ""),
    ("cstdlib", ""),
    ("string.h", ""),
    ("cstring", ""),
    ("iostream", ""),
    ("math.h", MATH),
    ("cmath", MATH),
    ("stddef.h", STDDEF),
    ("cstddef", STDDEF),
    ("stdint.h", STDINT),
    ("cstdint", STDINT),
    ("limits.h", LIMITS),
    ("climits", LIMITS),
    ("float.h", FLOAT),
    ("cfloat", FLOAT),
];

const MATH: &str = include_str!("header/math.h");
const STDDEF: &str = include_str!("header/stddef.h");
const STDINT: &str = include_str!("header/stdint.h");
const LIMITS: &str = include_str!("header/limits.h");
const FLOAT: &str = include_str!("header/float.h");

/// The name in an `#include "name"` or `#include <name>` line.
pub(super) fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let close = match rest.chars().next()? {
        '"' => '"',
        '<' => '>',
        _ => return None,
    };
    rest[1..].split_once(close).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(headers: &[(String, String)]) -> Vec<&str> {
        headers.iter().skip(OWN.len()).map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn headers_are_followed_and_nothing_outside_is_read() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        fs::create_dir_all(root.join("include/deep")).unwrap();
        fs::write(root.join("secret"), "secret").unwrap();
        fs::write(root.join("include/a.h"), "#if 0\n#include \"deep/b.h\"\n#endif\n").unwrap();
        fs::write(
            root.join("include/deep/b.h"),
            "#include \"c.h\"\n#include <a.h>\n#include \"../../secret\"\n",
        )
        .unwrap();
        fs::write(root.join("include/deep/c.h"), "").unwrap();
        fs::write(root.join("include/not_included.h"), "").unwrap();
        let dirs = [root.join("include")];
        let source = format!(
            "#include <a.h>\n#include \"../secret\"\n#include \"{}/secret\"\n#include <deep>\n",
            root.display()
        );
        let found = collect(&source, &[], &dirs);
        assert_eq!(names(&found), ["a.h", "deep/b.h", "c.h"]);
        assert!(found.iter().all(|(_, text)| !text.contains("secret") || text.contains("#include")));
        assert!(names(&collect(&source, &[], &[])).is_empty());
    }

    #[test]
    fn given_headers_come_first_and_lead_on() {
        let root = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(root.path()).unwrap();
        fs::write(dir.join("math.h"), "the folder's").unwrap();
        fs::write(dir.join("x.h"), "the folder's").unwrap();
        fs::write(dir.join("y.h"), "the folder's").unwrap();
        let given = [("x.h", "#include <y.h>")];
        let found = collect("#include <x.h>\n#include <math.h>\n", &given, &[dir]);
        let text = |name: &str| found.iter().find(|header| header.0 == name).map(|header| header.1.as_str());
        assert_eq!((text("x.h"), text("y.h")), (Some("#include <y.h>"), Some("the folder's")));
        assert_eq!(text("math.h"), Some(MATH), "NVRTC's own needs no second");
    }

    #[test]
    fn include_lines_are_recognised() {
        assert_eq!(included("#include <math.h>"), Some("math.h"));
        assert_eq!(included("  #  include \"a b.h\" // why"), Some("a b.h"));
        for line in [
            "#include",
            "#include MACRO",
            "include <x>",
            "#define include <x>",
            "#include \"x",
            "// #include <x>",
        ] {
            assert_eq!(included(line), None, "{line}");
        }
    }
}
