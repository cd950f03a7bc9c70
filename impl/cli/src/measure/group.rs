//! Rows measured interleaved, a worker process each; the same for protocols and primitives.

use std::path::Path;
use std::time::Instant;

use pir::core::record::Status;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::child::{Lost, Order, Worker};
use super::plan::too_much;
use super::record::{Ending, Setting};
use super::steps::Step;
use crate::failure::{Failure, Outcome};
use crate::machine::bandwidth;
use crate::machine::caches::Caches;
use crate::measure::batches;
use crate::output::{note, print_beside, to_json};
use crate::store::{self, Input};
use crate::units;

/// A row made ready.
pub trait Job {
    /// What its worker hands over.
    type Report: DeserializeOwned;
    /// What is written of it.
    type Record: Serialize;
    /// Its name in the group.
    fn id(&self) -> &str;
    /// Where its record goes.
    fn out(&self) -> &Path;
    /// The files that it reads.
    fn inputs(&self) -> Vec<Input>;
    /// How often it is measured.
    fn repetitions(&self) -> u64;
    /// Described peak of memory.
    fn peak_bytes(&self) -> u64;
    /// Seconds that it is predicted to take, and that it may take.
    fn seconds(&self) -> (Option<f64>, Option<f64>);
    /// What its worker is told first.
    fn order(&self) -> Order;
    /// Whether a repetition finds the caches empty; else it finds there what the rows before it left.
    fn starts_cold(&self) -> bool;
    /// What comes after its repetitions.
    fn last_steps(&self) -> Vec<Step>;
    /// Its record, of a row that started at `started` and finishes now.
    ///
    /// # Errors
    /// The operating system gives no random identifier.
    fn record(&self, setting: &Setting, started: &str, ending: Ending<Self::Report>) -> Outcome<Self::Record>;
    /// How a record says that its row ended.
    fn status(record: &Self::Record) -> Status;
    /// All records of a group, a line each.
    fn table(records: &[Self::Record]) -> String;
}

/// A row on its way through the group.
struct Running<J: Job> {
    /// Where it stands in the group file.
    place: usize,
    job: J,
    started: String,
    worker: Option<Worker<J::Report>>,
    ending: Option<Ending<J::Report>>,
}

/// A bad row's problem, with the group file and the row named.
pub fn named(path: &Path, row: &str, failure: &Failure) -> Failure {
    Failure::Input(format!("group file {}: row `{row}`: {}", path.display(), failure.text()))
}

/// Measures the rows of the group file `path` and writes a record for each: of skipped rows at once, of the others as soon
/// as all rows alive together have ended.
///
/// # Errors
/// A record that cannot be written, before anything is measured where that can be known; a row that went wrong.
pub fn measure<J: Job>(jobs: Vec<J>, path: &Path, setting: Setting, probe: bool) -> Outcome<()> {
    let mut inputs = vec![Input::new("the group file", path)];
    inputs.extend(jobs.iter().flat_map(Job::inputs));
    let outputs: Vec<&Path> = jobs.iter().map(Job::out).collect();
    store::check_all(&outputs, &inputs).map_err(|(i, e)| named(path, jobs[i].id(), &e))?;
    let printed = outputs.iter().any(|out| store::is_standard(out));
    let mut ledger = Ledger { setting, records: Vec::new(), unwritten: Vec::new(), printed };
    let caches = jobs.iter().any(Job::starts_cold).then(Caches::new);
    let free = batches::free_memory();
    let running = |(place, job)| Running { place, job, started: units::now(), worker: None, ending: None };
    let mut rows: Vec<Running<J>> = jobs.into_iter().enumerate().map(running).collect();
    for row in &mut rows {
        row.skip_what_is_too_much(free);
    }
    let (skipped, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.ending.is_some());
    ledger.enter(skipped);

    let bandwidth = || probe.then(bandwidth::in_child).flatten();
    if !rows.is_empty() {
        ledger.setting.machine.read_bandwidth_before = bandwidth();
    }
    for mut batch in batches::of(rows, |row| row.job.peak_bytes(), free) {
        measure_batch(&mut batch, caches.as_ref());
        let after = bandwidth();
        ledger.setting.machine.read_bandwidth_after = after;
        ledger.enter(batch);
        ledger.setting.machine.read_bandwidth_before = after;
    }
    ledger.close()
}

/// Prepares the rows one after the other, then lets them take turns.
fn measure_batch<J: Job>(batch: &mut [Running<J>], caches: Option<&Caches>) {
    for row in batch.iter_mut() {
        let start = Instant::now();
        row.started = units::now();
        let worker = Worker::start(&row.job.order(), row.job.seconds().1);
        if let Some(worker) = row.settle(worker) {
            row.worker = Some(worker);
            row.take(Step::Prepare);
        }
        if row.worker.is_some() {
            note(&format!("{}: prepared in {}", row.job.id(), units::seconds(start.elapsed().as_secs_f64())));
        }
    }
    let turns = batch.iter().map(|row| row.job.repetitions()).max().unwrap_or(0);
    for turn in 0..turns {
        for row in batch.iter_mut().filter(|row| turn < row.job.repetitions()) {
            if let Some(caches) = caches.filter(|_| row.worker.is_some() && row.job.starts_cold()) {
                caches.empty_those_of_rows();
            }
            row.take(Step::Repetition);
        }
    }
    let last: Vec<Vec<Step>> = batch.iter().map(|row| row.job.last_steps()).collect();
    for turn in 0..last.iter().map(Vec::len).max().unwrap_or(0) {
        for (row, steps) in batch.iter_mut().zip(&last) {
            if let Some(&step) = steps.get(turn) {
                row.take(step);
            }
        }
    }
    for row in batch.iter_mut() {
        row.take(Step::Finish);
    }
}

impl<J: Job> Running<J> {
    /// Ends the row before it starts where it does not fit in memory or in its time.
    fn skip_what_is_too_much(&mut self, free: Option<u64>) {
        let (predicted, limit) = self.job.seconds();
        let Some((status, reason)) = too_much(self.job.peak_bytes(), free, predicted, limit) else { return };
        note(&format!("{}: skipped: {reason}", self.job.id()));
        self.ending = Some(Ending::Not(status, reason));
    }

    /// Takes a step with the row's worker, where it still has one.
    fn take(&mut self, step: Step) {
        let Some(mut worker) = self.worker.take() else { return };
        let taken = worker.take(step);
        match self.settle(taken) {
            Some(Some(report)) => self.ending = Some(Ending::Measured(report)),
            Some(None) => self.worker = Some(worker),
            None => {}
        }
    }

    /// Keeps the reason where something was lost.
    fn settle<T>(&mut self, result: Result<T, Lost>) -> Option<T> {
        result
            .map_err(|Lost { status, reason }| {
                note(&format!("{}: {reason}", self.job.id()));
                self.ending = Some(Ending::Not(status, reason));
            })
            .ok()
    }
}

/// What is kept of a record once it is written.
struct Entered<R> {
    /// The row's place in the group file.
    place: usize,
    /// The row's name.
    id: String,
    record: R,
}

/// The records of the rows that have ended.
struct Ledger<J: Job> {
    setting: Setting,
    records: Vec<Entered<J::Record>>,
    /// Which records could not be written, and why.
    unwritten: Vec<String>,
    /// Whether a record goes to standard output.
    printed: bool,
}

impl<J: Job> Ledger<J> {
    /// Writes the records of these rows; one that cannot be written does not hold up the others.
    fn enter(&mut self, rows: Vec<Running<J>>) {
        for Running { place, job, started, ending, .. } in rows {
            let lost = || Ending::Not(Status::Failed, "the row was not measured".into());
            let written = job.record(&self.setting, &started, ending.unwrap_or_else(lost)).and_then(|record| {
                let written = to_json(&record).and_then(|text| store::write(job.out(), &text));
                self.records.push(Entered { place, id: job.id().into(), record });
                written
            });
            if let Err(failure) = written {
                let problem = format!("{}: {}", job.id(), failure.text());
                note(&problem);
                self.unwritten.push(problem);
            }
        }
    }

    /// Prints one table, and says whether a row went wrong or a record is not written.
    fn close(mut self) -> Outcome<()> {
        self.records.sort_by_key(|entered| entered.place);
        let bad: Vec<String> = self
            .records
            .iter()
            .filter(|entered| matches!(J::status(&entered.record), Status::Wrong | Status::Failed | Status::Timeout))
            .map(|entered| entered.id.clone())
            .collect();
        let records: Vec<J::Record> = self.records.into_iter().map(|entered| entered.record).collect();
        let printed = print_beside(&J::table(&records), self.printed);
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
