//! Numbers that look random and are the same in every run.

/// `SplitMix64`: small, fast, and good enough to spread keys and to fill text.
#[derive(Debug, Clone)]
pub struct Noise(u64);

impl Noise {
    /// The sequence that `seed` gives.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is above 0.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }

    /// One of these.
    pub fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words.get(self.below(words.len())).copied().unwrap_or_default()
    }
}
