//! Rows of protocols as jobs of a group.

use pir::core::progress::Progress;
use pir::core::record::{RunRecord, Status};

use super::find::read_parameters;
use super::plan::Plan;
use super::row::Row;
use super::steps::{ProtocolSteps, Report};
use super::{record, summary};
use crate::failure::Outcome;
use crate::measure::job::{Ending, Job, Kind, Setting, Step, Steps};
use crate::store::Input;

impl Job for Plan {
    const KIND: Kind = Kind::Protocol;
    const STARTS_COLD: bool = true;
    type Row = Row;
    type Report = Report;
    type Record = RunRecord;

    fn new(row: Row) -> Outcome<Self> {
        Plan::new(row)
    }

    fn key(row: &Row) -> Outcome<String> {
        let (file, protocol) = read_parameters(&row.parameters, &row.with)?;
        Ok(row.key(file.sha256(), protocol.source_hash))
    }

    fn row(&self) -> &Row {
        &self.row
    }

    fn peak_bytes(&self) -> u64 {
        self.description.memory.peak_bytes
    }

    fn inputs(&self) -> Vec<Input> {
        Plan::inputs(self)
    }

    fn check_inputs(&self) -> Outcome<()> {
        self.open_database().map(drop)
    }

    fn last_steps(&self) -> Vec<Step> {
        [Step::Noise].into_iter().chain((self.row.updates > 0).then_some(Step::Update)).collect()
    }

    fn start<'a>(&'a self, progress: &'a dyn Progress) -> Outcome<Box<dyn Steps<Report> + 'a>> {
        Ok(Box::new(ProtocolSteps::start(self, progress)?))
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
