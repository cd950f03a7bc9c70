//! The summary that a person reads after a run.

use pir::core::clock::{Group, Phase};
use pir::core::description::Direction;
use pir::core::record::RunRecord;

use crate::output::{Table, word};
use crate::units::{bytes, grouped, power, quartiles, seconds, spread, three_digits};

/// Load from which on a machine counts as busy.
const BUSY_LOAD: f64 = 0.5;
/// Interquartile range over median from which on times count as spread.
const WIDE_SPREAD: f64 = 0.1;
/// First sample over median from which on a run counts as cold at first.
const SLOW_FIRST: f64 = 1.25;
/// Change of bandwidth over a run from which on the machine counts as changed.
const DRIFT: f64 = 0.1;

/// Median seconds of a phase.
pub fn median(record: &RunRecord, phase: &str) -> Option<f64> {
    let phase = record.phases.iter().find(|p| p.name == phase)?;
    quartiles(&phase.seconds).map(|(_, median, _)| median)
}

/// The median of the bandwidths probed.
pub fn bandwidth(record: &RunRecord) -> Option<f64> {
    quartiles(&record.machine.read_bandwidth).map(|(_, median, _)| median).filter(|&rate| rate > 0.0)
}

/// Bytes of the stored database that the answer phase reads a second.
pub fn answer_rate(record: &RunRecord) -> Option<f64> {
    let stored = record.description.layout.get("stored_bytes")?.as_f64()?;
    median(record, "answer").filter(|&seconds| seconds > 0.0).map(|seconds| stored / seconds)
}

/// One record, one page; `place` says where the record is.
pub fn page(record: &RunRecord, place: &str) -> String {
    let database = &record.database;
    let mut text = format!(
        "{}, {} records of {} bits, kernel {}, {} thread(s): {}\n",
        record.parameters.label(),
        power(database.records),
        grouped(database.record_bits),
        record.build.kernel,
        record.threads,
        word(record.status)
    );
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            text.push_str(&format!("\n{title}\n{body}"));
        }
    };
    section("Seconds", phases(&record.phases));
    section("Answer", answer(record));
    section("Messages", messages(record));
    section("Memory", memory(record));
    section("Noise", noise(record));
    section("Hygiene", warnings(record).iter().map(|line| format!("  warning: {line}\n")).collect());
    let correct = record.correct;
    text.push_str(&format!("\n{} of {} records right. {place}\n", correct.right, correct.compared));
    text
}

fn phases(all: &[Phase]) -> String {
    let mut table = Table::new(&["phase", "when", ">median", ">interquartile range", ">samples"]);
    for phase in all {
        if let Some(spread) = spread(&phase.seconds, seconds) {
            table.row([phase.name.clone(), word(phase.group)].into_iter().chain(spread));
        }
    }
    table.text()
}

fn answer(record: &RunRecord) -> String {
    let Some(rate) = answer_rate(record) else { return String::new() };
    let against = match bandwidth(record) {
        Some(bandwidth) => format!(
            ", {:.0} % of the probed read bandwidth of one core ({} GB/s)",
            100.0 * rate / bandwidth,
            three_digits(bandwidth / 1e9)
        ),
        None => String::new(),
    };
    format!("  reads its stored database at {} GB/s{against}\n", three_digits(rate / 1e9))
}

fn messages(record: &RunRecord) -> String {
    let mut table = Table::new(&["message", "way", "phase", ">payload bytes", ">", ">frame bytes"]);
    for m in &record.transcript {
        let way = if m.direction == Direction::Upload { "up" } else { "down" };
        let payload = [grouped(m.payload_bytes), bytes(m.payload_bytes), grouped(m.frame_bytes)];
        table.row([m.name.clone(), way.into(), m.phase.clone()].into_iter().chain(payload));
    }
    table.text()
}

fn memory(record: &RunRecord) -> String {
    let used = &record.memory;
    if used.peak_bytes == 0 {
        return "  not measured: this system does not report a process's peak\n".into();
    }
    format!(
        "  peak {} (anonymous {}, files {}); described {}\n",
        bytes(used.peak_bytes),
        bytes(used.peak_anonymous_bytes),
        bytes(used.peak_file_bytes),
        bytes(used.described_peak_bytes)
    )
}

fn noise(record: &RunRecord) -> String {
    let mut table = Table::new(&["stage", ">samples", ">stddev", ">largest", ">threshold", ">threshold/stddev"]);
    for stage in &record.noise {
        let numbers = [stage.stddev, stage.max, stage.threshold, stage.margin].map(three_digits);
        table.row([stage.stage.clone(), grouped(stage.samples)].into_iter().chain(numbers));
    }
    if record.noise.is_empty() { String::new() } else { table.text() }
}

/// Warnings about circumstances that make the numbers less reliable.
pub fn warnings(record: &RunRecord) -> Vec<String> {
    let mut lines = Vec::new();
    let load = record.machine.load_at_start;
    if load > BUSY_LOAD {
        lines.push(format!("load {load:.2} at the start: other programs were running"));
    }
    for phase in record.phases.iter().filter(|phase| phase.group == Group::Online) {
        let Some((low, middle, high)) = quartiles(&phase.seconds).filter(|q| q.1 > 0.0) else { continue };
        let spread = (high - low) / middle;
        if spread > WIDE_SPREAD {
            lines.push(format!("{}: interquartile range is {:.0} % of the median", phase.name, 100.0 * spread));
        }
        if let Some(first) = phase.seconds.first().filter(|&&first| first > SLOW_FIRST * middle) {
            lines.push(format!("{}: the first repetition took {:.2} times the median", phase.name, first / middle));
        }
    }
    if let [before, .., after] = record.machine.read_bandwidth[..] {
        let change = after / before - 1.0;
        if change.abs() > DRIFT {
            lines.push(format!("read bandwidth changed by {:+.0} % over the run", 100.0 * change));
        }
    }
    if record.build.profile != "release" {
        lines.push(format!("{} build: times mean nothing", record.build.profile));
    }
    lines
}

/// All records of a group, a line each.
pub fn group(records: &[RunRecord]) -> String {
    let mut table = Table::new(&["row", "status", ">answer", ">GB/s", ">peak", ">right", "reason"]);
    for record in records {
        let answer = median(record, "answer");
        table.row([
            record.row.clone().unwrap_or_default(),
            word(record.status),
            answer.map_or("-".into(), seconds),
            answer_rate(record).map_or("-".into(), |rate| three_digits(rate / 1e9)),
            if record.memory.peak_bytes > 0 { bytes(record.memory.peak_bytes) } else { "-".into() },
            format!("{}/{}", record.correct.right, record.correct.compared),
            record.reason.clone().unwrap_or_default(),
        ]);
    }
    let mut text = table.text();
    for record in records {
        for line in warnings(record) {
            text.push_str(&format!("  warning: {}: {line}\n", record.row.as_deref().unwrap_or_default()));
        }
    }
    text
}
