use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::{ParameterFile, With};
use crate::core::error::Result;
use crate::protocol::inspire::Set;

const BASE: &str = r#"
    body = "full"
    [folding]
    plain_modulus = 65537
    rows = 1024
    points = 4
    interpolation = "cooley_tukey"
    [rlwe]
    degree = 2048
    modulus = "268369921 * 249561089"
    secret = { kind = "gaussian", stddev = 6.4 }
    error = { stddev = 6.4 }
    [packing]
    base_log2 = 19
    digits = "unsigned"
    [evaluation]
    base_log2 = 19
    digits = "unsigned"
    always_sent = true
    [switch]
    mask_modulus = 268369921
    body_modulus = 1048576
"#;

/// A file with its header; `more` stands before the tables.
fn file(more: &str, tables: &str) -> String {
    format!("protocol = \"inspire\"\ntitle = \"t\"\nsource = {{ kind = \"toy\" }}\n{more}\n{tables}")
}

/// A folder of sets, each with what it extends and its own tables.
fn folder(sets: &[(&str, &str, &str)]) -> TempDir {
    let top = tempfile::tempdir().unwrap();
    for (name, extends, tables) in sets {
        let path = top.path().join(format!("params/{name}.toml"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let more = if extends.is_empty() { String::new() } else { format!("extends = \"{extends}\"") };
        fs::write(path, file(&more, tables)).unwrap();
    }
    top
}

fn read(top: &TempDir, name: &str) -> Result<ParameterFile> {
    ParameterFile::read(&top.path().join(format!("params/{name}.toml")))
}

/// A file without base.
fn set(tables: &str) -> ParameterFile {
    ParameterFile::of(Path::new("params/inspire/x.toml"), &file("", tables)).unwrap()
}

fn with(pairs: &[(&str, serde_json::Value)]) -> With {
    pairs.iter().map(|(key, value)| (key.to_string(), value.clone())).collect()
}

fn holds(refused: String, words: &[&str]) {
    for word in words {
        assert!(refused.contains(word), "`{word}` is not in: {refused}");
    }
}

#[test]
fn tables_are_put_over_those_of_the_base_key_by_key() {
    let top = folder(&[
        ("inspire/base", "", BASE),
        (
            "inspire/more",
            "base",
            "[folding]\nrows = 4096\n[rlwe]\nsecret = { kind = \"ternary\" }\nerror = { width = 16.0 }",
        ),
        ("own/most", "inspire/more", "body = \"used\"\n[folding]\npoints = 2"),
    ]);
    let most = read(&top, "own/most").unwrap();
    let plain = BASE
        .replace("body = \"full\"", "body = \"used\"")
        .replace("rows = 1024", "rows = 4096")
        .replace("points = 4", "points = 2")
        .replace("{ kind = \"gaussian\", stddev = 6.4 }", "{ kind = \"ternary\" }")
        .replace("error = { stddev = 6.4 }", "error = { width = 16.0 }");
    assert_eq!(most.body(), set(&plain).body());
    assert_eq!(most.sha256(), set(&plain).sha256());
    most.parse::<Set>().unwrap();
    // A set of the same folder is meant before one of another.
    assert_eq!(read(&top, "inspire/more").unwrap().name(), "inspire/more");
}

#[test]
fn the_hash_is_of_the_resolved_set() {
    let hash = set(BASE).sha256().to_string();
    let titled = file("", BASE).replace("\"t\"", "\"other\"").replace("\"toy\"", "\"own\"");
    assert_eq!(ParameterFile::of(Path::new("y.toml"), &titled).unwrap().sha256(), hash);
    assert_eq!(set(&format!("# A comment.\n{BASE}")).sha256(), hash);
    assert_eq!(set(&BASE.replace("stddev = 6.4", "stddev = 6.0")).sha256(), set(&BASE.replace("6.4", "6")).sha256());
    assert_ne!(set(&BASE.replace("rows = 1024", "rows = 2048")).sha256(), hash);
    assert_ne!(set(&BASE.replace("1048576", "\"1048576\"")).sha256(), hash);
    let changed = set(BASE).with(&with(&[("folding.rows", json!(2048))])).unwrap();
    assert_eq!(changed.sha256(), set(&BASE.replace("rows = 1024", "rows = 2048")).sha256());
    assert_eq!(changed.id().label(), "inspire/x with folding.rows=2048");
    assert_eq!(set(BASE).id().label(), "inspire/x");
}

#[test]
fn circles_missing_bases_and_other_protocols_are_refused() {
    let top = folder(&[
        ("inspire/a", "b", ""),
        ("inspire/b", "inspire/a", ""),
        ("inspire/self", "self", ""),
        ("inspire/lost", "nowhere", ""),
        ("inspire/lower", "lost", ""),
        ("inspire/other", "other/x", ""),
    ]);
    let refused = |name: &str| read(&top, name).unwrap_err().to_string();
    holds(refused("inspire/a"), &["b.toml", "`extends`", "`inspire/a`", "leads back"]);
    holds(refused("inspire/self"), &["self.toml", "`extends`", "leads back"]);
    holds(refused("inspire/lost"), &["lost.toml", "`extends`", "`nowhere`", "nowhere.toml", "folder/name"]);
    holds(refused("inspire/lower"), &["lost.toml", "`extends`", "`nowhere`"]);
    fs::create_dir(top.path().join("params/other")).unwrap();
    fs::write(top.path().join("params/other/x.toml"), file("", "").replace("\"inspire\"", "\"ypir\"")).unwrap();
    holds(refused("inspire/other"), &["other.toml", "`extends`", "ypir", "inspire"]);
}

#[test]
fn values_of_a_row_are_checked_like_those_of_a_file() {
    let refused = |key: &str, value: serde_json::Value| {
        let changed = set(BASE).with(&with(&[(key, value)]));
        changed.and_then(|file| file.parse::<Set>().map(drop)).unwrap_err().to_string()
    };
    holds(refused("folding.rowz", json!(8)), &["x.toml", "folding.rowz", "unknown"]);
    holds(refused("foldings.rows", json!(8)), &["x.toml", "foldings", "unknown"]);
    holds(refused("folding.rows", json!("many")), &["x.toml", "`folding.rows`", "many"]);
    holds(refused("folding.rows", json!(1.5)), &["x.toml", "`folding.rows`", "1.5"]);
    holds(refused("folding.rows", json!(0)), &["x.toml", "`folding.rows`", "0 is not between"]);
    holds(refused("folding.rows.x", json!(8)), &["x.toml", "`folding.rows.x`", "`rows` is not a table"]);
    for key in ["title", "protocol", "source.kind", "extends"] {
        holds(refused(key, json!("x")), &["x.toml", &format!("`{key}`")]);
    }
    holds(refused("rlwe.error.width", json!(16.0)), &["x.toml", "`rlwe.error"]);
}

#[test]
fn headers_are_refused_by_file_and_key() {
    let refused = |text: &str| ParameterFile::of(Path::new("params/x.toml"), text).unwrap_err().to_string();
    let good = file("", BASE);
    holds(refused(&good.replace("title = \"t\"", "")), &["x.toml", "title", "missing"]);
    holds(refused(&good.replace("\"toy\"", "\"found\"")), &["x.toml", "`source.kind`", "found"]);
    holds(refused(&good.replace("kind = \"toy\"", "kind = \"toy\", papers = \"x\"")), &["x.toml", "papers", "unknown"]);
    holds(refused("title = "), &["x.toml", "line 1"]);
}
