//! The way a row is run: repetitions, kernel path, seed, time. It is the same for all kinds of rows.

use std::path::Path;

use pir::core::record::Status;
use ring::Kernel;

use crate::failure::{Failure, Outcome};
use crate::units;

/// The default number of repetitions.
pub const REPETITIONS: u64 = 5;
/// Most repetitions: the samples of all phases then take a few MiB, which no description counts.
pub const MOST_REPETITIONS: u64 = 1 << 16;
/// The default kernel path, which is the fastest of the machine.
pub const KERNEL: &str = "auto";

/// The way a row is run.
pub struct Run<'a> {
    pub id: &'a str,
    pub out: &'a Path,
    pub repetitions: u64,
    pub kernel: &'a str,
    pub seed: Option<&'a str>,
    pub time_limit_seconds: Option<f64>,
    pub predicted_seconds: Option<f64>,
}

pub fn repetitions() -> u64 {
    REPETITIONS
}

pub fn kernel() -> String {
    KERNEL.into()
}

impl Run<'_> {
    /// Checks the number of repetitions, the time limit and the predicted time.
    pub fn check_limits(&self) -> Outcome<()> {
        let Self { repetitions, time_limit_seconds, predicted_seconds, .. } = *self;
        let refuse = |text: &str| Err(Failure::Input(text.into()));
        if repetitions == 0 {
            return refuse("repetitions = 0: at least one is measured. Give --repetitions 5 or more for a median.");
        }
        if repetitions > MOST_REPETITIONS {
            return refuse(&format!(
                "repetitions = {repetitions}: at most {MOST_REPETITIONS}. Give --repetitions in that range, or run several times."
            ));
        }
        if time_limit_seconds.is_some_and(|limit| limit.is_nan() || limit <= 0.0) {
            return refuse("time_limit_seconds: it must be above zero. Leave it out for no limit.");
        }
        if predicted_seconds.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
            return refuse("predicted_seconds: it must be above zero. Leave it out where nothing is predicted.");
        }
        Ok(())
    }

    /// Why the row is not run, with its status; `None` if `peak_bytes` fit in memory and the row in its time.
    pub fn too_much(&self, peak_bytes: u64, free: Option<u64>) -> Option<(Status, String)> {
        let memory = too_large(peak_bytes, free).map(|reason| (Status::SkippedMemory, reason));
        memory.or_else(|| self.too_slow().map(|reason| (Status::SkippedTime, reason)))
    }

    /// Why the row is not started, if it would exceed its time limit.
    fn too_slow(&self) -> Option<String> {
        let (seconds, limit) = (self.predicted_seconds?, self.time_limit_seconds?);
        // Whole seconds, or hundredths where these would hide that the limit is exceeded.
        let about = if seconds.round() > limit { seconds.round() } else { (100.0 * seconds).ceil() / 100.0 };
        (seconds > limit).then(|| format!("would take about {about} s; the limit is {limit} s"))
    }
}

/// Why `needed` bytes do not fit in `free` bytes of memory; `None` if they fit.
pub fn too_large(needed: u64, free: Option<u64>) -> Option<String> {
    let free = free.filter(|&free| needed > free)?;
    Some(format!("needs {}; {} free", units::bytes(needed), units::bytes(free)))
}

/// The kernel path of that name; `auto` is the fastest one.
pub fn find_kernel(name: &str) -> Outcome<Kernel> {
    if name == KERNEL {
        return Ok(Kernel::best());
    }
    let kernel = name.parse::<Kernel>().and_then(Kernel::check);
    kernel.map_err(|e| {
        Failure::Input(format!("kernel `{name}`: {e}. Give --kernel auto for the fastest path of this machine."))
    })
}

/// A seed of up to 64 hexadecimal digits, padded with zeros in front.
pub fn parse_seed(text: &str) -> Outcome<[u8; 32]> {
    let refuse = || Failure::Input(format!("seed `{text}`: give 1 to 64 hexadecimal digits (--seed, key `seed`)."));
    if text.is_empty() || text.len() > 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(refuse());
    }
    let padded = format!("{text:0>64}");
    let mut seed = [0; 32];
    for (byte, at) in seed.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&padded[at..at + 2], 16).map_err(|_| refuse())?;
    }
    Ok(seed)
}

#[cfg(test)]
mod tests;
