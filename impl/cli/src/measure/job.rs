//! What a kind of rows must say to be measured, one step after the other.

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
    /// Whatever comes before the repetitions, and a warm-up.
    Prepare,
    Repetition,
    /// Further exchanges outside the clock, until the noise is measured over enough keys.
    Noise,
    /// The updates, all repetitions of them.
    Update,
    /// Nothing more: hand over what was measured.
    Finish,
}

/// What rows measured together share.
pub struct Setting {
    pub experiment: Option<String>,
    pub group: Option<String>,
    /// The machine, with bandwidth before and after.
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
    /// Ends the measurement and hands over what was measured.
    fn finish(self: Box<Self>) -> Outcome<R>;
}

/// A row made ready.
pub trait Job: Sized {
    const KIND: Kind;
    /// Whether a repetition finds the caches empty; else it finds there what the rows before it left.
    const STARTS_COLD: bool;
    type Row: Asked;
    /// What its worker hands over.
    type Report: Serialize + DeserializeOwned;
    /// What is written of it.
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
    /// What comes after its repetitions.
    fn last_steps(&self) -> Vec<Step> {
        Vec::new()
    }
    /// Starts the measurement in this process.
    fn start<'a>(&'a self, progress: &'a dyn Progress) -> Outcome<Box<dyn Steps<Self::Report> + 'a>>;
    /// Its record, of a row that started at `started` and finishes now.
    fn record(&self, setting: &Setting, started: &str, ending: Ending<Self::Report>) -> Outcome<Self::Record>;
    /// How a record says that its row ended.
    fn status(record: &Self::Record) -> Status;
    /// All records of a group, as a person reads them.
    fn table(records: &[Self::Record]) -> String;
}
