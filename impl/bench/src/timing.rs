//! Timing of calls too short to be timed alone.

use std::time::{Duration, Instant};

/// How long the calls of one sample take together, at least: the clock and its reading then do not show.
pub const SAMPLE: Duration = Duration::from_millis(2);

/// How many calls take about [`SAMPLE`].
pub fn calls_per_sample(mut call: impl FnMut()) -> u64 {
    let mut calls = 1u64;
    loop {
        let took = seconds(calls, &mut call);
        if took >= SAMPLE.as_secs_f64() / 2.0 || calls >= 1 << 40 {
            let wanted = calls as f64 * SAMPLE.as_secs_f64() / took.max(1e-9);
            return (wanted.ceil() as u64).clamp(1, calls.saturating_mul(4));
        }
        calls *= 2;
    }
}

/// Seconds that a number of calls take together.
pub fn seconds(calls: u64, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    start.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests;
