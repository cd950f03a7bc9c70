//! `pirlab probe`: read bandwidth of one core.

use crate::failure::{Failure, Outcome};
use crate::machine::bandwidth;
use crate::output::print_json;
use crate::units::parse_count;

/// Most passes.
const MOST_PASSES: u64 = 1000;

/// Measure the memory read bandwidth of one core (the yardstick of the answer phases), as JSON.
#[derive(clap::Args)]
pub struct Args {
    /// Length of the buffer read. Shorter ones measure caches.
    #[arg(long, value_parser = parse_count, default_value_t = ring::bandwidth::PROBE_BYTES as u64)]
    buffer_bytes: u64,
    /// Passes; the best one counts.
    #[arg(long, default_value_t = bandwidth::BEST_OF as u64, value_parser = clap::value_parser!(u64).range(1..=MOST_PASSES))]
    best_of: u64,
}

pub fn main(args: &Args) -> Outcome<()> {
    let probed = bandwidth::here(args.buffer_bytes, args.best_of as usize);
    print_json(&probed.map_err(|problem| Failure::Input(format!("probe: {problem}. Give a shorter --buffer-bytes.")))?)
}
