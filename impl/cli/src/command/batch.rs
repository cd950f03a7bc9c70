//! `pirlab describe --batch`: JSON lines in, JSON lines out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pir::core::description::Description;
use pir::core::set_file::{ParameterFile, With};
use pir::core::workload::{Shape, Workload};
use pir::registry::Protocol;
use serde::Deserialize;

use crate::failure::{Failure, Outcome};
use crate::lines::answer_each;
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

/// A set and its protocol, or the error that refused them.
type Read = Result<(ParameterFile, &'static Protocol), String>;

fn read(set: Outcome<(ParameterFile, &'static Protocol)>) -> Read {
    set.map_err(|failure| failure.text())
}

/// Answers every line of standard input with a line of standard output, in order.
pub fn main(root: &Path) -> Outcome<()> {
    let mut describer = Describer { root, files: HashMap::new() };
    answer_each(|request| describer.description(&request))
}

impl Describer<'_> {
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
