//! The settings of an operation in an experiment file, read into the operation's own type.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

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

    /// A refusal of the setting `key` by an error about its value.
    pub fn of<E: fmt::Display>(key: &str) -> impl Fn(E) -> Self {
        move |error| Self::new(key, format!("{}.", error.to_string().trim_end_matches('.')))
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
    /// The settings that were not read yet.
    pub map: Map<String, Value>,
    /// Names of the settings that were taken out.
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
        self.deserialize(Value::Object(self.map.clone()), "", &[])
    }

    /// The settings as the variant of an enum that the setting `tag` names; its fields are the other settings. `others` are names that
    /// `tag` may have beside those of the variants.
    pub fn variant<T: DeserializeOwned>(&self, tag: &str, others: &[&str]) -> Result<T, Refusal> {
        let name = self.word(tag)?.to_string();
        let mut fields = self.map.clone();
        fields.shift_remove(tag);
        self.deserialize(json!({ name: fields }), tag, others)
    }

    /// The setting `key`, a word; one of another type counts as missing.
    pub fn word(&self, key: &str) -> Result<&str, Refusal> {
        let word = self.map.get(key).and_then(Value::as_str);
        word.ok_or_else(|| Refusal::new(key, "it is missing: give a word. Correct it in the experiment file."))
    }

    fn deserialize<T: DeserializeOwned>(&self, value: Value, tag: &str, others: &[&str]) -> Result<T, Refusal> {
        typed(value).map_err(|(key, mut problem)| {
            // The fields of a variant are below its name.
            let key = if tag.is_empty() { &*key } else { key.split_once('.').map_or(tag, |(_, field)| field) };
            let further: &[&str] = match &*problem {
                unknown if unknown.starts_with("unknown field") => &self.taken,
                unknown if unknown.starts_with("unknown variant") && key == tag => others,
                _ => &[],
            };
            further.iter().for_each(|name| problem.push_str(&format!(", `{name}`")));
            let value = self.map.get(key).map_or_else(String::new, |value| format!(" (value {value})"));
            Refusal::new(key, format!("{problem}{value}. Correct it in the experiment file."))
        })
    }
}

/// Reads a JSON document; an error has the dotted key that is wrong, and why.
pub fn typed<T: DeserializeOwned>(document: Value) -> Result<T, (String, String)> {
    serde_path_to_error::deserialize(document).map_err(|error| {
        let problem = error.inner().to_string();
        let mut keys: Vec<String> = error.path().iter().map(ToString::to_string).collect();
        // Serde names a missing field in its message only, between backquotes, and an unknown one there at least.
        let field = problem.split('`').nth(1).filter(|_| problem.contains("field `"));
        keys.extend(field.filter(|field| keys.last().is_none_or(|last| last != field)).map(Into::into));
        let keys: Vec<&str> = keys.iter().map(|key| key.trim_matches(['[', ']'])).collect();
        (keys.join("."), problem)
    })
}

/// Serializes an enum as [`Settings::variant`] reads it: the variant's name as the setting `tag`, beside its fields.
pub fn tagged<T: Serialize, S: Serializer>(tag: &str, value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = Map::new();
    if let Ok(Value::Object(variant)) = serde_json::to_value(value) {
        for (name, fields) in variant {
            map.insert(tag.into(), name.into());
            map.extend(fields.as_object().cloned().unwrap_or_default());
        }
    }
    map.serialize(serializer)
}

/// The settings as a map with every default filled in; missing settings without a default are left out.
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
