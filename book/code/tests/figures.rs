//! The drawn pictures agree with what warpsim counted.

use std::path::Path;

fn generated(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/generated").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The cell in `column` of the table row that begins with `cells`.
fn cell(table: &str, cells: &[&str], column: usize) -> String {
    let rows = table.lines().map(|line| line.split('|').skip(1).map(str::trim).collect::<Vec<_>>());
    let row = rows.into_iter().find(|row| row.starts_with(cells));
    row.unwrap_or_else(|| panic!("no row {cells:?}"))[column].to_owned()
}

#[test]
fn sectors() {
    let (table, picture) = (generated("coalescing.md"), generated("sectors.svg"));
    for (stride, title) in [
        ("1", "neighbouring floats"),
        ("2", "every 2nd float"),
        ("8", "every 8th float"),
        ("0", "all lanes the same float"),
    ] {
        let sectors = cell(&table, &[stride, "0"], 2);
        let text = format!(">{title}: {sectors} sector");
        assert!(picture.contains(&text), "the picture does not say `{text}`");
    }
}

#[test]
fn banks() {
    let (table, picture) = (generated("banks.md"), generated("banks.svg"));
    let drawn: Vec<&str> =
        picture.split(" wavefront").filter_map(|text| text.rsplit('>').next()).take(3).collect();
    let counted = ["1", "32", "33"].map(|stride| cell(&table, &[stride], 1));
    assert_eq!(drawn, counted);
}
