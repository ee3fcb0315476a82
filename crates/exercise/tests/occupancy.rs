//! How many blocks fit an SM, held against NVIDIA's own calculator (`tests/data/occupancy.csv`).

use exercise::{BlockResources, GpuModel, Limit};

#[test]
fn blocks_per_sm_are_those_of_nvidias_calculator() {
    let mut compared = 0;
    for line in include_str!("data/occupancy.csv").lines().skip(2) {
        let cells: Vec<&str> = line.split(',').collect();
        let [capability, threads, registers, shared, blocks, limits] = cells[..] else { panic!("{line}") };
        let number = |cell: &str| cell.parse::<u32>().unwrap();
        let (major, minor) = capability.split_once('.').unwrap();
        let capability = (number(major), number(minor));
        let gpu = GpuModel::ALL.into_iter().find(|gpu| gpu.sm.capability == capability).unwrap();
        let found = gpu.sm.occupancy(BlockResources {
            threads: number(threads),
            registers_per_thread: number(registers),
            shared_bytes: number(shared),
        });
        assert_eq!(found.blocks_per_sm, number(blocks), "{line}");
        let letter = match found.limit {
            Limit::Warps => 'w',
            Limit::Blocks => 'b',
            Limit::Registers => 'r',
            Limit::SharedMemory => 's',
        };
        assert!(limits.contains(letter), "{line}: limited by {:?}", found.limit);
        compared += 1;
    }
    assert_eq!(compared, 9 * 21);
}

/// Well-known cases: a whole SM of a data-centre GPU is 64 warps; consumer GPUs hold 48, Turing 32.
#[test]
fn full_sms() {
    let block = BlockResources { threads: 256, registers_per_thread: 32, shared_bytes: 0 };
    let percent = |name: &str, block| {
        let found = GpuModel::named(name).unwrap().sm.occupancy(block);
        (found.warps_per_sm, found.percent())
    };
    assert_eq!(percent("H100", block), (64, 100.0));
    assert_eq!(percent("RTX 3090", block), (48, 100.0));
    assert_eq!(percent("T4", block), (32, 100.0));
    assert_eq!(percent("RTX 4090", BlockResources { threads: 1024, ..block }), (32, 200.0 / 3.0));
}
