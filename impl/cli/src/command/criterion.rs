//! `pirlab criterion`: results of Criterion as records, and a summary.

use std::path::PathBuf;

use crate::failure::Outcome;
use crate::output::{Table, print, to_json};
use crate::primitive::criterion::{self, Converted};
use crate::store;
use crate::units::{bytes, seconds, three_digits};

/// Convert the results of Criterion benches into records of primitives, and print their medians.
///
/// Where the benches count the NTTs of an operation (ntt-counts.json in Criterion's folder), the time of these alone, the
/// lower bound, stands beside the measured one.
#[derive(clap::Args)]
pub struct Args {
    /// Criterion's folder, e.g. impl/target/criterion.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder for the records, one a bench.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Runs the command.
pub fn main(args: &Args) -> Outcome<()> {
    let all = criterion::convert(&args.folder)?;
    for Converted { record, path } in &all {
        store::write(&args.out.join(path), &to_json(record)?)?;
    }
    print(&summary(&all))
}

fn summary(all: &[Converted]) -> String {
    let mut table = Table::new(&["bench", ">median", ">95 % interval", ">rate", ">NTTs alone", ">ratio"]);
    for record in all.iter().map(|converted| &converted.record) {
        let Some(median) = criterion::median(record) else { continue };
        let counts = &record.described.counts;
        let rate = match (counts.get("throughput_bytes"), counts.get("throughput_elements")) {
            (Some(count), _) => format!("{}/s", bytes((count / median) as u64)),
            (None, Some(count)) => format!("{} M/s", three_digits(count / median / 1e6)),
            (None, None) => String::new(),
        };
        let bound = counts.get("ntt_bound_seconds");
        table.row([
            record.row.clone().unwrap_or_default(),
            seconds(median),
            criterion::interval(record)
                .map_or_else(String::new, |(low, high)| format!("{} to {}", seconds(low), seconds(high))),
            rate,
            bound.map_or_else(String::new, |&bound| seconds(bound)),
            bound.map_or_else(String::new, |bound| three_digits(median / bound)),
        ]);
    }
    table.text()
}
