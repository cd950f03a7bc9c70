//! `pirlab compare`: ratios of records, and which records are comparable.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Lab, read_json};
use serde_json::{Value, json};

#[test]
fn records_are_compared_and_mixed_ones_refused() {
    let lab = Lab::new();
    for out in ["a/r.json", "b/r.json"] {
        let said = lab.run(&["simplepir/small", "--records", "500", "--record-bits", "16", "--out", out]);
        assert_eq!(said.code, 0, "{}", said.err);
    }
    for (a, b) in [("a/r.json", "b/r.json"), ("a", "b")] {
        let said = lab.pirlab(&["compare", a, b]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("hint payload") && said.out.contains("1.000") && said.out.contains("answer"));
    }
    let mut other = read_json(&lab.path("b/r.json"));
    other["build"]["commit"] = json!("89abcdef");
    lab.put("a/r.json", other.to_string());
    other["build"]["commit"] = json!("0123abcd");
    lab.put("c/r.json", other.to_string());
    lab.pirlab(&["compare", "a", "c"]).is_refused(&["commit", "0123abcd", "--allow-mixed"]);
    other["machine"]["cpu"] = json!("Another CPU");
    lab.put("c/r.json", other.to_string());
    lab.pirlab(&["compare", "a/r.json", "c/r.json"]).is_refused(&["processor", "Another CPU", "--allow-mixed"]);
    let said = lab.pirlab(&["compare", "a", "c", "--allow-mixed"]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("mixed: processor") && said.out.contains("NOT scaled"), "{}", said.out);
    for record in ["a/r.json", "c/r.json"] {
        let mut probed = read_json(&lab.path(record));
        probed["machine"]["read_bandwidth"] = json!([if record.starts_with('a') { 1e10 } else { 2e10 }]);
        lab.put(record, probed.to_string());
    }
    assert!(lab.pirlab(&["compare", "a", "c", "--allow-mixed"]).out.contains("over A's, 2.00"));
    other["status"] = json!("wrong");
    lab.put("c/r.json", other.to_string());
    lab.pirlab(&["compare", "a/r.json", "c/r.json"]).is_refused(&["wrong"]);
    lab.pirlab(&["compare", "a", "c", "--allow-mixed"]).is_refused(&["wrong"]);
    lab.pirlab(&["compare", "a", "no-such"]).is_refused(&["no-such"]);
    lab.put("d.json", "{}");
    lab.pirlab(&["compare", "a", "d.json"]).is_refused(&["d.json", "schema"]);
}

#[test]
fn comparisons_name_what_differs_and_skip_other_files() {
    let lab = Lab::new();
    let said = lab.run(&["simplepir/small", "--records", "500", "--record-bits", "16", "--out", "a/r.json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let record = lab.json("a/r.json");

    let changes: [(&[&str], Value, &str); 3] = [
        (&["build", "kernel"], json!("none"), "kernel "),
        (&["threads"], json!(7), "threads 1 and 7"),
        (&["machine", "os"], json!("Plan 9"), "operating system "),
    ];
    for (keys, value, named) in changes {
        let mut other = record.clone();
        *keys.iter().fold(&mut other, |place, key| &mut place[*key]) = value;
        lab.put("b.json", other.to_string());
        lab.pirlab(&["compare", "a/r.json", "b.json"]).is_refused(&[named, "--allow-mixed"]);
        let said = lab.pirlab(&["compare", "a/r.json", "b.json", "--allow-mixed"]);
        assert!(said.code == 0 && said.out.contains(&format!("mixed: {named}")), "{} {}", said.out, said.err);
    }

    // Other JSON in a folder is skipped and counted; given by name it is refused.
    let description = lab.pirlab(&["describe", "simplepir/small", "--records", "9", "--record-bits", "8", "--json"]);
    lab.put("c/r.json", record.to_string());
    lab.put("c/description.json", &description.out);
    lab.put("c/deep/prediction.json", r#"{"schema": "pirlab/prediction/1"}"#);
    lab.put("c/deep/list.json", "[1]");
    let said = lab.pirlab(&["compare", "a", "c"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("not run records: 3") && said.err.lines().count() == 1, "{}", said.err);
    lab.pirlab(&["compare", "a", "c/description.json"]).is_refused(&["c/description.json", "key `schema`"]);
    lab.put("c/torn.json", &record.to_string()[..100]);
    lab.pirlab(&["compare", "a", "c"]).is_refused(&["c/torn.json", "not JSON"]);

    let mut unknown = record.clone();
    unknown["protocol"] = json!("triplepir");
    unknown["more"] = json!(1);
    lab.put("d/r.json", unknown.to_string());
    for path in ["d", "d/r.json"] {
        lab.pirlab(&["compare", "a", path]).is_refused(&["d/r.json", "unknown protocol `triplepir`", "simplepir"]);
    }
}

/// A record of five repetitions, as it was written.
fn record(lab: &Lab) -> Value {
    let said = lab.run(&["simplepir/small", "--records", "500", "--record-bits", "16", "--out", "a.json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    lab.json("a.json")
}

/// The line of the answer in the comparison of two records whose answers took these seconds.
fn answer_line(lab: &Lab, record: &Value, seconds: [Value; 2]) -> String {
    for (name, seconds) in ["a.json", "b.json"].iter().zip(seconds) {
        let mut changed = record.clone();
        let phases = changed["phases"].as_array_mut().unwrap();
        phases.iter_mut().find(|phase| phase["name"] == "answer").unwrap()["seconds"] = seconds;
        lab.put(name, changed.to_string());
    }
    let said = lab.pirlab(&["compare", "a.json", "b.json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.out.contains("NaN") && !said.out.contains("inf "), "{}", said.out);
    said.out.lines().find(|line| line.trim_start().starts_with("answer  ")).unwrap().trim_end().to_string()
}

#[test]
fn one_sample_has_no_interval_and_nobody_reads_nan() {
    let lab = Lab::new();
    let record = record(&lab);
    for (a, b, end) in [
        (json!([1.0]), json!([0.95]), "0.950  -"),
        (json!([1.0, 1.0, 1.0]), json!([0.95]), "0.950  -"),
        (json!([0.0, 0.0]), json!([0.0, 0.0]), "-  -"),
        (json!([0.0, 0.0]), json!([1.0, 1.0]), "-  -"),
        (json!([1.0, 1.0]), json!([0.5, 0.5]), "0.500  0.50 to 0.50"),
    ] {
        let line = answer_line(&lab, &record, [a.clone(), b.clone()]);
        assert!(line.ends_with(end), "{a} {b}: {line}");
    }
}

/// A copy of a record with another value at a dotted place; `None` removes the place.
fn changed(record: &Value, place: &str, value: Option<Value>) -> Value {
    let mut changed = record.clone();
    let (parents, last) = place.rsplit_once('.').map_or((None, place), |(parents, last)| (Some(parents), last));
    let parent = parents.into_iter().flat_map(|keys| keys.split('.')).fold(&mut changed, |part, key| {
        if part.is_array() { &mut part[key.parse::<usize>().unwrap()] } else { &mut part[key] }
    });
    match (value, parent) {
        (Some(value), Value::Array(list)) => list[last.parse::<usize>().unwrap()] = value,
        (Some(value), parent) => parent[last] = value,
        (None, parent) => drop(parent.as_object_mut().unwrap().remove(last)),
    }
    changed
}

/// Place, value, and the key that the refusal names if it is another one.
#[test]
fn records_of_another_form_are_refused() {
    let lab = Lab::new();
    let record = record(&lab);
    let first = "phases.0.seconds.0";
    let faults: &[(&str, Value, &str)] = &[
        ("schema", json!("pirlab/run/2"), ""),
        ("schema", json!(null), ""),
        ("schema", json!(["pirlab/run/1"]), ""),
        ("kind", json!("protocols"), ""),
        ("id", json!(null), ""),
        ("correct", json!(null), ""),
        ("correct.right", json!(-8), ""),
        ("correct.right", json!(true), ""),
        ("transcript.0.payload_bytes", json!("12"), ""),
        ("transcript.0.payload_bytes", json!(2f64.powi(64)), ""),
        ("phases.0.seconds", json!(null), ""),
        (first, json!("1"), ""),
        (first, json!(-1.0), ""),
        ("phases.0.group", json!("sometimes"), ""),
        ("database.records", json!(-5), ""),
        ("noise.0.stddev", json!(-1.0), ""),
        ("machine.cpu", json!(["x"]), ""),
        ("memory", json!({}), "memory.peak_bytes"),
        ("described", json!({}), ""),
    ];
    for (place, value, key) in faults {
        lab.put("b.json", changed(&record, place, Some(value.clone())).to_string());
        let key = format!("key `{}`", if key.is_empty() { place } else { key });
        for pair in [["a.json", "b.json"], ["b.json", "a.json"]] {
            let said = lab.pirlab(&["compare", pair[0], pair[1]]);
            said.is_refused(&[
                "record b.json: ",
                &key,
                if *place == "schema" { "Give records" } else { "Delete it and" },
            ]);
            assert!(said.err.len() < 700 && said.err.lines().count() == 1, "{place}: {}", said.err);
        }
    }
    let whole = record.to_string();
    for (text, words) in [
        (changed(&record, "correct", None).to_string(), "key `correct`: missing field"),
        (changed(&record, first, Some(json!(17.25))).to_string().replace("17.25", "1e400"), "not JSON"),
        (changed(&record, first, Some(json!(17.25))).to_string().replace("17.25", "NaN"), "not JSON"),
        (
            changed(&record, "queries", Some(json!(17)))
                .to_string()
                .replace(":17,", &format!(":{},", "9".repeat(5000))),
            "not JSON",
        ),
        (whole[..whole.len() / 2].to_string(), "not JSON"),
        ("[".repeat(100_000), "not JSON"),
        ("[]".into(), "key `schema`"),
        ("7".into(), "key `schema`"),
    ] {
        lab.put("b.json", text);
        lab.pirlab(&["compare", "a.json", "b.json"]).is_refused(&["record b.json: ", words]);
    }
    lab.put("c/r.json", changed(&record, first, Some(json!(-1.0))).to_string());
    lab.put("d/r.json", whole);
    lab.pirlab(&["compare", "d", "c"]).is_refused(&["record c/r.json: ", first]);
}

#[test]
fn what_only_looks_like_a_fault_is_compared() {
    let lab = Lab::new();
    let record = record(&lab);
    let idle = json!({"name": "update_client", "group": "update", "seconds": [0.0, 0.0]});
    let mut exact = changed(&record, "noise.0.stddev", Some(json!(0.0)));
    exact["noise"][0]["margin"] = json!(f64::MAX);
    exact["phases"].as_array_mut().unwrap().push(idle);
    lab.put("a.json", exact.to_string());
    lab.put("b.json", exact.to_string());
    let said = lab.pirlab(&["compare", "a.json", "b.json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let line = said.out.lines().find(|line| line.contains("update_client (update)")).unwrap();
    assert!(line.trim_end().ends_with("-  -") && !said.out.contains("NaN"), "{}", said.out);
    // Of a folder's records those with status ok are compared.
    lab.put("c/wrong.json", changed(&record, "status", Some(json!("wrong"))).to_string());
    lab.put("c/r.json", record.to_string());
    assert_eq!(lab.pirlab(&["compare", "c", "c"]).code, 0);
}

#[test]
fn sources_stand_in_for_a_commit_that_nobody_knows() {
    let lab = Lab::new();
    let record = record(&lab);
    let put = |name: &str, commit: &str, remark: Option<&str>, sources: &str| {
        let mut changed = record.clone();
        changed["build"]["commit"] = json!(commit);
        changed["build"]["dirty"] = json!(false);
        changed["build"]["source_hash"] = json!(sources);
        let build = changed["build"].as_object_mut().unwrap();
        build.remove("commit_remark");
        build.extend(remark.map(|text| ("commit_remark".to_string(), json!(text))));
        lab.put(name, changed.to_string());
    };
    let compared = || lab.pirlab(&["compare", "a.json", "b.json"]);
    put("a.json", "unknown", None, "aa");
    put("b.json", "unknown", None, "bb");
    compared().is_refused(&["sources aa and bb", "--allow-mixed"]);
    put("b.json", "unknown", None, "aa");
    assert_eq!(compared().code, 0);
    put("b.json", "0123abcd", None, "aa");
    assert_eq!(compared().code, 0);
    put("b.json", "0123abcd", None, "bb");
    compared().is_refused(&["sources aa and bb"]);
    put("a.json", "0123abcd", Some("from an archive"), "aa");
    compared().is_refused(&["sources aa and bb"]);
    put("a.json", "89abcdef", None, "aa");
    compared().is_refused(&["commit 89abcdef and 0123abcd"]);

    put("a.json", "unknown", None, "aa");
    put("b.json", "unknown", None, "bb");
    let mut other = lab.json("b.json");
    other["protocol"] = json!("doublepir");
    lab.put("b.json", other.to_string());
    compared().is_refused(&["commit unknown and unknown", "two protocols"]);
}
