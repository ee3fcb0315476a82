//! L1: lines of 128 bytes in sets, fetched by sectors.

/// Lines of a set.
const WAYS: usize = 16;
/// Bytes of a line.
const LINE: u64 = 128;

/// A cache that knows when what it fetches is there.
#[derive(Debug)]
pub(super) struct Cache {
    ways: Vec<Way>,
    sets: usize,
    /// Counts uses.
    now: u32,
}

/// Room for a line.
#[derive(Clone, Copy, Debug)]
struct Way {
    line: u64,
    /// The sectors that it holds, or that are on their way.
    sectors: u8,
    used: u32,
    /// When the last of them arrives.
    arrival: Arrival,
}

/// When a value is there, and what it had to wait for most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Arrival {
    pub(super) at: f64,
    pub(super) cause: super::Cause,
}

impl Arrival {
    /// The later of two.
    pub(super) fn max(self, other: Arrival) -> Arrival {
        if other.at > self.at { other } else { self }
    }
}

impl Cache {
    pub(super) fn new(bytes: u64) -> Cache {
        let sets = ((bytes / LINE) as usize / WAYS).max(1);
        let empty = Way { line: u64::MAX, sectors: 0, used: 0, arrival: Arrival::default() };
        Cache { ways: vec![empty; sets * WAYS], sets, now: 0 }
    }

    /// Makes room for `sectors` of a line and tells which of them are missing. They count as held from now on.
    pub(super) fn fetch(&mut self, line: u64, sectors: u8) -> (&mut Arrival, u8) {
        self.now += 1;
        let set = &mut self.ways[set_of(line, self.sets)..][..WAYS];
        let found = set.iter().position(|way| way.line == line);
        let place = found.unwrap_or_else(|| {
            let oldest = (0..WAYS).min_by_key(|way| set[*way].used).unwrap_or(0);
            set[oldest] = Way { line, sectors: 0, used: 0, arrival: Arrival::default() };
            oldest
        });
        let way = &mut set[place];
        let missing = sectors & !way.sectors;
        way.sectors |= sectors;
        way.used = self.now;
        (&mut way.arrival, missing)
    }
}

/// Where a line's set begins. Lines that are a power of two apart must not all meet in one set.
fn set_of(line: u64, sets: usize) -> usize {
    let mixed = (line ^ line >> 11 ^ line >> 23).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    mixed as usize % sets * WAYS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_fetched_once_and_by_themselves() {
        let mut cache = Cache::new(64 << 10);
        assert_eq!(cache.fetch(5, 0b0011).1, 0b0011);
        assert_eq!(cache.fetch(5, 0b0110).1, 0b0100);
        assert_eq!(cache.fetch(5, 0b0111).1, 0);
    }

    #[test]
    fn what_fits_stays_and_what_does_not_is_fetched_again() {
        let missing = |bytes: u64, lines: u64| {
            let mut cache = Cache::new(bytes);
            let mut pass = || (0..lines).filter(|line| cache.fetch(*line, 1).1 != 0).count();
            pass();
            pass()
        };
        assert_eq!(missing(64 << 10, 128), 0);
        assert!(missing(16 << 10, 1024) > 900);
    }
}
