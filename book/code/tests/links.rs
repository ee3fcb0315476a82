//! What the book refers to exists: links, pictures, includes, chapters. (mdbook itself checks no links.)

use std::path::{Path, PathBuf};

#[test]
fn references_lead_somewhere() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let mut broken = Vec::new();
    let mut seen = 0;
    for page in markdown(&book) {
        let text = std::fs::read_to_string(&page).unwrap();
        for reference in references(&text) {
            seen += 1;
            if !page.parent().unwrap().join(&reference).exists() {
                broken.push(format!("{}: {reference}", page.display()));
            }
        }
    }
    assert!(seen > 100, "only {seen} references: were they recognised?");
    assert!(broken.is_empty(), "broken:\n{}", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_summary() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let summary = std::fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    let listed: Vec<String> = references(&summary);
    for page in markdown(&book) {
        let name = page.strip_prefix(&book).unwrap().to_str().unwrap().to_owned();
        let is_part = name == "SUMMARY.md" || name.starts_with("generated/");
        assert!(is_part || listed.contains(&name), "{name} is in no chapter list");
    }
}

#[test]
fn every_exercise_has_a_chapter() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for course::Entry { folder: name, .. } in course::all() {
        let chapter = root.join("book/src/exercises").join(format!("{name}.md"));
        let text = std::fs::read_to_string(&chapter)
            .unwrap_or_else(|error| panic!("{}: {error}", chapter.display()));
        for part in [format!("exercises/{name}/stub.cu"), format!("solutions/{name}/kernel.cu")] {
            assert!(text.contains(&part), "{} does not include {part}", chapter.display());
        }
    }
}

/// The book goes through the exercises in the order in which the checker names the next one.
#[test]
fn the_summary_has_the_teaching_order() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let summary = std::fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    let chapters: Vec<String> =
        references(&summary).into_iter().filter(|page| page.starts_with("exercises/")).collect();
    let order: Vec<String> =
        course::in_teaching_order().iter().map(|entry| format!("exercises/{}.md", entry.folder)).collect();
    assert_eq!(chapters, order);
}

/// What fits into the page at 14 px. (Solutions may be wider, and scroll.)
#[test]
fn stubs_fit_into_the_page() {
    for course::Entry { exercise, folder } in course::all() {
        for (i, line) in exercise.stub.lines().enumerate() {
            let columns = line.chars().count();
            assert!(columns <= 88, "{folder}/stub.cu:{}: {columns} columns", i + 1);
        }
    }
}

#[test]
fn the_readme_shows_a_real_verdict() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sample = std::fs::read_to_string(root.join("book/src/generated/verdict.md")).unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.contains(&sample), "README.md does not show what book/src/generated/verdict.md has");
}

/// Relative link targets outside of code, without their fragments, and the files of `{{#include}}`.
fn references(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in text.split("{{#include ").skip(1) {
        let path = rest.split("}}").next().unwrap();
        found.push(path.split(':').next().unwrap().to_owned());
    }
    for rest in text.split("](").skip(1) {
        let target = rest.split(')').next().unwrap();
        let path = target.split('#').next().unwrap();
        let is_relative = !path.is_empty() && !path.contains("://") && path.contains('.');
        if is_relative {
            found.push(path.to_owned());
        }
    }
    found
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages.extend(markdown(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages
}
