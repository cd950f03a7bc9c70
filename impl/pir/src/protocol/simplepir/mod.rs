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

use crate::core::database::{Database, Record};
use crate::core::description::{Direction, TableBytes};
use crate::core::error::Result;
use crate::core::numbers::number_answers;
use crate::core::scheme::{Change, Context, Request, Response, Scheme, Sizes};
use crate::core::transcript::Link;
use crate::core::wire::Frame;
use crate::core::workload::{Shape, Workload};

/// Bytes of the seed of A, at the start of the hint message.
const SEED_BYTES: usize = 16;

/// The protocol.
#[derive(Debug)]
pub struct SimplePir;

impl Scheme for SimplePir {
    const NAME: &'static str = "simplepir";
    const SUMMARY: &'static str = "SimplePIR: LWE, a large hint, one multiply-add an entry";
    type Params = Params;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(params: &Params, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }

    fn preprocess(params: &Params, database: &Database, context: &mut Context) -> Result<Self::Server> {
        server::Server::preprocess(params, database, context)
    }

    fn held(server: &Self::Server) -> Vec<TableBytes> {
        server.held()
    }

    fn client(params: &Params, shape: Shape, _context: &mut Context) -> Result<Self::Client> {
        client::Client::new(params, shape)
    }

    fn offline(client: &mut Self::Client, server: &mut Self::Server, link: &mut Link, _: &mut Context) -> Result<()> {
        let hint = link.carry(server.hint(), "hint", Direction::Download, "offline", None)?;
        client.receive_hint(hint)
    }

    fn query(client: &mut Self::Client, indices: &[u64], context: &mut Context) -> Result<Request> {
        let request = client.query(indices, context)?;
        Ok(client.numbers.open(request))
    }

    fn answer(server: &Self::Server, requests: &[Request], context: &mut Context) -> Result<Vec<Response>> {
        Ok(number_answers(requests, server.answer(requests, context)?))
    }

    fn extract(client: &mut Self::Client, response: &Response, _context: &mut Context) -> Result<Vec<Record>> {
        client.numbers.check(response)?;
        let records = client.extract(response)?;
        client.numbers.close();
        Ok(records)
    }

    fn measure_noise(
        client: &Self::Client,
        server: &Self::Server,
        (_, response): (&Request, &Response),
        context: &mut Context,
    ) -> Result<()> {
        client.measure_noise(server, response, context)
    }

    fn update(
        server: &mut Self::Server,
        changes: &[Change],
        _context: &mut Context,
    ) -> Result<Vec<(&'static str, Frame)>> {
        server.update(changes)
    }

    fn apply_update(client: &mut Self::Client, messages: &[(&'static str, Frame)], _: &mut Context) -> Result<()> {
        client.apply_update(messages)
    }
}
