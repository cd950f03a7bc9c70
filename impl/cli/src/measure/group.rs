//! Rows measured interleaved, a worker process each; the same for protocols and primitives.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use pir::core::record::Status;

use super::batches;
use super::child::{Lost, Worker};
use super::job::{Ending, Job, Setting, Step};
use super::record::refuse_debug_build;
use super::row::{Asked, GroupFile};
use super::run::Run;
use crate::failure::{Failure, Outcome};
use crate::machine;
use crate::machine::caches::Caches;
use crate::output::{note, print_beside, print_json, to_json};
use crate::store::{self, Input};
use crate::units;

/// A row under way in the group.
struct Running<J: Job> {
    /// Its index in the group file.
    place: usize,
    job: J,
    started: String,
    worker: Option<Worker<J>>,
    /// Bytes a second at which memory was read before each repetition.
    read_bandwidth: Vec<f64>,
    ending: Option<Ending<J::Report>>,
}

/// A bad row's problem, with the group file and the row named.
fn named(path: &Path, row: &str, failure: &Failure) -> Failure {
    Failure::Input(format!("group file {}: row `{row}`: {}", path.display(), failure.text()))
}

/// The staleness keys of a group's rows.
pub fn keys<J: Job>(path: &Path) -> Outcome<()> {
    let mut keys = serde_json::Map::new();
    for row in GroupFile::<J::Row>::read(path)?.rows {
        let key = J::key(&row)?;
        keys.insert(row.run().id.into(), key.into());
    }
    print_json(&keys)
}

/// Measures every row of the group file `path`, and writes a record for each: for skipped rows at once, for the others when all rows
/// of their batch have ended. Nothing is written before all rows were checked.
pub fn measure<J: Job>(path: &Path) -> Outcome<()> {
    refuse_debug_build()?;
    let GroupFile { experiment, group, rows } = GroupFile::<J::Row>::read(path)?;
    let mut jobs = Vec::new();
    for row in rows {
        let job = J::new(row.clone()).and_then(|job| job.check_inputs().map(|()| job));
        jobs.push(job.map_err(|failure| named(path, row.run().id, &failure))?);
    }
    let setting = Setting { experiment: Some(experiment), group: Some(group), machine: machine::facts() };
    let mut inputs = vec![Input::new("the group file", path)];
    inputs.extend(jobs.iter().flat_map(Job::inputs));
    let outputs: Vec<&Path> = jobs.iter().map(|job| job.row().run().out).collect();
    store::check_all(&outputs, &inputs).map_err(|(i, e)| named(path, jobs[i].row().run().id, &e))?;
    let printed = outputs.iter().any(|out| store::is_standard(out));
    let mut ledger = Ledger { setting, records: BTreeMap::new(), unwritten: Vec::new(), printed };
    let caches = (J::STARTS_COLD && !jobs.is_empty()).then(Caches::new).transpose();
    let caches = caches.map_err(|e| Failure::Input(format!("emptying caches: {e}.")))?;
    let free = batches::free_memory();
    let running = |(place, job)| Running {
        place,
        job,
        started: units::now(),
        worker: None,
        read_bandwidth: Vec::new(),
        ending: None,
    };
    let mut rows: Vec<Running<J>> = jobs.into_iter().enumerate().map(running).collect();
    for row in &mut rows {
        row.skip_if_too_large(free);
    }
    let (skipped, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.ending.is_some());
    ledger.enter(skipped);

    for mut batch in batches::of(rows, |row| row.job.peak_bytes(), free) {
        measure_batch(&mut batch, caches.as_ref());
        ledger.enter(batch);
    }
    ledger.close()
}

/// Prepares the rows one after the other, then lets them take turns.
fn measure_batch<J: Job>(batch: &mut [Running<J>], caches: Option<&Caches>) {
    for row in batch.iter_mut() {
        let start = Instant::now();
        row.started = units::now();
        let worker = Worker::start(row.job.row(), row.run().time_limit_seconds);
        if let Some(worker) = row.settle(worker) {
            row.worker = Some(worker);
            row.take(Step::Prepare);
        }
        if row.worker.is_some() {
            note(&format!("{}: prepared in {}", row.run().id, units::seconds(start.elapsed().as_secs_f64())));
        }
    }
    // A host may have taken this memory back while the rows were prepared: the first pass is no probe.
    caches.map(Caches::flush);
    let turns = batch.iter().map(|row| row.run().repetitions).max().unwrap_or(0);
    for turn in 0..turns {
        for row in batch.iter_mut().filter(|row| turn < row.run().repetitions) {
            if let Some(caches) = caches.filter(|_| row.worker.is_some()) {
                row.take(Step::WarmUp);
                row.read_bandwidth.push(caches.flush());
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
    fn run(&self) -> Run<'_> {
        self.job.row().run()
    }

    /// Ends the row before it starts if it does not fit in memory or in its time.
    fn skip_if_too_large(&mut self, free: Option<u64>) {
        let Some((status, reason)) = self.run().too_much(self.job.peak_bytes(), free) else { return };
        note(&format!("{}: skipped: {reason}", self.run().id));
        self.ending = Some(Ending::Not(status, reason));
    }

    /// Orders a step from the row's worker, if it still has one.
    fn take(&mut self, step: Step) {
        let Some(mut worker) = self.worker.take() else { return };
        let taken = worker.take(step);
        match self.settle(taken) {
            Some(Some(report)) => self.ending = Some(Ending::Measured(report)),
            Some(None) => self.worker = Some(worker),
            None => {}
        }
    }

    /// Keeps the reason if the row failed.
    fn settle<T>(&mut self, result: Result<T, Lost>) -> Option<T> {
        result
            .map_err(|Lost { status, reason }| {
                note(&format!("{}: {reason}", self.run().id));
                self.ending = Some(Ending::Not(status, reason));
            })
            .ok()
    }
}

/// The records of the rows that have ended.
struct Ledger<J: Job> {
    setting: Setting,
    /// The records by index, with the row's name.
    records: BTreeMap<usize, (String, J::Record)>,
    /// The records that could not be written, and why.
    unwritten: Vec<String>,
    /// Whether a record goes to standard output.
    printed: bool,
}

impl<J: Job> Ledger<J> {
    /// Writes the records of these rows; a failure does not stop the others.
    fn enter(&mut self, rows: Vec<Running<J>>) {
        for Running { place, job, started, read_bandwidth, ending, .. } in rows {
            let run = job.row().run();
            self.setting.machine.read_bandwidth = read_bandwidth;
            let lost = || Ending::Not(Status::Failed, "the row was not measured".into());
            let written = job.record(&self.setting, &started, ending.unwrap_or_else(lost)).and_then(|record| {
                let written = to_json(&record).and_then(|text| store::write(run.out, &text));
                self.records.insert(place, (run.id.into(), record));
                written
            });
            if let Err(failure) = written {
                let problem = format!("{}: {}", run.id, failure.text());
                note(&problem);
                self.unwritten.push(problem);
            }
        }
    }

    /// Prints one table; fails if a row went wrong or a record was not written.
    fn close(self) -> Outcome<()> {
        let (names, records): (Vec<_>, Vec<_>) = self.records.into_values().unzip();
        let printed = print_beside(&J::table(&records), self.printed);
        let went_wrong = |record| matches!(J::status(record), Status::Wrong | Status::Failed | Status::Timeout);
        let bad = names.into_iter().zip(&records).filter(|(_, record)| went_wrong(record)).map(|(name, _)| name);
        let bad: Vec<String> = bad.collect();
        let mut problems = Vec::new();
        if !bad.is_empty() {
            let rows = bad.join(", ");
            problems.push(format!("not ok: {rows}. The table and their records say why; the other rows are unharmed."));
        }
        if !self.unwritten.is_empty() {
            problems.push(format!("records not written, {}: {}", self.unwritten.len(), self.unwritten.join(" ")));
        }
        // A bad row is reported even if nobody reads the table.
        if problems.is_empty() { printed } else { Err(Failure::Result(problems.join(" "))) }
    }
}
