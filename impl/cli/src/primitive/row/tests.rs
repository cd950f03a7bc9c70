use super::*;

fn row(text: &str) -> PrimitiveRow {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_key_follows_content_and_not_spelling_or_output() {
    let first = row(r#"{"id":"a","primitive":"p","settings":{"x":1,"y":[2,{"b":1,"a":2}]},"out":"r"}"#);
    let key = first.key("s");
    let turned =
        row(r#"{"id":"a","primitive":"p","settings":{"y":[2,{"a":2,"b":1}],"x":1},"out":"t","predicted_seconds":3}"#);
    assert_eq!(turned.key("s"), key);
    assert_eq!(PrimitiveRow { repetitions: 6, ..first.clone() }.key("s"), key);
    let others = [
        first.key("t"),
        row(r#"{"id":"a","primitive":"p","settings":{"x":2,"y":[2,{"b":1,"a":2}]},"out":"r"}"#).key("s"),
        PrimitiveRow { kernel: "scalar".into(), ..first.clone() }.key("s"),
        PrimitiveRow { primitive: "q".into(), ..first }.key("s"),
    ];
    assert!(others.iter().all(|other| *other != key));
}
