//! The settings of a primitive, as an experiment file gives them, read into the primitive's own type.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The setting.
    pub key: String,
    /// Value, bound and remedy.
    pub problem: String,
}

impl Refusal {
    /// A refusal of the setting `key`.
    pub fn new(key: &str, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "setting `{}`: {}", self.key, self.problem)
    }
}

/// Settings by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(pub Map<String, Value>);

impl Settings {
    /// The settings as the primitive's own type, which denies unknown fields and has the defaults.
    ///
    /// # Errors
    /// A setting is unknown, missing or of another type; the refusal names it.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_path_to_error::deserialize(Value::Object(self.0.clone())).map_err(|error| {
            let path = error.path().to_string();
            let problem = error.inner().to_string();
            // Serde names an unknown or missing field in its message only, between backquotes.
            let named = problem.split('`').nth(1).filter(|_| problem.contains("field `")).unwrap_or(&path);
            let value = self.0.get(named).map_or_else(String::new, |value| format!(" (value {value})"));
            Refusal::new(named, format!("{problem}{value}. Correct it in the experiment file."))
        })
    }
}

/// A primitive's own type as a map: every default is filled in.
///
/// # Errors
/// A type that JSON cannot hold as an object.
pub fn complete(settings: &impl Serialize) -> Result<Map<String, Value>, Refusal> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Refusal::new(".", "they are not an object.")),
        Err(error) => Err(Refusal::new(".", error.to_string())),
    }
}

#[cfg(test)]
mod tests {
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
}
