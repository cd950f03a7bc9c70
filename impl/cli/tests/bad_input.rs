//! Every kind of bad input: one paragraph with file, key, value and remedy, exit code 2, no panic, no record.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Lab, SIMPLE};

const RUN: [&str; 5] = ["params/simplepir/small.toml", "--records", "1000", "--record-bits", "8"];

/// Runs with a changed parameter file; nothing may be left behind.
fn refused_set(text: &str, parts: &[&str]) {
    let lab = Lab::new();
    lab.put("params/simplepir/bad.toml", text);
    let arguments = ["params/simplepir/bad.toml", "--records", "1000", "--record-bits", "8"];
    lab.run(&[&arguments[..], &["--out", "r.json"]].concat()).is_refused(&[&["bad.toml"], parts].concat());
    lab.pirlab(&[&["describe"], &arguments[..]].concat()).is_refused(&[&["bad.toml"], parts].concat());
    assert_eq!(lab.other_files(&[]), Vec::<std::path::PathBuf>::new());
}

/// Runs with other arguments; nothing may be left behind.
fn refused_run(replace: &[(&str, &str)], extra: &[&str], parts: &[&str]) {
    let lab = Lab::new();
    let mut arguments: Vec<&str> =
        RUN.iter().map(|word| replace.iter().find(|(old, _)| old == word).map_or(*word, |(_, new)| new)).collect();
    arguments.extend(extra);
    if !extra.contains(&"--out") {
        arguments.extend(["--out", "r.json"]);
    }
    lab.run(&arguments).is_refused(parts);
    assert_eq!(lab.other_files(&[]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn parameter_files() {
    refused_set(&SIMPLE.replace("title", "titel = 3\ntitle"), &["titel", "unknown"]);
    refused_set(&SIMPLE.replace("dimension = 64\n", ""), &["dimension", "missing"]);
    refused_set(&SIMPLE.replace("modulus = 991", "modulus = 991000"), &["plain_moduli[0].modulus", "991000", "4096"]);
    refused_set(&SIMPLE.replace("2^32", "2^31"), &["lwe.modulus", "2^31", "2^32"]);
    refused_set(&SIMPLE.replace("6.4", "-1.0"), &["lwe.error", "-1"]);
    refused_set(
        &SIMPLE.replace("\"simplepir\"", "\"triplepir\""),
        &["protocol", "triplepir", "simplepir, frodopir, doublepir"],
    );
    refused_set(&SIMPLE.replace("protocol = \"simplepir\"\n", ""), &["protocol", "missing"]);
    refused_set("this is not TOML", &[]);
}

#[test]
fn a_set_that_does_not_serve_the_shape() {
    let lab = Lab::new();
    lab.put("params/simplepir/short.toml", SIMPLE.replace("log2_samples = 24", "log2_samples = 17"));
    let arguments = ["describe", "simplepir/short", "--records", "2^45", "--record-bits", "1"];
    lab.pirlab(&arguments).is_refused(&["short.toml", "plain_moduli", "2^17"]);
}

#[test]
fn shapes_and_databases() {
    refused_run(&[("1000", "0")], &[], &["records = 0", "--records"]);
    refused_run(&[("8", "0")], &[], &["record bits = 0", "--record-bits"]);
    refused_run(&[("1000", "many")], &[], &["--records", "many", "2^20"]);
    refused_run(&[("params/simplepir/small.toml", "no/such.toml")], &[], &["no/such.toml", "pirlab list"]);
    refused_run(&[("1000", "2^34"), ("8", "4096")], &[], &["too large for memory", "needs", "free", "fewer"]);
    refused_run(&[], &["--database", "file:no.bin"], &["no.bin"]);
    refused_run(&[], &["--database", "tape:1"], &["tape:1", "seeded:"]);
    refused_run(&[], &["--queries", "0"], &["queries = 0"]);
    refused_run(&[], &["--updates", "1001"], &["updates = 1001", "1000"]);
    refused_run(&[], &["--repetitions", "0"], &["repetitions = 0"]);
    for many in ["65537", "2^34", "2^63"] {
        refused_run(&[], &["--repetitions", many], &["repetitions = ", "at most 65536"]);
    }
    refused_run(&[], &["--params-root", "params"], &["--params-root params", "small.toml", "Leave"]);
    refused_run(&[], &["--threads", "0"], &["threads = 0"]);
    refused_run(&[], &["--kernel", "mmx"], &["mmx", "scalar"]);
    refused_run(&[], &["--seed", "xyz"], &["seed `xyz`", "hexadecimal"]);
    refused_run(&[], &["--no-such-option"], &["--no-such-option", "--help"]);
}

#[test]
fn a_file_that_is_too_short() {
    for kind in ["file", "mmap"] {
        let lab = Lab::new();
        lab.put("my.bin", [7; 999]);
        let database = format!("{kind}:my.bin");
        let said = lab.run(&[&RUN[..], &["--database", &database, "--out", "r.json"]].concat());
        said.is_refused(&["my.bin", "999 bytes", "1000"]);
        assert_eq!(lab.other_files(&["my.bin"]), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    for out in ["params/simplepir/small.toml/r.json", "params", "/", "/proc/r.json"] {
        refused_run(&[], &["--out", out], &["output", out, "--out"]);
    }
}

#[test]
fn group_files() {
    let lab = Lab::new();
    let row = r#""parameters":"params/simplepir/small.toml","records":8,"record_bits":8"#;
    let refused = |text: &str, parts: &[&str]| {
        lab.put("g.json", text);
        lab.pirlab(&["run", "--group", "g.json"]).is_refused(&[&["g.json"], parts].concat());
    };
    refused("[", &[]);
    refused(r#"{"experiment":"e","group":"g","rows":[]}"#, &["rows"]);
    refused(&format!(r#"{{"experiment":"e","group":"g","rows":[{{{row},"id":"a"}}]}}"#), &["out", "missing"]);
    refused(
        &format!(r#"{{"experiment":"e","group":"g","rows":[{{{row},"id":"a","out":"r","x":1}}]}}"#),
        &["x", "unknown"],
    );
    let zero = row.replace(":8,\"record_bits\"", ":0,\"record_bits\"");
    refused(
        &format!(r#"{{"experiment":"e","group":"g","rows":[{{{zero},"id":"a","out":"r"}}]}}"#),
        &["row `a`", "records = 0"],
    );
    // Rows that cannot be used are refused before the good ones before them are run.
    let good = format!(r#"{{{row},"id":"a","out":"out/a.json"}}"#);
    let second = |more: &str, parts: &[&str]| {
        let bad = format!(r#"{{{row},"id":"b",{more}}}"#);
        refused(&format!(r#"{{"experiment":"e","group":"g","rows":[{good},{bad}]}}"#), parts);
    };
    second(r#""out":"b","database":"file:gone.bin""#, &["row `b`", "gone.bin"]);
    second(r#""out":"b","database":"tape:1""#, &["row `b`", "tape:1"]);
    second(r#""out":"b","repetitions":17179869184"#, &["row `b`", "repetitions", "at most 65536"]);
    second(r#""out":"b","predicted_seconds":0"#, &["row `b`", "predicted_seconds"]);
    second(r#""out":"b","time_limit_seconds":-1"#, &["row `b`", "time_limit_seconds"]);
    second(r#""out":"./out//a.json""#, &["rows[1]", "`b`", "./out//a.json", "`a`"]);
    let absolute = lab.path("out/a.json");
    second(&format!(r#""out":"{}""#, absolute.display()), &["rows[1]"]);
    assert!(!lab.path("out").exists());
    assert_eq!(lab.other_files(&["g.json"]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn debug_builds_do_not_measure() {
    let lab = Lab::new();
    let mut command = lab.command(&[&["run", "--out", "r.json"], &RUN[..]].concat());
    let said = common::said(command.env_remove("PIRLAB_ALLOW_DEBUG").arg("--no-probe").output().unwrap());
    if common::program().1 {
        said.is_refused(&["debug build", "--release"]);
    } else {
        assert_eq!(said.code, 0);
    }
}
