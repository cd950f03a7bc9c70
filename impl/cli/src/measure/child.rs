//! A worker: a process that measures one row and receives its orders line by line.
//!
//! The parent writes an [`Order`] a line to the worker's standard input and reads a [`Reply`] a line from its standard
//! output. A worker whose parent is gone reads the end of its input and exits.

use std::io::Write;
use std::marker::PhantomData;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use pir::core::record::Status;
use serde::{Deserialize, Serialize};

use super::job::{Job, Step};
use super::row::Asked;
use crate::lines::received;

/// An order to a worker; `R` is its row.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order<R> {
    /// The row to measure, which is the first order.
    Row(Box<R>),
    Step(Step),
}

/// A worker's answer; `R` is its report about a row.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply<R> {
    /// The order was carried out.
    Done,
    /// The order failed; the worker ends.
    Failed(String),
    /// The answer to [`Step::Finish`]; the worker ends.
    Report(Box<R>),
}

/// Why a row has no numbers.
#[derive(Debug)]
pub struct Lost {
    /// Failed or timeout.
    pub status: Status,
    pub reason: String,
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Lost {}

impl Lost {
    fn failed(reason: impl Into<String>) -> Self {
        Self { status: Status::Failed, reason: reason.into() }
    }
}

/// The parent's end of a worker. Dropping it ends the process.
pub struct Worker<J: Job> {
    child: Child,
    orders: ChildStdin,
    replies: Receiver<String>,
    limit: Option<Limit>,
    reports: PhantomData<fn() -> J>,
}

impl<J: Job> Worker<J> {
    /// Starts a worker and hands it its row, each of whose threads may take `limit` seconds of processor time in all.
    pub fn start(row: &J::Row, limit: Option<f64>) -> Result<Self, Lost> {
        let program = std::env::current_exe().map_err(|e| Lost::failed(format!("this program's own file: {e}")))?;
        let mut child = Command::new(program)
            .arg("worker")
            .args(J::KIND.to_possible_value().map(|kind| kind.get_name().to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| Lost::failed(format!("starting the worker: {e}")))?;
        let (Some(orders), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Lost::failed("the worker has no pipes"));
        };
        let replies = received(output, || ());
        let limit = limit.and_then(|seconds| Limit::new(seconds, row.threads()));
        let mut worker = Self { child, orders, replies, limit, reports: PhantomData };
        worker.order(&Order::Row(Box::new(row.clone()))).map(|_| worker)
    }

    /// Orders a step; [`Step::Finish`] returns the report.
    pub fn take(&mut self, step: Step) -> Result<Option<Box<J::Report>>, Lost> {
        self.order(&Order::Step(step))
    }

    fn order(&mut self, order: &Order<J::Row>) -> Result<Option<Box<J::Report>>, Lost> {
        let mut line = serde_json::to_string(order).map_err(|e| Lost::failed(e.to_string()))?;
        line.push('\n');
        if self.orders.write_all(line.as_bytes()).and_then(|()| self.orders.flush()).is_err() {
            return Err(self.died());
        }
        let reply = match &mut self.limit {
            Some(limit) => limit.wait(&self.replies, self.child.id()),
            None => self.replies.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match reply {
            Err(RecvTimeoutError::Disconnected) => Err(self.died()),
            Err(RecvTimeoutError::Timeout) => {
                let limit = self.limit.as_ref().map_or(0.0, |limit| limit.seconds);
                Err(Lost { status: Status::Timeout, reason: format!("took longer than its limit of {limit} s") })
            }
            Ok(text) => match serde_json::from_str(&text) {
                Ok(Reply::Done) => Ok(None),
                Ok(Reply::Report(report)) => Ok(Some(report)),
                Ok(Reply::Failed(reason)) => Err(Lost::failed(reason)),
                Err(e) => Err(Lost::failed(format!("the worker answered something else: {e}"))),
            },
        }
    }

    fn died(&mut self) -> Lost {
        match self.child.wait() {
            Ok(status) => Lost::failed(how_it_ended(status)),
            Err(e) => Lost::failed(format!("the worker is gone: {e}")),
        }
    }
}

impl<J: Job> Drop for Worker<J> {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The time that a row may take.
struct Limit {
    /// Seconds of processor time that each of its threads may use.
    seconds: f64,
    /// Number of threads, because a system counts their processor time together.
    threads: u64,
    /// Wall-clock time that is left of `seconds`.
    left: Duration,
}

impl Limit {
    /// `None`, which means no limit, if a [`Duration`] cannot hold the seconds.
    fn new(seconds: f64, threads: u64) -> Option<Self> {
        Some(Self { seconds, threads, left: Duration::try_from_secs_f64(seconds).ok()? })
    }

    /// The next reply of a process; `Timeout` once it has used up its processor time, or uses none any more. The time that other programs take
    /// from it is not its own.
    fn wait(&mut self, replies: &Receiver<String>, process: u32) -> Result<String, RecvTimeoutError> {
        let (threads, left, start) = (self.threads as f64, self.left, Instant::now());
        let (mut wait, mut before, mut moved) = (left, 0.0, start);
        loop {
            let reply = replies.recv_timeout(wait);
            self.left = left.saturating_sub(start.elapsed());
            if reply != Err(RecvTimeoutError::Timeout) {
                return reply;
            }
            let most = self.seconds * threads;
            let Some(used) = processor_seconds(process).filter(|&used| used < most) else { return reply };
            if used > before {
                (before, moved) = (used, Instant::now());
            } else if moved.elapsed() > PATIENCE {
                return reply;
            }
            wait = Duration::from_secs_f64(((most - used) / threads).clamp(0.1, 1.0));
        }
    }
}

/// A worker that gets no processor for so long does not wait for one: it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the system counts processor time in: hundredths of a second, on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Processor time that a process has used, all its threads together; `None` where the system does not say.
fn processor_seconds(process: u32) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name, in parentheses, may have spaces.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
    Some((ticks(11)? + ticks(12)?) as f64 / TICKS_PER_SECOND)
}

fn how_it_ended(status: ExitStatus) -> String {
    if let Some(signal) = status.signal() {
        let hint = if signal == 9 { "; the system does that when memory runs out" } else { "" };
        return format!("the worker was killed by signal {signal}{hint}");
    }
    format!("the worker ended early: {status}")
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
