//! `pirlab worker` (hidden): measures one row, told what to do on standard input.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, channel};

use crate::bars::Bars;
use crate::failure::{Failure, Outcome};
use crate::measure::child::{Order, Reply};
use crate::measure::plan::Plan;
use crate::measure::record::refuse_debug_build;
use crate::measure::steps::{Step, Steps};
use crate::output::print;

/// Measure one row of a group; started by `pirlab run --group`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn main(_: &Args) -> Outcome<()> {
    refuse_debug_build()?;
    let orders = read_orders();
    let reply = match measure(&orders) {
        Ok(reply) => reply,
        Err(Failure::Closed) => return Err(Failure::Closed),
        Err(failure) => Reply::Failed(failure.text()),
    };
    answer(&reply)
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

fn answer(reply: &Reply) -> Outcome<()> {
    let mut line = serde_json::to_string(reply).map_err(|e| Failure::Result(e.to_string()))?;
    line.push('\n');
    print(&line)
}

fn measure(orders: &Receiver<String>) -> Outcome<Reply> {
    let Order::Row(row) = next(orders)? else {
        return Err(Failure::Input("worker: a row comes first.".into()));
    };
    let plan = Plan::new(*row)?;
    let bars = Bars::labelled(&plan.row.id);
    let mut steps = Steps::start(&plan, &bars)?;
    answer(&Reply::Done)?;
    loop {
        match next(orders)? {
            Order::Step(Step::Finish) => return Ok(Reply::Report(Box::new(steps.finish()))),
            Order::Step(step) => steps.take(step)?,
            Order::Row(_) => return Err(Failure::Input("worker: it has its row already.".into())),
        }
        answer(&Reply::Done)?;
    }
}
