//! Nothing panics on input that a learner's kernel can produce.

use exercise::{Expectation, Expected, LaunchSpec, compare};
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_output_can_be_compared(
        rows in 1usize..40,
        columns in 1usize..40,
        got in prop::collection::vec(any::<f32>(), 0..1600),
        written in prop::collection::vec(any::<bool>(), 0..1600),
    ) {
        let len = rows * columns;
        let expected = Expected { arg: 0, values: vec![1.0; len], tolerance: vec![0.5; len], shape: [rows, columns] };
        let comparison = compare(&expected, &got, &written);
        let right = (0..len)
            .filter(|i| written.get(*i) == Some(&true) && got.get(*i).is_some_and(|got| (got - 1.0).abs() <= 0.5))
            .count();
        prop_assert_eq!(comparison.wrong, len - right);
        prop_assert_eq!(comparison.first.is_some(), comparison.wrong > 0);
        prop_assert_eq!(comparison.is_right(), comparison.wrong == 0);
    }

    #[test]
    fn any_constant_makes_a_launch_or_an_error(
        kind in prop::sample::select(vec!["launch", "block", "grid", "shared", "other"]),
        line in 0u32..100,
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        extent in prop::array::uniform3(any::<usize>()),
    ) {
        let name = format!("warplings_{kind}_{line}");
        match LaunchSpec::from_constants([(name.as_str(), bytes.as_slice())]) {
            Err(error) => prop_assert!(!error.to_string().is_empty()),
            Ok(spec) => {
                prop_assert!((1..=1024).contains(&spec.threads()));
                if let Ok(grid) = spec.grid(extent) {
                    prop_assert!(grid.iter().all(|blocks| *blocks >= 1));
                }
            }
        }
    }

    #[test]
    fn legal_launches_cover_the_output(
        block in (1i32..=32, 1i32..=32),
        work in prop::array::uniform3(1i32..5000),
        swapped in any::<bool>(),
        extent in prop::array::uniform3(0usize..100_000),
    ) {
        let values = [block.0, block.1, 1, work[0], work[1], work[2], i32::from(swapped)];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let spec = LaunchSpec::from_constants([("warplings_launch_1", bytes.as_slice())]).unwrap();
        if let Ok(grid) = spec.grid(extent) {
            let [x, y, z] = extent;
            let needed = if swapped { [y, x, z] } else { extent };
            prop_assert_eq!(z, needed[2]);
            for i in 0..3 {
                let covered = grid[i] as usize * work[i] as usize;
                prop_assert!(covered >= needed[i], "{} < {}", covered, needed[i]);
                prop_assert!(needed[i] == 0 || covered - needed[i] < work[i] as usize);
            }
        }
    }

    #[test]
    fn any_header_is_read_or_refused(text in ".{0,80}") {
        if let Ok(expectation) = Expectation::of_source(&format!("// expect: {text}\n")) {
            prop_assert_eq!(Expectation::parse(&expectation.to_string()), Ok(expectation));
        }
    }
}
