//! DoublePIR (Henzinger, Hong, Corrigan-Gibbs, Meiklejohn, Vaikuntanathan; USENIX Security 2023, section 5).
//!
//! SimplePIR's hint H is itself a database: the client fetches the one row of it that its record needs, and the answer of
//! the first layer, by a second layer of the same kind. docs/doublepir.md has the symbols, byte formulas and noise theorem.

mod client;
mod describe;
mod diagnosis;
mod params;
mod second;
mod server;
#[cfg(test)]
mod tests;

pub use params::{HintCopies, Literal, Params};

use crate::core::database::{Database, Record};
use crate::core::description::{Direction, TableBytes};
use crate::core::error::Result;
use crate::core::numbers::number_answers;
use crate::core::scheme::{Change, Context, Request, Response, Scheme, Sizes};
use crate::core::transcript::Link;
use crate::core::wire::Frame;
use crate::core::workload::{Shape, Workload};

/// Bytes of the seeds of A1 and A2, at the start of the hint message.
const SEED_BYTES: usize = 32;

/// The protocol.
#[derive(Debug)]
pub struct DoublePir;

impl Scheme for DoublePir {
    const NAME: &'static str = "doublepir";
    const SUMMARY: &'static str = "DoublePIR: SimplePIR whose hint is fetched by PIR, a small hint for short records";
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

    fn extract(client: &mut Self::Client, response: &Response, context: &mut Context) -> Result<Vec<Record>> {
        client.numbers.check(response)?;
        let records = client.extract(response, context)?;
        client.numbers.close();
        Ok(records)
    }

    fn measure_noise(
        client: &Self::Client,
        server: &Self::Server,
        exchange: (&Request, &Response),
        context: &mut Context,
    ) -> Result<()> {
        client.measure_noise(server, exchange, context)
    }

    fn diagnose(client: &Self::Client, server: &Self::Server, request: &Request, context: &mut Context) -> Result<()> {
        diagnosis::diagnose(client, server, request, context)
    }

    fn update(
        server: &mut Self::Server,
        changes: &[Change],
        context: &mut Context,
    ) -> Result<Vec<(&'static str, Frame)>> {
        server.update(changes, context)
    }

    fn apply_update(
        client: &mut Self::Client,
        messages: &[(&'static str, Frame)],
        context: &mut Context,
    ) -> Result<()> {
        client.apply_update(messages, context)
    }
}
