//! `pirlab run --group`: rows measured interleaved, a worker process each.

use std::path::Path;
use std::time::Instant;

use pir::record::{RunRecord, Status};

use crate::failure::{Failure, Outcome};
use crate::machine::{self, bandwidth, memory};
use crate::measure::child::{Lost, Worker};
use crate::measure::plan::Plan;
use crate::measure::record::{self, Ending, Setting};
use crate::measure::row::{GroupFile, Row};
use crate::measure::steps::Step;
use crate::measure::summary;
use crate::output::{note, print};
use crate::{store, units};

/// Tests set this to the bytes that rows alive together may take; it only lowers what is free.
const MEMORY: &str = "PIRLAB_GROUP_MEMORY";

/// A row on its way through the group.
struct Running {
    /// Where it stands in the group file.
    place: usize,
    plan: Plan,
    started: String,
    worker: Option<Worker>,
    ending: Option<Ending>,
}

/// Measures every row of a group file and writes a record for each: of skipped rows at once, of the others as soon as all
/// rows alive together have ended.
pub fn main(path: &Path, probe: bool) -> Outcome<()> {
    let group = GroupFile::read(path)?;
    let mut rows = make_ready(group.rows, path)?;
    let setting = Setting { experiment: Some(group.experiment), group: Some(group.group), machine: machine::facts() };
    let mut ledger = Ledger { setting, records: Vec::new(), unwritten: Vec::new() };

    let free = free_memory();
    for row in &mut rows {
        row.skip_what_is_too_much(free);
    }
    let (skipped, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.ending.is_some());
    ledger.enter(skipped);

    let bandwidth = || probe.then(bandwidth::in_child).flatten();
    if !rows.is_empty() {
        ledger.setting.machine.read_bandwidth_before = bandwidth();
    }
    for mut batch in batches(rows, free) {
        measure_batch(&mut batch);
        let after = bandwidth();
        ledger.setting.machine.read_bandwidth_after = after;
        ledger.enter(batch);
        ledger.setting.machine.read_bandwidth_before = after;
    }
    ledger.close()
}

/// Checks every row, its database and its output; nothing is written before all rows are known to be good.
fn make_ready(rows: Vec<Row>, path: &Path) -> Outcome<Vec<Running>> {
    let named = |row: &str, failure: Failure| {
        Failure::Input(format!("group file {}: row `{row}`: {}", path.display(), failure.text()))
    };
    let mut ready = Vec::new();
    for (place, row) in rows.into_iter().enumerate() {
        let id = row.id.clone();
        let plan = Plan::new(row).and_then(|plan| plan.open_database().map(|_| plan)).map_err(|e| named(&id, e))?;
        ready.push(Running { place, plan, started: units::now(), worker: None, ending: None });
    }
    for row in ready.iter().map(|running| &running.plan.row) {
        store::check_writable(&row.out).map_err(|e| named(&row.id, e))?;
    }
    Ok(ready)
}

/// What rows may take together.
fn free_memory() -> Option<u64> {
    let lowered = std::env::var(MEMORY).ok().and_then(|bytes| bytes.parse().ok());
    memory::free().map(|free| lowered.map_or(free, |bytes| free.min(bytes)))
}

/// Runs of rows whose described peaks fit in memory together; without knowledge of what is free, one row each.
fn batches(rows: Vec<Running>, free: Option<u64>) -> Vec<Vec<Running>> {
    let mut batches: Vec<Vec<Running>> = Vec::new();
    let mut taken = 0u64;
    for row in rows {
        let peak = row.plan.description.memory.peak_bytes;
        match batches.last_mut() {
            Some(batch) if free.is_some_and(|free| taken.saturating_add(peak) <= free) => {
                batch.push(row);
                taken += peak;
            }
            _ => {
                batches.push(vec![row]);
                taken = peak;
            }
        }
    }
    batches
}

/// Prepares the rows one after the other, then lets them take turns.
fn measure_batch(batch: &mut [Running]) {
    for row in batch.iter_mut() {
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
    /// Ends the row before it starts where it does not fit in memory or in its time.
    fn skip_what_is_too_much(&mut self, free: Option<u64>) {
        let memory = self.plan.too_large(free).map(|reason| (Status::SkippedMemory, reason));
        let Some((status, reason)) = memory.or_else(|| Some((Status::SkippedTime, self.plan.too_slow()?))) else {
            return;
        };
        note(&format!("{}: skipped: {reason}", self.plan.row.id));
        self.end(Ending::Not(status, reason));
    }

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

/// The records of the rows that have ended.
struct Ledger {
    setting: Setting,
    /// With each row's place in the group file.
    records: Vec<(usize, RunRecord)>,
    /// Which records could not be written, and why.
    unwritten: Vec<String>,
}

impl Ledger {
    /// Writes the records of these rows; one that cannot be written does not hold up the others.
    fn enter(&mut self, rows: Vec<Running>) {
        for row in rows {
            let lost = || Ending::Not(Status::Failed, "the row was not measured".into());
            let ending = row.ending.unwrap_or_else(lost);
            let written = record::assemble(&row.plan, &self.setting, &row.started, ending).and_then(|record| {
                let written = record::write(&row.plan, &record);
                self.records.push((row.place, record));
                written
            });
            if let Err(failure) = written {
                let problem = format!("{}: {}", row.plan.row.id, failure.text());
                note(&problem);
                self.unwritten.push(problem);
            }
        }
    }

    /// Prints one table, and says whether a row went wrong or a record is not written.
    fn close(mut self) -> Outcome<()> {
        self.records.sort_by_key(|(place, _)| *place);
        let records: Vec<RunRecord> = self.records.into_iter().map(|(_, record)| record).collect();
        let printed = print(&summary::group(&records));
        let bad: Vec<&str> = records
            .iter()
            .filter(|record| matches!(record.status, Status::Wrong | Status::Failed | Status::Timeout))
            .filter_map(|record| record.row.as_deref())
            .collect();
        let mut problems = Vec::new();
        if !bad.is_empty() {
            let rows = bad.join(", ");
            problems.push(format!("not ok: {rows}. The table and their records say why; the other rows are unharmed."));
        }
        if !self.unwritten.is_empty() {
            problems.push(format!("records not written, {}: {}", self.unwritten.len(), self.unwritten.join(" ")));
        }
        // That nobody reads the table does not make a bad row good.
        if problems.is_empty() { printed } else { Err(Failure::Result(problems.join(" "))) }
    }
}
