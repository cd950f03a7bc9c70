//! The run record of a row.

use pir::core::record::{Build, DatabaseId, Machine, MemoryUse, RUN_SCHEMA, RecordKind, RunRecord, Status};
use ring::{Kernel, Seed};

use super::plan::Plan;
use super::steps::Report;
use crate::failure::{Failure, Outcome};
use crate::{output, store, units};

/// The profile this program was built with.
pub const PROFILE: &str = if cfg!(debug_assertions) { "debug" } else { "release" };
/// Commit this program was built from.
pub const COMMIT: &str = env!("PIRLAB_COMMIT");
/// Why it, or what was changed since, is not known; empty where both are.
const COMMIT_REMARK: &str = env!("PIRLAB_COMMIT_REMARK");
/// Whether the work tree differed from it.
pub const DIRTY: &str = env!("PIRLAB_DIRTY");
/// Compiler.
pub const RUSTC: &str = env!("PIRLAB_RUSTC");
/// Tests set this to let a debug build measure.
const ALLOW_DEBUG: &str = "PIRLAB_ALLOW_DEBUG";

/// Debug builds do not measure.
///
/// # Errors
/// This is one.
pub fn refuse_debug_build() -> Outcome<()> {
    if PROFILE == "release" || std::env::var_os(ALLOW_DEBUG).is_some_and(|value| value == "1") {
        return Ok(());
    }
    Err(Failure::Input(
        "this is a debug build, whose times mean nothing: build with `cargo build --release` and run target/release/pirlab."
            .into(),
    ))
}

/// What rows measured together share.
pub struct Setting {
    /// Experiment.
    pub experiment: Option<String>,
    /// Group.
    pub group: Option<String>,
    /// The machine, with bandwidth before and after.
    pub machine: Machine,
}

/// How a row ended.
pub enum Ending<R> {
    /// It measured.
    Measured(Box<R>),
    /// It did not, and why.
    Not(Status, String),
}

/// Why this program's commit, or what was changed since, is not known.
pub fn commit_remark() -> Option<&'static str> {
    Some(COMMIT_REMARK).filter(|remark| !remark.is_empty())
}

/// The program, as a record says it.
pub fn build(kernel: Kernel, source_hash: &str) -> Build {
    Build {
        commit: COMMIT.into(),
        commit_remark: commit_remark().map(Into::into),
        dirty: DIRTY == "true",
        version: env!("CARGO_PKG_VERSION").into(),
        rustc: RUSTC.into(),
        profile: PROFILE.into(),
        kernel: kernel.to_string(),
        source_hash: source_hash.into(),
    }
}

/// The record of a row that started at `started` and finishes now.
///
/// # Errors
/// The operating system gives no random identifier.
pub fn assemble(plan: &Plan, setting: &Setting, started: &str, ending: Ending<Report>) -> Outcome<RunRecord> {
    let (status, reason, report) = match ending {
        Ending::Not(status, reason) => (status, Some(reason), Report::default()),
        Ending::Measured(report) => {
            let (compared, right) = (report.correct.compared, report.correct.right);
            if right == compared && compared > 0 {
                (Status::Ok, None, *report)
            } else {
                (Status::Wrong, Some(format!("{right} of {compared} retrieved records were right")), *report)
            }
        }
    };
    let row = &plan.row;
    Ok(RunRecord {
        schema: RUN_SCHEMA.into(),
        kind: RecordKind::Protocol,
        id: random_id()?,
        status,
        reason,
        experiment: setting.experiment.clone(),
        group: setting.group.clone(),
        row: setting.group.as_ref().map(|_| row.id.clone()),
        protocol: plan.protocol.name.into(),
        parameters: plan.description.parameters.clone(),
        database: DatabaseId {
            records: row.records,
            record_bits: row.record_bits,
            source: plan.open_database().map_or_else(|_| row.database.clone(), |database| database.source()),
        },
        queries: row.queries,
        updates: row.updates,
        description: plan.description.clone(),
        build: build(plan.options.kernel, plan.protocol.source_hash),
        machine: setting.machine.clone(),
        threads: row.threads,
        repetitions: row.repetitions,
        seed: plan.options.seed.map(|seed| pir::core::params::hex(&seed)),
        phases: report.phases,
        transcript: report.transcript,
        payload_sha256: report.payload_sha256,
        memory: MemoryUse {
            described_peak_bytes: plan.description.memory.peak_bytes,
            server: if row.streamed { Vec::new() } else { report.memory.server },
            ..report.memory
        },
        noise: report.noise,
        correct: report.correct,
        streamed: row.streamed,
        staleness_key: plan.staleness_key(),
        started: started.into(),
        finished: units::now(),
    })
}

/// Writes a record where its row wants it.
///
/// # Errors
/// It cannot be written.
pub fn write(plan: &Plan, record: &RunRecord) -> Outcome<()> {
    store::write(&plan.row.out, &output::to_json(record)?)
}

/// A random identifier in the form of a UUID, version 4.
///
/// # Errors
/// The operating system gives no randomness.
pub fn random_id() -> Outcome<String> {
    let Seed(mut bytes) = Seed::from_os().map_err(|e| Failure::Result(e.to_string()))?;
    bytes[6] = 0x40 | bytes[6] & 0x0f;
    bytes[8] = 0x80 | bytes[8] & 0x3f;
    let hex = pir::core::params::hex(&bytes);
    Ok([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn identifiers_are_uuids_and_differ() {
        let (a, b) = (super::random_id().unwrap(), super::random_id().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.len(), 36);
        assert_eq!(&a[14..15], "4");
    }
}
