//! Real runs of every protocol at small sizes, and what is recorded of them.

#![allow(clippy::unwrap_used)]

mod common;

use std::io::Read;
use std::process::Stdio;

use common::{Lab, group};
use serde_json::{Value, json};

fn checked_record(lab: &Lab, name: &str) -> Value {
    let record = lab.json(name);
    assert_eq!(record["schema"], "pirlab/run/1");
    assert_eq!(record["status"], "ok", "{record:#}");
    assert_eq!(record["correct"]["compared"], record["correct"]["right"]);
    // What travelled is what was described, message by message.
    for sent in record["transcript"].as_array().unwrap() {
        let described = record["description"]["messages"].as_array().unwrap();
        let same = described.iter().find(|m| m["name"] == sent["name"] && m["phase"] == sent["phase"]).unwrap();
        for key in ["direction", "payload_bytes", "frame_bytes", "queries_served"] {
            assert_eq!(same[key], sent[key], "{key} of {sent}");
        }
    }
    record
}

#[test]
fn every_protocol_from_every_kind_of_database() {
    let lab = Lab::new();
    let bytes: Vec<u8> = (0..20_000u32).map(|i| ((i * i) >> 3) as u8).collect();
    lab.put("my.bin", bytes);
    for set in ["simplepir/small", "doublepir/small"] {
        for database in ["seeded:5a", "file:my.bin", "mmap:my.bin"] {
            for bits in ["1", "7", "64"] {
                let fixed = [set, "--records", "2_000", "--record-bits", bits, "--updates", "3", "--repetitions", "2"];
                let said = lab.run(&[&fixed[..], &["--database", database, "--out", "out/r.json"]].concat());
                assert_eq!(said.code, 0, "{set} {database} {bits}: {} {}", said.out, said.err);
                assert!(said.out.contains("records right"), "{}", said.out);
                let record = checked_record(&lab, "out/r.json");
                let kind = database.split(':').next().unwrap();
                assert!(record["database"]["source"].as_str().unwrap().starts_with(kind));
                for phase in ["encode", "hint", "query", "answer", "extract", "update_server", "update_client"] {
                    let phases = record["phases"].as_array().unwrap();
                    let phase = phases.iter().find(|p| p["name"] == phase).unwrap();
                    assert_eq!(phase["seconds"].as_array().unwrap().len(), 2, "{phase}");
                }
            }
        }
    }
    assert_eq!(lab.other_files(&["my.bin", "out/r.json"]), Vec::<std::path::PathBuf>::new());
}

/// The small sets of Pirouette, Pirouette^H and T-Respire as they are shipped.
#[test]
fn small_sets_of_pirouette_answer() {
    let lab = Lab::new();
    for set in ["pirouette/smoke", "pirouette_h/smoke", "trespire/smoke"] {
        let path = format!("{}/../../params/{set}.toml", env!("CARGO_MANIFEST_DIR"));
        let fixed = [&*path, "--records", "145", "--record-bits", "300", "--updates", "1", "--out", "r.json"];
        let said = lab.run(&[&fixed[..], &["--repetitions", "2", "--noise-seconds", "0"]].concat());
        assert_eq!(said.code, 0, "{set}: {} {}", said.out, said.err);
        let record = checked_record(&lab, "r.json");
        for name in ["rgsw_input", "selector", "folded", "response"] {
            let stages = record["noise"].as_array().unwrap();
            assert!(stages.iter().any(|stage| stage["stage"] == name), "{set}: {name}");
        }
        let memory = &record["memory"];
        if let Some(online) = memory["online_peak_bytes"].as_u64() {
            assert!(online > 0 && online <= memory["peak_bytes"].as_u64().unwrap());
        }
        let refused = lab.run(&[&fixed[..], &["--noise-seconds=nan"]].concat());
        refused.is_refused(&["noise seconds", "--noise-seconds"]);
    }
}

/// Records that follow a bit of their number: products with them add up whatever the leaves of a selector tree have in common, which
/// digits with a mean made so much that every answer was wrong.
#[test]
fn records_that_follow_their_number_are_answered() {
    let lab = Lab::new();
    let record = |i: u32| [if i >> 2 & 1 == 0 { 0x88u8 } else { 0x77 }; 256];
    lab.put("my.bin", (0..1024).flat_map(record).collect::<Vec<u8>>());
    let set = format!("{}/../../params/pirouette/2^20.toml", env!("CARGO_MANIFEST_DIR"));
    let fixed = [&*set, "--database", "file:my.bin", "--record-bits", "2048", "--out", "r.json", "--seed", "7"];
    let said = lab.run(&[&fixed[..], &["--repetitions", "2", "--noise-seconds", "0"]].concat());
    assert_eq!(said.code, 0, "{} {}", said.out, said.err);
    let record = checked_record(&lab, "r.json");
    let response = record["noise"].as_array().unwrap().iter().find(|stage| stage["stage"] == "response").unwrap();
    assert!(response["margin"].as_f64().unwrap() > 9.0, "{response}");
}

/// The shortest command names a protocol and the database's shape; it prints a page and leaves no file.
#[test]
fn a_run_without_an_output_writes_no_record() {
    let lab = Lab::new();
    let best = json!({"rows": [["simplepir", 1024, 64, "simplepir/small", 130.2, -44.0, 0.05]]});
    lab.put("params/best.json", best.to_string());
    let said = lab.pirlab(&["run", "simplepir", "--records", "1000", "--record-bits", "8"]);
    assert_eq!(said.code, 0, "{} {}", said.out, said.err);
    assert!(said.out.contains("records right. No record was written: --out FILE writes one."), "{}", said.out);
    assert_eq!(lab.other_files(&[]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_file_says_how_many_records_it_holds() {
    let lab = Lab::new();
    lab.put("my.bin", [9; 960]);
    let fixed = ["simplepir/small", "--record-bits", "512", "--out", "r.json"];
    let said = lab.run(&[&fixed[..], &["--database", "file:my.bin"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(checked_record(&lab, "r.json")["database"]["records"], 15);
    lab.run(&fixed).is_refused(&["--records", "seeded"]);
    for (length, parts) in
        [(1000, ["my.bin", "1000 bytes", "40 bytes remain"]), (0, ["my.bin", "0 bytes", "no record"])]
    {
        lab.put("my.bin", vec![9; length]);
        lab.run(&[&fixed[..], &["--database", "file:my.bin"]].concat()).is_refused(&parts);
    }
    lab.put("my.bin", [9; 1000]);
    let said = lab.run(&[&fixed[..], &["--database", "file:my.bin", "--records", "15"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn a_record_says_how_it_came_about() {
    let lab = Lab::new();
    let fixed =
        ["simplepir/small", "--records", "300", "--record-bits", "2048", "--kernel", "scalar", "--queries", "3"];
    let said = lab.run(&[&fixed[..], &["--seed", "2A", "--out", "r.json"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    let record = checked_record(&lab, "r.json");
    assert_eq!(record["build"]["kernel"], "scalar");
    assert_eq!(record["seed"].as_str().unwrap(), format!("{:0>64}", "2a"));
    assert_eq!(record["correct"]["compared"].as_u64().unwrap() % 3, 0);
    assert_eq!(record["experiment"], Value::Null);
    assert_eq!(record["parameters"]["name"], "simplepir/small");
    assert!(record["machine"]["cores"].as_u64().unwrap() >= 1);
    assert_eq!(record["machine"]["read_bandwidth"], json!([]));
    assert_eq!(record["staleness_key"].as_str().unwrap().len(), 64);
    if cfg!(target_os = "linux") {
        assert!(record["memory"]["peak_bytes"].as_u64().unwrap() > 0);
    }
}

fn row(id: &str, set: &str, more: Value) -> Value {
    let mut row = json!({
        "id": id, "parameters": format!("params/{set}.toml"), "records": 500, "record_bits": 16, "updates": 2,
        "repetitions": 3, "database": "seeded:1", "out": format!("records/{id}.json"),
    });
    for (key, value) in more.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

#[test]
fn one_bad_row_of_a_group_leaves_the_others_alone() {
    let lab = Lab::new();
    let rows = [
        row("simple", "simplepir/small", json!({})),
        row("huge", "simplepir/small", json!({"records": 1u64 << 34, "record_bits": 4096})),
        row("late", "doublepir/small", json!({"records": 500_000, "time_limit_seconds": 1e-6})),
        row("hopeless", "simplepir/small", json!({"time_limit_seconds": 9.5, "predicted_seconds": 12.3})),
        row("double", "doublepir/small", json!({"repetitions": 2})),
    ];
    let group = group(&rows);
    lab.put("g.json", &group);
    let said = lab.pirlab(&["run", "--group", "g.json"]);
    assert_eq!(said.code, 1, "{} {}", said.out, said.err);
    assert!(said.err.contains("not ok: late."), "{}", said.err);
    for (id, repetitions) in [("simple", 3), ("double", 2)] {
        let record = checked_record(&lab, &format!("records/{id}.json"));
        assert_eq!((&record["row"], &record["group"]), (&json!(id), &json!("all")));
        let answer = record["phases"].as_array().unwrap().iter().find(|p| p["name"] == "answer").unwrap();
        assert_eq!(answer["seconds"].as_array().unwrap().len(), repetitions);
    }
    for (id, status, why) in [
        ("huge", "skipped_memory", "TiB; "),
        ("late", "timeout", "limit"),
        ("hopeless", "skipped_time", "would take about 12 s; the limit is 9.5 s"),
    ] {
        let record = lab.json(&format!("records/{id}.json"));
        assert_eq!(record["status"], status, "{record:#}");
        assert!(record["reason"].as_str().unwrap().contains(why), "{}", record["reason"]);
        assert_eq!(record["phases"], json!([]));
    }

    // The keys in the records are those that `key` prints, and only a change of substance changes them.
    let keys = |text: &str| -> Value {
        lab.put("k.json", text);
        let said = lab.pirlab(&["key", "--group", "k.json"]);
        assert_eq!(said.code, 0, "{}", said.err);
        serde_json::from_str(&said.out).unwrap()
    };
    let before = keys(&group);
    for id in ["simple", "huge", "late", "hopeless", "double"] {
        assert_eq!(before[id], lab.json(&format!("records/{id}.json"))["staleness_key"]);
    }
    assert_eq!(keys(&group.replace("records/", "elsewhere/")), before);
    assert_eq!(keys(&group.replace("12.3", "45.6")), before);
    lab.put("params/simplepir/small.toml", common::SIMPLE.replace("small", "Small"));
    assert_eq!(keys(&group), before, "a title changes no key");
    lab.put("params/simplepir/small.toml", common::SIMPLE.replace("6.4", "6.5"));
    let after = keys(&group);
    assert_ne!(after["simple"], before["simple"]);
    assert_eq!(after["double"], before["double"]);
}

#[test]
fn skipped_rows_do_not_fail_a_group() {
    let lab = Lab::new();
    let rows = [
        row("quick", "simplepir/small", json!({"time_limit_seconds": 100, "predicted_seconds": 100})),
        row("slow", "simplepir/small", json!({"time_limit_seconds": 0.25, "predicted_seconds": 0.3})),
        row("huge", "simplepir/small", json!({"records": 1u64 << 34, "record_bits": 4096, "predicted_seconds": 1e9})),
        row("unlimited", "simplepir/small", json!({"predicted_seconds": 1e9})),
    ];
    lab.put("g.json", group(&rows));
    let said = lab.pirlab(&["run", "--group", "g.json"]);
    assert_eq!(said.code, 0, "{} {}", said.out, said.err);
    let status = |id: &str| lab.json(&format!("records/{id}.json"))["status"].as_str().unwrap().to_string();
    assert_eq!(["quick", "slow", "huge", "unlimited"].map(status), ["ok", "skipped_time", "skipped_memory", "ok"]);
    assert_eq!(lab.json("records/slow.json")["reason"], "would take about 0.3 s; the limit is 0.25 s");
    // The table keeps the order of the file.
    let places = ["quick", "slow", "huge", "unlimited"].map(|id| said.out.find(&format!("\n  {id} ")).unwrap());
    assert!(places.is_sorted(), "{}", said.out);
}

#[test]
fn a_record_that_cannot_be_written_leaves_the_others_alone() {
    let lab = Lab::new();
    // Folders come to be where the first two records were to go, after that was checked.
    let rows = [
        row("one", "simplepir/small", json!({"out": "x"})),
        row("two", "simplepir/small", json!({"out": "y", "time_limit_seconds": 1, "predicted_seconds": 2})),
        row("three", "simplepir/small", json!({"out": "x/r.json"})),
        row("four", "doublepir/small", json!({"out": "y/r.json"})),
    ];
    lab.put("g.json", group(&rows));
    let said = lab.pirlab(&["run", "--group", "g.json"]);
    assert_eq!(said.code, 1, "{} {}", said.out, said.err);
    let last = said.err.lines().last().unwrap();
    for part in ["records not written, 2", "one: output x:", "two: output y:"] {
        assert!(last.contains(part), "`{part}` is not in: {}", said.err);
    }
    checked_record(&lab, "x/r.json");
    checked_record(&lab, "y/r.json");
    assert_eq!(lab.other_files(&["g.json", "x/r.json", "y/r.json"]), Vec::<std::path::PathBuf>::new());
}

/// Described peak of a set at as many records of 16 bits, with two updates.
fn peak_bytes(lab: &Lab, set: &str, records: &str) -> u64 {
    let arguments = ["describe", set, "--records", records, "--record-bits", "16", "--updates", "2", "--json"];
    let description: Value = serde_json::from_str(&lab.pirlab(&arguments).out).unwrap();
    description["memory"]["peak_bytes"].as_u64().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_finished_survives_a_kill_in_a_later_batch() {
    use std::io::BufRead;
    let lab = Lab::new();
    let rows = [
        row("first", "simplepir/small", json!({})),
        row("slow", "doublepir/small", json!({"records": 3_000_000, "repetitions": 65_536})),
        row("huge", "simplepir/small", json!({"records": 1u64 << 34, "record_bits": 4096})),
        row("hopeless", "simplepir/small", json!({"time_limit_seconds": 1, "predicted_seconds": 2})),
    ];
    lab.put("g.json", group(&rows));
    let mut command = lab.command(&["run", "--group", "g.json"]);
    // Each of the two fits alone.
    command.env("PIRLAB_GROUP_MEMORY", peak_bytes(&lab, "doublepir/small", "3_000_000").to_string());
    let mut parent = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut skipped = false;
    for line in std::io::BufReader::new(parent.stderr.take().unwrap()).lines().map(Result::unwrap) {
        if line.contains("first: prepared") {
            // Records of skipped rows do not wait for the others.
            let status = ["huge", "hopeless"].map(|id| lab.json(&format!("records/{id}.json"))["status"].clone());
            assert_eq!(status, ["skipped_memory", "skipped_time"]);
            skipped = true;
        }
        if line.contains("slow: prepared") {
            break;
        }
    }
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert!(skipped);
    checked_record(&lab, "records/first.json");
    let known = ["g.json", "records/first.json", "records/huge.json", "records/hopeless.json"];
    assert_eq!(lab.other_files(&known), Vec::<std::path::PathBuf>::new());
}

#[test]
fn bandwidth_is_probed_before_each_repetition_of_a_row() {
    let lab = Lab::new();
    let rows = [
        row("twice", "simplepir/small", json!({"repetitions": 2})),
        row("three-times", "simplepir/small", json!({"repetitions": 3})),
        row("skipped", "simplepir/small", json!({"time_limit_seconds": 1, "predicted_seconds": 2})),
    ];
    lab.put("g.json", group(&rows));
    let said = lab.pirlab(&["run", "--group", "g.json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for (id, probes) in [("twice", 2), ("three-times", 3), ("skipped", 0)] {
        let record = lab.json(&format!("records/{id}.json"));
        let rates: Vec<f64> = serde_json::from_value(record["machine"]["read_bandwidth"].clone()).unwrap();
        assert!(rates.len() == probes && rates.iter().all(|&rate| rate > 1e8), "{id}: {rates:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn killing_the_parent_leaves_no_record_and_no_worker() {
    let lab = Lab::new();
    // Long enough to be caught in the middle.
    let slow = row("slow", "doublepir/small", json!({"records": 3_000_000, "repetitions": 65_536}));
    lab.put("g.json", group(&[slow]));
    let mut command = lab.command(&["run", "--group", "g.json"]);
    let mut parent = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // The first note says that the worker is prepared.
    let mut seen = [0; 1];
    parent.stderr.take().unwrap().read_exact(&mut seen).unwrap();
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    let worker = std::fs::read_to_string(children).unwrap().trim().to_string();
    let worker_state = || std::fs::read_to_string(format!("/proc/{worker}/stat")).unwrap_or_default();
    assert!(!worker.is_empty() && worker_state().contains("pirlab"));
    parent.kill().unwrap();
    parent.wait().unwrap();
    for _ in 0..100 {
        // Gone, or ended and waiting for whoever adopted it.
        if !worker_state().contains("pirlab") || worker_state().contains(") Z") {
            assert_eq!(lab.other_files(&["g.json"]), Vec::<std::path::PathBuf>::new());
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("worker {worker} still runs: {}", worker_state());
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_worker_is_a_failed_row() {
    let lab = Lab::new();
    let rows = [
        row("slow", "doublepir/small", json!({"records": 3_000_000, "repetitions": 65_536, "updates": 0})),
        row("quick", "simplepir/small", json!({})),
    ];
    lab.put("g.json", group(&rows));
    let mut command = lab.command(&["run", "--group", "g.json"]);
    let mut parent = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = parent.stderr.take().unwrap();
    notes.read_exact(&mut [0; 1]).unwrap();
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", parent.id())).unwrap();
    let first = children.split_whitespace().next().unwrap();
    let killed = std::process::Command::new("sh").args(["-c", &format!("kill -9 {first}")]).status().unwrap();
    assert!(killed.success());
    let mut rest = String::new();
    notes.read_to_string(&mut rest).unwrap();
    assert_eq!(parent.wait().unwrap().code(), Some(1), "{rest}");
    let record = lab.json("records/slow.json");
    assert_eq!(record["status"], "failed");
    assert!(record["reason"].as_str().unwrap().contains("signal 9"), "{}", record["reason"]);
    checked_record(&lab, "records/quick.json");
}

/// DEPIR's tables in a folder: those that a killed run finished are not made again.
#[test]
fn a_killed_run_leaves_finished_tables() {
    let lab = Lab::new();
    lab.put(
        "params/depir/small.toml",
        "protocol = \"depir\"\ntitle = \"small\"\nvariables = 3\ndegree = 11\n[source]\nkind = \"own\"\n[ring]\ndegree = 64\n\
         plaintext_modulus = 257\nsecret = { kind = \"ternary\" }\nerror = { stddev = 1.5 }\n[primes]\nquery = 7\nanswer = 3\n\
         above_log2 = 27\n[tables]\nevaluator = \"derivatives\"\nmemory_mib = 64\nfolder = \"tables\"\n",
    );
    let asked =
        ["params/depir/small.toml", "--records", "300", "--record-bits", "8", "--queries", "64", "--out", "r.json"];
    let finished = || {
        let entries = std::fs::read_dir(lab.path("tables")).into_iter().flatten().map(|entry| entry.unwrap().path());
        let whole = entries.filter(|path| path.extension().is_none());
        whole.map(|path| (std::fs::metadata(&path).unwrap().modified().unwrap(), path)).collect::<Vec<_>>()
    };
    let mut command = lab.command(&[&["run", "--no-probe"], &asked[..]].concat());
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while finished().is_empty() && run.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let before = finished();
    assert!(!before.is_empty() && !lab.path("r.json").exists());
    let said = lab.run(&asked);
    assert_eq!(said.code, 0, "{}", said.err);
    let after = finished();
    assert!(after.len() > before.len() && before.iter().all(|file| after.contains(file)));
    assert_eq!(lab.json("r.json")["correct"]["right"], lab.json("r.json")["correct"]["compared"]);
    // Another database has other tables.
    lab.run(&[&asked[..], &["--database", "seeded:1"]].concat()).is_refused(&[
        "table-",
        "another database",
        "Delete it",
    ]);
}
