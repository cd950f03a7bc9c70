//! InsPIRe (Mahdavi, Patel, Seo, Yeo; 2025, section 6): one query row selects interpolated polynomials, InspiRING packs their
//! coefficients, and an encrypted point evaluates them to the item asked for.
//!
//! docs/inspire.md has the symbols, the byte formulas and the noise theorem.

mod client;
mod code;
mod describe;
mod encoded;
mod interpolation;
mod layout;
mod params;
mod public;
mod server;
#[cfg(test)]
mod tests;

pub use interpolation::Interpolate;
pub use params::{Body, EvaluationLiteral, FoldingLiteral, Literal, Params};

use crate::database::{Database, Record};
use crate::description::Direction;
use crate::error::Result;
use crate::rlwe::no_update_messages;
use crate::scheme::{Change, Context, Request, Response, Scheme, Sizes};
use crate::transcript::Link;
use crate::wire::Frame;
use crate::workload::{Shape, Workload};

/// Bytes of the public seed.
const SEED_BYTES: usize = 16;

/// The protocol.
#[derive(Debug)]
pub struct Inspire;

impl Scheme for Inspire {
    const NAME: &'static str = "inspire";
    const SUMMARY: &'static str =
        "InsPIRe: interpolated polynomials, packed by InspiRING, evaluated at an encrypted point";
    type Params = Params;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(params: &Params, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }

    fn preprocess(params: &Params, database: &Database, context: &mut Context) -> Result<Self::Server> {
        server::Server::preprocess(params, database, context)
    }

    fn client(params: &Params, shape: Shape, _: &mut Context) -> Result<Self::Client> {
        client::Client::new(params, shape)
    }

    fn offline(
        client: &mut Self::Client,
        server: &mut Self::Server,
        link: &mut Link,
        context: &mut Context,
    ) -> Result<()> {
        let seed = link.carry(server.seed(), "seed", Direction::Download, "offline", None)?;
        client.receive_seed(seed, context.kernel)
    }

    fn query(client: &mut Self::Client, indices: &[u64], context: &mut Context) -> Result<Request> {
        client.query(indices, context)
    }

    fn answer(server: &Self::Server, requests: &[Request], context: &mut Context) -> Result<Vec<Response>> {
        server.answer(requests, context)
    }

    fn extract(client: &mut Self::Client, response: &Response, _: &mut Context) -> Result<Vec<Record>> {
        client.extract(response)
    }

    fn measure_noise(client: &Self::Client, response: &Response, context: &mut Context) -> Result<()> {
        client.measure_noise(response, &mut context.noise)
    }

    fn update(
        server: &mut Self::Server,
        changes: &[Change],
        context: &mut Context,
    ) -> Result<Vec<(&'static str, Frame)>> {
        server.update(changes, context)
    }

    fn apply_update(_: &mut Self::Client, messages: &[(&'static str, Frame)], _: &mut Context) -> Result<()> {
        no_update_messages(messages)
    }
}
