//! The record of a primitive.

use bench::primitive::{Described, Measured};
use pir::core::record::{Build, Machine, RecordKind, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::plan::PrimitivePlan;
use crate::failure::Outcome;
use crate::measure::job::{Ending, Setting};
use crate::measure::record::{build, judged, random_id};
use crate::units;

/// The format of [`PrimitiveRecord`]; part of every one, which distinguishes it from the record of a protocol.
pub const PRIMITIVE_SCHEMA: &str = "pirlab/primitive/1";

/// What was measured of a primitive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrimitiveRecord {
    /// Always [`PRIMITIVE_SCHEMA`].
    pub schema: String,
    /// `failure` where failures were counted, else `primitive`.
    pub kind: RecordKind,
    /// Random identifier of this record.
    pub id: String,
    /// How the measurement ended.
    pub status: Status,
    /// Why, where the status is not `ok`.
    pub reason: Option<String>,
    /// Experiment, e.g. `gadget/table6`.
    pub experiment: Option<String>,
    /// Group of rows measured interleaved.
    pub group: Option<String>,
    /// Row within the group.
    pub row: Option<String>,
    /// The primitive.
    pub primitive: String,
    /// Its settings as the experiment gave them.
    pub settings: Map<String, Value>,
    /// What they mean, with every default filled in.
    pub described: Described,
    /// Which program measured.
    pub build: Build,
    /// On which machine.
    pub machine: Machine,
    /// Threads: one.
    pub threads: u64,
    /// Repetitions.
    pub repetitions: u64,
    /// Seed of all randomness, where one was given.
    pub seed: Option<String>,
    /// Times, values, counts, noise and comparisons.
    pub measured: Measured,
    /// Hash of settings, row and sources; equal key: never measured again.
    pub staleness_key: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// RFC 3339, UTC.
    pub finished: String,
}

/// The record of a row that started at `started` and finishes now.
pub fn assemble(
    plan: &PrimitivePlan,
    setting: &Setting,
    started: &str,
    ending: Ending<Measured>,
) -> Outcome<PrimitiveRecord> {
    let (status, reason, measured) = judged(ending, |measured: &Measured| {
        let (compared, right) = (measured.correct.compared, measured.correct.right);
        (right != compared).then(|| format!("{right} of {compared} results were right"))
    });
    let row = &plan.row;
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
        described: plan.described.clone(),
        build: build(plan.context.kernel, plan.entry.source_hash),
        machine: setting.machine.clone(),
        threads: 1,
        repetitions: row.repetitions,
        seed: plan.context.seed.map(|seed| pir::core::set_file::hex(&seed)),
        measured,
        staleness_key: row.key(plan.entry.source_hash),
        started: started.into(),
        finished: units::now(),
    })
}
