//! `pirlab describe --batch`: JSON lines in, JSON lines out.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use pir::core::description::Description;
use pir::core::set_file::{ParameterFile, With};
use pir::core::workload::{Shape, Workload};
use pir::registry::Protocol;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::output::checked;
use crate::protocol::find::{find_parameters, find_protocol, read_parameters};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    id: String,
    parameters: PathBuf,
    /// What the file `parameters` would hold; it need not exist.
    toml: Option<String>,
    /// Values that stand instead of the file's, by dotted key.
    #[serde(default)]
    with: With,
    records: u64,
    record_bits: u64,
    #[serde(default = "one")]
    queries: u64,
    #[serde(default)]
    updates: u64,
    #[serde(default)]
    streamed: bool,
}

fn one() -> u64 {
    1
}

/// Parameter files read so far; each is read once.
struct Describer<'a> {
    root: &'a Path,
    files: HashMap<PathBuf, Read>,
}

/// A set and its protocol, or why there is none.
type Read = Result<(ParameterFile, &'static Protocol), String>;

fn read(set: Outcome<(ParameterFile, &'static Protocol)>) -> Read {
    set.map_err(|failure| failure.text())
}

/// Answers every line of standard input with a line of standard output, in order.
pub fn main(root: &Path) -> Outcome<()> {
    let mut describer = Describer { root, files: HashMap::new() };
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let mut line = String::new();
    loop {
        line.clear();
        let read =
            input.read_line(&mut line).map_err(|e| Failure::Input(format!("standard input: {e}. Give JSON lines.")))?;
        if read == 0 {
            return checked(out.flush());
        }
        if line.trim().is_empty() {
            continue;
        }
        let answer = describer.answer(&line);
        checked(writeln!(out, "{answer}"))?;
        // Whoever waits for an answer before the next request gets it.
        if input.buffer().is_empty() {
            checked(out.flush())?;
        }
    }
}

impl Describer<'_> {
    fn answer(&mut self, line: &str) -> String {
        self.describe(line).unwrap_or_else(|problem| {
            let id = serde_json::from_str::<Value>(line).ok().and_then(|value| value.get("id").cloned());
            json!({"id": id, "error": problem}).to_string()
        })
    }

    fn describe(&mut self, line: &str) -> Result<String, String> {
        let request: Request = serde_json::from_str(line).map_err(|e| format!("not a request: {e}"))?;
        let description = self.description(&request)?;
        serde_json::to_string(&description).map_err(|e| e.to_string())
    }

    fn description(&mut self, request: &Request) -> Result<Description, String> {
        let shape = Shape::new(request.records, request.record_bits).map_err(|e| e.to_string())?;
        let workload = Workload::new(shape, request.queries, request.updates)
            .and_then(|workload| workload.streamed(request.streamed))
            .map_err(|e| e.to_string())?;
        let (file, protocol) = match &request.toml {
            Some(text) => {
                read(ParameterFile::of(&request.parameters, text).map_err(Failure::from).and_then(find_protocol))
            }
            None => {
                let path = &request.parameters;
                let found = || find_parameters(path, self.root).and_then(|path| read_parameters(&path, &With::new()));
                self.files.entry(path.clone()).or_insert_with(|| read(found())).clone()
            }
        }?;
        let file = file.with(&request.with).map_err(|e| e.to_string())?;
        let mut description = (protocol.describe)(&file, &workload).map_err(|e| e.to_string())?;
        description.id = Some(request.id.clone());
        Ok(description)
    }
}
