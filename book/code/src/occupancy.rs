//! How many blocks and warps fit an SM, by `crates/exercise/src/occupancy.rs`.

use anyhow::{Context, Result};
use exercise::{BlockResources, Limit, Sm};

use crate::checker::Checker;
use crate::experiment::thousands;

/// The files of exercise 09 whose occupancy the chapter compares, with what they change.
const FILES: [(&str, &str); 6] = [
    ("exercises/09_occupancy/stub.cu", "the stub"),
    ("exercises/09_occupancy/mistakes/half_of_it.cu", "half of the stretch"),
    ("exercises/09_occupancy/mistakes/tiny_blocks.cu", "no stretch, blocks of 8 threads"),
    ("exercises/09_occupancy/mistakes/too_many_registers.cu", "no stretch, 128 values each in registers"),
    ("solutions/09_occupancy/shared_stretch.cu", "four times the threads for one stretch"),
    ("solutions/09_occupancy/kernel.cu", "the reference"),
];

/// What the kernels of exercise 09 take, and how many of their warps fit.
pub(crate) fn exercise(checker: &Checker) -> Result<String> {
    let mut text = "| kernel | threads | registers | shared memory, bytes | A100 (8.0) | H200 (9.0) | first to run out on 8.0 |\n\
                    |---|---:|---:|---:|---:|---:|---|\n"
        .to_owned();
    for (file, words) in FILES {
        let verdict = checker.judge("09", file)?;
        let field = |path: &str| {
            let value = verdict.pointer(path).and_then(serde_json::Value::as_u64);
            let value = value.and_then(|value| u32::try_from(value).ok());
            value.with_context(|| format!("the verdict on {file} has no {path}"))
        };
        let block = BlockResources {
            threads: field("/launch/block/0")? * field("/launch/block/1")? * field("/launch/block/2")?,
            registers_per_thread: field("/resources/registers_per_thread")?,
            shared_bytes: field("/launch/shared_bytes")? + field("/resources/static_shared_bytes")?,
        };
        text.push_str(&format!(
            "| {words} <!-- {file} --> | {} | {} | {} | {} | {} | {} |\n",
            block.threads,
            block.registers_per_thread,
            thousands(u64::from(block.shared_bytes)),
            fill(&Sm::SM_80, block),
            fill(&Sm::SM_90, block),
            name(Sm::SM_80.occupancy(block).limit),
        ));
    }
    text.push_str(
        "\n<details class=\"made\">\n<summary>How these numbers were made</summary>\n\n```console\n\
         $ cargo run -p checker -- run exercises/09_occupancy/stub.cu --occupancy A100 --grid 1 --block 64 \
         --arg buf:f32:8192:iota --arg buf:f32:1 --arg i32:1 --arg i32:8192\n```\n\n</details>\n",
    );
    Ok(text)
}

/// `4 blocks, 8 of 64 warps, 12.5 %`: how comments in kernels say it too.
fn fill(sm: &Sm, block: BlockResources) -> String {
    let found = sm.occupancy(block);
    let plural = if found.blocks_per_sm == 1 { "" } else { "s" };
    format!(
        "{} block{plural}, {} of {} warps, {} %",
        found.blocks_per_sm,
        found.warps_per_sm,
        found.most_warps,
        // Exact: eighths of a percent at most.
        found.percent(),
    )
}

fn name(limit: Limit) -> &'static str {
    match limit {
        Limit::Warps => "warps",
        Limit::Blocks => "blocks",
        Limit::Registers => "registers",
        Limit::SharedMemory => "shared memory",
    }
}

/// What an SM has, for the two cards that the book speaks of.
pub(crate) fn budgets() -> String {
    let [a, b] = [Sm::SM_80, Sm::SM_90];
    let rows = [
        ("warps", a.warps, b.warps),
        ("blocks", a.blocks, b.blocks),
        ("registers of 32 bits", Sm::REGISTERS, Sm::REGISTERS),
        ("shared memory, KB", a.shared_bytes >> 10, b.shared_bytes >> 10),
        ("of that, at most for one block, KB", a.block_shared_bytes >> 10, b.block_shared_bytes >> 10),
    ];
    let mut text =
        "| an SM has | compute capability 8.0 (A100) | 9.0 (H100, H200) |\n|---|---:|---:|\n".to_owned();
    for (what, first, second) in rows {
        text.push_str(&format!("| {what} | {} | {} |\n", thousands(first.into()), thousands(second.into())));
    }
    text
}

/// Warps by registers per thread, in blocks of 256 threads.
pub(crate) fn registers() -> String {
    let mut text =
        "| registers per thread | blocks of 256 threads | warps | occupancy |\n|---:|---:|---:|---:|\n"
            .to_owned();
    for registers_per_thread in [32, 64, 128, 255] {
        let block = BlockResources { threads: 256, registers_per_thread, shared_bytes: 0 };
        let found = Sm::SM_80.occupancy(block);
        text.push_str(&format!(
            "| {registers_per_thread} | {} | {} | {} % |\n",
            found.blocks_per_sm,
            found.warps_per_sm,
            found.percent()
        ));
    }
    text
}

/// Warps by the side of the tile, for the tiled product with one thread per output.
pub(crate) fn tiles() -> String {
    let mut text = "| T | threads in a block | shared memory | blocks that fit by shared memory alone | blocks that fit | occupancy |\n\
                    |---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for side in [8, 16, 32, 64] {
        let (threads, shared_bytes) = (side * side, 8 * side * side);
        // One warp and one register each, so that nothing but shared memory, and the number of blocks, is in the way.
        let by_shared =
            Sm::SM_80.occupancy(BlockResources { threads: 32, registers_per_thread: 1, shared_bytes });
        let (blocks, percent) = if threads <= exercise::limits::THREADS_PER_BLOCK {
            let found =
                Sm::SM_80.occupancy(BlockResources { threads, registers_per_thread: 32, shared_bytes });
            (found.blocks_per_sm.to_string(), format!("{} %", found.percent()))
        } else {
            ("**not allowed**".to_owned(), String::new())
        };
        let by_shared = match by_shared.limit {
            Limit::Blocks => format!("{} (the most there can be)", by_shared.blocks_per_sm),
            _ => by_shared.blocks_per_sm.to_string(),
        };
        text.push_str(&format!(
            "| {side} | {} | {} | {by_shared} | {blocks} | {percent} |\n",
            thousands(threads.into()),
            if shared_bytes < 1024 {
                format!("{shared_bytes} bytes")
            } else {
                format!("{} KB", shared_bytes >> 10)
            },
        ));
    }
    text
}
