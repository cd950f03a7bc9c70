//! Parameter sets and run records that nobody would write, made of honest ones: a set is refused, or described within seconds; a record is
//! refused, or read as it is.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pir::core::clock::{Group, Phase};
use pir::core::noise::StageNoise;
use pir::core::record::{Build, Correct, DatabaseId, Machine, MemoryUse, RUN_SCHEMA, RecordKind, RunRecord, Status};
use pir::core::set_file::ParameterFile;
use pir::core::transcript::Entry;
use pir::core::workload::{Shape, Workload};
use pir::registry;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::Value;

#[path = "../src/protocol/tests_support/watchdog.rs"]
mod watchdog;

use watchdog::Watchdog;

/// Values that stand for a value of a set.
const VALUES: [&str; 20] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "5e-324",
    "-0.0",
    "nan",
    "inf",
    "true",
    "\"\"",
    "\"2^64\"",
    "\"18446744073709551557*18446744073709551533\"",
    "[]",
    "{}",
    "{ kind = \"ternary\" }",
];
/// Databases at which what is not refused is described.
const SHAPES: [(u64, u64); 3] = [(1, 1), (1000, 4097), (1 << 40, 8)];
/// Values that stand for a value of a record.
const RECORD_VALUES: [&str; 20] = [
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "18446744073709551615",
    "-9223372036854775808",
    "1e308",
    "-1e308",
    "5e-324",
    "true",
    "null",
    "\"\"",
    "\"ok\"",
    "\"failed\"",
    "\"2026-11-20T10:00:00Z\"",
    "[]",
    "[[0]]",
    "{}",
    "{\"answer\": -1}",
];
/// A set is read, checked and described within this time, and a record read.
const LONGEST: Duration = Duration::from_secs(20);

fn sets(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sets(&path, found);
        } else if path.extension().is_some_and(|end| end == "toml") {
            found.push(path);
        }
    }
    found.sort();
}

/// A line with another value, that many bytes changed, lines left out, doubled or moved.
fn mutated(text: &str, rng: &mut impl Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..lines.len());
        match rng.random_range(0..8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let to = rng.random_range(0..lines.len());
                lines.swap(at, to);
            }
            3 => {
                let mut bytes = lines[at].clone().into_bytes();
                if let Some(place) = (0..bytes.len()).collect::<Vec<_>>().choose(rng) {
                    bytes[*place] = rng.random_range(32..127);
                }
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            _ => {
                if let Some((key, _)) = lines[at].clone().split_once(" = ") {
                    lines[at] = format!("{key} = {}", VALUES.choose(rng).unwrap());
                }
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

#[test]
fn mutated_sets_are_refused_or_described() {
    let mut paths = Vec::new();
    sets(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../params"), &mut paths);
    let texts: Vec<String> = paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let number = if std::env::var_os("PIRLAB_VERIFY").is_some() { 200_000 } else { 4_000 };
    let (mut described, mut refused, watchdog) = (0, 0, Watchdog::new(LONGEST));
    for seed in 0..number {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let set = rng.random_range(0..paths.len());
        let text = mutated(&texts[set], &mut rng);
        watchdog.step((seed, paths[set].clone()));
        let start = Instant::now();
        let sizes = ParameterFile::of(&paths[set], &text).and_then(|file| {
            let protocol = registry::find(&file.protocol)?;
            (protocol.check)(&file)?;
            let describe = |&(records, bits): &(u64, u64)| {
                (protocol.describe)(&file, &Workload::new(Shape::new(records, bits)?, 1, 1)?).map(drop)
            };
            Ok(SHAPES.iter().map(describe).filter(Result::is_ok).count())
        });
        if sizes.is_ok_and(|shapes| shapes > 0) {
            described += 1
        } else {
            refused += 1
        }
        let took = start.elapsed();
        assert!(took < LONGEST, "mutation {seed} of {} took {took:?}:\n{text}", paths[set].display());
    }
    assert!(described > number / 100 && refused > number / 10, "{described} described, {refused} refused");
}

/// A record of a run that ended well.
fn record() -> RunRecord {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../params/simplepir/usenix23.toml");
    let workload = Workload::new(Shape::new(1000, 8).unwrap(), 1, 1).unwrap();
    let protocol = registry::find("simplepir").unwrap();
    let description = (protocol.describe)(&ParameterFile::read(&path).unwrap(), &workload).unwrap();
    let transcript = description.messages.iter().map(|message| Entry {
        name: message.name.clone(),
        direction: message.direction,
        phase: message.phase.clone(),
        payload_bytes: message.payload_bytes,
        frame_bytes: message.frame_bytes,
        queries_served: message.queries_served,
    });
    let word = || "a word".to_string();
    RunRecord {
        schema: RUN_SCHEMA.into(),
        kind: RecordKind::Protocol,
        id: word(),
        status: Status::Ok,
        reason: None,
        experiment: Some(word()),
        group: None,
        row: None,
        columns: vec![word()],
        protocol: protocol.name.into(),
        parameters: description.parameters.clone(),
        database: DatabaseId { records: 1000, record_bits: 8, source: "seeded:0".into(), sha256: None },
        queries: 1,
        updates: 1,
        build: Build {
            commit: word(),
            commit_remark: None,
            dirty: false,
            version: word(),
            rustc: word(),
            profile: word(),
            kernel: word(),
            source_hash: protocol.source_hash.into(),
        },
        machine: Machine { cores: 2, load_at_start: 0.5, read_bandwidth: vec![1e10, 2e10], ..Machine::default() },
        threads: 1,
        repetitions: 2,
        seed: None,
        phases: vec![Phase { name: "answer".into(), group: Group::Online, seconds: vec![0.25, 0.5] }],
        transcript: transcript.collect(),
        payload_sha256: None,
        memory: MemoryUse::default(),
        noise: vec![StageNoise {
            stage: "answer".into(),
            samples: 1000,
            keys: 2,
            mean: 0.0,
            stddev: 4.0,
            max: 16.0,
            threshold: 64.0,
            margin: 16.0,
        }],
        correct: Correct { compared: 4, right: 4 },
        streamed: false,
        staleness_key: word(),
        started: "2026-11-20T10:00:00Z".into(),
        finished: "2026-11-20T10:00:01Z".into(),
        description,
    }
}

/// JSON pointers to every value within a document.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(map) => {
            map.iter().map(|(key, inner)| (key.replace('~', "~0").replace('/', "~1"), inner)).collect()
        }
        Value::Array(list) => list.iter().enumerate().map(|(place, inner)| (place.to_string(), inner)).collect(),
        _ => Vec::new(),
    };
    for (key, inner) in inner {
        let at = format!("{at}/{key}");
        places(inner, &at, found);
        found.push(at);
    }
}

/// A document with other values, without some, with some twice or of unknown keys; sometimes with other bytes, cut short or nested deeply.
fn mutated_record(honest: &Value, rng: &mut impl Rng) -> String {
    let mut document = honest.clone();
    for _ in 0..rng.random_range(1..4) {
        let mut all = Vec::new();
        places(&document, "", &mut all);
        let Some(place) = all.choose(rng) else { break };
        let (parent, key) = place.rsplit_once('/').unwrap();
        match (rng.random_range(0..6), document.pointer_mut(parent).unwrap()) {
            (0, Value::Object(map)) => drop(map.remove(key)),
            (0, Value::Array(list)) => drop(list.pop()),
            (1, Value::Object(map)) => drop(map.insert(format!("{key}_"), Value::Null)),
            (1, Value::Array(list)) => list.extend_from_within(..1),
            _ => {
                let value = serde_json::from_str(RECORD_VALUES.choose(rng).unwrap()).unwrap();
                *document.pointer_mut(place).unwrap() = value;
            }
        }
    }
    let mut bytes = document.to_string().into_bytes();
    let at = rng.random_range(0..bytes.len());
    match rng.random_range(0..16) {
        0 => bytes[at] = rng.random_range(32..127),
        1 => bytes.truncate(at),
        2 => drop(bytes.splice(at..at, std::iter::repeat_n(b'[', 1000))),
        _ => {}
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a record as `pirlab compare` does.
fn read(text: &str) -> Result<RunRecord, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[test]
fn mutated_records_are_refused_or_read_as_they_are() {
    let honest = serde_json::to_value(record()).unwrap();
    assert_eq!(read(&honest.to_string()).unwrap(), record());
    let number = if std::env::var_os("PIRLAB_VERIFY").is_some() { 200_000 } else { 4_000 };
    let (mut taken, mut refused, watchdog) = (0, 0, Watchdog::new(LONGEST));
    for seed in 0..number {
        let text = mutated_record(&honest, &mut ChaCha20Rng::seed_from_u64(seed));
        watchdog.step(seed);
        match read(&text) {
            Ok(record) => {
                taken += 1;
                assert!(record.phases.iter().flat_map(|phase| &phase.seconds).all(|second| second.is_finite()));
                let again = serde_json::from_value::<RunRecord>(serde_json::to_value(&record).unwrap()).unwrap();
                assert_eq!(again, record, "mutation {seed}:\n{text}");
            }
            Err(problem) => {
                refused += 1;
                assert!(!problem.is_empty(), "mutation {seed}:\n{text}");
            }
        }
    }
    assert!(taken > number / 100 && refused > number / 10, "{taken} taken, {refused} refused");
}
