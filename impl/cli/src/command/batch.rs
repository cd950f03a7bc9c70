//! `pirlab describe --batch`: JSON lines in, JSON lines out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pir::core::description::Description;
use pir::core::params::ParameterFile;
use pir::core::workload::{Shape, Workload};
use pir::registry::Protocol;
use serde::Deserialize;

use crate::failure::Outcome;
use crate::lines::answer_each;
use crate::protocol::find::{find_parameters, find_protocol, read_parameters};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    id: String,
    parameters: PathBuf,
    /// What the file `parameters` would hold; it need not exist.
    toml: Option<String>,
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
    files: HashMap<PathBuf, Result<(ParameterFile, &'static Protocol), String>>,
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
        let describe = |file: &ParameterFile, protocol: &Protocol| {
            let mut description = (protocol.describe)(file, &workload).map_err(|e| e.to_string())?;
            description.id = Some(request.id.clone());
            Ok(description)
        };
        if let Some(text) = &request.toml {
            let file = ParameterFile::of(&request.parameters, text.clone()).map_err(|e| e.to_string())?;
            let (file, protocol) = find_protocol(file).map_err(|failure| failure.text())?;
            return describe(&file, protocol);
        }
        if !self.files.contains_key(&request.parameters) {
            let read = find_parameters(&request.parameters, self.root).and_then(|path| read_parameters(&path));
            self.files.insert(request.parameters.clone(), read.map_err(|failure| failure.text()));
        }
        match self.files.get(&request.parameters) {
            Some(Ok((file, protocol))) => describe(file, protocol),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err("the parameter file was not read".into()),
        }
    }
}
