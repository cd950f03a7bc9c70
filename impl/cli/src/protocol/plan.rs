//! A row of a protocol made ready: parameter file read, workload checked, described. Touches no database and allocates nothing.

use pir::core::database::{Database, database_file};
use pir::core::description::Description;
use pir::core::runner::Options;
use pir::core::set_file::ParameterFile;
use pir::core::workload::{Shape, Workload};
use pir::registry::Protocol;

use super::find::read_parameters;
use super::row::Row;
use crate::failure::{Failure, Outcome};
use crate::machine::memory;
use crate::measure::row::Asked;
use crate::measure::run::too_large;
use crate::store::Input;

/// Most seconds that noise is asked to be measured for.
const MOST_NOISE_SECONDS: f64 = 86400.0;

/// A row that can be measured.
pub struct Plan {
    /// The row as asked for.
    pub row: Row,
    /// Its parameter file.
    pub file: ParameterFile,
    /// The protocol that reads it.
    pub protocol: &'static Protocol,
    /// What is asked of the protocol.
    pub workload: Workload,
    /// What the protocol says of it.
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
            kernel: run.find_kernel()?,
            threads: row.threads as usize,
            repetitions: row.repetitions,
            seed: run.parse_seed()?,
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

    /// Refuses what does not fit in memory.
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

    /// The files that the row reads.
    pub fn inputs(&self) -> Vec<Input> {
        let database = database_file(&self.row.database).map(|path| Input::new("the database", path));
        [Input::new("the parameter file", &self.row.parameters)].into_iter().chain(database).collect()
    }

    /// Opens the database.
    pub fn open_database(&self) -> Outcome<Database> {
        Ok(Database::open(&self.row.database, self.workload.shape)?)
    }
}
