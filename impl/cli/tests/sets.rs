//! Sets that extend others, and values that a row sets instead of a set's own.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Lab, SIMPLE, group};
use serde_json::{Value, json};

const SHAPE: [&str; 4] = ["--records", "1000", "--record-bits", "8"];
const WIDER: &str = "protocol = \"simplepir\"\ntitle = \"wider\"\nextends = \"small\"\n[source]\nkind = \"own\"\n[lwe]\nerror = { stddev = 8 }\n";

fn described(lab: &Lab, arguments: &[&str]) -> Value {
    let said = lab.pirlab(&[&["describe", "--json"], arguments, &SHAPE].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn a_set_that_extends_is_the_set_written_in_full() {
    let lab = Lab::new();
    lab.put("params/simplepir/wider.toml", WIDER);
    lab.put("params/simplepir/full.toml", SIMPLE.replace("6.4", "8.0"));
    let [mut wider, mut full] = ["simplepir/wider", "simplepir/full"].map(|set| described(&lab, &[set]));
    assert_eq!(wider["parameters"]["sha256"], full["parameters"]["sha256"]);
    assert_eq!(wider["parameters"]["source"]["kind"], "own");
    for each in [&mut wider, &mut full] {
        each["parameters"] = Value::Null;
    }
    assert_eq!(wider, full);
    let resolved: Value = serde_json::from_str(&lab.pirlab(&["resolve", "simplepir/wider"]).out).unwrap();
    assert_eq!((&resolved["title"], &resolved["lwe"]["dimension"]), (&json!("wider"), &json!(64)));
    assert_eq!(resolved["lwe"]["error"], json!({"stddev": 8}));
    assert_eq!(lab.pirlab(&["resolve", "simplepir/wider", "simplepir/full"]).out.lines().count(), 2);
    let listed = lab.pirlab(&["list"]).out;
    assert!(listed.contains("wider  [own]") && !listed.contains("cannot be used"), "{listed}");
}

#[test]
fn a_value_of_the_command_line_is_in_record_name_and_hash() {
    let lab = Lab::new();
    let with = ["simplepir/small", "--with", "lwe.dimension=128", "--with", "lwe.error={\"width\":16}"];
    let changed = described(&lab, &with);
    assert_eq!(changed["parameters"]["with"], json!({"lwe.dimension": 128, "lwe.error": {"width": 16}}));
    assert_eq!(changed["instances"][0]["dimension"], 128);
    assert_ne!(changed["parameters"]["sha256"], described(&lab, &with[..1])["parameters"]["sha256"]);
    assert!(
        lab.pirlab(&[&["describe"], &with[..3], &SHAPE].concat())
            .out
            .starts_with("simplepir/small with lwe.dimension=128 of")
    );
    for (name, with) in [("a.json", &with[..3]), ("b.json", &with[..1])] {
        let said = lab.run(&[with, &SHAPE, &["--repetitions", "1", "--out", name]].concat());
        assert_eq!(said.code, 0, "{}", said.err);
    }
    let record = lab.json("a.json");
    assert_eq!(record["parameters"]["with"], json!({"lwe.dimension": 128}));
    assert_eq!(record["parameters"], record["description"]["parameters"]);
    assert!(lab.json("b.json")["parameters"].get("with").is_none());
    let said = lab.pirlab(&["compare", "a.json", "b.json"]);
    assert!(said.out.contains("A: simplepir/small with lwe.dimension=128, "), "{} {}", said.out, said.err);
}

#[test]
fn rows_of_groups_and_batches_set_values() {
    let lab = Lab::new();
    let row = json!({"id": "a", "parameters": "params/simplepir/small.toml", "records": 1000, "record_bits": 8, "out": "a.json"});
    let keys = |with: Value| {
        let mut row = row.clone();
        row["with"] = with;
        lab.put("g.json", group(&[row]));
        lab.pirlab(&["key", "--group", "g.json"])
    };
    let plain = keys(json!({})).out;
    assert_ne!(keys(json!({"lwe.dimension": 128})).out, plain);
    assert_eq!(keys(json!({"lwe.dimension": 64})).out, plain, "the value that the set has");
    keys(json!({"title": "x"})).is_refused(&["small.toml", "`title`"]);
    let said = lab.pirlab(&["run", "--group", "g.json"]);
    said.is_refused(&["row `a`", "small.toml", "`title`"]);
    let asked = |with: &str| {
        let request =
            format!(r#"{{"id":"a","parameters":"simplepir/small","records":1000,"record_bits":8,"with":{with}}}"#);
        let said = lab.with_input(&["describe", "--batch"], &request);
        serde_json::from_str::<Value>(&said.out).unwrap()
    };
    assert_eq!(asked(r#"{"lwe.dimension": 128}"#)["parameters"]["with"], json!({"lwe.dimension": 128}));
    let refused = asked(r#"{"lwe.dimensions": 128}"#)["error"].to_string();
    assert!(refused.contains("small.toml with lwe.dimensions=128") && refused.contains("unknown"), "{refused}");
}

#[test]
fn bad_values_and_bases_are_refused_by_file_and_key() {
    let lab = Lab::new();
    let refused = |with: &str, parts: &[&str]| {
        let arguments = [&["simplepir/small", "--with", with], &SHAPE[..]].concat();
        lab.pirlab(&[&["describe"], &arguments[..]].concat()).is_refused(parts);
        lab.run(&[&arguments[..], &["--out", "r.json"]].concat()).is_refused(parts);
    };
    refused("lwe.dimension=many", &["small.toml", "lwe.dimension", "many"]);
    refused("lwe.dimension=0", &["small.toml", "lwe.dimension", "0"]);
    refused("lwe.sides=3", &["small.toml", "lwe.sides", "unknown"]);
    refused("lwe.dimension.x=3", &["small.toml", "lwe.dimension.x", "is not a table"]);
    refused("source.kind=toy", &["small.toml", "source.kind", "with"]);
    refused("dimension", &["--with", "KEY=VALUE"]);
    for (base, parts) in [("nowhere", ["extends", "nowhere"]), ("wider", ["extends", "leads back"])] {
        lab.put("params/simplepir/wider.toml", WIDER.replace("small", base));
        lab.pirlab(&[&["describe", "simplepir/wider"], &SHAPE[..]].concat())
            .is_refused(&[&["wider.toml"], &parts[..]].concat());
    }
}
