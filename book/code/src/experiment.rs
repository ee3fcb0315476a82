//! Tables of what warpsim counts.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::checker::Checker;

/// Sectors of one warp-wide load, by stride.
pub(crate) fn coalescing(checker: &Checker) -> Result<String> {
    let mut table = Table::new(&["stride", "first float", "sectors", "bytes moved", "asked for", "ratio"]);
    for (stride, offset) in [(1, 0), (1, 1), (2, 0), (4, 0), (8, 0), (2048, 0), (0, 0)] {
        let arguments = strided_load(stride, offset);
        let counters = checker.run("book/code/kernels/strided_load.cu", &words(&arguments))?;
        let sectors = counters.get("global_load_sectors")?;
        let asked = counters.get("global_load_bytes")?;
        let moved = 32 * sectors;
        table.row([
            stride.to_string(),
            offset.to_string(),
            sectors.to_string(),
            thousands(moved),
            asked.to_string(),
            format!("{:.2}", moved as f64 / asked as f64),
        ]);
    }
    Ok(table.finish(&command("book/code/kernels/strided_load.cu", &strided_load(2, 0))))
}

fn strided_load(stride: u32, offset: u32) -> String {
    format!(
        "--grid 1 --block 32 --arg buf:f32:65536:iota --arg buf:f32:32 --arg i32:{stride} --arg i32:{offset}"
    )
}

/// Wavefronts of one warp-wide access to shared memory, by stride.
pub(crate) fn banks(checker: &Checker) -> Result<String> {
    let mut table =
        Table::new(&["stride", "wavefronts to load", "wavefronts to store", "bank conflicts of the load"]);
    for stride in [1, 2, 3, 4, 8, 16, 32, 33] {
        let arguments = strided_shared(stride);
        let counters = checker.run("book/code/kernels/strided_shared.cu", &words(&arguments))?;
        table.row([
            stride.to_string(),
            counters.get("shared_load_wavefronts")?.to_string(),
            counters.get("shared_store_wavefronts")?.to_string(),
            counters.get("shared_load_bank_conflicts")?.to_string(),
        ]);
    }
    Ok(table.finish(&command("book/code/kernels/strided_shared.cu", &strided_shared(2))))
}

fn strided_shared(stride: u32) -> String {
    format!("--grid 1 --block 32 --shared 4608 --arg buf:f32:32:iota --arg buf:f32:32 --arg i32:{stride}")
}

/// One condition that splits warps, and one that does not.
pub(crate) fn divergence(checker: &Checker) -> Result<String> {
    let mut table =
        Table::new(&["condition", "branches", "divergent", "by warp", "by thread", "active lanes"]);
    for (kernel, condition) in [("by_lane", "`threadIdx.x % 2`"), ("by_warp", "`(threadIdx.x / 32) % 2`")] {
        let counters = checker.run("book/code/kernels/divergence.cu", &words(&divergent(kernel)))?;
        let by_warp = counters.get("warp_instructions")?;
        let by_thread = counters.get("thread_instructions")?;
        table.row([
            condition.to_owned(),
            thousands(counters.get("branches")?),
            thousands(counters.get("divergent_branches")?),
            thousands(by_warp),
            thousands(by_thread),
            format!("{:.1}", by_thread as f64 / by_warp as f64),
        ]);
    }
    Ok(table.finish(&command("book/code/kernels/divergence.cu", &divergent("by_lane"))))
}

fn divergent(kernel: &str) -> String {
    format!("--kernel {kernel} --grid 4 --block 256 --arg buf:f32:1024:iota --arg i32:100")
}

/// Reuse in global and shared memory, from 02 to 04.
pub(crate) fn intensity(checker: &Checker) -> Result<String> {
    let mut table =
        Table::new(&["kernel", "FLOP per byte loaded from global memory", "FLOP per shared wavefront"]);
    let rows = [
        ("no tile (the stub of 02)", "02", "exercises/02_matmul_tiled/stub.cu"),
        ("tiles of 16 x 16 (the stub of 04)", "04", "exercises/04_coarsening/stub.cu"),
        ("tiles of 32 x 32 (the solution of 02)", "02", "solutions/02_matmul_tiled/kernel.cu"),
        ("128 x 128, 8 x 8 per thread (the solution of 04)", "04", "solutions/04_coarsening/kernel.cu"),
    ];
    for (name, number, source) in rows {
        let verdict = checker.judge(number, source)?;
        // Only 04 has a requirement on shared memory.
        let shared = match number {
            "04" => format!("{:.1}", requirement(&verdict, "shared_reuse")?),
            _ => String::new(),
        };
        table.row([name.to_owned(), format!("{:.2}", requirement(&verdict, "reuse")?), shared]);
    }
    Ok(table.finish(&judging("04", "solutions/04_coarsening/kernel.cu")))
}

/// Sectors of the transposes.
pub(crate) fn transpose(checker: &Checker) -> Result<String> {
    let mut table = Table::new(&["kernel", "bytes moved / bytes loaded", "bytes moved / bytes stored"]);
    let solution = "solutions/05_transpose_coalescing/kernel.cu";
    for (name, source) in
        [("directly (the stub)", "exercises/05_transpose_coalescing/stub.cu"), ("through a tile", solution)]
    {
        let verdict = checker.judge("05", source)?;
        table.row([
            name.to_owned(),
            format!("{:.2}", requirement(&verdict, "load_sectors")?),
            format!("{:.2}", requirement(&verdict, "store_sectors")?),
        ]);
    }
    Ok(table.finish(&judging("05", solution)))
}

/// Bank conflicts of the transposes.
pub(crate) fn padding(checker: &Checker) -> Result<String> {
    let mut table = Table::new(&["kernel", "bank conflicts per request"]);
    let solution = "solutions/06_bank_padding/kernel.cu";
    for (name, source) in [
        ("`tile[32][32]` (the stub)", "exercises/06_bank_padding/stub.cu"),
        ("padded, `tile[64][65]` (the solution)", solution),
    ] {
        let verdict = checker.judge("06", source)?;
        table.row([name.to_owned(), format!("{:.1}", requirement(&verdict, "bank_conflicts")?)]);
    }
    Ok(table.finish(&judging("06", solution)))
}

/// What warps ask of global memory in 08, one float at a time and four at a time.
pub(crate) fn vectorized(checker: &Checker) -> Result<String> {
    let mut table =
        Table::new(&["kernel", "requests to load", "bytes each", "sectors each", "sectors in all"]);
    let arguments = "--grid 4,4 --block 8,32 --arg buf:f32:16384:rand --arg buf:f32:16384:rand --arg buf:f32:16384 \
                     --arg i32:128 --arg i32:128 --arg i32:128";
    let solution = "solutions/08_vectorized/kernel.cu";
    for (name, source) in [
        ("single floats (the stub)", "exercises/08_vectorized/stub.cu"),
        ("`float4` (the solution)", solution),
    ] {
        let counters = checker.run(source, &words(arguments))?;
        let requests = counters.get("global_load_requests")?;
        let sectors = counters.get("global_load_sectors")?;
        table.row([
            name.to_owned(),
            thousands(requests),
            (counters.get("global_load_bytes")? / requests).to_string(),
            format!("{:.0}", sectors as f64 / requests as f64),
            thousands(sectors),
        ]);
    }
    Ok(table.finish(&command(solution, arguments)))
}

/// What the judged kernel has for the requirement `key`.
fn requirement(verdict: &Value, key: &str) -> Result<f64> {
    verdict["requirements"]
        .as_array()
        .and_then(|all| all.iter().find(|requirement| requirement["key"] == key))
        .and_then(|requirement| requirement["yours"].as_f64())
        .with_context(|| format!("the verdict has no requirement `{key}`: {verdict:#}"))
}

fn words(arguments: &str) -> Vec<&str> {
    arguments.split(' ').collect()
}

fn command(file: &str, arguments: &str) -> String {
    format!("cargo run -p checker -- run {file} {arguments} --json")
}

fn judging(number: &str, source: &str) -> String {
    format!("cargo run -p checker -- {number} --file {source} --json")
}

/// 12345 as 12,345.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A Markdown table with the command that makes it.
struct Table {
    text: String,
}

impl Table {
    fn new(columns: &[&str]) -> Table {
        let rule = "|---:".repeat(columns.len() - 1);
        Table { text: format!("| {} |\n|---{rule}|\n", columns.join(" | ")) }
    }

    fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }

    fn finish(self, command: &str) -> String {
        format!(
            "{}\n<details class=\"made\">\n<summary>How these numbers were made</summary>\n\n```console\n$ {command}\n```\n\n</details>\n",
            self.text
        )
    }
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1000), "1,000");
        assert_eq!(thousands(1234567), "1,234,567");
    }
}
