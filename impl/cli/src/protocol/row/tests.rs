use super::*;
use crate::measure::row::GroupFile;

fn row() -> Row {
    let text = r#"{"id":"a","parameters":"p.toml","records":4,"record_bits":8,"out":"r.json"}"#;
    serde_json::from_str(text).unwrap()
}

#[test]
fn defaults_are_filled_in() {
    let row = row();
    assert_eq!((row.queries, row.updates, row.repetitions, row.threads), (1, 0, 5, 1));
    assert_eq!((row.database.as_str(), row.kernel.as_str()), ("seeded:0", "auto"));
}

#[test]
fn the_key_follows_content_and_not_the_output() {
    let key = row().key("p", "s");
    assert_eq!(key.len(), 64);
    let same = Row {
        out: "else.json".into(),
        columns: vec!["7/1GB".into()],
        time_limit_seconds: Some(3.0),
        predicted_seconds: Some(2.0),
        repetitions: 3,
        noise_seconds: Some(1.0),
        ..row()
    };
    assert_eq!(same.key("p", "s"), key);
    let others = [
        row().key("q", "s"),
        row().key("p", "t"),
        Row { records: 5, ..row() }.key("p", "s"),
        Row { updates: 1, ..row() }.key("p", "s"),
        Row { streamed: true, ..row() }.key("p", "s"),
        Row { database: "seeded:1".into(), ..row() }.key("p", "s"),
        Row { seed: Some("0".into()), ..row() }.key("p", "s"),
    ];
    assert!(others.iter().all(|other| *other != key));
}

#[test]
fn bad_groups_are_refused_by_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.json");
    let refused = |text: &str| {
        std::fs::write(&path, text).unwrap();
        GroupFile::<Row>::read(&path).unwrap_err().text()
    };
    assert!(refused(r#"{"experiment":"e","group":"g","rows":[]}"#).contains("`rows`"));
    assert!(refused(r#"{"experiment":"e","group":"g"}"#).contains("`rows`"));
    assert!(refused(r#"{"experiment":"e","group":"g","rows":[],"x":1}"#).contains("`x`"));
    let row = r#"{"id":"a","parameters":"p.toml","records":4,"record_bits":8,"out":"r.json"}"#;
    assert!(refused(&format!(r#"{{"experiment":"e","group":"g","rows":[{row},{row}]}}"#)).contains("rows[1]"));
    let here = std::env::current_dir().unwrap().join("r.json");
    for out in ["./r.json", ".//r.json", here.to_str().unwrap()] {
        let other = row.replace("\"a\"", "\"b\"").replace("r.json", out);
        let problem = refused(&format!(r#"{{"experiment":"e","group":"g","rows":[{row},{other}]}}"#));
        assert!(problem.contains("rows[1]") && problem.contains(out) && problem.contains("`a`"), "{problem}");
    }
}
