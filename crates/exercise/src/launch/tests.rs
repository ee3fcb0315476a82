use super::*;

fn bytes(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn read(constants: &[(&str, &[i32])]) -> Result<LaunchSpec, LaunchError> {
    let constants: Vec<(&str, Vec<u8>)> =
        constants.iter().map(|(name, values)| (*name, bytes(values))).collect();
    LaunchSpec::from_constants(constants.iter().map(|(name, bytes)| (*name, bytes.as_slice())))
}

fn message(constants: &[(&str, &[i32])]) -> String {
    read(constants).unwrap_err().to_string()
}

const TILED: (&str, &[i32]) = ("warplings_launch_7", &[32, 8, 1, 32, 32, 1, 0]);

#[test]
fn launch_covers_the_output() {
    let spec = read(&[TILED, ("weights", &[1, 2, 3])]).unwrap();
    assert_eq!(spec.block, [32, 8, 1]);
    assert_eq!(spec.threads(), 256);
    assert_eq!(spec.shared_bytes, 0);
    assert_eq!(spec.grid([64, 64, 1]), Ok([2, 2, 1]));
    assert_eq!(spec.grid([65, 1, 1]), Ok([3, 1, 1]));
    assert_eq!(spec.grid([0, 0, 0]), Ok([1, 1, 1]));
}

#[test]
fn launch_yx_swaps_rows_and_columns() {
    let spec = read(&[("warplings_launch_7", &[32, 32, 1, 32, 16, 1, 1])]).unwrap();
    assert_eq!(spec.grid([100, 10, 1]), Ok([1, 7, 1]));
}

#[test]
fn trailing_zeros_may_be_missing() {
    let mut bytes = bytes(TILED.1);
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    let spec = LaunchSpec::from_constants([("warplings_launch_7", bytes.as_slice())]).unwrap();
    assert_eq!(Ok(spec), read(&[TILED]));
}

#[test]
fn block_and_grid_fix_the_number_of_blocks() {
    let spec = read(&[
        ("warplings_block_3", &[256, 1, 1]),
        ("warplings_grid_4", &[132, 1, 1]),
        ("warplings_shared_5", &[1024]),
    ])
    .unwrap();
    assert_eq!(spec.grid([1_000_000, 1, 1]), Ok([132, 1, 1]));
    assert_eq!(spec.shared_bytes, 1024);
}

#[test]
fn what_is_missing_or_doubled_is_named() {
    assert_eq!(read(&[]), Err(LaunchError::Missing));
    assert_eq!(
        message(&[("warplings_launch_9", TILED.1), TILED]),
        "LAUNCH stands at line 7 and again at line 9; keep one of them"
    );
    assert!(message(&[TILED, ("warplings_grid_9", &[1, 1, 1])]).contains("GRID at line 9 says it again"));
    assert!(message(&[("warplings_grid_9", &[1, 1, 1])]).contains("needs BLOCK_SHAPE beside it"));
    assert!(message(&[("warplings_block_9", &[1, 1, 1])]).contains("needs GRID beside it"));
    assert!(message(&[("warplings_tile", &[1])]).contains("`warplings_tile`"));
}

#[test]
fn impossible_numbers_are_named() {
    assert_eq!(
        message(&[("warplings_launch_1", &[0, 1, 1, 1, 1, 1, 0])]),
        "the block's size in x is 0, but must be between 1 and 1024"
    );
    assert!(message(&[("warplings_launch_1", &[1, 1, 65, 1, 1, 1, 0])]).contains("in z is 65"));
    assert!(
        message(&[("warplings_launch_1", &[1, 1, 1, 1, -4, 1, 0])]).contains("work per block in y is -4")
    );
    assert!(
        message(&[("warplings_launch_1", &[64, 64, 1, 1, 1, 1, 0])]).contains("64 x 64 x 1 threads has 4096")
    );
    assert!(message(&[TILED, ("warplings_shared_2", &[1 << 20])]).contains("SHARED is 1048576"));
}

#[test]
fn a_grid_that_is_too_big_says_what_would_help() {
    let spec = read(&[("warplings_launch_1", &[1, 1, 1, 1, 1, 1, 0])]).unwrap();
    assert_eq!(spec.grid([1 << 20, 65_535, 1]), Ok([1 << 20, 65_535, 1]));
    let error = spec.grid([1, 65_536, 1]).unwrap_err().to_string();
    assert!(error.contains("65536 blocks are needed in y") && error.contains("more work"), "{error}");
}
