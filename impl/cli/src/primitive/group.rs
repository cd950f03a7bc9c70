//! `pirlab primitive run --group`: rows of primitives measured interleaved.

use std::path::Path;

use pir::core::record::Status;

use super::record::{self, PrimitiveRecord};
use super::row::PrimitiveGroupFile;
use super::steps::{PrimitivePlan, PrimitiveReport};
use super::summary;
use crate::failure::Outcome;
use crate::machine;
use crate::measure::child::Order;
use crate::measure::group::{self, Job, named};
use crate::measure::record::{Ending, Setting};
use crate::measure::steps::Step;
use crate::store::Input;

/// Measures every row of a group file; nothing is written before all rows are known to be good.
///
/// # Errors
/// A row that cannot be used, went wrong, or whose record cannot be written.
pub fn main(path: &Path, probe: bool) -> Outcome<()> {
    let PrimitiveGroupFile { experiment, group, rows } = PrimitiveGroupFile::read(path)?;
    let mut plans = Vec::new();
    for row in rows {
        let id = row.id.clone();
        plans.push(PrimitivePlan::new(row).map_err(|failure| named(path, &id, &failure))?);
    }
    let setting = Setting { experiment: Some(experiment), group: Some(group), machine: machine::facts() };
    group::measure(plans, path, setting, probe)
}

impl Job for PrimitivePlan {
    type Report = PrimitiveReport;
    type Record = PrimitiveRecord;

    fn id(&self) -> &str {
        &self.row.id
    }

    fn out(&self) -> &Path {
        &self.row.out
    }

    fn inputs(&self) -> Vec<Input> {
        Vec::new()
    }

    fn repetitions(&self) -> u64 {
        self.row.repetitions
    }

    fn peak_bytes(&self) -> u64 {
        self.described.peak_bytes
    }

    fn seconds(&self) -> (Option<f64>, Option<f64>) {
        (self.row.predicted_seconds, self.row.time_limit_seconds)
    }

    fn order(&self) -> Order {
        Order::Primitive(Box::new(self.row.clone()))
    }

    /// A repetition is many calls, most of which find what the one before them left.
    fn starts_cold(&self) -> bool {
        false
    }

    fn last_steps(&self) -> Vec<Step> {
        Vec::new()
    }

    fn record(&self, setting: &Setting, started: &str, ending: Ending<PrimitiveReport>) -> Outcome<PrimitiveRecord> {
        record::assemble(self, setting, started, ending)
    }

    fn status(record: &PrimitiveRecord) -> Status {
        record.status
    }

    fn table(records: &[PrimitiveRecord]) -> String {
        summary::group(records)
    }
}
