//! InsPIRe_0 (InsPIRe, section 4): YPIR with InspiRING in place of CDKS, hence two packing keys in place of eleven.
//! docs/inspire0.md has the symbols, byte formulas and noise theorem.

mod params;
#[cfg(test)]
pub(crate) mod tests;

pub use params::{Literal, Params};

use crate::database::{Database, Record};
use crate::description::Direction;
use crate::error::Result;
use crate::layered;
use crate::scheme::{Change, Context, Request, Response, Scheme, Sizes};
use crate::transcript::Link;
use crate::wire::Frame;
use crate::workload::{Shape, Workload};

/// The protocol.
#[derive(Debug)]
pub struct Inspire0;

impl Scheme for Inspire0 {
    const NAME: &'static str = "inspire0";
    const SUMMARY: &'static str = "InsPIRe_0: YPIR packed by InspiRING, two packing keys instead of eleven";
    type Params = Params;
    type Server = layered::Server;
    type Client = layered::Client;

    fn describe(params: &Params, workload: &Workload) -> Result<Sizes> {
        layered::describe(params.layered(), workload)
    }

    fn preprocess(params: &Params, database: &Database, context: &mut Context) -> Result<Self::Server> {
        layered::Server::preprocess(Self::NAME, params.layered(), database, context)
    }

    fn client(params: &Params, shape: Shape, _context: &mut Context) -> Result<Self::Client> {
        layered::Client::new(Self::NAME, params.layered(), shape)
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
        crate::rlwe::no_update_messages(messages)
    }
}
