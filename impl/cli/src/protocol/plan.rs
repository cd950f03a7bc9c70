//! A row of a protocol: it is prepared (without touching a database or allocating), measured in this process, and recorded.

use std::path::Path;

use pir::core::database::{Database, database_file};
use pir::core::description::Description;
use pir::core::progress::Progress;
use pir::core::record::{DatabaseId, MemoryUse, RUN_SCHEMA, RecordKind, RunRecord, Status};
use pir::core::runner::{Measured, Options, Session};
use pir::core::set_file::{ParameterFile, hex};
use pir::core::workload::{Shape, Workload};
use pir::registry::Protocol;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::find::read_parameters;
use super::row::{KEYS, Row};
use super::summary;
use crate::failure::{Failure, Outcome};
use crate::machine::{memory, pin};
use crate::measure::job::{Ending, Job, Kind, Setting, Step, Steps};
use crate::measure::record::{build, judged, random_id};
use crate::measure::row::Asked;
use crate::measure::run::{find_kernel, parse_seed, too_large};
use crate::store::Input;
use crate::units;

/// Most seconds that a row may request for measuring noise.
const MOST_NOISE_SECONDS: f64 = 86400.0;

/// A row that can be measured.
pub struct Plan {
    pub row: Row,
    pub file: ParameterFile,
    pub protocol: &'static Protocol,
    /// The workload.
    pub workload: Workload,
    /// The protocol's description of the workload.
    pub description: Description,
    /// Kernel path, threads, repetitions, seed, seconds of noise.
    pub options: Options,
}

impl Plan {
    /// Checks a row.
    pub fn new(row: Row) -> Outcome<Self> {
        let refuse = |text: String| Err(Failure::Input(text));
        let run = row.run();
        run.check_limits()?;
        let cores = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
        if !(1..=cores).contains(&row.threads) {
            return refuse(format!(
                "threads = {}: this process may use 1 to {cores}. Give --threads in that range.",
                row.threads
            ));
        }
        let options = Options {
            kernel: find_kernel(run.kernel)?,
            threads: row.threads as usize,
            repetitions: row.repetitions,
            seed: run.seed.map(parse_seed).transpose()?,
            noise_seconds: row.noise_seconds,
        };
        if let Some(seconds) = row.noise_seconds.filter(|seconds| !(0.0..=MOST_NOISE_SECONDS).contains(seconds)) {
            return refuse(format!(
                "noise seconds = {seconds}: from 0 to {MOST_NOISE_SECONDS}. Give --noise-seconds in that range."
            ));
        }
        let (file, protocol) = read_parameters(&row.parameters, &row.with)?;
        let shape = Shape::new(row.records, row.record_bits)?;
        let workload = Workload::new(shape, row.queries, row.updates)?.streamed(row.streamed)?;
        let description = (protocol.describe)(&file, &workload)?;
        Ok(Self { row, file, protocol, workload, description, options })
    }

    /// Refuses a row that does not fit in memory.
    pub fn check_memory(&self) -> Outcome<()> {
        match too_large(self.description.memory.peak_bytes, memory::free()) {
            None => Ok(()),
            Some(sizes) => Err(Failure::Input(format!(
                "database too large for memory: {} with --records {} --record-bits {} {sizes}. Give fewer records or bits, \
                 free memory, or take a machine with more.",
                self.row.parameters.display(),
                self.row.records,
                self.row.record_bits
            ))),
        }
    }

    pub fn open_database(&self) -> Outcome<Database> {
        Ok(Database::open(&self.row.database, self.workload.shape)?)
    }
}

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
        let database = &self.row.database;
        let records = database_file(database).map(|path| Input::new("the database", path));
        let keys = database.split_once(KEYS).map(|(_, path)| Input::new("the file of keys", Path::new(path)));
        [Input::new("the parameter file", &self.row.parameters)].into_iter().chain(records).chain(keys).collect()
    }

    fn check_inputs(&self) -> Outcome<()> {
        self.open_database().map(drop)
    }

    fn last_steps(&self) -> Vec<Step> {
        [Step::Noise].into_iter().chain((self.row.updates > 0).then_some(Step::Update)).collect()
    }

    /// Opens the database, hashes what files hold of it, pins the process if one thread is requested, makes the requested threads and starts
    /// the protocol.
    fn start<'a>(&'a self, progress: &'a dyn Progress) -> Outcome<Box<dyn Steps<Report> + 'a>> {
        let database = self.open_database()?;
        let identity = identity(&database)?;
        if self.row.threads == 1 {
            pin::to_one_core();
        }
        pin::to_threads(self.options.threads)?;
        let mut watch = memory::Watch::start(self.description.memory.peak_bytes);
        let session = (self.protocol.session)(&self.file, database, self.workload, &self.options, progress)?;
        watch.sample();
        Ok(Box::new(Running { session, watch, identity }))
    }

    fn record(&self, setting: &Setting, started: &str, ending: Ending<Report>) -> Outcome<RunRecord> {
        let (status, reason, report) = judged(ending, |report: &Report| {
            let (compared, right) = (report.measured.correct.compared, report.measured.correct.right);
            (right != compared || compared == 0).then(|| format!("{right} of {compared} retrieved records were right"))
        });
        let Report { measured, memory, identity: (source, sha256) } = report;
        let row = &self.row;
        Ok(RunRecord {
            schema: RUN_SCHEMA.into(),
            kind: RecordKind::Protocol,
            id: random_id()?,
            status,
            reason,
            experiment: setting.experiment.clone(),
            group: setting.group.clone(),
            row: setting.group.as_ref().map(|_| row.id.clone()),
            columns: row.columns.clone(),
            protocol: self.protocol.name.into(),
            parameters: self.description.parameters.clone(),
            database: DatabaseId {
                records: row.records,
                record_bits: row.record_bits,
                source: if source.is_empty() { row.database.clone() } else { source },
                sha256,
            },
            queries: row.queries,
            updates: row.updates,
            description: self.description.clone(),
            build: build(self.options.kernel, self.protocol.source_hash),
            machine: setting.machine.clone(),
            threads: row.threads,
            repetitions: row.repetitions,
            seed: self.options.seed.map(|seed| hex(&seed)),
            phases: measured.phases,
            transcript: measured.transcript,
            payload_sha256: measured.payload_sha256,
            memory: MemoryUse {
                described_peak_bytes: self.description.memory.peak_bytes,
                server: if row.streamed { Vec::new() } else { measured.held },
                ..memory
            },
            noise: measured.noise,
            correct: measured.correct,
            streamed: row.streamed,
            staleness_key: row.key(self.file.sha256(), self.protocol.source_hash),
            started: started.into(),
            finished: units::now(),
        })
    }

    fn status(record: &RunRecord) -> Status {
        record.status
    }

    fn table(records: &[RunRecord]) -> String {
        summary::group(records)
    }
}

/// The source of a database, which ends with the SHA-256 of its keys if it has keys (64 bits each, lowest byte first), and the SHA-256 of the
/// records that a file holds.
type Identity = (String, Option<String>);

fn identity(database: &Database) -> Outcome<Identity> {
    let mut source = database.source();
    if let Some(keys) = database.keys() {
        let mut hash = Sha256::new();
        keys.list().iter().for_each(|key| hash.update(key.to_le_bytes()));
        source.push_str(&format!(" (SHA-256 {})", hex(&hash.finalize())));
    }
    Ok((source, database.sha256()?))
}

/// The measurement of a row, which a worker sends to its parent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    pub measured: Measured,
    /// Memory that the process took.
    pub memory: MemoryUse,
    /// The database, as it was before the measurement.
    pub identity: Identity,
}

/// A row under measurement.
struct Running<'a> {
    session: Box<dyn Session + 'a>,
    watch: memory::Watch,
    identity: Identity,
}

impl Steps<Report> for Running<'_> {
    fn take(&mut self, step: Step) -> Outcome<()> {
        let done = match step {
            Step::Prepare => self.session.prepare(),
            Step::WarmUp => self.session.warm_up(),
            Step::Repetition => self.watch.online(|| self.session.repetition()),
            Step::Noise => self.session.measure_noise(),
            Step::Update => self.session.update(),
            Step::Finish => Ok(()),
        };
        self.watch.sample();
        Ok(done?)
    }

    fn finish(self: Box<Self>) -> Outcome<Report> {
        Ok(Report { measured: self.session.finish(), memory: self.watch.finish(), identity: self.identity })
    }
}
