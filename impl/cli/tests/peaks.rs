//! The described peak of a run covers what the run takes, at shapes far from those that sets are made for: a process each, so that none has
//! what another's allocator kept.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;

use common::Lab;
use serde_json::{Value, json};

/// The program's own pages are read from its file; a release has 9 MiB of them, which descriptions count, other builds more.
const PROGRAM_BYTES: u64 = 9 << 20;
/// Records, bits of a record, queries together, records changed by an update.
const SHAPES: [(u64, u64, u64, u64); 2] = [(5003, 100, 2, 1), (17, 80_000, 1, 3)];
const PARAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../params");

/// At each shape, the set of each protocol whose run takes least memory.
fn smallest(lab: &Lab) -> BTreeMap<(String, usize), String> {
    let listed: Value = serde_json::from_str(&lab.pirlab(&["list", "--json", "--params-root", PARAMS]).out).unwrap();
    let of = |value: &Value, key: &str| value[key].as_str().unwrap().to_string();
    let mut requests = Vec::new();
    for (shape, (records, record_bits, queries, updates)) in SHAPES.into_iter().enumerate() {
        for set in listed["parameters"].as_array().unwrap() {
            let request = json!({
                "id": format!("{shape} {}", of(set, "path")), "parameters": set["path"], "records": records,
                "record_bits": record_bits, "queries": queries, "updates": updates,
            });
            requests.push(format!("{request}\n"));
        }
    }
    let mut found: BTreeMap<(String, usize), (u64, String)> = BTreeMap::new();
    // A few at a time: what a pipe holds of questions and answers.
    let answers = requests.chunks(8).map(|some| lab.with_input(&["describe", "--batch"], &some.concat()).out);
    for line in answers.collect::<String>().lines() {
        let described: Value = serde_json::from_str(line).unwrap();
        let Some(peak) = described["memory"]["peak_bytes"].as_u64() else { continue };
        let id = of(&described, "id");
        let (shape, path) = id.split_once(' ').unwrap();
        let set = (peak, path.to_string());
        let key = (of(&described, "protocol"), shape.parse().unwrap());
        found.entry(key).and_modify(|least| *least = set.clone().min(least.clone())).or_insert(set);
    }
    for protocol in listed["protocols"].as_array().unwrap() {
        let shapes = (0..SHAPES.len()).filter(|shape| found.contains_key(&(of(protocol, "name"), *shape)));
        assert_eq!(shapes.count(), SHAPES.len(), "{protocol}: no set serves every shape");
    }
    found.into_iter().map(|(key, (_, path))| (key, path)).collect()
}

#[test]
fn described_peaks_cover_runs_at_odd_shapes() {
    let lab = Lab::new();
    let mut beyond = Vec::new();
    for ((protocol, shape), path) in smallest(&lab) {
        let (records, record_bits, queries, updates) = SHAPES[shape];
        let [records, bits, queries, updates] =
            [records, record_bits, queries, updates].map(|number| number.to_string());
        let said = lab.run(&[
            path.as_str(),
            "--records",
            &records,
            "--record-bits",
            &bits,
            "--queries",
            &queries,
            "--updates",
            &updates,
            "--repetitions",
            "1",
            "--noise-seconds",
            "0",
            "--out",
            "r.json",
        ]);
        assert_eq!(said.code, 0, "{path}: {} {}", said.out, said.err);
        let memory = &lab.json("r.json")["memory"];
        let [peak, file, described] =
            ["peak_bytes", "peak_file_bytes", "described_peak_bytes"].map(|key| memory[key].as_u64().unwrap());
        if peak - file > described - PROGRAM_BYTES {
            beyond.push(format!("{protocol}, {path}, {records} x {bits}: {peak} of {described}, {file} the program's"));
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}
