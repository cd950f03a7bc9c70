//! `pirlab worker` (hidden): measures one row by the orders on standard input.

use std::sync::mpsc::Receiver;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bars::Bars;
use crate::failure::{Failure, Outcome};
use crate::lines::received;
use crate::measure::child::{Order, Reply};
use crate::measure::job::{Job, Kind, Step};
use crate::measure::record::refuse_debug_build;
use crate::measure::row::Asked;
use crate::output::print;
use crate::primitive::plan::PrimitivePlan;
use crate::protocol::plan::Plan;

/// Measure one row of a group; started by `pirlab run --group`.
#[derive(clap::Args)]
pub struct Args {
    /// The kind of the row.
    kind: Kind,
}

pub fn main(args: &Args) -> Outcome<()> {
    refuse_debug_build()?;
    match args.kind {
        Kind::Protocol => end(measure::<Plan>()),
        Kind::Primitive => end(measure::<PrimitivePlan>()),
    }
}

/// The last answer: the report, or the reason of the failure.
fn end<R: Serialize>(report: Outcome<R>) -> Outcome<()> {
    match report {
        Ok(report) => answer(&Reply::Report(Box::new(report))),
        Err(Failure::Closed) => Err(Failure::Closed),
        Err(failure) => answer(&Reply::<R>::Failed(failure.text())),
    }
}

fn next<R: DeserializeOwned>(orders: &Receiver<String>) -> Outcome<Order<R>> {
    let line = orders.recv().map_err(|_| Failure::Closed)?;
    serde_json::from_str(&line).map_err(|e| Failure::Input(format!("worker: not an order: {e}.")))
}

fn answer<R: Serialize>(reply: &Reply<R>) -> Outcome<()> {
    let mut line = serde_json::to_string(reply).map_err(|e| Failure::Result(e.to_string()))?;
    line.push('\n');
    print(&line)
}

/// Measures the row of the first order, step by step, until the orders end.
fn measure<J: Job>() -> Outcome<J::Report> {
    // When the parent ends, the input ends, and then this process exits, even in the middle of a long step.
    let orders = received(std::io::stdin(), || std::process::exit(1));
    let Order::Row(row) = next::<J::Row>(&orders)? else {
        return Err(Failure::Input("worker: a row comes first.".into()));
    };
    let job = J::new(*row)?;
    let bars = Bars::labelled(job.row().run().id);
    let mut steps = job.start(&bars)?;
    loop {
        answer(&Reply::<()>::Done)?;
        match next::<J::Row>(&orders)? {
            Order::Step(Step::Finish) => return steps.finish(),
            Order::Step(step) => steps.take(step)?,
            Order::Row(_) => return Err(Failure::Input("worker: it has its row already.".into())),
        }
    }
}
