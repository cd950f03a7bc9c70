//! A row of a primitive made ready: its settings are checked and described.

use bench::primitive::{Context, Described};
use bench::registry::{self, Entry};
use bench::settings::Settings;

use super::row::PrimitiveRow;
use crate::failure::{Failure, Outcome};
use crate::measure::row::Asked;

/// A row that can be measured.
pub struct PrimitivePlan {
    /// The row as asked for.
    pub row: PrimitiveRow,
    /// The primitive.
    pub entry: Entry,
    /// What the primitive says of its settings.
    pub described: Described,
    /// Kernel path, and the seed of all randomness where one was given.
    pub context: Context,
}

/// The primitive `name`.
pub fn find(name: &str) -> Outcome<Entry> {
    registry::find(name).map_err(Failure::Input)
}

/// What settings mean to a primitive.
pub fn describe(entry: &Entry, settings: &Settings) -> Outcome<Described> {
    (entry.describe)(settings).map_err(|refusal| Failure::Input(format!("primitive {}: {refusal}", entry.name)))
}

impl PrimitivePlan {
    /// Checks a row.
    pub fn new(row: PrimitiveRow) -> Outcome<Self> {
        let run = row.run();
        run.check_limits()?;
        let context = Context { kernel: run.find_kernel()?, seed: run.parse_seed()? };
        let entry = find(&row.primitive)?;
        let described = describe(&entry, &row.settings())?;
        Ok(Self { row, entry, described, context })
    }
}
