//! The interface of a kind of rows, which are measured step by step.

use clap::ValueEnum;
use pir::core::progress::Progress;
use pir::core::record::{Machine, Status};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::row::Asked;
use crate::failure::Outcome;
use crate::store::Input;

/// The kinds of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A parameter set at a database shape.
    Protocol,
    /// An operation alone.
    Primitive,
}

/// One step of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// All work before the repetitions.
    Prepare,
    /// Exchanges outside the clock.
    WarmUp,
    Repetition,
    /// Further exchanges outside the clock, until the noise is measured over enough keys.
    Noise,
    /// The updates, all repetitions of them.
    Update,
    /// The end: hand over the measurement.
    Finish,
}

/// The common facts of rows that are measured together.
pub struct Setting {
    pub experiment: Option<String>,
    pub group: Option<String>,
    /// The machine, with its read bandwidth.
    pub machine: Machine,
}

/// How a row ended.
pub enum Ending<R> {
    Measured(Box<R>),
    Not(Status, String),
}

/// A row under measurement.
pub trait Steps<R> {
    fn take(&mut self, step: Step) -> Outcome<()>;
    /// Ends the measurement and returns its report.
    fn finish(self: Box<Self>) -> Outcome<R>;
}

/// A row that was prepared.
pub trait Job: Sized {
    const KIND: Kind;
    /// Whether a repetition follows a warm-up of its row and finds empty caches; else it finds them as the previous rows left them.
    const STARTS_COLD: bool;
    type Row: Asked;
    /// The report of its worker.
    type Report: Serialize + DeserializeOwned;
    /// Its record.
    type Record: Serialize;

    /// Checks a row; touches no database and allocates nothing.
    fn new(row: Self::Row) -> Outcome<Self>;
    /// The same key as in the record.
    fn key(row: &Self::Row) -> Outcome<String>;
    fn row(&self) -> &Self::Row;
    /// Described peak of memory.
    fn peak_bytes(&self) -> u64;
    /// The files that it reads.
    fn inputs(&self) -> Vec<Input> {
        Vec::new()
    }
    /// Checks that they can be read.
    fn check_inputs(&self) -> Outcome<()> {
        Ok(())
    }
    /// The steps after its repetitions.
    fn last_steps(&self) -> Vec<Step> {
        Vec::new()
    }
    /// Starts the measurement in this process.
    fn start<'a>(&'a self, progress: &'a dyn Progress) -> Outcome<Box<dyn Steps<Self::Report> + 'a>>;
    /// The record of a row that started at `started` and finishes now.
    fn record(&self, setting: &Setting, started: &str, ending: Ending<Self::Report>) -> Outcome<Self::Record>;
    /// The status of a record whose row ended.
    fn status(record: &Self::Record) -> Status;
    /// All records of a group, as text for a person.
    fn table(records: &[Self::Record]) -> String;
}
