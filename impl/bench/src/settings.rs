//! The settings of an operation, as an experiment file gives them, read into the operation's own type.

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

    /// A refusal of the setting `key` by what was made of it.
    pub fn of<E: fmt::Display>(key: &str) -> impl Fn(E) -> Self {
        move |error| Self::new(key, error.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "setting `{}`: {}", self.key, self.problem)
    }
}

impl std::error::Error for Refusal {}

/// Settings by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings {
    /// Those not read yet.
    pub map: Map<String, Value>,
    /// Names of those that were taken out.
    #[serde(skip)]
    taken: Vec<&'static str>,
}

impl Settings {
    /// The settings of a map.
    pub fn new(map: Map<String, Value>) -> Self {
        Self { map, taken: Vec::new() }
    }

    /// Takes out the settings `keys`, which `T` reads; the others are read by [`Self::parse`] later.
    pub fn take<T: DeserializeOwned>(&mut self, keys: &[&'static str]) -> Result<T, Refusal> {
        let (taken, map) = std::mem::take(&mut self.map).into_iter().partition(|(key, _)| keys.contains(&key.as_str()));
        self.map = map;
        self.taken.extend(keys);
        Self::new(taken).parse()
    }

    /// The settings as a type that denies unknown fields and has the defaults; a refusal names the setting that is unknown, missing or of
    /// another type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_path_to_error::deserialize(Value::Object(self.map.clone())).map_err(|error| {
            let path = error.path().to_string();
            let mut problem = error.inner().to_string();
            if problem.starts_with("unknown field") {
                self.taken.iter().for_each(|key| problem.push_str(&format!(", `{key}`")));
            }
            // Serde names an unknown or missing field in its message only, between backquotes.
            let named = problem.split('`').nth(1).filter(|_| problem.contains("field `")).unwrap_or(&path);
            let value = self.map.get(named).map_or_else(String::new, |value| format!(" (value {value})"));
            Refusal::new(named, format!("{problem}{value}. Correct it in the experiment file."))
        })
    }
}

/// Settings that were read as a map in which every default is filled in, and what has none is left out.
pub fn complete(settings: &impl Serialize) -> Result<Map<String, Value>, Refusal> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(mut map)) => {
            map.retain(|_, value| !value.is_null());
            Ok(map)
        }
        Ok(_) => Err(Refusal::new(".", "they are not an object.")),
        Err(error) => Err(Refusal::new(".", error.to_string())),
    }
}

#[cfg(test)]
mod tests;
