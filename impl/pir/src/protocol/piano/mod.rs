//! Piano (Zhou, Park, Shi, Zheng; IEEE S&P 2024): sublinear answers from hints that the client makes itself while it reads the database
//! once; no lattice, one block cipher.
//!
//! The database is cut into chunks. A hint is a pseudorandom set with one entry of every chunk, and the sum (exclusive or) of these entries.
//! To ask for an entry, the client takes a hint whose set holds it, puts a random entry of its chunk in its place, and sends the set; the
//! server answers with the sum of the set, which differs from the hint's by the entry and its replacement. A used hint gives way to a
//! spare one with the entry put into its set. After a window of queries the client reads the database again.
//! docs/piano.md has the symbols, the counts, the byte formulas and the failures.

mod client;
mod describe;
mod hints;
mod layout;
mod prf;
mod server;
mod set;
mod state;
#[cfg(test)]
mod tests;
mod window;

pub use client::Client;
pub use set::{Answer, Backups, Offsets, Set};

use crate::core::{Protocol, Result, Sizes, Workload};

/// The protocol.
#[derive(Debug)]
pub struct Piano;

impl Protocol for Piano {
    const NAME: &'static str = set::NAME;
    const SUMMARY: &'static str = "Piano: hints from one pass over the database, answers of sublinear time, no lattice";
    type Set = Set;
    type Numbers = describe::Numbers;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }
}
