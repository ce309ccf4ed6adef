//! Reproducible random input, and the run of a fuzz target: first its corpus, then inputs from a seed.
//!
//! `RELAY_FUZZ` sets the number of inputs of a target (default 200,000, for some a share of it), or `RELAY_FUZZ_MS` its duration,
//! and `RELAY_SEED` the seed. An input that fails is minimized and written to `tests/fuzz/corpus`, and later runs try it first.
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/corpus");
/// The longest time of a decoder for one input, on a busy machine.
const SLOW: Duration = Duration::from_millis(100);
/// The number of runs before an input counts as slow, as the machine may have delayed one.
const TIMED_AGAIN: usize = 3;

/// xorshift64*: the same inputs for the same seed, on any machine.
pub struct Random(u64);

impl Random {
    /// Derives the seed from bytes (FNV-1a).
    pub fn of(bytes: &[u8]) -> Self {
        let mixed = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.iter().fold(0xcbf2_9ce4_8422_2325, mixed).max(1))
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    /// Returns the bytes with up to three of them changed, removed or added.
    pub fn edited(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        for _ in 0..self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(4) {
                0 if at < bytes.len() => bytes[at] = self.next() as u8,
                1 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                2 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, self.next() as u8),
            }
        }
        bytes
    }
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

/// Tries the corpus of the target, then inputs of `generate`. `check` panics if a property does not hold, and returns whether the
/// decoder accepted the input. `part` divides the number of inputs, for slow decoders.
pub fn campaign(
    name: &str,
    part: u64,
    mut generate: impl FnMut(&mut Random) -> Vec<u8>,
    check: impl Fn(&[u8]) -> bool,
) {
    let folder = Path::new(CORPUS).join(name);
    let corpus = kept(&folder);
    for (file, bytes) in &corpus {
        assert!(held(&check, bytes).is_some(), "{name}: {} fails", file.display());
    }
    let seed = from_environment("RELAY_SEED").unwrap_or(0x5eed).max(1);
    let inputs = from_environment("RELAY_FUZZ").unwrap_or(200_000) / part;
    let time = from_environment("RELAY_FUZZ_MS").map(Duration::from_millis);
    let (begun, mut random, mut tried, mut taken) = (Instant::now(), Random(seed), 0u64, 0u64);
    while time.map_or(tried < inputs, |time| begun.elapsed() < time) {
        let input = match corpus.get(random.below(8 * corpus.len().max(1))) {
            Some((_, bytes)) => random.edited(bytes.clone()),
            None => generate(&mut random),
        };
        tried += 1;
        if let Some(is_taken) = held(&check, &input) {
            taken += u64::from(is_taken);
        } else {
            let small = quietly(|| smaller(input, |bytes| held(&check, bytes).is_none()));
            let file = folder.join(format!("{:016x}", Random::of(&small).0));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &small).unwrap();
            panic!(
                "{name}: found after {tried} inputs, seed {seed}; kept in {}, which is tried first from now on",
                file.display()
            );
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "relay/{name}: {tried} executions in {seconds:.1} s, {} % taken, 0 found, seed {seed}",
        100 * taken / tried.max(1)
    );
    assert!(
        tried < 1000 || taken.min(tried - taken) > tried / 100,
        "{name}: too few inputs are accepted, or too few refused"
    );
}

fn kept(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| (file.clone(), std::fs::read(file).unwrap())).collect()
}

/// Returns the result of `check`; `None` if it panics or takes too long.
fn held(check: &impl Fn(&[u8]) -> bool, input: &[u8]) -> Option<bool> {
    let timed = || {
        let begun = Instant::now();
        let answer = catch_unwind(AssertUnwindSafe(|| check(input))).ok();
        (begun.elapsed(), answer)
    };
    let (took, answer) = timed();
    let is_slow = took > SLOW && (0..TIMED_AGAIN).all(|_| timed().0 > SLOW);
    if is_slow {
        eprintln!("an input of {} bytes takes {took:?}", input.len());
    }
    answer.filter(|_| !is_slow)
}

/// Removes bytes while the input still fails.
fn smaller(mut input: Vec<u8>, fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut size = input.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < input.len() {
            let rest = [&input[..at], &input[(at + size).min(input.len())..]].concat();
            if fails(&rest) { input = rest } else { at += size }
        }
        size /= 2;
    }
    input
}

/// Runs without a line for each panic.
fn quietly<T>(run: impl FnOnce() -> T) -> T {
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let result = run();
    set_hook(hook);
    result
}
