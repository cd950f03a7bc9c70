//! What a person reads of every record.

use pir::core::record::Status;

use crate::units::quartiles;

/// A status as the record writes it.
pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Wrong => "wrong",
        Status::Failed => "failed",
        Status::SkippedMemory => "skipped_memory",
        Status::SkippedTime => "skipped_time",
        Status::Timeout => "timeout",
    }
}

/// Median, interquartile range and number of samples, as text; `None` where there are none.
pub fn spread(samples: &[f64], text: impl Fn(f64) -> String) -> Option<[String; 3]> {
    let (low, middle, high) = quartiles(samples)?;
    let range = if samples.len() > 1 { text(high - low) } else { "-".into() };
    Some([text(middle), range, samples.len().to_string()])
}
