//! The run record of a row.

use pir::core::record::{DatabaseId, MemoryUse, RUN_SCHEMA, RecordKind, RunRecord};

use super::plan::Plan;
use super::steps::Report;
use crate::failure::Outcome;
use crate::measure::job::{Ending, Setting};
use crate::measure::record::{build, judged, random_id};
use crate::units;

/// The record of a row that started at `started` and finishes now.
pub fn assemble(plan: &Plan, setting: &Setting, started: &str, ending: Ending<Report>) -> Outcome<RunRecord> {
    let (status, reason, report) = judged(ending, |report: &Report| {
        let (compared, right) = (report.correct.compared, report.correct.right);
        (right != compared || compared == 0).then(|| format!("{right} of {compared} retrieved records were right"))
    });
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
        seed: plan.options.seed.map(|seed| pir::core::set_file::hex(&seed)),
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
        staleness_key: plan.row.key(plan.file.sha256(), plan.protocol.source_hash),
        started: started.into(),
        finished: units::now(),
    })
}
