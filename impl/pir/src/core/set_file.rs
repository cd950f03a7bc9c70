//! Parameter files: a set's header, its tables put over those of the set it extends, and its identity.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::core::error::{Error, Result};
use crate::core::params::ParameterSet;
use crate::core::text;

/// The origin of a set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceNote {
    /// Published in a paper, in its authors' code alone, repaired by hand from a published one, our own, found by the search, or a toy.
    pub kind: SourceKind,
    /// The paper that printed the set, or the set that it is derived from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub paper: Option<String>,
    /// Table and column, or file of the reference implementation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub location: Option<String>,
    /// Command that finds the set again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    /// Commit at which that command was run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
    /// Seed of that command.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<String>,
    /// Anything else that a reader should know.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

/// Kind of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// As printed in a paper.
    Published,
    /// As the authors' code has it, where the paper does not.
    Reference,
    /// A published set changed to reach its targets.
    Repaired,
    /// Our own: its digits, messages or layout differ from those of every published set.
    Own,
    /// Found by `pirlab-search`.
    Searched,
    /// Small and fast, to show that a protocol works; may be insecure.
    Toy,
}

/// Identity of a parameter set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParametersId {
    /// Path below params/ without extension: `simplepir/usenix23`.
    pub name: String,
    /// The values that the row overrides, by dotted key: `folding.rows`.
    #[serde(skip_serializing_if = "With::is_empty", default)]
    pub with: With,
    /// The file as it was named on the command line.
    pub path: String,
    /// SHA-256 of the resolved set, hexadecimal.
    pub sha256: String,
    /// Where the set comes from.
    pub source: SourceNote,
}

impl ParametersId {
    /// The set's name with the overridden values.
    pub fn label(&self) -> String {
        labelled(&self.name, &self.with)
    }
}

/// Values that replace a set's own, by dotted key.
pub type With = BTreeMap<String, Value>;

/// A name or path of a set with the overridden values.
fn labelled(name: &str, with: &With) -> String {
    let values: Vec<String> = with.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if values.is_empty() { name.into() } else { format!("{name} with {}", values.join(", ")) }
}

/// A file's statements about itself, which are never inherited from the set that it extends.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Header {
    /// The protocol that reads the set.
    protocol: String,
    /// One line for people.
    title: String,
    /// The set whose tables this one inherits and changes: `name` in the same folder, or `folder/name` below params/.
    #[serde(default)]
    extends: Option<String>,
    /// Where the set comes from.
    source: SourceNote,
}

/// Keys of a file that belong to its header.
const HEADER: [&str; 4] = ["protocol", "title", "extends", "source"];

/// Tables that are one value: they are replaced whole, because merging two could leave two alternatives side by side.
const WHOLE: [&str; 2] = ["secret", "error"];

type Table = Map<String, Value>;

/// A resolved parameter set: its header, and its tables merged with those of the sets it extends, not yet read by a protocol.
#[derive(Clone, Debug)]
pub struct ParameterFile {
    /// The file as it was named.
    pub path: PathBuf,
    /// The protocol named in the file.
    pub protocol: String,
    /// One line for people.
    pub title: String,
    /// Where the set comes from.
    pub source: SourceNote,
    with: With,
    body: Table,
    sha256: String,
}

impl ParameterFile {
    /// Reads a file and the sets it extends.
    pub fn read(path: &Path) -> Result<Self> {
        Self::of(path, &text::read(path, "reading the parameter file")?)
    }

    /// Resolves a set from `text`, as if `path` contained it.
    pub fn of(path: &Path, text: &str) -> Result<Self> {
        let (header, own) = parts(path, text)?;
        let mut chain = vec![path.to_path_buf()];
        let mut tables = vec![own];
        let mut next = header.extends.clone();
        while let Some(name) = next {
            let (file, base) = (chain[chain.len() - 1].clone(), base_path(&chain[chain.len() - 1], &name));
            let refuse = |problem: String| refusal(&file.display().to_string(), "extends", &problem);
            if chain.contains(&base) {
                return Err(refuse(format!(
                    "`{name}` leads back to {}. Let one of the two hold its tables.",
                    base.display()
                )));
            }
            let text = text::read(&base, "reading").map_err(|e| {
                let remedy = "Name a set of the same folder, or folder/name below params/.";
                refuse(format!("`{name}`: {e} {remedy}"))
            })?;
            let (of_base, table) = parts(&base, &text)?;
            if of_base.protocol != header.protocol {
                let problem = format!("`{name}` is a set of {}. Name one of {}.", of_base.protocol, header.protocol);
                return Err(refuse(problem));
            }
            chain.push(base);
            tables.push(table);
            next = of_base.extends;
        }
        let mut body = Table::new();
        tables.into_iter().rev().for_each(|table| merge(&mut body, table));
        let Header { protocol, title, source, extends: _ } = header;
        let sha256 = hash(&protocol, &body);
        Ok(Self { path: path.to_path_buf(), protocol, title, source, with: With::new(), body, sha256 })
    }

    /// The set with some of its values replaced. [`Self::parse`] checks whether the protocol knows the keys and accepts the values.
    pub fn with(mut self, with: &With) -> Result<Self> {
        for (key, value) in with {
            let refuse = |problem: String| {
                refusal(&self.path.display().to_string(), key, &format!("with {key}={value}: {problem}"))
            };
            let mut names: Vec<&str> = key.split('.').collect();
            if HEADER.contains(&names[0]) {
                return Err(refuse("the key belongs to a file's header. Change it in the file.".into()));
            }
            let last = names.pop().unwrap_or_default();
            let mut table = &mut self.body;
            for name in names {
                let inner = table.entry(name).or_insert_with(|| Value::Object(Table::new()));
                table = inner.as_object_mut().ok_or_else(|| refuse(format!("`{name}` is not a table.")))?;
            }
            table.insert(last.into(), value.clone());
        }
        self.with.extend(with.clone());
        self.sha256 = hash(&self.protocol, &self.body);
        Ok(self)
    }

    /// Reads and checks the set.
    pub fn parse<P: ParameterSet>(&self) -> Result<P> {
        let set: P = typed(&self.label(), &self.body)?;
        set.check().map_err(|error| self.named(error)).map(|()| set)
    }

    /// Adds the file's name to an error about one of its values.
    pub fn named(&self, error: Error) -> Error {
        error.in_file(&self.label())
    }

    fn label(&self) -> String {
        labelled(&self.path.display().to_string(), &self.with)
    }

    /// The set's identity.
    pub fn id(&self) -> ParametersId {
        ParametersId {
            name: self.name(),
            with: self.with.clone(),
            path: self.path.display().to_string(),
            sha256: self.sha256.clone(),
            source: self.source.clone(),
        }
    }

    /// SHA-256 of the resolved set without title and source, hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The resolved set without its header.
    pub fn body(&self) -> &Map<String, Value> {
        &self.body
    }

    /// The path below the last `params` folder without its extension; the file's stem where there is no such folder.
    pub fn name(&self) -> String {
        let parts: Vec<_> = self.path.iter().map(|part| part.to_string_lossy()).collect();
        let below = parts.iter().rposition(|part| part == "params").map_or(parts.len() - 1, |i| i + 1);
        let name = parts[below..].join("/");
        name.strip_suffix(".toml").unwrap_or(&name).to_string()
    }
}

/// A file's header and its own tables.
fn parts(path: &Path, text: &str) -> Result<(Header, Table)> {
    if text.len() > text::MOST_BYTES {
        return Err(Error::Parameters { file: path.display().to_string(), problem: text::TOO_LONG.into() });
    }
    let mut body: Table = toml::from_str(text).map_err(|e| syntax_error(path, text, &e))?;
    let header = HEADER.iter().filter_map(|&key| Some((key.to_string(), body.shift_remove(key)?))).collect();
    Ok((typed(&path.display().to_string(), &header)?, body))
}

/// Reads a table as a type; an error names the dotted key.
fn typed<T: DeserializeOwned>(file: &str, table: &Table) -> Result<T> {
    serde_path_to_error::deserialize(Value::Object(table.clone())).map_err(|error| {
        let key = error.path().to_string();
        let problem = format!("{}. Compare with the schema in params/ or with a set there.", error.inner());
        if key == "." { Error::Parameters { file: file.into(), problem } } else { refusal(file, &key, &problem) }
    })
}

fn refusal(file: &str, key: &str, problem: &str) -> Error {
    Error::Parameters { file: file.into(), problem: format!("key `{key}`: {problem}") }
}

/// The file of the set that `file` extends by `name`.
fn base_path(file: &Path, name: &str) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    let root = folder.ancestors().find(|folder| folder.ends_with("params")).or(folder.parent());
    let from = if name.contains('/') { root.unwrap_or(folder) } else { folder };
    from.join(format!("{name}.toml"))
}

/// Puts a table over another, key by key.
fn merge(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Object(inner)), Value::Object(value)) if !WHOLE.contains(&key.as_str()) => merge(inner, value),
            (_, value) => drop(below.insert(key, value)),
        }
    }
}

/// SHA-256 of the canonical JSON of protocol and body: keys sorted, whole numbers without a point.
fn hash(protocol: &str, body: &Table) -> String {
    let set = canonical(&json!({"protocol": protocol, "body": body}));
    hex(&Sha256::digest(set.to_string().as_bytes()))
}

fn canonical(value: &Value) -> Value {
    /// A double represents every whole number up to this one exactly.
    const EXACT: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;
    match value {
        Value::Object(table) => {
            let sorted: BTreeMap<_, _> = table.iter().map(|(key, value)| (key.clone(), canonical(value))).collect();
            Value::Object(sorted.into_iter().collect())
        }
        Value::Array(list) => list.iter().map(canonical).collect(),
        Value::Number(number) => match number.as_f64() {
            Some(double) if number.is_f64() && double.fract() == 0.0 && double.abs() < EXACT => (double as i64).into(),
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

/// The JSON Schema of the files of a protocol whose sets are `S`. A file that extends another may omit any key of a table, so the schema
/// requires no table's keys; the program refuses a resolved set that lacks one.
pub fn schema_of<S: JsonSchema>() -> Value {
    let (mut set, header) = (schema_for!(S).to_value(), schema_for!(Header).to_value());
    for table in set["$defs"].as_object_mut().into_iter().flat_map(Table::values_mut).filter_map(Value::as_object_mut) {
        table.remove("required");
    }
    let tables = set["required"].take();
    for part in ["$defs", "properties"] {
        let both = [&header, &set].into_iter().filter_map(|schema| schema[part].as_object().cloned());
        set[part] = Value::Object(both.flatten().collect());
    }
    set["required"] = header["required"].clone();
    set["if"] = json!({"required": ["extends"]});
    set["else"] = json!({"required": tables});
    set
}

fn syntax_error(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    // The error's own text quotes the source over several lines; one line names the place.
    let line = error.span().map(|span| text[..span.start.min(text.len())].lines().count().max(1));
    let place = line.map_or_else(String::new, |line| format!("line {line}: "));
    let what = error.message().trim_end().replace('\n', " ");
    let problem = format!("{place}{what}. Compare with a set in params/.");
    Error::Parameters { file: path.display().to_string(), problem }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests;
