//! SimpleYPIR, also YPIR+SP (Menon, Wu; USENIX Security 2024, section 4.6): one layer over the ring. A query selects a row of
//! long items, and the answer of every 2048 columns is packed into a ring ciphertext. docs/simpleypir.md has the symbols, byte
//! formulas and noise theorem.

mod client;
mod describe;
mod layout;
mod params;
mod server;
#[cfg(test)]
mod tests;

pub use params::{Literal, Params, Rows};

/// Bytes of the public seed, from which every mask is expanded.
const SEED_BYTES: usize = 16;

use crate::database::{Database, Record};
use crate::description::Direction;
use crate::error::Result;
use crate::scheme::{Change, Context, Request, Response, Scheme, Sizes};
use crate::transcript::Link;
use crate::wire::Frame;
use crate::workload::{Shape, Workload};

/// The protocol.
#[derive(Debug)]
pub struct SimpleYpir;

impl Scheme for SimpleYpir {
    const NAME: &'static str = "simpleypir";
    const SUMMARY: &'static str = "SimpleYPIR: SimplePIR over a ring without a hint to download, for long records";
    type Params = Params;
    type Server = server::Server;
    type Client = client::Client;

    fn describe(params: &Params, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }

    fn preprocess(params: &Params, database: &Database, context: &mut Context) -> Result<Self::Server> {
        server::Server::preprocess(params, database, context)
    }

    fn client(params: &Params, shape: Shape, _context: &mut Context) -> Result<Self::Client> {
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
        crate::rlwe::no_update_messages(messages)
    }
}
