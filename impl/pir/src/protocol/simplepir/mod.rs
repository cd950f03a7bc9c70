//! SimplePIR (Henzinger, Hong, Corrigan-Gibbs, Meiklejohn, Vaikuntanathan; USENIX Security 2023, section 4).
//!
//! The client downloads the hint H = D' A once; a query is an LWE encryption of a unit vector, the answer is D' times it.
//! docs/simplepir.md has the symbols, the byte formulas and the noise theorem.

mod client;
mod describe;
mod hint;
mod params;
mod server;
#[cfg(test)]
mod tests;

pub use params::{Literal, Params};

use crate::core::database::Database;
use crate::core::error::Result;
use crate::core::scheme::{Context, Protocol, Sizes};
use crate::core::workload::{Shape, Workload};

/// The protocol.
#[derive(Debug)]
pub struct SimplePir;

impl Protocol for SimplePir {
    const NAME: &'static str = params::NAME;
    const SUMMARY: &'static str = "SimplePIR: LWE, a large hint, one multiply-add an entry";
    type Params = Params;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(params: &Params, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }

    fn server(params: &Params, database: &Database, context: &mut Context) -> Result<Self::Server> {
        server::Server::preprocess(params, database, context)
    }

    fn client(params: &Params, shape: Shape, _: &mut Context) -> Result<Self::Client> {
        client::Client::new(params, shape)
    }
}
