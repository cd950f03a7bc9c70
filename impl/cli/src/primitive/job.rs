//! Rows of primitives as jobs of a group, and what they measure step by step.

use bench::primitive::{Failed, Measured, Session};
use pir::core::progress::Progress;
use pir::core::record::Status;

use super::plan::{PrimitivePlan, find};
use super::record::{self, PrimitiveRecord};
use super::row::PrimitiveRow;
use super::summary;
use crate::failure::{Failure, Outcome};
use crate::machine::pin;
use crate::measure::job::{Ending, Job, Kind, Setting, Step, Steps};

/// A primitive under measurement.
struct PrimitiveSteps {
    session: Box<dyn Session>,
    measured: Measured,
}

fn failed(problem: Failed) -> Failure {
    Failure::Result(problem.0)
}

impl Steps<Measured> for PrimitiveSteps {
    /// To prepare is to measure once and to keep nothing of it but whether it was right.
    fn take(&mut self, step: Step) -> Outcome<()> {
        match step {
            Step::Prepare => {
                let mut warm_up = Measured::default();
                self.session.repetition(&mut warm_up).map_err(failed)?;
                self.measured.compared(warm_up.correct.compared, warm_up.correct.right);
                Ok(())
            }
            Step::Repetition => self.session.repetition(&mut self.measured).map_err(failed),
            Step::Noise | Step::Update | Step::Finish => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Outcome<Measured> {
        self.session.finish(&mut self.measured).map_err(failed)?;
        Ok(self.measured)
    }
}

impl Job for PrimitivePlan {
    const KIND: Kind = Kind::Primitive;
    // A repetition is many calls, most of which find what the one before them left.
    const STARTS_COLD: bool = false;
    type Row = PrimitiveRow;
    type Report = Measured;
    type Record = PrimitiveRecord;

    fn new(row: PrimitiveRow) -> Outcome<Self> {
        PrimitivePlan::new(row)
    }

    fn key(row: &PrimitiveRow) -> Outcome<String> {
        Ok(row.key(find(&row.primitive)?.source_hash))
    }

    fn row(&self) -> &PrimitiveRow {
        &self.row
    }

    fn peak_bytes(&self) -> u64 {
        self.described.peak_bytes
    }

    fn start<'a>(&'a self, _: &'a dyn Progress) -> Outcome<Box<dyn Steps<Measured> + 'a>> {
        pin::to_one_core();
        let session = (self.entry.start)(&self.row.settings(), &self.context).map_err(failed)?;
        Ok(Box::new(PrimitiveSteps { session, measured: Measured::default() }))
    }

    fn record(&self, setting: &Setting, started: &str, ending: Ending<Measured>) -> Outcome<PrimitiveRecord> {
        record::assemble(self, setting, started, ending)
    }

    fn status(record: &PrimitiveRecord) -> Status {
        record.status
    }

    fn table(records: &[PrimitiveRecord]) -> String {
        summary::group(records)
    }
}
