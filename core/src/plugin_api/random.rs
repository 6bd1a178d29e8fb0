//! Random choices that can be repeated with a seed, such as among equally good nodes.

/// A SplitMix64 generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a uniformly distributed number below `n`; 0 if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        // The high half of a 128-bit product. Its bias, at most n / 2^64, is negligible.
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_even_and_repeatable() {
        let draw = || {
            let mut random = Random::new(7);
            let mut counts = [0; 5];
            (0..10_000).for_each(|_| counts[random.below(5)] += 1);
            counts
        };
        assert_eq!(draw(), draw());
        assert!(draw().iter().all(|&n| (1_900..2_100).contains(&n)), "{:?}", draw());
    }
}
