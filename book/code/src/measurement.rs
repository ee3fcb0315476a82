//! What was measured on GPUs, as `docs/measurements/` has it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::checker::ROOT;

/// Where a row of a chapter's table comes from.
enum Source {
    /// A file of the exercise, as `xtask measure` timed it: `baseline`, `stub.cu`, `solution`, `mistakes/...`.
    Judged(&'static str),
    /// The library that was timed in the rounds of the solution.
    Library,
    /// A kernel of `variants.py`: its run and its name there.
    Variant(i64, &'static str),
}

use Source::{Judged, Library, Variant};

/// The rows of a chapter's table, by the exercise's number. What is measured but teaches nothing stays out.
fn rows(number: u32) -> &'static [(Source, &'static str)] {
    match number {
        1 => &[
            (Judged("baseline"), "the row from `threadIdx.x` (the baseline)"),
            (Judged("solution"), "the column from `threadIdx.x` (the reference)"),
            (Library, "cuBLAS, FP32 without tensor cores"),
        ],
        2 => &[
            (Judged("baseline"), "01's solution, 16 x 16 threads (the baseline)"),
            (Judged("stub.cu"), "the stub: the same, 32 x 32 threads"),
            (Judged("solution"), "tiles of 32 x 32 (the reference)"),
            (Judged("mistakes/loads_down_the_columns.cu"), "tiles filled down the columns"),
        ],
        3 => &[
            (Judged("baseline"), "02's solution (the baseline)"),
            (Judged("solution"), "guarded (the reference)"),
            (Judged("mistakes/naive_again.cu"), "without tiles, guarded"),
        ],
        4 => &[
            (Judged("baseline"), "02's solution, tiles of 32 x 32 (the baseline)"),
            (Judged("stub.cu"), "the stub, tiles of 16 x 16"),
            (Judged("solution one_row.cu"), "1 x 4 outputs per thread"),
            (Judged("solution two_by_two.cu"), "2 x 2, strided"),
            (Variant(2, "04/strided.cu with BATCH 4"), "4 x 4, strided"),
            (Judged("solution side_by_side.cu"), "4 x 4, side by side"),
            (Judged("solution strided.cu"), "8 x 8, strided"),
            (Judged("solution"), "8 x 8 in groups of four (the reference)"),
        ],
        5 => &[
            (Judged("baseline"), "directly (the baseline)"),
            (Judged("mistakes/tile_without_exchange.cu"), "a tile without an exchange"),
            (Judged("solution"), "through a tile (the reference)"),
            (Judged("solution registers.cu"), "tiles in registers, `float4`"),
            (Library, "the driver's copy, device to device"),
        ],
        6 => &[
            (Judged("baseline"), "05's solution (the baseline)"),
            (Judged("mistakes/extra_row.cu"), "`tile[33][32]`"),
            (Judged("mistakes/two_columns.cu"), "`tile[32][34]`: two-way conflicts"),
            (Judged("solution swizzle.cu"), "`tile[32][32]`, swizzled"),
            (
                Variant(1, "06, blocks along the rows of the input"),
                "`tile[64][65]`, blocks along the input's rows",
            ),
            (Judged("solution"), "`tile[64][65]`, blocks along the output's rows (the reference)"),
            (Library, "the driver's copy, device to device"),
        ],
        7 => &[
            (Judged("baseline"), "interleaved tree (the baseline)"),
            (Judged("solution sequential.cu"), "sequential tree"),
            (Judged("solution shuffle_block.cu"), "shuffles, a block per row"),
            (Judged("solution"), "shuffles, a warp per row (the reference)"),
            (Judged("mistakes/thread_per_row.cu"), "a thread per row"),
        ],
        8 => &[
            (Judged("baseline"), "single floats (the baseline)"),
            (Judged("stub.cu"), "the stub: the same with aligned tiles"),
            (Judged("solution"), "`float4` (the reference)"),
        ],
        9 => &[
            (Judged("baseline"), "starved: 64 threads, a stretch of 32 KB (the baseline)"),
            (Judged("mistakes/half_of_it.cu"), "64 threads, half of the stretch"),
            (Judged("solution shared_stretch.cu"), "256 threads, the whole stretch"),
            (Judged("solution"), "256 threads, no stretch (the reference)"),
            (Judged("mistakes/too_many_registers.cu"), "256 threads, 128 values each in registers"),
        ],
        10 => &[
            (Judged("baseline"), "weights and inputs from global memory (the baseline)"),
            (Judged("mistakes/constant_only.cu"), "constant memory, no tile"),
            (Judged("mistakes/halo_only.cu"), "a tile, weights from global memory"),
            (Variant(2, "10, the tile filled row by row"), "both, the tile filled row by row"),
            (Judged("solution"), "both, the tile's cells numbered through (the reference)"),
        ],
        11 => &[
            (Judged("baseline"), "a coarsened kernel that waits for its tiles (the baseline)"),
            (Variant(3, "11 with 8 x 8 per thread and one buffer"), "8 x 8 per thread, one buffer"),
            (Variant(3, "11 with 8 x 8 per thread"), "8 x 8 per thread, two buffers"),
            (
                Variant(3, "11 with tiles 8 deep and one buffer"),
                "16 x 8 per thread, tiles 8 deep, one buffer",
            ),
            (Variant(3, "11 with tiles 8 deep"), "16 x 8 per thread, tiles 8 deep, two buffers"),
            (Variant(3, "11 with one buffer"), "16 x 8 per thread, one buffer"),
            (Judged("solution"), "16 x 8 per thread, two buffers (the reference)"),
        ],
        12 => &[
            (Judged("mistakes/tiled_only.cu"), "tiles only"),
            (Judged("baseline"), "a coarsened kernel (the baseline)"),
            (Variant(2, "solutions/04_coarsening/kernel.cu"), "04's solution"),
            (Variant(2, "12, two buffers, written down plainly"), "two buffers, written down plainly"),
            (
                Variant(1, "12, written down plainly, one path without comparisons, forth and back"),
                "the same, one path without comparisons, forth and back",
            ),
            (Variant(3, "12 without the swapped columns"), "loads a phase ahead, moving pointers"),
            (Judged("solution"), "and columns swapped in pairs (the reference)"),
            (Library, "cuBLAS, FP32 without tensor cores"),
        ],
        13 => &[
            (Judged("stub.cu"), "the stub"),
            (Judged("baseline"), "12's solution (the baseline)"),
            (Judged("solution one_buffer.cu"), "the stub's frame: 32 x 32 per warp, one buffer"),
            (Judged("mistakes/tiles_not_padded.cu"), "64 x 64 per warp, two buffers, tiles not padded"),
            (Judged("solution by_the_book.cu"), "the same, padded (`by_the_book.cu`)"),
            (Judged("solution"), "the reference"),
            (Library, "cuBLAS in TF32"),
        ],
        _ => &[],
    }
}

/// The newest measurements of each exercise, and of variants.
pub(crate) struct Measurements {
    /// `docs/measurements/*-exercises.json`, oldest first, with their names.
    judged: Vec<(String, Value)>,
    /// The newest `docs/measurements/*-variants.json`.
    variants: Vec<Value>,
}

/// One timed kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timed {
    /// The median, in milliseconds.
    pub(crate) milliseconds: f64,
    /// Operations that the task needs, by that time, in FLOP/s; 0 where it needs none.
    pub(crate) flops_per_second: f64,
}

impl Measurements {
    /// Reads all of them.
    pub(crate) fn read() -> Result<Measurements> {
        let folder = Path::new(ROOT).join("docs/measurements");
        let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
            .with_context(|| format!("{} cannot be read", folder.display()))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        files.sort();
        let mut judged = Vec::new();
        let mut variants = Vec::new();
        for file in files {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            let json = || -> Result<Value> {
                let text = std::fs::read_to_string(&file)?;
                serde_json::from_str(&text).with_context(|| format!("{name} is not JSON"))
            };
            // The first sessions had no rates yet.
            if name.ends_with("-exercises.json") {
                judged.push((name.clone(), json()?));
            } else if name.ends_with("-variants.json") {
                variants = json()?.as_array().context("a list of variants was expected")?.clone();
            }
        }
        Ok(Measurements { judged, variants })
    }

    /// The newest timing of `file` of exercise `number`, with the name of the session.
    fn judged(&self, number: u32, file: &str) -> Result<(&str, &Value)> {
        let prefix = format!("{number:02}_");
        let is_exercise =
            |value: &&Value| value["exercise"].as_str().is_some_and(|name| name.starts_with(&prefix));
        let is_file = |value: &&Value| value["file"] == file && value["timing"]["rates"].is_object();
        self.judged
            .iter()
            .rev()
            .find_map(|(session, json)| {
                let exercise = json["exercises"].as_array()?.iter().find(is_exercise)?;
                Some((session.as_str(), exercise["files"].as_array()?.iter().find(is_file)?))
            })
            .with_context(|| format!("no measurement has a time of {file} of exercise {number:02}"))
    }

    /// The time of `file` of exercise `number`.
    pub(crate) fn time(&self, number: u32, file: &str) -> Result<Timed> {
        let (_, entry) = self.judged(number, file)?;
        let milliseconds = float(&entry["timing"]["milliseconds"]["yours"])?;
        let flops = float(&entry["timing"]["rates"]["flops"])?;
        Ok(Timed { milliseconds, flops_per_second: flops / (milliseconds * 1e-3) })
    }

    fn variant(&self, run: i64, kernel: &str, size: u64) -> Result<f64> {
        let is_it = |entry: &&Value| {
            entry["run"] == run
                && entry["kernel"] == kernel
                && entry["size"].as_array().is_some_and(|sizes| sizes[0] == size)
        };
        let entry = self.variants.iter().find(is_it);
        float(&entry.with_context(|| format!("no run {run} of a variant `{kernel}`"))?["milliseconds"])
    }

    /// Whether the chapter of exercise `number` has a table of times.
    pub(crate) fn has_table(number: u32) -> bool {
        !rows(number).is_empty()
    }

    /// The table of one chapter, with where it comes from.
    pub(crate) fn table(&self, number: u32) -> Result<String> {
        let (session, solution) = self.judged(number, "solution")?;
        let timing = &solution["timing"];
        let size = solution["size"].as_str().context("a size was expected")?;
        let first: u64 = size
            .split(|c: char| !c.is_ascii_digit())
            .find(|digits| !digits.is_empty())
            .context("a size has digits")?
            .parse()?;
        let (bytes, flops) = (float(&timing["rates"]["bytes"])?, float(&timing["rates"]["flops"])?);
        // Far right of any roof's edge, operations are what counts; elsewhere, bytes.
        let (unit, amount) =
            if flops > 20.0 * bytes { ("TFLOP/s", flops * 1e-12) } else { ("GB/s", bytes * 1e-9) };
        let baseline = float(&timing["milliseconds"]["baseline"])?;

        let mut text = format!("| kernel | ms | {unit} | times the baseline |\n|---|---:|---:|---:|\n");
        let mut is_mixed = false;
        for (source, words) in rows(number) {
            let milliseconds = match source {
                // Of the same rounds, so that the baseline is 1.
                Judged("baseline") => baseline,
                Judged(file) => self.time(number, file)?.milliseconds,
                Library => float(&timing["beside"]["milliseconds"])?,
                Variant(run, kernel) => {
                    is_mixed = true;
                    self.variant(*run, kernel, first)?
                }
            };
            let mark = if matches!(source, Variant(..)) { " *" } else { "" };
            let rate = amount / (milliseconds * 1e-3);
            let rate = if unit == "GB/s" { grouped(rate) } else { format!("{rate:.1}") };
            let times = baseline / milliseconds;
            text.push_str(&format!("| {words}{mark} | {milliseconds:.3} | {rate} | {times:.2} |\n"));
        }
        let mixed =
            if is_mixed { " Rows with * are from a run of their own on the same card and day." } else { "" };
        let repeat = "cargo run --release -p xtask -- measure --repeat 20";
        let session = session.trim_end_matches(".json");
        text.push_str(&format!(
            "\n<details class=\"made\">\n<summary>How these numbers were made</summary>\n\nMedians on an NVIDIA H200 at \
             {size}, from `docs/measurements/{session}.md`.{mixed}\n\n```console\n$ {repeat} {number:02}\n```\n\n</details>\n"
        ));
        Ok(text)
    }
}

fn float(value: &Value) -> Result<f64> {
    value.as_f64().with_context(|| format!("a number was expected, not {value}"))
}

fn grouped(number: f64) -> String {
    crate::experiment::thousands(number.round() as u64)
}
