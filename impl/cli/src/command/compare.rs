//! `pirlab compare`: ratios of two records, or of two folders of records.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use bench::settings::typed;
use pir::core::clock::Group;
use pir::core::record::{Build, RUN_SCHEMA, RunRecord, Status};
use pir::registry;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::failure::{Failure, Outcome};
use crate::output::{Table, note, print, word};
use crate::protocol::summary::bandwidth;
use crate::store::files_below;
use crate::units::{UNKNOWN, bytes, grouped, power, quartiles, ratio, seconds, three_digits};

/// Compare run records: bytes, noise and seconds of B over A.
///
/// Two files are compared with each other; folders row by row (same parameter set, shape, queries and threads). Other JSON
/// files in a folder are skipped. Ratios of median seconds carry a 95 % interval (bootstrap over the repetitions) where both
/// records have two samples or more.
#[derive(clap::Args)]
pub struct Args {
    /// Record or folder of records.
    a: PathBuf,
    /// Record or folder of records.
    b: PathBuf,
    /// Compare records of different machines, commits, kernels or numbers of threads; seconds of different machines are then
    /// scaled by the probed read bandwidths.
    #[arg(long)]
    allow_mixed: bool,
}

pub fn main(args: &Args) -> Outcome<()> {
    let (left, right) = (load(&args.a)?, load(&args.b)?);
    let pairs = pair(args, &left, &right)?;
    let mut differences: BTreeSet<String> = BTreeSet::new();
    for (a, b) in &pairs {
        differences.extend(mixed(a, b));
    }
    if !differences.is_empty() && !args.allow_mixed {
        let list: Vec<&str> = differences.iter().map(String::as_str).collect();
        return Err(Failure::Input(format!(
            "compare {} {}: the records do not come from the same machine, program and setting: {}. Measure both on one \
             machine with one build, kernel and number of threads, or give --allow-mixed.",
            args.a.display(),
            args.b.display(),
            list.join("; ")
        )));
    }
    let mut text = String::new();
    for line in &differences {
        text.push_str(&format!("mixed: {line}\n"));
    }
    for (a, b) in pairs {
        text.push_str(&compared(a, b));
    }
    print(&text)
}

/// The run record in a file, or all of them below a folder, which may hold other JSON files too.
fn load(path: &Path) -> Outcome<Vec<RunRecord>> {
    if !path.is_dir() {
        let other = || refuse(path, &format!("key `schema` is not `{RUN_SCHEMA}`"));
        return Ok(vec![read(path)?.ok_or_else(other)?]);
    }
    let files = files_below(path, "json", "listing the records")?;
    let read: Vec<_> = files.iter().map(|file| read(file)).collect::<Outcome<_>>()?;
    let records: Vec<RunRecord> = read.into_iter().flatten().collect();
    if records.len() < files.len() {
        let others = files.len() - records.len();
        note(&format!("{}: JSON files skipped because they are not run records: {others}", path.display()));
    }
    Ok(records)
}

fn refuse(path: &Path, problem: &str) -> Failure {
    Failure::Input(format!("record {}: {problem}. Give records of `pirlab run`.", path.display()))
}

/// A run record that `pirlab run` cannot have written.
fn refuse_record(path: &Path, problem: &str) -> Failure {
    let problem = problem.trim_end_matches('.');
    Failure::Input(format!("record {}: {problem}. Delete it and measure again.", path.display()))
}

/// The run record in a file; `None` if the file's JSON is something else.
fn read(path: &Path) -> Outcome<Option<RunRecord>> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::io(path, "reading the record", e))?;
    let text = text.trim_start_matches('\u{feff}');
    let value: serde_json::Value = serde_json::from_str(text).map_err(|e| refuse(path, &format!("not JSON: {e}")))?;
    let word = |key: &str| value.get(key).and_then(|value| value.as_str());
    if word("schema") != Some(RUN_SCHEMA) {
        return Ok(None);
    }
    // This is checked first, because a record of another program's protocol may look different.
    if let Some(Err(e)) = word("protocol").map(registry::find) {
        return Err(refuse(path, &format!("key `protocol`: {}", e.to_string().trim_end_matches('.'))));
    }
    let record: RunRecord =
        typed(value).map_err(|(key, problem)| refuse_record(path, &format!("key `{key}`: {problem}")))?;
    match negative(&record) {
        Some((key, value)) => Err(refuse_record(path, &format!("key `{key}`: {value:e} is negative"))),
        None => Ok(Some(record)),
    }
}

/// Key and value of the first negative number among those that a ratio is made of; lengths in bytes cannot be negative.
fn negative(record: &RunRecord) -> Option<(String, f64)> {
    let seconds = record.phases.iter().enumerate().flat_map(|(place, phase)| {
        let key = move |repetition| format!("phases.{place}.seconds.{repetition}");
        phase.seconds.iter().enumerate().map(move |(repetition, &sample)| (key(repetition), sample))
    });
    let noise = record.noise.iter().enumerate().map(|(place, stage)| (format!("noise.{place}.stddev"), stage.stddev));
    seconds.chain(noise).find(|(_, value)| *value < 0.0)
}

/// The facts that records of one row share.
fn row_key(record: &RunRecord) -> String {
    let database = &record.database;
    let queries = if record.queries == 1 { String::new() } else { format!(", {} queries", record.queries) };
    let threads = if record.threads == 1 { String::new() } else { format!(", {} threads", record.threads) };
    format!(
        "{}, {} x {} bits{queries}{threads}",
        record.parameters.label(),
        power(database.records),
        grouped(database.record_bits)
    )
}

fn pair<'a>(
    args: &Args,
    left: &'a [RunRecord],
    right: &'a [RunRecord],
) -> Outcome<Vec<(&'a RunRecord, &'a RunRecord)>> {
    let nothing = |why: &str| Err(Failure::Input(format!("compare {} {}: {why}.", args.a.display(), args.b.display())));
    if let ([a], [b]) = (left, right) {
        for (record, path) in [(a, &args.a), (b, &args.b)] {
            if record.status != Status::Ok {
                let status = word(record.status);
                return nothing(&format!(
                    "{} has status {status}; only records with status ok have numbers",
                    path.display()
                ));
            }
        }
        return Ok(vec![(a, b)]);
    }
    // The latest record of a row counts.
    let index = |records: &'a [RunRecord]| -> BTreeMap<String, &'a RunRecord> {
        let mut ok: Vec<_> = records.iter().rev().filter(|record| record.status == Status::Ok).collect();
        ok.sort_by_key(|record| &record.finished);
        ok.into_iter().map(|record| (row_key(record), record)).collect()
    };
    let (left, right) = (index(left), index(right));
    for (side, other, path) in [(&left, &right, &args.a), (&right, &left, &args.b)] {
        let alone: Vec<&str> = side.keys().filter(|key| !other.contains_key(*key)).map(String::as_str).collect();
        if !alone.is_empty() {
            note(&format!("only in {}: {}", path.display(), alone.join("; ")));
        }
    }
    let pairs: Vec<_> = left.iter().filter_map(|(key, a)| right.get(key).map(|b| (*a, *b))).collect();
    if pairs.is_empty() { nothing("no row with status ok is in both") } else { Ok(pairs) }
}

/// The value of an unknown commit in a record.
const UNKNOWN_COMMIT: &str = "unknown";

/// Differences that make two records incomparable: machine, program, or the way it was run.
fn mixed(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let mut lines = Vec::new();
    let mut differ = |what: &str, a: String, b: String| {
        if a != b {
            lines.push(format!("{what} {a} and {b}"));
        }
    };
    let gib =
        |record: &RunRecord| format!("{} GiB", (record.machine.memory_bytes as f64 / (1u64 << 30) as f64).round());
    differ("processor", a.machine.cpu.clone(), b.machine.cpu.clone());
    differ("cores", a.machine.cores.to_string(), b.machine.cores.to_string());
    differ("memory", gib(a), gib(b));
    differ("operating system", a.machine.os.clone(), b.machine.os.clone());
    differ("kernel", a.build.kernel.clone(), b.build.kernel.clone());
    differ("threads", a.threads.to_string(), b.threads.to_string());
    differ("compiler", a.build.rustc.clone(), b.build.rustc.clone());
    differ("profile", a.build.profile.clone(), b.build.profile.clone());
    let either = |is: fn(&Build) -> bool| is(&a.build) || is(&b.build);
    let unknown = either(|build| build.commit == UNKNOWN_COMMIT);
    let uncertain = either(|build| build.dirty || build.commit_remark.is_some());
    if !unknown {
        differ("commit", a.build.commit.clone(), b.build.commit.clone());
    }
    // If a commit does not identify the sources, their hash does.
    if (unknown || uncertain) && a.protocol == b.protocol {
        differ("sources", a.build.source_hash.clone(), b.build.source_hash.clone());
    } else if unknown {
        lines.push(format!("commit {} and {}, and sources of two protocols", a.build.commit, b.build.commit));
    }
    lines
}

fn same_machine(a: &RunRecord, b: &RunRecord) -> bool {
    (&a.machine.cpu, a.machine.cores) == (&b.machine.cpu, b.machine.cores)
}

/// The table of one pair.
fn compared(a: &RunRecord, b: &RunRecord) -> String {
    let (name_a, name_b) = (row_key(a), row_key(b));
    let title = if name_a == name_b { name_a } else { format!("A: {name_a}\nB: {name_b}") };
    let scale = match (same_machine(a, b), bandwidth(a), bandwidth(b)) {
        (false, Some(of_a), Some(of_b)) => Some(of_b / of_a),
        _ => None,
    };
    let mut table = Table::new(&["", ">A", ">B", ">B/A", "95 % interval"]);
    for x in &a.transcript {
        if let Some(y) = b.transcript.iter().find(|y| (&y.name, y.direction) == (&x.name, x.direction)) {
            let ratio = ratio(x.payload_bytes as f64, y.payload_bytes as f64);
            table.row([format!("{} payload", x.name), bytes(x.payload_bytes), bytes(y.payload_bytes), ratio]);
        }
    }
    let (x, y) = (a.memory.peak_bytes, b.memory.peak_bytes);
    table.row(["peak memory".to_string(), bytes(x), bytes(y), ratio(x as f64, y as f64)]);
    for x in &a.noise {
        if let Some(y) = b.noise.iter().find(|y| y.stage == x.stage) {
            let cells = [three_digits(x.stddev), three_digits(y.stddev), ratio(x.stddev, y.stddev)];
            table.row([format!("{} noise stddev", x.stage)].into_iter().chain(cells));
        }
    }
    for x in &a.phases {
        let Some(y) = b.phases.iter().find(|y| y.name == x.name && y.group == x.group) else { continue };
        let (Some(of_a), Some(of_b)) = (quartiles(&x.seconds), quartiles(&y.seconds)) else { continue };
        let group = if x.group == Group::Online { String::new() } else { format!(" ({})", word(x.group)) };
        let factor = scale.unwrap_or(1.0);
        let interval = interval(&x.seconds, &y.seconds).map_or_else(
            || UNKNOWN.into(),
            |(low, high)| format!("{} to {}", three_digits(low * factor), three_digits(high * factor)),
        );
        table.row([
            format!("{}{group}", x.name),
            seconds(of_a.1),
            seconds(of_b.1),
            ratio(of_a.1, of_b.1 * factor),
            interval,
        ]);
    }
    let scaled = match scale {
        Some(scale) => {
            format!("  ratios of seconds are scaled by B's read bandwidth over A's, {}\n", three_digits(scale))
        }
        None if !same_machine(a, b) => "  ratios of seconds are NOT scaled: a record lacks its read bandwidth\n".into(),
        None => String::new(),
    };
    format!("{title}\n{}{scaled}\n", table.text())
}

/// Draws of the bootstrap.
const DRAWS: usize = 4000;

/// 95 % interval of median(b) / median(a), by resampling both; the same samples give the same interval. `None` if one of them has
/// a single sample, whose spread is unknown, or a median that may be zero.
fn interval(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
    if a.len().min(b.len()) < 2 {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut median = |samples: &[f64]| {
        let drawn: Vec<f64> = (0..samples.len()).map(|_| samples[rng.random_range(0..samples.len())]).collect();
        quartiles(&drawn).map_or(f64::NAN, |(_, middle, _)| middle)
    };
    let mut ratios: Vec<f64> = (0..DRAWS).map(|_| median(b) / median(a)).collect();
    ratios.sort_by(f64::total_cmp);
    let all_known = ratios.iter().all(|ratio| ratio.is_finite());
    all_known.then(|| (ratios[DRAWS / 40], ratios[DRAWS - 1 - DRAWS / 40]))
}

#[cfg(test)]
mod tests;
