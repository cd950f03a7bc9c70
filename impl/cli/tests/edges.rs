//! Input at the edges of what people type and files hold: each is served, or refused in one sentence that is true.

#![allow(clippy::unwrap_used)]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Lab, SIMPLE, group, said};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const ROW: [&str; 4] = ["--records", "1000", "--record-bits", "8"];
const SMALL: &str = "params/simplepir/small.toml";

#[test]
fn text_files_are_utf_8_and_short() {
    let lab = Lab::new();
    let utf_16: Vec<u8> = SIMPLE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let long = format!("{SIMPLE}# {}\n", "x".repeat(1 << 20));
    let value = SIMPLE.replace("\"uniform\"", &format!("\"{}\"", "y".repeat(500_000)));
    let start = Instant::now();
    for (name, text, parts) in [
        ("utf16", [&[0xff, 0xfe][..], &utf_16].concat(), &["byte 0 is not UTF-8", "UTF-16"][..]),
        ("latin", b"title = \"caf\xe9\"".to_vec(), &["byte 12 is not UTF-8"]),
        ("long", long.into_bytes(), &["more than 1 MiB"]),
        ("array", format!("title = [{}]", "1,".repeat(5_000_000)).into_bytes(), &["more than 1 MiB"]),
        ("value", value.into_bytes(), &["lwe.secret", "letters) ..."]),
    ] {
        let file = format!("params/simplepir/{name}.toml");
        lab.put(&file, text);
        let refused = lab.pirlab(&[&["describe", &file], &ROW[..]].concat());
        refused.is_refused(&[&[name], parts].concat());
        assert!(!refused.err.contains("permissions") && refused.err.len() < 5000, "{}", refused.err);
    }
    assert!(start.elapsed() < Duration::from_secs(20), "a long file is not read to its end");
    lab.put("params/simplepir/marked.toml", [b"\xef\xbb\xbf", SIMPLE.as_bytes()].concat());
    for command in [&["describe", "simplepir/marked"][..], &["resolve", "params/simplepir/marked.toml"]] {
        let shape: &[&str] = if command[0] == "describe" { &ROW } else { &[] };
        assert_eq!(lab.pirlab(&[command, shape].concat()).code, 0, "{command:?}");
    }
}

/// Every reader of a text file says what is wrong with one in UTF-16, and not that its permissions may be.
#[test]
fn every_text_file_is_utf_8() {
    let lab = Lab::new();
    let measured = [&["run", "--no-probe", SMALL, "--repetitions", "1", "--out", "r.json"][..], &ROW].concat();
    assert_eq!(lab.pirlab(&measured).code, 0);
    let record = std::fs::read(lab.path("r.json")).unwrap();
    lab.put("marked.json", [b"\xef\xbb\xbf", &record[..]].concat());
    assert_eq!(lab.pirlab(&["compare", "r.json", "marked.json"]).code, 0);
    for name in ["utf16", "params/best.json"] {
        lab.put(name, "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    }
    for (command, action) in [
        ([&["describe", "utf16"][..], &ROW].concat(), "utf16: reading the parameter file"),
        ([&["describe", "simplepir"][..], &ROW].concat(), "params/best.json: reading the best sets"),
        (vec!["run", "--group", "utf16"], "utf16: reading the group file"),
        ([&measured[..], &["--keys", "utf16"]].concat(), "utf16: reading the keys"),
        (vec!["compare", "utf16", "r.json"], "utf16: reading the record"),
    ] {
        let refused = lab.pirlab(&command);
        refused.is_refused(&[action, "UTF-8 text. Save the file as UTF-8"]);
        assert!(!refused.err.contains("permissions"), "{}", refused.err);
    }
}

#[test]
fn negative_numbers_are_values() {
    let lab = Lab::new();
    let run = |more: &[&str]| lab.run(&[&[SMALL, "--out", "r.json"], &ROW[..], more].concat());
    run(&["--noise-seconds", "-1"]).is_refused(&["noise seconds = -1", "from 0 to"]);
    run(&["--updates", "-1"]).is_refused(&["--updates", "-1"]);
}

/// A line that is not UTF-8 has its answer, the next one too, and each comes before the next request is sent.
#[test]
fn batches_answer_line_by_line() {
    let lab = Lab::new();
    let describe = json!({"id": "a", "parameters": SMALL, "records": 1000, "record_bits": 8}).to_string();
    let primitive = json!({"id": "a", "primitive": "prg", "settings": {}}).to_string();
    for (command, request) in [(&["describe"][..], describe), (&["primitive", "describe"], primitive)] {
        let mut command = lab.command(&[command, &["--batch"]].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut input, mut answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let long = format!("{{\"id\": \"b\", \"parameters\": {}}}", "[".repeat(100_000));
        for line in [b"\xff\xfe{".to_vec(), request.into_bytes(), long.into_bytes()] {
            input.write_all(&[&line[..], b"\n"].concat()).unwrap();
            input.flush().unwrap();
            let mut answer = String::new();
            answers.read_line(&mut answer).unwrap();
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert!(
                answer["id"] == "a" || answer["error"].as_str().is_some_and(|error| error.len() < 5000),
                "{answer}"
            );
        }
        drop(input);
        assert_eq!(said(child.wait_with_output().unwrap()).code, 0);
    }
}

/// The answer to a line beyond the limit names its number, and the next line is answered as usual.
#[test]
fn a_line_of_a_batch_has_a_limit() {
    let lab = Lab::new();
    let request = |id: &str| json!({"id": id, "parameters": SMALL, "records": 1000, "record_bits": 8}).to_string();
    let longest = request("longest") + &" ".repeat((16 << 20) - request("longest").len());
    let input = [request("first"), longest.clone(), format!("{longest} "), request("last")].join("\n");
    let answered = lab.with_input(&["describe", "--batch"], &input);
    assert_eq!(answered.code, 0, "{}", answered.err);
    let answers: Vec<Value> = answered.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 4);
    for (answer, id) in [(0, "first"), (1, "longest"), (3, "last")] {
        assert_eq!((&answers[answer]["id"], &answers[answer]["error"]), (&json!(id), &Value::Null));
    }
    assert!(answers[2]["error"].as_str().unwrap().contains("line 3 has more than 16 MiB"), "{}", answers[2]);
}

#[test]
fn long_names_and_full_disks() {
    let lab = Lab::new();
    let run = |out: &str| lab.run(&[&[SMALL, "--repetitions", "1", "--out", out], &ROW[..]].concat());
    for name in ["n".repeat(250), "\u{e9}".repeat(125)] {
        let done = run(&name);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(lab.json(&name)["status"], "ok");
    }
    if cfg!(target_os = "linux") {
        run("/dev/full").is_refused(&["/dev/full", "No space left"]);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut list = lab.command(&["list"]);
        said(list.stdout(full).output().unwrap()).is_refused(&["standard output", "No space left"]);
    }
}

/// A record tells the bytes of a database that is a file, which its name does not.
#[test]
fn records_tell_the_contents_of_a_file() {
    let lab = Lab::new();
    let bytes: Vec<u8> = (0..1500u32).map(|i| ((i * i) >> 3) as u8).collect();
    lab.put("my.bin", &bytes);
    let digest: String = Sha256::digest(&bytes[..1000]).iter().map(|byte| format!("{byte:02x}")).collect();
    for (database, expected) in
        [("file:my.bin", json!(digest)), ("mmap:my.bin", json!(digest)), ("seeded:7", Value::Null)]
    {
        let more = [SMALL, "--repetitions", "1", "--out", "r.json", "--database", database];
        assert_eq!(lab.run(&[&more[..], &ROW[..]].concat()).code, 0);
        assert_eq!(lab.json("r.json")["database"]["sha256"], expected, "{database}");
    }
}

/// A record has the digest of the keys too, and of the bytes that were measured, even if the file has changed since. A skipped row has none.
#[test]
fn records_tell_what_was_measured() {
    let lab = Lab::new();
    let digest = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    lab.put("keys", "5\n0x10\n77\n");
    let set = concat!(env!("CARGO_MANIFEST_DIR"), "/../../params/cwpir/keywords-n8192.toml");
    let asked = [set, "--with", "keyword_bits=20", "--keys", "keys", "--records", "3", "--record-bits", "8"];
    let more = ["--repetitions", "1", "--noise-seconds", "0", "--out", "r.json"];
    let said = lab.run(&[&asked[..], &more].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    let source = lab.json("r.json")["database"]["source"].to_string();
    let keys: Vec<u8> = [5u64, 16, 77].into_iter().flat_map(u64::to_le_bytes).collect();
    assert!(source.contains(&format!(",keys=keys (SHA-256 {})", digest(&keys))), "{source}");

    lab.put("my.bin", [7; 1000]);
    let row = |id: &str, predicted: u32| {
        json!({"id": id, "parameters": SMALL, "records": 1000, "record_bits": 8, "database": "file:my.bin", "repetitions": 50, "noise_seconds": 0,
            "predicted_seconds": predicted, "time_limit_seconds": 60, "out": format!("{id}.json")})
    };
    lab.put("g.json", group(&[row("measured", 1), row("skipped", 61)]));
    let mut command = lab.command(&["run", "--group", "g.json"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    for line in BufReader::new(run.stderr.take().unwrap()).lines() {
        if line.unwrap().contains("measured: prepared") {
            let mut file = std::fs::OpenOptions::new().write(true).open(lab.path("my.bin")).unwrap();
            file.write_all(&[8; 1000]).unwrap();
        }
    }
    run.wait().unwrap();
    assert_eq!(lab.json("measured.json")["database"]["sha256"], digest(&[7; 1000]));
    assert_eq!(lab.json("skipped.json")["database"]["sha256"], Value::Null);
}

#[test]
fn traffic_beyond_the_database_is_remarked() {
    let lab = Lab::new();
    let page = |set: &str, records: &str, bits: &str| {
        lab.pirlab(&["describe", set, "--records", records, "--record-bits", bits])
    };
    assert!(page(SMALL, "17", "8").out.contains("more than the database (17 B): downloading it takes less"));
    assert!(!page(SMALL, "2^24", "8").out.contains("downloading"));
    let double = concat!(env!("CARGO_MANIFEST_DIR"), "/../../params/doublepir/usenix23.toml");
    let hint = page(double, "17", "4097").out;
    assert!(hint.contains("7.06 GiB, more than the database (8.50 KiB): downloading it takes less"), "{hint}");
}

/// A protocol's name stands for the set that the file of best sets has for the database, or for the nearest one.
#[test]
fn a_protocol_takes_its_best_set() {
    let lab = Lab::new();
    let row = |records: u64, bits: u64, set: &str| json!(["simplepir", records, bits, set, 130.2, -44.0, 0.05]);
    lab.put("params/simplepir/other.toml", SIMPLE);
    let rows =
        [row(1 << 10, 64, "simplepir/small"), row(1 << 14, 64, "simplepir/other"), row(1 << 20, 8, "simplepir/gone")];
    let best =
        |rows: &[Value]| lab.put("params/best.json", json!({"schema": "pirlab/best/1", "rows": rows}).to_string());
    best(&rows);
    let run = |records: &str, bits: &str, more: &[&str]| {
        let fixed = ["simplepir", "--repetitions", "1", "--out", "r.json", "--records", records, "--record-bits", bits];
        lab.run(&[&fixed[..], more].concat())
    };
    let (faster, failure) = ("another set may be faster here", "nothing is promised of this set's failure here");
    for (records, bits, set, warning) in [
        ("2^10", "64", "small", None),
        ("1000", "60", "small", Some(faster)),
        ("3", "1", "small", Some(faster)),
        ("1025", "60", "other", Some(faster)),
        ("20000", "60", "other", Some(failure)),
    ] {
        let done = run(records, bits, &[]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(lab.json("r.json")["parameters"]["name"], format!("simplepir/{set}"));
        let words = format!("simplepir/{set} is taken: of the sets of simplepir that reach 128 bits");
        assert!(done.err.contains(&words) && done.err.contains("130.2 bits, failure 2^-44.0, 50.0 ms"), "{}", done.err);
        let warns = done.err.contains("warning: this database is not in params/best.json");
        assert_eq!(warns, warning.is_some(), "{}", done.err);
        assert!(done.err.contains(warning.unwrap_or_default()), "{}", done.err);
        let command = format!("params/simplepir/{set}.toml --records {records} --record-bits {bits} --json >");
        assert_eq!(done.err.contains(&command), warns, "{}", done.err);
    }
    let described = lab.pirlab(&["describe", "simplepir", "--records", "1000", "--record-bits", "60"]);
    assert!(described.out.starts_with("simplepir/small of simplepir"), "{}", described.out);

    // The set is one that serves the values and the queries of the command line too.
    lab.put("params/simplepir/wide.toml", SIMPLE.replace("stddev = 6.4", "width = 16.0"));
    lab.put("params/piano/published.toml", include_str!("../../../params/piano/published.toml"));
    let piano = json!(["piano", 1 << 10, 64, "piano/published", 128.0, -41.0, 0.05]);
    best(&[row(1 << 10, 64, "simplepir/wide"), row(1 << 14, 64, "simplepir/small"), piano]);
    assert_eq!(run("1000", "60", &["--with", "lwe.error.stddev=8"]).code, 0);
    assert_eq!(lab.json("r.json")["parameters"]["name"], "simplepir/small");
    run("1000", "60", &["--with", "lwe.sides=3"]).is_refused(&["has no set for", "wide.toml", "lwe.sides"]);
    let asked = ["describe", "piano", "--records", "1000", "--record-bits", "64", "--queries", "2^16"];
    lab.pirlab(&asked).is_refused(&["protocol piano", "has no set for", "65536 queries together", "of a window"]);

    let run = |records: &str| run(records, "60", &[]);
    best(&rows[2..]);
    run("1000").is_refused(&["protocol simplepir", "has no set for", "records of 60 bits", "pirlab list"]);
    best(&[json!(7)]);
    run("1000").is_refused(&["best.json"]);
    std::fs::remove_file(lab.path("params/best.json")).unwrap();
    run("1000").is_refused(&["best.json", "reading the best sets"]);
}
