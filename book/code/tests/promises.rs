//! Every promise of *What a submission can and cannot do* names tests that exist.

use std::collections::BTreeSet;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Names of all tests below `folder`.
fn tests(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            tests(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(path).expect("text");
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                is_test |= line == "#[test]";
                if let Some(rest) = line.strip_prefix("fn ") {
                    if is_test {
                        found.extend(rest.split('(').next().map(str::to_owned));
                    }
                    is_test = false;
                }
            }
        }
    }
}

#[test]
fn every_promise_has_a_test() {
    let mut existing = BTreeSet::new();
    for folder in ["checker", "crates"] {
        tests(&Path::new(ROOT).join(folder), &mut existing);
    }
    let page = std::fs::read_to_string(Path::new(ROOT).join("book/src/behind/safety.md")).expect("the page");
    // Code with several underscores is the name of a test on this page.
    let is_name = |code: &&str| code.matches('_').count() > 2 && !code.contains(' ');
    let named: Vec<&str> = page.split('`').skip(1).step_by(2).filter(is_name).collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        assert!(existing.contains(name), "the page names a test `{name}`, and there is none");
    }
    // A row of a promise ends with its test.
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| A submission"));
    for row in rows {
        let test = row.trim_end_matches(" |").rsplit('|').next().unwrap_or_default();
        assert!(test.contains('`'), "a promise without a test: {row}");
    }
}
