//! The set that a protocol takes for a database where none is given: the file `best.json` of the parameter sets' folder, which the
//! estimator writes, has for databases of many sizes the set that reaches 128 bits and 2^-40 and answers fastest.

use std::path::{Path, PathBuf};

use pir::core::set_file::With;
use pir::core::workload::{Shape, Workload};
use pir::registry;
use serde::Deserialize;

use super::find::{PARAMS_ROOT, find_parameters, find_set, read_parameters};
use crate::failure::{Failure, Outcome};
use crate::output::note;
use crate::units::{grouped, power, seconds};

/// The file.
#[derive(Deserialize)]
struct Best {
    rows: Vec<Row>,
}

/// A row: protocol, records, record bits, set, bits of security, log2 of the failure of a record, seconds from question to record.
#[derive(Deserialize)]
struct Row(String, u64, u64, String, f64, f64, f64);

impl Row {
    /// Whether its database has at least as many records, as long ones.
    fn holds(&self, shape: Shape) -> bool {
        self.1 >= shape.records && self.2 >= shape.record_bits
    }

    /// How far its database is from another, in doublings.
    fn distance(&self, shape: Shape) -> f64 {
        let apart = |here: u64, there: u64| (here as f64 / there as f64).log2().abs();
        apart(self.1, shape.records) + apart(self.2, shape.record_bits)
    }
}

/// Finds the parameter file that a command line names (see [`find_set`]). For a protocol's name it takes the best set for the workload.
/// `with` has the values that the command line replaces.
pub fn find_set_for(parameters: &Path, root: Option<&Path>, workload: &Workload, with: &With) -> Outcome<PathBuf> {
    let folder = root.unwrap_or(Path::new(PARAMS_ROOT));
    let name = parameters.to_string_lossy();
    match registry::all().iter().find(|protocol| protocol.name == name) {
        Some(protocol) if find_parameters(parameters, folder).is_err() => best(protocol, folder, workload, with),
        _ => find_set(parameters, root),
    }
}

/// The best set of a protocol that serves a workload: of the smallest database of the file that holds it, else of the nearest.
fn best(protocol: &registry::Protocol, folder: &Path, workload: &Workload, with: &With) -> Outcome<PathBuf> {
    let (path, shape) = (folder.join("best.json"), workload.shape);
    let text = pir::core::text::read(&path, "reading the best sets")?;
    let Best { mut rows } = serde_json::from_str(&text)
        .map_err(|e| Failure::Input(format!("{}: {e}. Take the file of the repository.", path.display())))?;
    rows.retain(|row| row.0 == protocol.name);
    rows.sort_by(|a, b| {
        let key = |row: &Row| (!row.holds(shape), row.distance(shape));
        key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let described = |row: &Row| -> Outcome<()> {
        let (file, protocol) = read_parameters(&find_parameters(Path::new(&row.3), folder)?, with)?;
        (protocol.describe)(&file, workload)?;
        Ok(())
    };
    let Some(row) = rows.iter().find(|&row| described(row).is_ok()) else {
        let why = rows.first().and_then(|row| described(row).err()).map(|failure| failure.text());
        return Err(Failure::Input(format!(
            "protocol {}: {} has no set for {} records of {} bits. Name a set: `pirlab list` has them all.{}",
            protocol.name,
            path.display(),
            power(shape.records),
            grouped(shape.record_bits),
            why.map_or_else(String::new, |why| format!(" The nearest set was refused: {why}"))
        )));
    };
    let Row(_, records, bits, set, security, failure, time) = row;
    note(&format!(
        "{set} is taken: of the sets of {} that reach 128 bits and a failure of 2^-40 it is predicted to be the fastest for {} records of {} \
         bits: {security:.1} bits, failure {}, {} from question to record at 50 ms a round trip and 100 Mbit/s.",
        protocol.name,
        power(*records),
        grouped(*bits),
        if *failure > -1e6 { format!("2^{failure:.1}") } else { "never".into() },
        seconds(*time)
    ));
    let found = find_parameters(Path::new(set), folder)?;
    if row.distance(shape) > 0.0 {
        let caution = if row.holds(shape) {
            "another set may be faster here"
        } else {
            "nothing is promised of this set's failure here"
        };
        let changes: String = with.iter().map(|(key, value)| format!(" --with '{key}={value}'")).collect();
        note(&format!(
            "warning: this database is not in {}, so {caution}. To predict time and failure: `pirlab describe {}{changes} --records {} \
             --record-bits {} --json > d.json && .venv/bin/pirlab-predict d.json`.",
            path.display(),
            found.display(),
            shape.records,
            shape.record_bits
        ));
    }
    Ok(found)
}
