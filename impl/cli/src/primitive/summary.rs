//! The summary that a person reads after a group of primitives.

use super::record::PrimitiveRecord;
use crate::output::{Table, word};
use crate::units::{grouped, seconds, spread, three_digits};

/// All records of a group, with a line for each measured quantity.
pub fn group(records: &[PrimitiveRecord]) -> String {
    let mut table = Table::new(&["row", "status", "measured", ">median", ">interquartile range", ">samples", "reason"]);
    for record in records {
        let head = [record.row.clone().unwrap_or_default(), word(record.status)];
        let reason = record.reason.clone().unwrap_or_default();
        let lines = lines(record);
        if lines.is_empty() {
            table.row(head.clone().into_iter().chain(["-", "-", "-", "-"].map(String::from)).chain([reason.clone()]));
        }
        for (i, line) in lines.into_iter().enumerate() {
            let head = if i == 0 { head.clone() } else { [String::new(), String::new()] };
            let reason = if i == 0 { reason.clone() } else { String::new() };
            table.row(head.into_iter().chain(line).chain([reason]));
        }
    }
    table.text()
}

/// Name, median, interquartile range and number of samples of everything measured.
fn lines(record: &PrimitiveRecord) -> Vec<[String; 4]> {
    let measured = &record.measured;
    let line = |name: &str, spread: Option<[String; 3]>| spread.map(|[a, b, c]| [name.to_string(), a, b, c]);
    let times = measured.times.iter().filter_map(|(name, times)| line(name, spread(&times.samples, seconds)));
    let values = measured.values.iter().filter_map(|(name, values)| line(name, spread(values, three_digits)));
    let noise = measured.noise.iter().map(|(stage, noise)| {
        [format!("noise {stage}"), format!("stddev {:.4e}", noise.variance.sqrt()), "-".into(), grouped(noise.samples)]
    });
    let counts =
        measured.counts.iter().map(|(name, count)| [name.clone(), three_digits(*count), "-".into(), "-".into()]);
    times.chain(values).chain(noise).chain(counts).collect()
}
