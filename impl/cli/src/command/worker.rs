//! `pirlab worker` (hidden): measures one row, told what to do on standard input.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, channel};

use serde::Serialize;

use crate::bars::Bars;
use crate::failure::{Failure, Outcome};
use crate::measure::child::{Order, Reply};
use crate::measure::plan::Plan;
use crate::measure::record::refuse_debug_build;
use crate::measure::row::Row;
use crate::measure::steps::{Report, Step, Steps};
use crate::output::print;
use crate::primitive::row::PrimitiveRow;
use crate::primitive::steps::{PrimitivePlan, PrimitiveReport, PrimitiveSteps};

/// Measure one row of a group; started by `pirlab run --group`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn main(_: &Args) -> Outcome<()> {
    refuse_debug_build()?;
    let orders = read_orders();
    match next(&orders)? {
        Order::Row(row) => end(protocol(*row, &orders)),
        Order::Primitive(row) => end(primitive(*row, &orders)),
        Order::Step(_) => end::<Report>(Err(Failure::Input("worker: a row comes first.".into()))),
    }
}

/// The last answer: the report, or why there is none.
fn end<R: Serialize>(report: Outcome<R>) -> Outcome<()> {
    match report {
        Ok(report) => answer(&Reply::Report(Box::new(report))),
        Err(Failure::Closed) => Err(Failure::Closed),
        Err(failure) => answer(&Reply::<R>::Failed(failure.text())),
    }
}

/// Reads orders on a thread of its own: when the parent is gone, the input ends, and with it this process, even in the
/// middle of a long step.
fn read_orders() -> Receiver<String> {
    let (send, orders) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
        std::process::exit(1);
    });
    orders
}

fn next(orders: &Receiver<String>) -> Outcome<Order> {
    let line = orders.recv().map_err(|_| Failure::Closed)?;
    serde_json::from_str(&line).map_err(|e| Failure::Input(format!("worker: not an order: {e}.")))
}

fn answer<R: Serialize>(reply: &Reply<R>) -> Outcome<()> {
    let mut line = serde_json::to_string(reply).map_err(|e| Failure::Result(e.to_string()))?;
    line.push('\n');
    print(&line)
}

/// Takes the steps that it is told to, until it is told that there are no more.
fn take_steps(orders: &Receiver<String>, mut take: impl FnMut(Step) -> Outcome<()>) -> Outcome<()> {
    loop {
        answer(&Reply::<()>::Done)?;
        match next(orders)? {
            Order::Step(Step::Finish) => return Ok(()),
            Order::Step(step) => take(step)?,
            _ => return Err(Failure::Input("worker: it has its row already.".into())),
        }
    }
}

fn protocol(row: Row, orders: &Receiver<String>) -> Outcome<Report> {
    let plan = Plan::new(row)?;
    let bars = Bars::labelled(&plan.row.id);
    let mut steps = Steps::start(&plan, &bars)?;
    take_steps(orders, |step| steps.take(step))?;
    Ok(steps.finish())
}

fn primitive(row: PrimitiveRow, orders: &Receiver<String>) -> Outcome<PrimitiveReport> {
    let plan = PrimitivePlan::new(row)?;
    let mut steps = PrimitiveSteps::start(&plan)?;
    take_steps(orders, |step| steps.take(step))?;
    steps.finish()
}
