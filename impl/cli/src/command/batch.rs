//! `pirlab describe --batch`: JSON lines in, JSON lines out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pir::core::description::Description;
use pir::core::set_file::{ParameterFile, With};
use pir::core::workload::{Shape, Workload};
use pir::registry::Protocol;
use serde::Deserialize;

use crate::failure::Outcome;
use crate::lines::answer_each;
use crate::protocol::find::{find_parameters, find_protocol, read_parameters};
use crate::protocol::row::one;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    id: String,
    parameters: PathBuf,
    /// The contents to use for the file `parameters`, which need not exist.
    toml: Option<String>,
    /// Values that replace the file's, by dotted key.
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

/// Answers every line of standard input with a line of standard output or of the file `out`, in order.
pub fn main(root: &Path, out: Option<&Path>) -> Outcome<()> {
    let mut describer = Describer { root, files: HashMap::new() };
    answer_each(out, |request| describer.description(&request).map_err(|failure| failure.text()))
}

/// Parameter files read so far; each is read once.
struct Describer<'a> {
    root: &'a Path,
    files: HashMap<PathBuf, (ParameterFile, &'static Protocol)>,
}

impl Describer<'_> {
    fn description(&mut self, request: &Request) -> Outcome<Description> {
        let shape = Shape::new(request.records, request.record_bits)?;
        let workload = Workload::new(shape, request.queries, request.updates)?.streamed(request.streamed)?;
        let path = &request.parameters;
        let (file, protocol) = match (&request.toml, self.files.get(path)) {
            (Some(text), _) => find_protocol(ParameterFile::of(path, text)?)?,
            (None, Some(known)) => known.clone(),
            (None, None) => {
                let found = read_parameters(&find_parameters(path, self.root)?, &With::new())?;
                self.files.insert(path.clone(), found.clone());
                found
            }
        };
        let mut description = (protocol.describe)(&file.with(&request.with)?, &workload)?;
        description.id = Some(request.id.clone());
        Ok(description)
    }
}
