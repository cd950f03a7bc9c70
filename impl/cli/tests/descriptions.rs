//! Descriptions, lists, checks, schemas, calibration.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::{Lab, read_json};
use serde_json::{Value, json};

#[test]
fn a_description_for_people_and_for_programs() {
    let lab = Lab::new();
    for (set, instances) in [("simplepir/small", 1), ("doublepir/small", 2)] {
        let fixed = ["describe", set, "--records", "2^16", "--record-bits", "8", "--updates", "4"];
        let page = lab.pirlab(&fixed);
        assert_eq!(page.code, 0, "{}", page.err);
        for part in ["Layout", "waste", "hint", "answer", "peak of a run", "LWE.estimate(LWE.Parameters(n=64, q=2**32"]
        {
            assert!(page.out.contains(part), "`{part}` is not in:\n{}", page.out);
        }
        let said = lab.pirlab(&[&fixed[..], &["--json"]].concat());
        let value: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(value["schema"], "pirlab/description/1");
        assert_eq!(value["shape"]["records"], 1 << 16);
        assert_eq!(value["instances"].as_array().unwrap().len(), instances);
    }
}

#[test]
fn a_batch_describes_sets_that_are_not_in_a_file() {
    let lab = Lab::new();
    let text = std::fs::read_to_string(lab.path("params/simplepir/small.toml")).unwrap();
    let request = |id: &str, toml: &str| {
        json!({"id": id, "parameters": "nowhere/set.toml", "toml": toml, "records": 1000, "record_bits": 8}).to_string()
    };
    let wrong = text.replace("\"simplepir\"", "\"nopir\"");
    let of_file = json!({"id": "file", "parameters": "params/simplepir/small.toml", "records": 1000, "record_bits": 8});
    let input =
        [of_file.to_string(), request("text", &text), request("wrong", &wrong), request("not", "= =")].join("\n");
    let said = lab.with_input(&["describe", "--batch"], &input);
    let answers: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 4, "{}", said.err);
    for key in ["layout", "messages", "memory", "operations", "instances"] {
        assert_eq!(answers[0][key], answers[1][key]);
    }
    assert_eq!(answers[0]["parameters"]["sha256"], answers[1]["parameters"]["sha256"]);
    assert!(answers[2]["error"].as_str().unwrap().contains("nopir"), "{}", answers[2]);
    assert!(answers[3]["error"].as_str().unwrap().contains("nowhere/set.toml"), "{}", answers[3]);
}

#[test]
fn a_batch_writes_a_file_whole_or_names_it() {
    let lab = Lab::new();
    let describe = json!({"id": "a", "parameters": "simplepir/small", "records": 1000, "record_bits": 8}).to_string();
    let primitive = json!({"id": "a", "primitive": "prg", "settings": {}}).to_string();
    for (command, request) in [(&["describe"][..], describe), (&["primitive", "describe"], primitive)] {
        let batch = [command, &["--batch"]].concat();
        let printed = lab.with_input(&batch, &request);
        let written = lab.with_input(&[&batch[..], &["--out", "there/d.jsonl"]].concat(), &request);
        assert_eq!((written.code, &*written.out), (0, ""), "{}", written.err);
        assert_eq!(std::fs::read_to_string(lab.path("there/d.jsonl")).unwrap(), printed.out);
        assert_eq!(lab.with_input(&[&batch[..], &["--out", "-"]].concat(), &request).out, printed.out);
        if cfg!(target_os = "linux") {
            let full = lab.with_input(&[&batch[..], &["--out", "/dev/full"]].concat(), &request);
            full.is_refused(&["output /dev/full", "No space left"]);
        }
        let requests = std::fs::File::open(lab.put("requests", &request)).unwrap();
        let mut command = lab.command(&[&batch[..], &["--out", "requests"]].concat());
        common::said(command.stdin(requests).output().unwrap()).is_refused(&["output requests", "standard input"]);
        assert_eq!(std::fs::read_to_string(lab.path("requests")).unwrap(), request);
    }
    let one = ["describe", "simplepir/small", "--records", "1000", "--record-bits", "8", "--out", "d.json"];
    lab.pirlab(&one).is_refused(&["--out", "only --batch writes a file"]);
    assert!(!lab.path("d.json").exists());
}

#[test]
fn a_batch_answers_every_line_in_order() {
    let lab = Lab::new();
    let mut input = String::new();
    for i in 0..300 {
        let request = match i % 3 {
            0 => {
                json!({"id": format!("{i}"), "parameters": "params/simplepir/small.toml", "records": 1000 + i, "record_bits": 8})
            }
            1 => {
                json!({"id": format!("{i}"), "parameters": "doublepir/small", "records": 1000, "record_bits": 8, "queries": 2})
            }
            _ => json!({"id": format!("{i}"), "parameters": "params/none.toml", "records": 1000, "record_bits": 8}),
        };
        input.push_str(&format!("{request}\n"));
    }
    input
        .push_str("{\"id\":\"bits\",\"parameters\":\"simplepir/small\",\"records\":1,\"record_bits\":0}\n\nnonsense\n");
    input.push_str("{\"id\":\"typo\",\"parameters\":\"simplepir/small\",\"record\":1,\"record_bits\":1}");
    let said = lab.with_input(&["describe", "--batch"], &input);
    assert_eq!(said.code, 0, "{}", said.err);
    let answers: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 303);
    for (i, answer) in answers[..300].iter().enumerate() {
        assert_eq!(answer["id"], format!("{i}"));
        match i % 3 {
            0 => assert_eq!(answer["shape"]["records"], 1000 + i),
            1 => assert_eq!((&answer["protocol"], &answer["queries"]), (&json!("doublepir"), &json!(2))),
            _ => assert!(answer["error"].as_str().unwrap().contains("params/none.toml")),
        }
    }
    assert_eq!(answers[300]["id"], "bits");
    assert!(answers[300]["error"].as_str().unwrap().contains("record bits = 0"));
    assert_eq!(answers[301]["id"], Value::Null);
    assert!(answers[302]["error"].as_str().unwrap().contains("`record`"));
}

#[test]
fn lists_name_sets_and_their_problems() {
    let lab = Lab::new();
    lab.put("params/simplepir/broken.toml", "protocol = \"simplepir\"\ntitle = \"broken\"\n");
    let said = lab.pirlab(&["list"]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("params/doublepir/small.toml") && said.out.contains("cannot be used"), "{}", said.out);
    assert!(said.err.contains("broken.toml"));
    let listed: Value = serde_json::from_str(&lab.pirlab(&["list", "--json"]).out).unwrap();
    let named = listed["protocols"].to_string();
    for protocol in ["simplepir", "doublepir", "ypir", "simpleypir", "inspire0", "inspire2", "inspire"] {
        assert!(named.contains(&format!("\"{protocol}\"")), "{named}");
    }
    assert_eq!(listed["parameters"].as_array().unwrap().len(), 3);
    lab.pirlab(&["list", "--params-root", "elsewhere"]).is_refused(&["elsewhere", "--params-root"]);
}

#[test]
fn the_check_fits_a_screen() {
    let lab = Lab::new();
    let said = lab.pirlab(&["check", "--no-probe"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.lines().count() <= 24, "{}", said.out);
    for part in ["kernel scalar", "memory", "git", "python3", "cargo", "commit"] {
        assert!(said.out.contains(part), "{}", said.out);
    }
    let checked: Value = serde_json::from_str(&lab.pirlab(&["check", "--no-probe", "--json"]).out).unwrap();
    assert_eq!(checked["kernels"].as_array().unwrap().iter().filter(|k| k["chosen"] == true).count(), 1);
}

#[test]
fn a_missing_tool_comes_with_its_remedy() {
    let lab = Lab::new();
    let said = common::said(lab.command(&["check", "--no-probe"]).env("PATH", lab.folder.path()).output().unwrap());
    assert_eq!(said.code, 0);
    assert!(said.out.contains("missing: install Rust with rustup"), "{}", said.out);
}

#[test]
fn the_checked_in_schemas_are_those_of_the_types() {
    let lab = Lab::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = lab.pirlab(&["schema", "--all", "--out", "schemas"]);
    assert_eq!(all.code, 0, "{}", all.err);
    let places = [
        ("description", here.join("schemas")),
        ("run", here.join("schemas")),
        ("group", here.join("schemas")),
        ("primitive-description", here.join("schemas")),
        ("primitive", here.join("schemas")),
        ("primitive-group", here.join("schemas")),
        ("calibration", here.join("schemas")),
        ("simplepir", here.join("../../params")),
        ("frodopir", here.join("../../params")),
        ("hintlesspir", here.join("../../params")),
        ("kspir", here.join("../../params")),
        ("piano", here.join("../../params")),
        ("depir", here.join("../../params")),
        ("pirana", here.join("../../params")),
        ("cwpir", here.join("../../params")),
        ("onehot", here.join("../../params")),
        ("doublepir", here.join("../../params")),
        ("ypir", here.join("../../params")),
        ("simpleypir", here.join("../../params")),
        ("inspire0", here.join("../../params")),
        ("inspire2", here.join("../../params")),
        ("inspire", here.join("../../params")),
        ("respire", here.join("../../params")),
        ("spiral", here.join("../../params")),
        ("onionpir", here.join("../../params")),
        ("pirouette", here.join("../../params")),
        ("pirouette_h", here.join("../../params")),
        ("trespire", here.join("../../params")),
    ];
    for (name, folder) in &places {
        let file = format!("{name}.schema.json");
        let now = std::fs::read_to_string(lab.path("schemas").join(&file)).unwrap();
        let checked_in = std::fs::read_to_string(folder.join(&file)).unwrap_or_default();
        assert!(now == checked_in, "{file} has drifted: run impl/cli/schemas/update");
        assert_eq!(lab.pirlab(&["schema", name]).out, now);
    }
    assert_eq!(std::fs::read_dir(lab.path("schemas")).unwrap().count(), places.len());
    lab.pirlab(&["schema", "nothing"]).is_refused(&["nothing", "description, run"]);
}

#[test]
fn calibration_gives_every_unit_cost() {
    let lab = Lab::new();
    let said = lab.pirlab(&["calibrate", "--quick", "--out", "c.json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let calibration = read_json(&lab.path("c.json"));
    let costs = calibration["unit_seconds"].as_object().unwrap();
    let positive = |cost: &Value| match cost.as_array() {
        Some(sizes) => sizes.len() >= 3 && sizes.iter().all(|at| at["seconds"].as_f64().unwrap() > 0.0),
        None => cost.as_f64().unwrap() >= 0.0,
    };
    assert!(costs.len() >= 25 && costs.values().all(positive), "{costs:?}");

    // It is of this machine and build; one that says otherwise is not.
    assert_eq!(lab.pirlab(&["calibrate", "--check", "--out", "c.json"]).code, 0);
    for (key, value) in [("source_hash", json!("00")), ("kernel", json!("other")), ("schema", json!(7))] {
        let mut other = calibration.clone();
        other[key] = value;
        std::fs::write(lab.path("other.json"), other.to_string()).unwrap();
        let said = lab.pirlab(&["calibrate", "--check", "--out", "other.json"]);
        assert_eq!(said.code, 1, "{}", said.err);
        assert!(said.err.contains("other.json: "), "{}", said.err);
    }
    assert_eq!(lab.pirlab(&["calibrate", "--check", "--out", "none.json"]).code, 1);
}

#[test]
fn a_small_probe_prints_json() {
    let said = Lab::new().pirlab(&["probe", "--buffer-bytes", "2^20", "--best-of", "1"]);
    assert!(serde_json::from_str::<Value>(&said.out).unwrap()["bytes_per_second"].as_f64().unwrap() > 0.0);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_quiet() {
    let lab = Lab::new();
    let mut command = lab.command(&["schema", "run"]);
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let said = common::said(child.wait_with_output().unwrap());
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}
