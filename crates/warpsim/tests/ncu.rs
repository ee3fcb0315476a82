//! The memory counters, held against what Nsight Compute 2025.3.1 counted on an H200 (`tests/ncu/h200.csv`, made by
//! `tests/ncu/measure.py` there).

use std::collections::HashMap;

use warpsim::{Checks, Counters, Device, Launch, Program};

/// Where the simulator counts other than the hardware, and why. Each entry: kernel, counter, simulator's number.
const EXPLAINED: &[(&str, &str, u64)] = &[
    // The PTX loads a float4 of which two components are used; ptxas loads those two, 4 bytes each (`LDS` twice in
    // what nvdisasm shows, no `LDS.128`): twice as many requests, and each lane 12 words from the next, so 4 wavefronts
    // instead of 1. Which parts of a vector are used is known only to the assembler, once it has dropped what is dead.
    ("shared_quads", "shared_load_wavefronts", 64),
    ("shared_quads", "shared_load_bank_conflicts", 0),
];

fn counter(counters: &Counters, name: &str) -> u64 {
    match name {
        "global_load_requests" => counters.global_load_requests,
        "global_load_sectors" => counters.global_load_sectors,
        "global_store_requests" => counters.global_store_requests,
        "global_store_sectors" => counters.global_store_sectors,
        "shared_load_wavefronts" => counters.shared_load_wavefronts,
        "shared_store_wavefronts" => counters.shared_store_wavefronts,
        "shared_load_bank_conflicts" => counters.shared_load_bank_conflicts,
        "shared_store_bank_conflicts" => counters.shared_store_bank_conflicts,
        other => panic!("no counter is called {other}"),
    }
}

fn simulate(module: &ptx::Module, kernel: &str) -> Counters {
    let program = Program::new(module, kernel).expect("the kernel lowers");
    let mut device = Device::new();
    let input = device.alloc_from("in", vec![0; 4352 * 4]);
    let output = device.alloc_from("out", vec![0; 4352 * 4]);
    let block = if kernel.starts_with("tile") { [32, 4, 1] } else { [128, 1, 1] };
    let mut launch = Launch::new([4, 1, 1], block).arg(input).arg(output).arg(4096);
    launch.checks = Checks { counters: true, ..Checks::NONE };
    launch.run(&program, &mut device).expect("the launch is legal").counters
}

#[test]
fn counters_are_those_of_the_hardware() {
    let module = ptx::parse(include_str!("ncu/kernels.ptx")).expect("NVRTC wrote it");
    let explained: HashMap<_, _> = EXPLAINED.iter().map(|&(k, c, n)| ((k, c), n)).collect();
    let mut lines = include_str!("ncu/h200.csv").lines();
    let names: Vec<&str> = lines.next().expect("a heading").split(',').skip(1).collect();
    let mut differences = Vec::new();
    let mut kernels = 0;
    for line in lines {
        let mut cells = line.split(',');
        let kernel = cells.next().expect("a name");
        let counters = simulate(&module, kernel);
        kernels += 1;
        for (name, measured) in names.iter().zip(cells) {
            let measured: u64 = measured.parse().expect("a number");
            let simulated = counter(&counters, name);
            let wanted = explained.get(&(kernel, *name)).copied().unwrap_or(measured);
            if simulated != wanted {
                differences.push(format!(
                    "{kernel} {name}: simulated {simulated}, wanted {wanted}, measured {measured}"
                ));
            }
        }
    }
    assert_eq!(kernels, 16);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
