//! A row of a primitive: its settings checked and described, measured in this process, and recorded.

use bench::primitive::{Context, Described, Failed, Measured, Session};
use bench::registry::{self, Entry};
use bench::settings::Settings;
use pir::core::progress::Progress;
use pir::core::record::{RecordKind, Status};

use super::record::{PRIMITIVE_SCHEMA, PrimitiveRecord};
use super::row::PrimitiveRow;
use super::summary;
use crate::failure::{Failure, Outcome};
use crate::machine::pin;
use crate::measure::job::{Ending, Job, Kind, Setting, Step, Steps};
use crate::measure::record::{build, judged, random_id};
use crate::measure::row::Asked;
use crate::measure::run::{find_kernel, parse_seed};
use crate::units;

/// A row that can be measured.
pub struct PrimitivePlan {
    pub row: PrimitiveRow,
    pub entry: Entry,
    /// What the primitive says of its settings.
    pub described: Described,
    /// Kernel path, and the seed of all randomness if one was given.
    pub context: Context,
}

pub fn find(name: &str) -> Outcome<Entry> {
    registry::find(name).map_err(Failure::Input)
}

/// The description that a primitive gives of its settings.
pub fn describe(entry: &Entry, settings: &Settings) -> Outcome<Described> {
    let described = (entry.read)(settings).and_then(|primitive| primitive.describe());
    described.map_err(|refusal| Failure::Input(format!("primitive {}: {refusal}", entry.name)))
}

/// A primitive under measurement.
struct Running {
    session: Box<dyn Session>,
    measured: Measured,
}

fn failed(problem: Failed) -> Failure {
    Failure::Result(problem.0)
}

impl Steps<Measured> for Running {
    /// The preparation measures once, and keeps only whether the results were right.
    fn take(&mut self, step: Step) -> Outcome<()> {
        match step {
            Step::Prepare => {
                let mut warm_up = Measured::default();
                self.session.repetition(&mut warm_up).map_err(failed)?;
                self.measured.compared(warm_up.correct.compared, warm_up.correct.right);
                Ok(())
            }
            Step::Repetition => self.session.repetition(&mut self.measured).map_err(failed),
            Step::WarmUp | Step::Noise | Step::Update | Step::Finish => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Outcome<Measured> {
        self.session.finish(&mut self.measured).map_err(failed)?;
        Ok(self.measured)
    }
}

impl Job for PrimitivePlan {
    const KIND: Kind = Kind::Primitive;
    // A repetition is many calls, most of which find the caches as the previous call left them.
    const STARTS_COLD: bool = false;
    type Row = PrimitiveRow;
    type Report = Measured;
    type Record = PrimitiveRecord;

    fn new(row: PrimitiveRow) -> Outcome<Self> {
        let run = row.run();
        run.check_limits()?;
        let context = Context { kernel: find_kernel(run.kernel)?, seed: run.seed.map(parse_seed).transpose()? };
        let entry = find(&row.primitive)?;
        let described = describe(&entry, &row.settings())?;
        Ok(Self { row, entry, described, context })
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
        let read = (self.entry.read)(&self.row.settings()).map_err(Failed::from);
        let session = read.and_then(|primitive| primitive.start(&self.context)).map_err(failed)?;
        Ok(Box::new(Running { session, measured: Measured::default() }))
    }

    fn record(&self, setting: &Setting, started: &str, ending: Ending<Measured>) -> Outcome<PrimitiveRecord> {
        let (status, reason, measured) = judged(ending, |measured: &Measured| {
            let (compared, right) = (measured.correct.compared, measured.correct.right);
            (right != compared).then(|| format!("{right} of {compared} results were right"))
        });
        let row = &self.row;
        Ok(PrimitiveRecord {
            schema: PRIMITIVE_SCHEMA.into(),
            kind: if measured.failures.is_empty() { RecordKind::Primitive } else { RecordKind::Failure },
            id: random_id()?,
            status,
            reason,
            experiment: setting.experiment.clone(),
            group: setting.group.clone(),
            row: Some(row.id.clone()),
            primitive: row.primitive.clone(),
            settings: row.settings.clone(),
            described: self.described.clone(),
            build: build(self.context.kernel, self.entry.source_hash),
            machine: setting.machine.clone(),
            threads: 1,
            repetitions: row.repetitions,
            seed: self.context.seed.map(|seed| pir::core::set_file::hex(&seed)),
            measured,
            staleness_key: row.key(self.entry.source_hash),
            started: started.into(),
            finished: units::now(),
        })
    }

    fn status(record: &PrimitiveRecord) -> Status {
        record.status
    }

    fn table(records: &[PrimitiveRecord]) -> String {
        summary::group(records)
    }
}
