//! Primitives: described, measured interleaved, recorded, refused.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Lab, group, said};
use serde_json::{Value, json};

fn row(id: &str, primitive: &str, settings: Value, more: Value) -> Value {
    let mut row = json!({
        "id": id, "primitive": primitive, "settings": settings, "repetitions": 3, "out": format!("records/{id}.json"),
    });
    for (key, value) in more.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

#[test]
fn a_group_is_measured_and_recorded() {
    let lab = Lab::new();
    let small = json!({"bytes": 8192});
    let norms = json!({"family": "unsigned", "base": 4, "modulus_bits": 30, "modulus_kind": "largest", "runs": 16});
    let rows = [
        row("prg", "prg", small.clone(), json!({"seed": "2a"})),
        row("norms", "decompose-magnitude", norms, json!({"kernel": "scalar", "repetitions": 2})),
        row("slow", "prg", small.clone(), json!({"predicted_seconds": 2, "time_limit_seconds": 1})),
        row("huge", "prg", json!({"bytes": 1 << 30}), json!({})),
    ];
    lab.put("g.json", group(&rows));
    let mut command = lab.command(&["primitive", "run", "--group", "g.json"]);
    let said = said(command.env("PIRLAB_GROUP_MEMORY", (1 << 28).to_string()).output().unwrap());
    assert_eq!(said.code, 0, "{} {}", said.out, said.err);
    let record = |id: &str| lab.json(&format!("records/{id}.json"));
    for (id, status) in [("prg", "ok"), ("norms", "ok"), ("slow", "skipped_time"), ("huge", "skipped_memory")] {
        let record = record(id);
        assert_eq!(record["status"], status, "{record:#}");
        assert_eq!((&record["schema"], &record["kind"]), (&json!("pirlab/primitive/1"), &json!("primitive")));
        assert_eq!((&record["experiment"], &record["row"]), (&json!("test/group"), &json!(id)));
    }
    let prg = record("prg");
    assert_eq!(prg["described"]["counts"]["bytes"], 8192.0);
    assert_eq!(prg["measured"]["times"]["fill"]["samples"].as_array().unwrap().len(), 3);
    assert!(prg["measured"]["times"]["fill"]["per"].as_u64().unwrap() > 1);
    // The warm-up is compared too.
    assert_eq!(prg["measured"]["correct"], json!({"compared": 4, "right": 4}));
    assert!(prg["seed"].as_str().unwrap().ends_with("2a"));
    let norms = record("norms");
    assert_eq!(norms["build"]["kernel"], "scalar");
    assert_eq!(norms["measured"]["values"]["norm_mean"].as_array().unwrap().len(), 2);
    assert!(norms["measured"]["counts"]["norm_square_expected"].as_f64().unwrap() >= 1.0);
    assert!(said.out.contains("fill") && said.out.contains("would take about 2 s"), "{}", said.out);

    let keys = |text: &str| -> Value {
        lab.put("k.json", text);
        serde_json::from_str(&lab.pirlab(&["primitive", "key", "--group", "k.json"]).out).unwrap()
    };
    let before = keys(&group(&rows));
    for id in ["prg", "norms", "slow", "huge"] {
        assert_eq!(before[id], record(id)["staleness_key"]);
    }
    let after = keys(&group(&rows).replace("records/", "elsewhere/").replace(r#""seed":"2a""#, r#""seed":"2b""#));
    assert_ne!(after["prg"], before["prg"]);
    assert_eq!(after["norms"], before["norms"]);
    assert_ne!(before["prg"], before["slow"]);
}

#[test]
fn the_papers_way_of_decomposing_takes_fresh_and_offline_coins() {
    let lab = Lab::new();
    let settings = |family: &str, coins: &str| json!({"family": family, "coins": coins, "method": "division", "base": 3, "modulus_bits": 62, "coefficients": 64});
    let names: Vec<(&str, &str)> = ["gmp19", "zy22", "jlp21", "jlp24"]
        .into_iter()
        .flat_map(|family| ["fresh", "offline"].map(|coins| (family, coins)))
        .chain([("unsigned", "none")])
        .collect();
    let rows: Vec<Value> = names
        .iter()
        .map(|(family, coins)| row(&format!("{family}-{coins}"), "decompose", settings(family, coins), json!({})))
        .collect();
    lab.put("g.json", group(&rows));
    let said = lab.pirlab(&["primitive", "run", "--group", "g.json"]);
    assert_eq!(said.code, 0, "{} {}", said.out, said.err);
    for (family, coins) in names {
        let record = lab.json(&format!("records/{family}-{coins}.json"));
        assert_eq!(record["status"], "ok", "{record:#}");
        assert_eq!(record["described"]["settings"]["coins"], coins);
        // The warm-up is compared too.
        assert_eq!(record["measured"]["correct"], json!({"compared": 256, "right": 256}));
    }
    for (family, coins) in [("jlp24", "none"), ("unsigned", "fresh")] {
        lab.put("g.json", group(&[row("x", "decompose", settings(family, coins), json!({}))]));
        lab.pirlab(&["primitive", "run", "--group", "g.json"]).is_refused(&["coins"]);
    }
}

#[test]
fn a_row_that_takes_too_long_is_stopped_alone() {
    let lab = Lab::new();
    let rows = [
        row("late", "prg", json!({"bytes": 1 << 28}), json!({"repetitions": 1000, "time_limit_seconds": 0.05})),
        row("good", "prg", json!({"bytes": 64}), json!({})),
    ];
    lab.put("g.json", group(&rows));
    let said = lab.pirlab(&["primitive", "run", "--group", "g.json"]);
    assert_eq!(said.code, 1, "{} {}", said.out, said.err);
    assert!(said.err.contains("not ok: late."), "{}", said.err);
    assert_eq!(lab.json("records/late.json")["status"], "timeout");
    assert_eq!(lab.json("records/good.json")["status"], "ok");
}

#[test]
fn requests_are_described_line_by_line() {
    let lab = Lab::new();
    let input = [
        json!({"id": "a", "primitive": "prg", "settings": {"bytes": 100}}).to_string(),
        String::new(),
        json!({"id": "b", "primitive": "prg", "settings": {"bytse": 100}}).to_string(),
        json!({"id": "c", "primitive": "gpr", "settings": {}}).to_string(),
        "torn".into(),
    ];
    let said = lab.with_input(&["primitive", "describe", "--batch"], &input.join("\n"));
    assert_eq!(said.code, 0, "{}", said.err);
    let lines: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!((&lines[0]["id"], &lines[0]["schema"]), (&json!("a"), &json!("pirlab/primitive-description/1")));
    assert_eq!((&lines[0]["settings"], &lines[0]["peak_bytes"]), (&json!({"bytes": 100}), &json!(100)));
    let error = |i: usize| lines[i]["error"].as_str().unwrap();
    assert!(lines[1]["id"] == "b" && error(1).contains("`bytse`"), "{}", error(1));
    assert!(lines[2]["id"] == "c" && error(2).contains("gpr") && error(2).contains("prg"), "{}", error(2));
    assert!(lines[3]["id"].is_null() && error(3).contains("not a request"), "{}", error(3));
}

#[test]
fn the_list_names_every_primitive() {
    let lab = Lab::new();
    let listed: Value = serde_json::from_str(&lab.pirlab(&["primitive", "list", "--json"]).out).unwrap();
    let plain = lab.pirlab(&["primitive", "list"]).out;
    for primitive in listed["primitives"].as_array().unwrap() {
        assert!(plain.contains(primitive["name"].as_str().unwrap()));
        assert_eq!(primitive["source_hash"].as_str().unwrap().len(), 64);
    }
}

#[test]
fn bad_groups_are_refused_and_leave_nothing() {
    let lab = Lab::new();
    let refused = |rows: &[Value], parts: &[&str]| {
        lab.put("g.json", group(rows));
        let said = lab.pirlab(&["primitive", "run", "--group", "g.json"]);
        said.is_refused(&[&["g.json"], parts].concat());
    };
    let good = || row("good", "prg", json!({"bytes": 8}), json!({}));
    refused(&[], &["`rows`", "primitive-group"]);
    refused(&[good(), good()], &["rows[1]", "`good`"]);
    refused(&[good(), row("b", "gpr", json!({}), json!({}))], &["row `b`", "`gpr`", "prg"]);
    refused(&[good(), row("b", "prg", json!({"bytes": 0}), json!({}))], &["row `b`", "setting `bytes`", "16384"]);
    refused(&[good(), row("b", "prg", json!({}), json!({}))], &["row `b`", "setting `bytes`", "missing"]);
    refused(&[good(), row("b", "prg", json!({"bytes": "8"}), json!({}))], &["setting `bytes`", "\"8\""]);
    refused(&[good(), row("b", "prg", json!({"bytes": 8}), json!({"repetitions": 0}))], &["repetitions = 0"]);
    refused(&[good(), row("b", "prg", json!({"bytes": 8}), json!({"kernel": "mmx"}))], &["mmx"]);
    refused(&[good(), row("b", "prg", json!({"bytes": 8}), json!({"seed": "x"}))], &["seed `x`"]);
    refused(&[row("b", "prg", json!({"bytes": 8}), json!({"out": "params"}))], &["row `b`", "folder"]);
    refused(&[row("b", "prg", json!({"bytes": 8}), json!({"predicted_seconds": -1}))], &["predicted_seconds"]);
    refused(&[row("b", "prg", json!({"bytes": 8}), json!({"time_limit_seconds": 0}))], &["time_limit_seconds"]);
    refused(&[row("b", "prg", json!({"bytes": 8}), json!({"extra": 0}))], &["extra", "unknown"]);
    lab.pirlab(&["primitive", "run", "--group", "none.json"]).is_refused(&["none.json"]);
    assert_eq!(lab.other_files(&["g.json"]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn packings_decrypt_in_every_way() {
    let lab = Lab::new();
    let settings = |method: &str, gamma: usize, family: &str, secret: Value| {
        let mut settings = json!({
            "method": method, "ciphertexts": 64, "gamma": gamma, "clients": 2, "n": 64,
            "primes": [268369921, 249561089], "family": family, "base": 524288, "stddev": 6.4, "plain_modulus": 32768,
            "keys": 6,
        });
        settings.as_object_mut().unwrap().extend(secret.as_object().unwrap().clone());
        settings
    };
    let weight = json!({"secret": "fixed-weight", "secret_weight": 16});
    let rows = [
        row("full", "packing", settings("inspiring", 64, "unsigned", weight.clone()), json!({"seed": "2a"})),
        row("half", "packing", settings("inspiring", 32, "balanced", json!({"secret": "gaussian"})), json!({})),
        row("online", "packing", settings("inspiring-online", 16, "unsigned", json!({"secret": "ternary"})), json!({})),
        row("tree", "packing", settings("cdks", 64, "balanced", weight.clone()), json!({"kernel": "scalar"})),
        row("tables", "packing", settings("cdks-preprocessed", 64, "unsigned", weight), json!({})),
    ];
    lab.put("g.json", group(&rows));
    let said = lab.pirlab(&["primitive", "run", "--group", "g.json"]);
    assert_eq!(said.code, 0, "{} {}", said.out, said.err);
    // (keys of N words of 56 bits, outputs, table bytes of all outputs)
    for (id, keys, outputs, table) in [
        ("full", 2 * 3, 1, 4 * 2 * 3 * 64 * 64),
        ("half", 3, 2, 2 * 4 * 2 * 3 * 64 * 32),
        ("online", 3, 4, 0),
        ("tree", 6 * 3, 1, 0),
        ("tables", 6 * 3, 1, 4 * 2 * 3 * 64 * (32 + 5 * 16)),
    ] {
        let record = lab.json(&format!("records/{id}.json"));
        assert_eq!(record["status"], "ok", "{record:#}");
        let counts = &record["described"]["counts"];
        assert_eq!(counts["key_bytes"], f64::from(keys * 64 * 56 / 8), "{id}");
        assert_eq!(counts["output_bytes"], f64::from(outputs * 2 * 64 * 56 / 8), "{id}");
        assert_eq!(counts["table_bytes"], f64::from(table), "{id}");
        let measured = &record["measured"];
        // Two clients a repetition, the warm-up among them: eight keys, 64 messages each.
        assert_eq!(measured["correct"], json!({"compared": 512, "right": 512}), "{id}");
        assert_eq!(measured["noise"]["packed"]["keys"], 8);
        assert_eq!(measured["values"]["packed.key_max"].as_array().unwrap().len(), 8);
        assert_eq!(measured["values"]["packed.output_max"].as_array().unwrap().len(), 8 * outputs as usize);
        assert!(measured["noise"]["packed"]["max"].as_f64().unwrap() > 0.0);
        assert_eq!(measured["times"].get("offline").is_some(), table > 0, "{id}");
    }
}
