//! Timing of calls too short to be timed alone.

use std::time::{Duration, Instant};

/// Least seconds of all calls of one sample: the resolution and cost of the clock are then negligible.
pub const SAMPLE: Duration = Duration::from_millis(2);

/// The number of calls that take about [`SAMPLE`].
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
