//! Multiplies two matrices with a tiled kernel, with all checks, and prints what it cost.
//!
//! `cargo run --release -p warpsim --example tiled -- [SIZE] [plain|counters|all] [LAUNCHES]`

use warpsim::{Checks, Device, Launch, Program};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let n: u32 = args.next().map_or(Ok(256), |s| s.parse())?;
    let checks = match args.next().as_deref() {
        Some("plain") => Checks::NONE,
        Some("counters") => Checks { counters: true, ..Checks::NONE },
        _ => Checks::ALL,
    };
    let launches: u32 = args.next().map_or(Ok(1), |s| s.parse())?;
    let module = ptx::parse(include_str!("../tests/ptx/tiled.ptx"))?;
    let program = Program::new(&module, "tiled")?;

    let values = |seed: u32| -> Vec<u8> {
        (0..n * n)
            .flat_map(|i| ((i.wrapping_mul(seed) >> 8 & 0xff) as f32 / 255.0 - 0.5).to_le_bytes())
            .collect()
    };
    let mut device = Device::new();
    let a = device.alloc_from("a", values(2_654_435_761));
    let b = device.alloc_from("b", values(40_503));
    let c = device.alloc("c", (n * n * 4) as usize);
    let blocks = n.div_ceil(16);
    let mut launch = Launch::new([blocks, blocks, 1], [16, 16, 1]).arg(a).arg(b).arg(c);
    launch = launch.arg(n as i32).arg(n as i32).arg(n as i32);
    launch.checks = checks;
    let mut report = launch.run(&program, &mut device)?;
    println!("{:?} in {:.4} s", report.outcome, report.seconds);
    for _ in 1..launches {
        report = launch.run(&program, &mut device)?;
        println!("{:?} in {:.4} s", report.outcome, report.seconds);
    }
    println!("{:#?}", report.counters);
    for fault in &report.faults {
        println!("{fault}");
    }
    let first = f32::from_le_bytes(device.read(c)[..4].try_into()?);
    println!("c[0] = {first}");
    Ok(())
}
