//! Random input that can be had again.

/// xorshift64*: the same inputs for the same seed, on any machine.
pub struct Random(u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }
}

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |value| value.parse().unwrap())
}

/// How many inputs to try, and where they come from: `RELAY_FUZZ` and `RELAY_SEED`.
pub fn inputs() -> (u64, Random) {
    (from_environment("RELAY_FUZZ", 200_000), Random(from_environment("RELAY_SEED", 0x5eed).max(1)))
}
