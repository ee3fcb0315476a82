//! The order of the launches in a measurement.

use rand::seq::SliceRandom;
use rand::{SeedableRng, rngs::SmallRng};

use super::DeviceError;

/// What can be timed, one launch at a time.
pub(super) trait Bench {
    /// Launches work number `work` once and gives its time in milliseconds. `round` is `None` while warming up.
    fn launch(&mut self, work: usize, round: Option<u32>) -> Result<f64, DeviceError>;
}

/// Runs the warm-up rounds and then the rounds that count: each launches every work once, in a random order of its
/// own, so that neither drift nor a neighbour's habits favour one of them. Gives `times[round][work]`.
pub(super) fn measure(
    bench: &mut impl Bench,
    works: usize,
    warmups: u32,
    rounds: u32,
    seed: u64,
) -> Result<Vec<Vec<f64>>, DeviceError> {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..works).collect();
    let mut times = Vec::with_capacity(rounds as usize);
    for round in (0..warmups).map(|_| None).chain((0..rounds).map(Some)) {
        order.shuffle(&mut random);
        let mut row = vec![0.0; works];
        for &work in &order {
            row[work] = bench.launch(work, round)?;
        }
        if round.is_some() {
            times.push(row);
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work `n` takes `n` ms and a little more in each round.
    #[derive(Default)]
    struct Fake {
        launched: Vec<(Option<u32>, usize)>,
        fails_in: Option<u32>,
    }

    impl Bench for Fake {
        fn launch(&mut self, work: usize, round: Option<u32>) -> Result<f64, DeviceError> {
            self.launched.push((round, work));
            match round {
                Some(round) if Some(round) == self.fails_in => Err(DeviceError::Busy),
                round => Ok(work as f64 + f64::from(round.unwrap_or(0)) / 1000.0),
            }
        }
    }

    #[test]
    fn every_round_launches_each_work_once_in_its_own_order() {
        let mut fake = Fake::default();
        let times = measure(&mut fake, 3, 2, 40, 7).unwrap();
        assert_eq!(times.len(), 40);
        for (round, row) in times.iter().enumerate() {
            let expected: Vec<f64> = (0..3).map(|work| f64::from(work) + round as f64 / 1000.0).collect();
            assert_eq!(*row, expected, "times stand under their work, whatever the order");
        }
        let orders: Vec<Vec<usize>> =
            fake.launched.chunks(3).map(|c| c.iter().map(|l| l.1).collect()).collect();
        assert_eq!(orders.len(), 42, "two rounds to warm up, which are not in the result");
        assert!(fake.launched[..6].iter().all(|launch| launch.0.is_none()));
        let firsts: std::collections::BTreeSet<_> = orders.iter().map(|order| order[0]).collect();
        assert_eq!(firsts.len(), 3, "each of them is first at times");
    }

    #[test]
    fn the_seed_decides_the_order() {
        let order = |seed| {
            let mut fake = Fake::default();
            measure(&mut fake, 4, 0, 10, seed).unwrap();
            fake.launched
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    #[test]
    fn an_error_ends_the_measurement() {
        let mut fake = Fake { fails_in: Some(3), ..Fake::default() };
        assert_eq!(measure(&mut fake, 2, 0, 9, 0), Err(DeviceError::Busy));
        assert_eq!(fake.launched.len(), 7);
    }
}
