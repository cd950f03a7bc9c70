//! Rows and groups as experiments ask for them, and the key that says whether a row was measured already.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::plan::MOST_REPETITIONS;
use crate::failure::{Failure, Outcome};

/// Repetitions where none are asked for.
pub const REPETITIONS: u64 = 5;
/// The database where none is given.
pub const DATABASE: &str = "seeded:0";
/// The kernel path where none is given: the fastest of the machine.
pub const KERNEL: &str = "auto";

/// One parameter set at one database shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name of the row, unique in its group.
    pub id: String,
    /// Parameter file.
    pub parameters: PathBuf,
    /// Number of records.
    pub records: u64,
    /// Bits of one record.
    pub record_bits: u64,
    /// Queries answered together.
    #[serde(default = "one")]
    pub queries: u64,
    /// Records changed by one update; 0: no update is measured.
    #[serde(default)]
    pub updates: u64,
    /// Repetitions of the online phases.
    #[serde(default = "repetitions")]
    #[schemars(range(min = 1, max = MOST_REPETITIONS))]
    pub repetitions: u64,
    /// Threads of the server.
    #[serde(default = "one")]
    pub threads: u64,
    /// Whether the preprocessed database is streamed past the clock block by block, as where it exceeds memory.
    #[serde(default)]
    pub streamed: bool,
    /// `seeded:HEX`, `file:PATH` or `mmap:PATH`.
    #[serde(default = "database")]
    pub database: String,
    /// Kernel path: `auto`, `scalar`, `avx2` or `avx512`.
    #[serde(default = "kernel")]
    pub kernel: String,
    /// Seed of all randomness, hexadecimal; without it, randomness is the operating system's.
    #[serde(default)]
    pub seed: Option<String>,
    /// Seconds for which stages of few values each are diagnosed on; without it, 20, or as long as the repetitions took.
    #[serde(default)]
    #[schemars(extend("minimum" = 0))]
    pub noise_seconds: Option<f64>,
    /// The row is stopped when its own work has taken so long.
    #[serde(default)]
    pub time_limit_seconds: Option<f64>,
    /// What the row's own work is predicted to take, above zero; where that exceeds `time_limit_seconds`, the row is not run.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub predicted_seconds: Option<f64>,
    /// Where the record goes.
    pub out: PathBuf,
}

fn one() -> u64 {
    1
}

fn repetitions() -> u64 {
    REPETITIONS
}

fn database() -> String {
    DATABASE.into()
}

fn kernel() -> String {
    KERNEL.into()
}

/// Rows measured together, interleaved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupFile {
    /// The experiment, e.g. `pirouette/figure4`.
    pub experiment: String,
    /// The group, e.g. `2^18x16`.
    pub group: String,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// A path in the one form that all its spellings share, as far as that is known without looking at the folders.
fn place(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// What is wrong where two rows, given by id and output, share one of them.
fn same_name_or_output(rows: &[(&str, &Path)]) -> Option<String> {
    rows.iter().enumerate().find_map(|(i, (id, out))| {
        let (twin, _) = rows[..i].iter().find(|(other, path)| other == id || place(path) == place(out))?;
        let out = out.display();
        Some(format!("rows[{i}] (id `{id}`, out `{out}`) shares its id or out with `{twin}`. Rename it."))
    })
}

/// Reads a group file of either kind; `names` gives the id and the output of its rows, `schema` what prints its schema.
///
/// # Errors
/// It cannot be read, a key is unknown or missing, it has no rows or two of one name or output.
pub fn read_group<G: DeserializeOwned>(
    path: &Path,
    schema: &str,
    names: impl Fn(&G) -> Vec<(&str, &Path)>,
) -> Outcome<G> {
    let refuse = |problem: String| {
        let hint = format!("`pirlab schema {schema}` prints what it may hold.");
        Failure::Input(format!("group file {}: {problem} {hint}", path.display()))
    };
    let text = std::fs::read_to_string(path).map_err(|e| Failure::io(path, "reading the group file", e))?;
    let group: G = serde_json::from_str(&text).map_err(|e| refuse(format!("{e}.")))?;
    let rows = names(&group);
    if rows.is_empty() {
        return Err(refuse("key `rows` is empty: give at least one row.".into()));
    }
    match same_name_or_output(&rows) {
        Some(problem) => Err(refuse(problem)),
        None => Ok(group),
    }
}

impl GroupFile {
    /// Reads a group file; errors as [`read_group`].
    pub fn read(path: &Path) -> Outcome<Self> {
        read_group(path, "group", |group: &Self| {
            group.rows.iter().map(|row| (row.id.as_str(), row.out.as_path())).collect()
        })
    }
}

impl Row {
    /// Hash of all that decides what a record of this row says: the parameter file, the row and the sources. Where the
    /// record goes and how long the row may or will take is not part of it.
    pub fn staleness_key(&self, parameters_sha256: &str, source_hash: &str) -> String {
        let Row {
            id,
            parameters,
            records,
            record_bits,
            queries,
            updates,
            repetitions,
            threads,
            streamed,
            database,
            kernel,
            seed,
            noise_seconds,
            time_limit_seconds: _,
            predicted_seconds: _,
            out: _,
        } = self;
        let parts = [
            parameters_sha256.to_string(),
            source_hash.to_string(),
            id.clone(),
            parameters.display().to_string(),
            [records, record_bits, queries, updates, repetitions, threads].map(u64::to_string).join(" "),
            database.clone(),
            kernel.clone(),
            seed.clone().unwrap_or_default(),
        ];
        let streamed = streamed.then(|| "streamed".to_string());
        let noise = noise_seconds.map(|seconds| format!("noise {seconds}"));
        let mut hash = Sha256::new();
        hash.update(b"pirlab staleness 1");
        for part in parts.into_iter().chain(streamed).chain(noise) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        pir::core::params::hex(&hash.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let key = row().staleness_key("p", "s");
        assert_eq!(key.len(), 64);
        let same =
            Row { out: "else.json".into(), time_limit_seconds: Some(3.0), predicted_seconds: Some(2.0), ..row() };
        assert_eq!(same.staleness_key("p", "s"), key);
        let others = [
            row().staleness_key("q", "s"),
            row().staleness_key("p", "t"),
            Row { records: 5, ..row() }.staleness_key("p", "s"),
            Row { updates: 1, ..row() }.staleness_key("p", "s"),
            Row { streamed: true, ..row() }.staleness_key("p", "s"),
            Row { noise_seconds: Some(1.0), ..row() }.staleness_key("p", "s"),
            Row { database: "seeded:1".into(), ..row() }.staleness_key("p", "s"),
            Row { seed: Some("0".into()), ..row() }.staleness_key("p", "s"),
        ];
        assert!(others.iter().all(|other| *other != key));
    }

    #[test]
    fn bad_groups_are_refused_by_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.json");
        let refused = |text: &str| {
            std::fs::write(&path, text).unwrap();
            GroupFile::read(&path).unwrap_err().text()
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
}
