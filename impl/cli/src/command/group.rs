//! `pirlab run --group`: rows measured interleaved, a worker process each.

use std::path::Path;
use std::time::Instant;

use pir::record::{RunRecord, Status};

use crate::failure::{Failure, Outcome};
use crate::machine::{self, bandwidth, memory};
use crate::measure::child::{Lost, Worker};
use crate::measure::plan::Plan;
use crate::measure::record::{self, Ending, Setting};
use crate::measure::row::GroupFile;
use crate::measure::steps::Step;
use crate::measure::summary;
use crate::output::{note, print};
use crate::{store, units};

/// A row on its way through the group.
struct Running {
    plan: Plan,
    started: String,
    worker: Option<Worker>,
    ending: Option<Ending>,
}

/// Measures every row of a group file and writes a record for each.
pub fn main(path: &Path, probe: bool) -> Outcome<()> {
    let group = GroupFile::read(path)?;
    let mut rows = Vec::new();
    for row in group.rows {
        let id = row.id.clone();
        let named =
            |failure: Failure| Failure::Input(format!("group file {}: row `{id}`: {}", path.display(), failure.text()));
        let plan = Plan::new(row).map_err(named)?;
        store::check_writable(&plan.row.out).map_err(named)?;
        rows.push(Running { plan, started: units::now(), worker: None, ending: None });
    }
    let mut machine = machine::facts();
    machine.read_bandwidth_before = probe.then(bandwidth::in_child).flatten();

    let free = memory::free();
    for row in &mut rows {
        if let Some(reason) = row.plan.too_large(free) {
            note(&format!("{}: skipped: {reason}", row.plan.row.id));
            row.ending = Some(Ending::Not(Status::SkippedMemory, reason));
        }
    }
    for batch in batches(&mut rows, free) {
        measure_batch(batch);
    }
    if probe && rows.iter().any(|row| matches!(row.ending, Some(Ending::Measured(_)))) {
        machine.read_bandwidth_after = bandwidth::in_child();
    }
    let setting = Setting { experiment: Some(group.experiment), group: Some(group.group), machine };
    finish(rows, &setting)
}

/// Runs of rows whose described peaks fit in memory together; without knowledge of what is free, one row each.
fn batches(rows: &mut [Running], free: Option<u64>) -> Vec<&mut [Running]> {
    let mut lengths = Vec::new();
    let mut taken = 0u64;
    for row in rows.iter() {
        let peak = if row.ending.is_some() { 0 } else { row.plan.description.memory.peak_bytes };
        match lengths.last_mut() {
            Some(length) if free.is_some_and(|free| taken.saturating_add(peak) <= free) => {
                *length += 1;
                taken += peak;
            }
            _ => {
                lengths.push(1);
                taken = peak;
            }
        }
    }
    let mut rest = rows;
    let mut parts = Vec::new();
    for length in lengths {
        let (part, others) = rest.split_at_mut(length);
        parts.push(part);
        rest = others;
    }
    parts
}

/// Prepares the rows one after the other, then lets them take turns.
fn measure_batch(batch: &mut [Running]) {
    for row in batch.iter_mut().filter(|row| row.ending.is_none()) {
        let start = Instant::now();
        row.started = units::now();
        let worker = Worker::start(&row.plan.row);
        if let Some(worker) = row.settle(worker) {
            row.worker = Some(worker);
            row.take(Step::Prepare);
        }
        if row.worker.is_some() {
            note(&format!("{}: prepared in {}", row.plan.row.id, units::seconds(start.elapsed().as_secs_f64())));
        }
    }
    let turns = batch.iter().map(|row| row.plan.row.repetitions).max().unwrap_or(0);
    for turn in 0..turns {
        for row in batch.iter_mut().filter(|row| turn < row.plan.row.repetitions) {
            row.take(Step::Repetition);
        }
    }
    for row in batch.iter_mut() {
        row.take(Step::Noise);
    }
    for row in batch.iter_mut().filter(|row| row.plan.row.updates > 0) {
        row.take(Step::Update);
    }
    for row in batch.iter_mut() {
        row.take(Step::Finish);
    }
}

impl Running {
    /// Takes a step with the row's worker, where it still has one.
    fn take(&mut self, step: Step) {
        let Some(mut worker) = self.worker.take() else { return };
        let taken = worker.take(step);
        match self.settle(taken) {
            Some(Some(report)) => self.end(Ending::Measured(report)),
            Some(None) => self.worker = Some(worker),
            None => {}
        }
    }

    /// Keeps the reason where something was lost.
    fn settle<T>(&mut self, result: Result<T, Lost>) -> Option<T> {
        result
            .map_err(|Lost { status, reason }| {
                note(&format!("{}: {reason}", self.plan.row.id));
                self.end(Ending::Not(status, reason));
            })
            .ok()
    }

    fn end(&mut self, ending: Ending) {
        self.ending = Some(ending);
    }
}

/// Writes all records, prints one table, and says whether a row went wrong.
fn finish(rows: Vec<Running>, setting: &Setting) -> Outcome<()> {
    let mut records: Vec<RunRecord> = Vec::new();
    for row in rows {
        let lost = || Ending::Not(Status::Failed, "the row was not measured".into());
        let record = record::assemble(&row.plan, setting, &row.started, row.ending.unwrap_or_else(lost))?;
        record::write(&row.plan, &record)?;
        records.push(record);
    }
    print(&summary::group(&records))?;
    let bad: Vec<&str> = records
        .iter()
        .filter(|record| matches!(record.status, Status::Wrong | Status::Failed | Status::Timeout))
        .filter_map(|record| record.row.as_deref())
        .collect();
    if bad.is_empty() {
        return Ok(());
    }
    Err(Failure::Result(format!("not ok: {}. Their records say why; the other rows are measured.", bad.join(", "))))
}
