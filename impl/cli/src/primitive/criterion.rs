//! Results of Criterion as records of primitives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pir::core::record::{RecordKind, Status};
use ring::Kernel;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::record::{PRIMITIVE_SCHEMA, PrimitiveRecord};
use super::{Described, Measured, Times};
use crate::failure::{Failure, Outcome};
use crate::machine;
use crate::measure::record::{build, random_id};
use crate::units;

/// Name of the time in the records: seconds of one iteration.
pub const ITERATION: &str = "iteration";
/// The files beside a result that hold its samples and what they say.
const SAMPLE: &str = "sample.json";
const ESTIMATES: &str = "estimates.json";
/// The file in Criterion's folder that says how many NTTs an operation takes at least.
const NTT_COUNTS: &str = "ntt-counts.json";
/// The value that holds the ends of the median's 95 % interval.
const MEDIAN_INTERVAL: &str = "median_interval";
/// The value that holds the ends of the ratio to the library's time.
const RATIO_INTERVAL: &str = "tfhe_ratio_interval";

#[derive(Deserialize)]
struct Benchmark {
    full_id: String,
    throughput: Option<Throughput>,
}

#[derive(Deserialize)]
enum Throughput {
    Bytes(f64),
    BytesDecimal(f64),
    Elements(f64),
    Bits(f64),
}

/// Iterations and nanoseconds of each sample.
#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    confidence_interval: Interval,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

/// NTTs that an operation takes at least, and the benches that time one of them in the same run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NttCount {
    forward: f64,
    inverse: f64,
    n: u64,
    forward_bench: Option<String>,
    inverse_bench: Option<String>,
    /// NTTs that one iteration of these benches takes.
    #[serde(default = "one_ntt")]
    ntts_per_iteration: f64,
}

fn one_ntt() -> f64 {
    1.0
}

/// A result and where its record goes, relative to the folder of all records.
pub struct Converted {
    /// The record.
    pub record: PrimitiveRecord,
    /// Its path.
    pub path: PathBuf,
}

/// Reads every result below Criterion's folder, in order; also gives the files that were read.
///
/// # Errors
/// There is none, or one that cannot be read.
pub fn convert(folder: &Path) -> Outcome<(Vec<Converted>, Vec<PathBuf>)> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    if files.is_empty() {
        let hint = "`make bench` runs the benches and converts them; else give cargo's target/criterion";
        return Err(Failure::Input(format!("criterion folder {}: it holds no results. {hint}.", folder.display())));
    }
    let mut all = files.iter().map(|file| one(folder, file)).collect::<Outcome<Vec<Converted>>>()?;
    add_bounds(folder, &mut all)?;
    add_rivals(&mut all);
    let beside = [SAMPLE, ESTIMATES];
    let mut read: Vec<PathBuf> = files.iter().flat_map(|file| beside.map(|name| file.with_file_name(name))).collect();
    read.extend(files);
    read.push(folder.join(NTT_COUNTS));
    Ok((all, read))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome<()> {
    let unreadable = |e| Failure::io(folder, "listing the results of Criterion", e);
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.ends_with("new/benchmark.json") {
            files.push(path);
        }
    }
    Ok(())
}

fn read<T: DeserializeOwned>(path: &Path) -> Outcome<T> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::io(path, "reading a result of Criterion", e))?;
    serde_json::from_str(&text).map_err(|e| {
        Failure::Input(format!("{}: not what Criterion 0.7 writes: {e}. Run the bench again.", path.display()))
    })
}

fn one(folder: &Path, file: &Path) -> Outcome<Converted> {
    let benchmark: Benchmark = read(file)?;
    let sample: Sample = read(&file.with_file_name(SAMPLE))?;
    let estimates: Estimates = read(&file.with_file_name(ESTIMATES))?;
    let samples: Vec<f64> = sample.times.iter().zip(&sample.iters).map(|(time, iters)| time * 1e-9 / iters).collect();
    let interval = estimates.median.confidence_interval;
    let written = file.metadata().and_then(|facts| facts.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let settings = Map::from_iter([("id".to_string(), Value::from(benchmark.full_id.clone()))]);
    let mut counts = BTreeMap::new();
    if let Some(throughput) = benchmark.throughput {
        let (name, count) = match throughput {
            Throughput::Bytes(count) | Throughput::BytesDecimal(count) => ("throughput_bytes", count),
            Throughput::Elements(count) => ("throughput_elements", count),
            Throughput::Bits(count) => ("throughput_bytes", count / 8.0),
        };
        counts.insert(name.to_string(), count);
    }
    let times = Times { unit: "s".into(), per: sample.iters.last().map_or(0, |iters| *iters as u64), samples };
    let measured = Measured {
        values: [(MEDIAN_INTERVAL.to_string(), vec![interval.lower_bound * 1e-9, interval.upper_bound * 1e-9])].into(),
        times: [(ITERATION.to_string(), times)].into(),
        ..Measured::default()
    };
    let record = PrimitiveRecord {
        schema: PRIMITIVE_SCHEMA.into(),
        kind: RecordKind::Primitive,
        id: random_id()?,
        status: Status::Ok,
        reason: None,
        experiment: Some("bench".into()),
        group: None,
        row: Some(benchmark.full_id),
        primitive: "criterion".into(),
        settings: settings.clone(),
        described: Described { settings, counts, ..Described::default() },
        build: build(Kernel::best(), ""),
        machine: machine::facts(),
        threads: 1,
        repetitions: sample.iters.len() as u64,
        seed: None,
        measured,
        staleness_key: String::new(),
        started: units::time(written),
        finished: units::time(written),
    };
    let bench = file.parent().and_then(Path::parent).and_then(|bench| bench.strip_prefix(folder).ok());
    let mut path = bench.map_or_else(PathBuf::new, plain);
    path.as_mut_os_string().push(".json");
    Ok(Converted { record, path })
}

/// A path without spaces and signs.
fn plain(path: &Path) -> PathBuf {
    let part = |part: &str| -> String {
        let signs = part.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' });
        signs.collect()
    };
    path.iter().map(|name| part(&name.to_string_lossy())).collect()
}

/// Adds to each operation whose NTTs are counted how many there are, and the seconds that they alone take.
fn add_bounds(folder: &Path, all: &mut [Converted]) -> Outcome<()> {
    let path = folder.join(NTT_COUNTS);
    if !path.is_file() {
        return Ok(());
    }
    let counted: BTreeMap<String, NttCount> = read(&path)?;
    let medians: BTreeMap<String, f64> =
        all.iter().filter_map(|c| Some((c.record.row.clone()?, median(&c.record)?))).collect();
    for converted in all {
        let record = &mut converted.record;
        let Some(count) = record.row.as_ref().and_then(|id| counted.get(id)) else { continue };
        let counts = &mut record.described.counts;
        counts.insert("ntt_forward".into(), count.forward);
        counts.insert("ntt_inverse".into(), count.inverse);
        let one = |bench: &Option<String>, way: &str| {
            let id = bench.clone().unwrap_or_else(|| format!("lattice/ntt-{way}/{}", count.n));
            medians.get(&id).map(|seconds| seconds / count.ntts_per_iteration)
        };
        let (forward, inverse) = (one(&count.forward_bench, "forward"), one(&count.inverse_bench, "inverse"));
        if let (Some(forward), Some(inverse)) = (forward, inverse) {
            counts.insert("ntt_bound_seconds".into(), count.forward * forward + count.inverse * inverse);
        }
    }
    Ok(())
}

/// Adds to each transform the time of the library's of that size (`.../tfhe`), and to each sum of 32-bit products the time that the
/// products alone take on the multiply port.
fn add_rivals(all: &mut [Converted]) {
    type Facts = (f64, Option<(f64, f64)>, Option<f64>);
    let facts = |record: &PrimitiveRecord| -> Option<Facts> {
        Some((median(record)?, interval(record), record.described.counts.get("throughput_elements").copied()))
    };
    let known: BTreeMap<String, Facts> =
        all.iter().filter_map(|c| Some((c.record.row.clone()?, facts(&c.record)?))).collect();
    for Converted { record, .. } in all {
        let Some((id, parent)) = record.row.as_deref().and_then(|id| Some((id, id.rsplit_once('/')?.0))) else {
            continue;
        };
        if let Some((seconds, ends, _)) = known.get(&format!("{parent}/tfhe")).filter(|_| !id.contains("/tfhe")) {
            record.described.counts.insert("tfhe_seconds".into(), *seconds);
            if let (Some((low, high)), Some((least, most))) = (interval(record), *ends) {
                record.measured.values.insert(RATIO_INTERVAL.into(), vec![low / most, high / least]);
            }
        }
        let port =
            known.get("arithmetic/multiply-port/0/avx512").and_then(|(seconds, _, count)| Some(seconds / (*count)?));
        let products = record.described.counts.get("throughput_elements").copied();
        if let (true, Some(port), Some(products)) = (is_vector_sum(id), port, products) {
            record.described.counts.insert("multiply_bound_seconds".into(), port * products);
        }
    }
}

fn is_vector_sum(id: &str) -> bool {
    ["arithmetic/sum-products-28/", "arithmetic/sum-tiles-28/"].iter().any(|group| id.starts_with(group))
        && id.ends_with("/avx512")
}

/// What a record is to be judged by, in words and seconds: the NTTs alone, the products alone, or the library.
pub fn yardstick(record: &PrimitiveRecord) -> Option<(&'static str, f64)> {
    [("ntt_bound_seconds", "its NTTs"), ("multiply_bound_seconds", "its products"), ("tfhe_seconds", "tfhe-ntt")]
        .into_iter()
        .find_map(|(name, words)| Some((words, *record.described.counts.get(name)?)))
}

/// The ends of the ratio to the library, from the ends of both medians' 95 % intervals.
pub fn ratio_interval(record: &PrimitiveRecord) -> Option<(f64, f64)> {
    ends(record, RATIO_INTERVAL)
}

/// Median seconds of an iteration.
pub fn median(record: &PrimitiveRecord) -> Option<f64> {
    units::quartiles(&record.measured.times.get(ITERATION)?.samples).map(|(_, median, _)| median)
}

/// The ends of the median's 95 % interval.
pub fn interval(record: &PrimitiveRecord) -> Option<(f64, f64)> {
    ends(record, MEDIAN_INTERVAL)
}

fn ends(record: &PrimitiveRecord, name: &str) -> Option<(f64, f64)> {
    match record.measured.values.get(name)?.as_slice() {
        [low, high] => Some((*low, *high)),
        _ => None,
    }
}
