//! Headers that learners' kernels include and NVRTC does not have.
//!
//! Those of the host's compiler are this crate's own, most of them empty: `nvcc` users write `#include <cuda_runtime.h>`
//! out of habit, and a habit is no error.
//!
//! CUDA's device headers, such as `cuda_fp16.h`, are read from the toolchain's folders. It is the parent that reads
//! them, and only those that the source leads to: the compiler itself sees no file.

mod own;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::path::{Component, Path, PathBuf};

use own::{HOST_ONLY, OWN};
pub(super) use own::{PRELUDE, header_of};

/// At most so many headers are read for one source, and so many bytes; cooperative groups, the largest, lead to 700
/// and 6 MB.
const MOST_HEADERS: usize = 4000;
const MOST_BYTES: usize = 32 << 20;

/// What a source's `#include`s lead to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Collected {
    /// Names, as the `#include`s have them, and texts.
    pub(super) headers: Vec<(String, String)>,
    /// Names that the source itself includes and that are nowhere.
    pub(super) missing: Vec<String>,
}

/// All headers that a source can reach: the request's, this crate's own, and those of the toolchain's folders that
/// some `#include` leads to, whatever `#if` it stands in.
pub(super) fn collect(source: &str, given: &[(&str, &str)], dirs: &[PathBuf]) -> Collected {
    let mut found = Collected::default();
    let mut fixed: HashMap<&str, &str> = HashMap::new();
    for &(name, text) in given.iter().chain(OWN) {
        if let Entry::Vacant(entry) = fixed.entry(name) {
            entry.insert(text);
            found.headers.push((name.to_owned(), text.to_owned()));
        }
    }
    let says_std = has_word(source, "std");
    // Names to look up, with the folder of the header that has them.
    let mut queue: VecDeque<(String, Option<PathBuf>)> = VecDeque::new();
    let follow = |queue: &mut VecDeque<_>, text: &str, folder: Option<&Path>| {
        let names = text.lines().filter_map(included);
        queue.extend(names.map(|name| (name.to_owned(), folder.map(Path::to_path_buf))));
    };
    for text in std::iter::once(source).chain(given.iter().map(|(_, text)| *text)) {
        follow(&mut queue, text, None);
    }
    let mut seen: HashSet<String> = HashSet::new();
    let mut bytes = 0;
    while let Some((name, beside)) = queue.pop_front() {
        if found.headers.len() >= MOST_HEADERS || bytes >= MOST_BYTES || !seen.insert(name.clone()) {
            continue;
        }
        if let Some(text) = fixed.get(name.as_str()) {
            follow(&mut queue, text, None);
            continue;
        }
        // CUDA's own headers ask for the host's only where there is a host.
        let standard = beside.is_none().then(|| own::standard(&name, says_std)).flatten();
        let (text, folder) = match standard {
            Some(text) => (text, None),
            None if beside.is_none() && HOST_ONLY.contains(&name.as_str()) => (String::new(), None),
            None => match read(&name, beside.as_deref(), dirs) {
                Some((path, text)) => (text, path.parent().map(Path::to_path_buf)),
                None => {
                    // Not wanted from a folder of CUDA's: those name many that other systems have.
                    if beside.is_none() {
                        found.missing.push(name);
                    } else {
                        seen.remove(&name);
                    }
                    continue;
                }
            },
        };
        follow(&mut queue, &text, folder.as_deref());
        bytes += text.len();
        found.headers.push((name, text));
    }
    found
}

/// Whether `word` stands somewhere in `text` by itself.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
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
        assert_eq!(names(&found.headers), ["a.h", "deep/b.h", "c.h"]);
        assert!(found.headers.iter().all(|(_, text)| !text.contains("secret") || text.contains("#include")));
        assert_eq!(
            found.missing,
            ["../secret".to_owned(), format!("{}/secret", root.display()), "deep".into()]
        );
        assert!(names(&collect(&source, &[], &[]).headers).is_empty());
    }

    #[test]
    fn given_headers_come_first_and_lead_on() {
        let root = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(root.path()).unwrap();
        fs::write(dir.join("math.h"), "the folder's").unwrap();
        fs::write(dir.join("x.h"), "the folder's").unwrap();
        fs::write(dir.join("y.h"), "the folder's").unwrap();
        let given = [("x.h", "#include <y.h>")];
        let found = collect("#include <x.h>\n#include <math.h>\n", &given, &[dir]).headers;
        let text = |name: &str| found.iter().find(|header| header.0 == name).map(|header| header.1.as_str());
        assert_eq!((text("x.h"), text("y.h")), (Some("#include <y.h>"), Some("the folder's")));
        assert_eq!(text("math.h"), own("math.h"), "NVRTC's own needs no second");
    }

    fn own(name: &str) -> Option<&'static str> {
        OWN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    #[test]
    fn the_standard_library_is_libcupps_where_a_source_asks_for_it() {
        let with = |source: &str| collect(source, &[], &[]);
        let text = |found: &Collected, name: &str| {
            found.headers.iter().find(|header| header.0 == name).map(|header| header.1.clone())
        };
        let asked = with("#include <limits>\nint i = std::numeric_limits<int>::max();\n");
        assert!(text(&asked, "limits").is_some_and(|text| text.contains("<cuda/std/limits>")), "{asked:?}");
        // Of a program whose host code is left out, only the `#include` may be left.
        let habit = with("#include <limits>\n#include <vector>\nint my_std, stdx;\n");
        assert_eq!(text(&habit, "limits").as_deref(), Some("#pragma once\n"));
        assert_eq!((text(&habit, "vector").as_deref(), habit.missing.len()), (Some(""), 0));
        assert_eq!(with("#include \"helper_cuda.h\"\n").missing, ["helper_cuda.h"]);
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
