use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    base: u64,
    #[serde(default)]
    dropped: u32,
}

fn settings(text: &str) -> Settings {
    serde_json::from_str(text).unwrap()
}

#[test]
fn settings_are_read_with_defaults_and_completed() {
    let own: Own = settings(r#"{"base": 2}"#).parse().unwrap();
    assert_eq!(own, Own { base: 2, dropped: 0 });
    assert_eq!(serde_json::to_string(&complete(&own).unwrap()).unwrap(), r#"{"base":2,"dropped":0}"#);
}

#[test]
fn a_refusal_names_the_setting() {
    let key = |text: &str| settings(text).parse::<Own>().unwrap_err().key;
    assert_eq!(key(r#"{"base": 2, "bsae": 3}"#), "bsae");
    assert_eq!(key(r#"{"dropped": 2}"#), "base");
    let wrong = settings(r#"{"base": "two"}"#).parse::<Own>().unwrap_err();
    assert_eq!(wrong.key, "base");
    assert!(wrong.to_string().contains("\"two\"") && wrong.to_string().contains("u64"), "{wrong}");
}
