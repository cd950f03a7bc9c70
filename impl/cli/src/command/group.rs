//! `pirlab run --group`: rows of protocols measured interleaved.

use std::path::Path;

use pir::core::record::{RunRecord, Status};

use crate::failure::Outcome;
use crate::machine;
use crate::measure::child::Order;
use crate::measure::group::{self, Job, named};
use crate::measure::plan::Plan;
use crate::measure::record::{self, Ending, Setting};
use crate::measure::row::GroupFile;
use crate::measure::steps::{Report, Step};
use crate::measure::summary;
use crate::store::Input;

/// Measures every row of a group file; nothing is written before all rows are known to be good.
pub fn main(path: &Path, probe: bool) -> Outcome<()> {
    let GroupFile { experiment, group, rows } = GroupFile::read(path)?;
    let mut plans = Vec::new();
    for row in rows {
        let id = row.id.clone();
        let plan = Plan::new(row).and_then(|plan| plan.open_database().map(|_| plan));
        plans.push(plan.map_err(|failure| named(path, &id, &failure))?);
    }
    let setting = Setting { experiment: Some(experiment), group: Some(group), machine: machine::facts() };
    group::measure(plans, path, setting, probe)
}

impl Job for Plan {
    type Report = Report;
    type Record = RunRecord;

    fn id(&self) -> &str {
        &self.row.id
    }

    fn out(&self) -> &Path {
        &self.row.out
    }

    fn inputs(&self) -> Vec<Input> {
        Plan::inputs(self)
    }

    fn repetitions(&self) -> u64 {
        self.row.repetitions
    }

    fn peak_bytes(&self) -> u64 {
        self.description.memory.peak_bytes
    }

    fn seconds(&self) -> (Option<f64>, Option<f64>) {
        (self.row.predicted_seconds, self.row.time_limit_seconds)
    }

    fn order(&self) -> Order {
        Order::Row(Box::new(self.row.clone()))
    }

    fn starts_cold(&self) -> bool {
        true
    }

    fn last_steps(&self) -> Vec<Step> {
        [Step::Noise].into_iter().chain((self.row.updates > 0).then_some(Step::Update)).collect()
    }

    fn record(&self, setting: &Setting, started: &str, ending: Ending<Report>) -> Outcome<RunRecord> {
        record::assemble(self, setting, started, ending)
    }

    fn status(record: &RunRecord) -> Status {
        record.status
    }

    fn table(records: &[RunRecord]) -> String {
        summary::group(records)
    }
}
