//! A parameter file: which protocol it is for, where it comes from, and its identity.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::core::error::{Error, Result};
use crate::core::params::ParameterSet;

/// Where a set comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceNote {
    /// Published in a paper, repaired by hand from a published one, our own, found by the search, or a toy.
    pub kind: SourceKind,
    /// Paper the set is from or is derived from.
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
    /// Anything a reader should know.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

/// Kind of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// As a paper or its code has it.
    Published,
    /// A published set changed to reach its targets.
    Repaired,
    /// Ours, not a paper's: other digits, messages or layouts than any published set has.
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
    /// The file as it was named on the command line.
    pub path: String,
    /// SHA-256 of the file's bytes, hexadecimal.
    pub sha256: String,
    /// Where the set comes from.
    pub source: SourceNote,
}

/// A parameter file's bytes with their identity, before it is known which protocol reads them.
#[derive(Clone, Debug)]
pub struct ParameterFile {
    /// Where it is.
    pub path: std::path::PathBuf,
    /// The protocol named in the file.
    pub protocol: String,
    source: SourceNote,
    /// The protocol's keys and tables.
    body: toml::Table,
    sha256: String,
}

/// What a parameter file has beside its protocol's keys and tables.
#[derive(Deserialize, JsonSchema)]
struct Header {
    /// The protocol.
    protocol: String,
    /// One line for tables.
    #[serde(rename = "title")]
    _title: String,
    /// Where the set comes from.
    source: SourceNote,
}

/// JSON Schema of the files of a protocol.
pub fn schema<P: ParameterSet>() -> serde_json::Value {
    let [header, mut body] = [schemars::schema_for!(Header), schemars::schema_for!(P)].map(schemars::Schema::to_value);
    for part in ["properties", "$defs"] {
        for (key, value) in header[part].as_object().into_iter().flatten() {
            body[part][key] = value.clone();
        }
    }
    if let Some(required) = body["required"].as_array_mut() {
        required.splice(0..0, header["required"].as_array().into_iter().flatten().cloned());
    }
    body
}

impl ParameterFile {
    /// Reads a file and the `protocol` it names.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, or names no protocol.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, "reading the parameter file", e))?;
        Self::of(path, text)
    }

    /// A file that holds `text`, whether or not it exists.
    ///
    /// # Errors
    /// The text is not TOML, or names no protocol, title or source.
    pub fn of(path: &Path, text: String) -> Result<Self> {
        let refuse = |e| toml_error(path, &text, &e);
        let Header { protocol, source, _title } = toml::from_str(&text).map_err(refuse)?;
        let mut body: toml::Table = toml::from_str(&text).map_err(refuse)?;
        body.retain(|key, _| !["protocol", "title", "source"].contains(&key));
        let sha256 = hex(&Sha256::digest(text.as_bytes()));
        Ok(Self { path: path.to_path_buf(), protocol, source, body, sha256 })
    }

    /// Parses and checks the set.
    ///
    /// # Errors
    /// Unknown or missing keys and values out of range, with file, key and remedy.
    pub fn parse<P: ParameterSet>(&self) -> Result<P> {
        let set = P::deserialize(self.body.clone()).map_err(|e| toml_error(&self.path, "", &e))?;
        set.check().map_err(|e| e.in_file(&self.path))?;
        Ok(set)
    }

    /// The set's identity.
    pub fn id(&self) -> ParametersId {
        ParametersId {
            name: self.name(),
            path: self.path.display().to_string(),
            sha256: self.sha256.clone(),
            source: self.source.clone(),
        }
    }

    /// SHA-256 of the file's bytes, hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The path below the last `params` folder without its extension; the file's stem where there is no such folder.
    pub fn name(&self) -> String {
        let parts: Vec<_> = self.path.iter().map(|part| part.to_string_lossy()).collect();
        let below = parts.iter().rposition(|part| part == "params").map_or(parts.len() - 1, |i| i + 1);
        let name = parts[below..].join("/");
        name.strip_suffix(".toml").unwrap_or(&name).to_string()
    }
}

fn toml_error(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    // The error's own text quotes the source over several lines; one line names the place, or the key where the text is not at hand.
    let what = match error.span() {
        Some(span) => {
            let line = text[..span.start.min(text.len())].lines().count().max(1);
            format!("line {line}: {}", error.message())
        }
        None => error.to_string(),
    };
    let what = what.trim_end().replace('\n', " ");
    Error::Parameters {
        file: path.display().to_string(),
        problem: format!("{what}. Compare with the schema in params/ or with a set there."),
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
