//! Groups of rows in files, and the key that decides whether a row was measured already.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::run::Run;
use crate::failure::{Failure, Outcome};

/// A row of a group file.
pub trait Asked: Clone + Serialize + DeserializeOwned {
    /// The name of the schema of its group files.
    const GROUP_SCHEMA: &'static str;
    fn run(&self) -> Run<'_>;
    /// Number of threads that work at the same time.
    fn threads(&self) -> u64 {
        1
    }
}

/// Implements [`Asked`] for a row of group files of that schema. A row with threads names the field of their number last.
macro_rules! asked {
    ($row:ty, $schema:literal $(, $threads:ident)?) => {
        impl Asked for $row {
            const GROUP_SCHEMA: &'static str = $schema;

            fn run(&self) -> Run<'_> {
                Run {
                    id: &self.id,
                    out: &self.out,
                    repetitions: self.repetitions,
                    kernel: &self.kernel,
                    seed: self.seed.as_deref(),
                    time_limit_seconds: self.time_limit_seconds,
                    predicted_seconds: self.predicted_seconds,
                }
            }

            $(fn threads(&self) -> u64 {
                self.$threads
            })?
        }
    };
}
pub(crate) use asked;

/// Rows measured together, interleaved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{R}Group")]
pub struct GroupFile<R> {
    /// The experiment, e.g. `pirouette/figure4`.
    pub experiment: String,
    /// The group, e.g. `2^18x16`.
    pub group: String,
    /// Its rows.
    pub rows: Vec<R>,
}

/// A path in a form that its spellings share, without looking at the folders.
fn place(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The problem of two rows that share their name or their output.
fn same_name_or_output(rows: &[Run]) -> Option<String> {
    rows.iter().enumerate().find_map(|(i, Run { id, out, .. })| {
        let twin = rows[..i].iter().find(|other| other.id == *id || place(other.out) == place(out))?.id;
        let out = out.display();
        Some(format!("rows[{i}] (id `{id}`, out `{out}`) shares its id or out with `{twin}`. Rename it."))
    })
}

impl<R: Asked> GroupFile<R> {
    /// Reads a group file; refuses one without rows, or with two of one name or output.
    pub fn read(path: &Path) -> Outcome<Self> {
        let refuse = |problem: String| {
            let hint = format!("`pirlab schema {}` prints what it may hold.", R::GROUP_SCHEMA);
            Failure::Input(format!("group file {}: {problem} {hint}", path.display()))
        };
        let text = pir::core::text::read(path, "reading the group file")?;
        let group: Self = serde_json::from_str(&text).map_err(|e| refuse(format!("{e}.")))?;
        if group.rows.is_empty() {
            return Err(refuse("key `rows` is empty: give at least one row.".into()));
        }
        let names: Vec<Run> = group.rows.iter().map(R::run).collect();
        match same_name_or_output(&names) {
            Some(problem) => Err(refuse(problem)),
            None => Ok(group),
        }
    }
}

/// Hash of the parts that determine a record of a row; `label` separates the kinds of rows.
pub fn staleness_key(label: &str, parts: impl IntoIterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    hash.update(label.as_bytes());
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    pir::core::set_file::hex(&hash.finalize())
}
