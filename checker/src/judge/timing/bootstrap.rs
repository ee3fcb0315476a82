//! Medians and their bootstrap intervals.

use exercise::SplitMix64;

/// Enough that the interval's ends, which lie among the outermost 1 %, rest on some twenty resamples each.
const RESAMPLES: usize = 4000;

/// The median; NaN of nothing.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

/// The percentile interval of the median that misses the true one with a chance of about `alpha`.
pub(super) fn interval(values: &[f64], alpha: f64, seed: u64) -> (f64, f64) {
    if values.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let mut random = SplitMix64::new(seed, 0);
    let mut pick = || values[(random.next_u64() % values.len() as u64) as usize];
    let mut medians: Vec<f64> =
        (0..RESAMPLES).map(|_| median((0..values.len()).map(|_| pick()).collect())).collect();
    medians.sort_by(f64::total_cmp);
    let at = |part: f64| medians[((part * RESAMPLES as f64) as usize).min(RESAMPLES - 1)];
    (at(alpha / 2.0), at(1.0 - alpha / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(vec![]).is_nan());
    }

    #[test]
    fn an_interval_holds_the_median_and_shrinks_with_alpha() {
        let values: Vec<f64> = (0..101).map(f64::from).collect();
        let (low, high) = interval(&values, 0.05, 1);
        assert!(low < 50.0 && 50.0 < high, "{low} {high}");
        let (wide_low, wide_high) = interval(&values, 0.01, 1);
        assert!(wide_low <= low && high <= wide_high);
        assert_eq!(interval(&values, 0.05, 1), (low, high), "the same seed gives the same interval");
    }

    #[test]
    fn an_interval_misses_the_truth_about_as_often_as_it_says() {
        let mut random = SplitMix64::new(7, 0);
        let mut missed = 0;
        for trial in 0..100 {
            let uniform = |_| (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
            let values: Vec<f64> = (0..31).map(uniform).collect();
            let (low, high) = interval(&values, 0.05, trial);
            missed += usize::from(low > 0.0 || high < 0.0);
        }
        assert!((1..=14).contains(&missed), "{missed} of 100 missed, 5 expected");
    }
}
