//! `pirlab criterion`: results of Criterion as records, and a summary.

use std::path::{Path, PathBuf};

use crate::failure::Outcome;
use crate::output::{Table, print, to_json};
use crate::primitive::criterion::{self, Converted};
use crate::store::{self, Input};
use crate::units::{self, bytes, seconds, three_digits};

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
    let (all, read) = criterion::convert(&args.folder)?;
    let read: Vec<Input> = read.iter().map(|path| Input::new("Criterion's result", path)).collect();
    let outputs: Vec<PathBuf> = all.iter().map(|converted| args.out.join(&converted.path)).collect();
    let places: Vec<&Path> = outputs.iter().map(PathBuf::as_path).collect();
    store::check_all(&places, &read).map_err(|(_, failure)| failure)?;
    for (Converted { record, .. }, out) in all.iter().zip(&outputs) {
        store::write(out, &to_json(record)?)?;
    }
    print(&summary(&all))
}

fn summary(all: &[Converted]) -> String {
    let mut table = Table::new(&["bench", ">median", ">95 % interval", ">rate", "beside", ">takes", ">ratio"]);
    for record in all.iter().map(|converted| &converted.record) {
        let Some(median) = criterion::median(record) else { continue };
        let counts = &record.described.counts;
        let rate = match (counts.get("throughput_bytes"), counts.get("throughput_elements")) {
            _ if median <= 0.0 => String::new(),
            (Some(count), _) => format!("{}/s", bytes((count / median) as u64)),
            (None, Some(count)) => format!("{} M/s", three_digits(count / median / 1e6)),
            (None, None) => String::new(),
        };
        let beside = criterion::yardstick(record);
        let ratio = |(_, seconds): (&str, f64)| match criterion::ratio_interval(record) {
            Some((low, high)) if low.is_finite() && high.is_finite() => {
                format!("{} ({low:.3} to {high:.3})", units::ratio(seconds, median))
            }
            _ => three_digits(median / seconds),
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
