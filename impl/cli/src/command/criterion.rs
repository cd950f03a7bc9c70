//! `pirlab criterion`: results of Criterion as records, and a summary.

use std::path::PathBuf;

use crate::failure::Outcome;
use crate::output::{Table, print, to_json};
use crate::primitive::criterion::{self, Converted};
use crate::store;
use crate::units::{bytes, seconds, three_digits};

/// Convert the results of Criterion benches into records of primitives, and print their medians.
///
/// Beside a measured time stands what it is to be judged by: the time of an operation's NTTs alone, a lower bound (counted by
/// the benches in ntt-counts.json), that of a sum's products alone, or that of the library's transform of the same size.
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
    let mut table = Table::new(&["bench", ">median", ">95 % interval", ">rate", "beside", ">takes", ">ratio"]);
    for record in all.iter().map(|converted| &converted.record) {
        let Some(median) = criterion::median(record) else { continue };
        let counts = &record.described.counts;
        let rate = match (counts.get("throughput_bytes"), counts.get("throughput_elements")) {
            (Some(count), _) => format!("{}/s", bytes((count / median) as u64)),
            (None, Some(count)) => format!("{} M/s", three_digits(count / median / 1e6)),
            (None, None) => String::new(),
        };
        let beside = criterion::yardstick(record);
        let ratio = |(_, seconds): (&str, f64)| match criterion::ratio_interval(record) {
            Some((low, high)) => {
                format!("{:.3} ({low:.3} to {high:.3})", median / seconds)
            }
            None => three_digits(median / seconds),
        };
        table.row([
            record.row.clone().unwrap_or_default(),
            seconds(median),
            criterion::interval(record)
                .map_or_else(String::new, |(low, high)| format!("{} to {}", seconds(low), seconds(high))),
            rate,
            beside.map_or_else(String::new, |(words, _)| words.into()),
            beside.map_or_else(String::new, |(_, time)| seconds(time)),
            beside.map_or_else(String::new, ratio),
        ]);
    }
    table.text()
}
