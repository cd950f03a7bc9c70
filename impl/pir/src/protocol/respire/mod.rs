//! Respire (Burton, Menon, Wu: ePrint 2024/1165): small records from rings of dimension 2048, with queries of a few coefficients and
//! responses from a smaller ring. docs/respire.md has the symbols, byte formulas and noise.

mod client;
mod describe;
mod diagnosis;
mod engine;
mod keys;
mod params;
mod query;
mod server;
mod store;
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

/// The protocol.
#[derive(Debug)]
pub struct Respire;

impl Scheme for Respire {
    const NAME: &'static str = "respire";
    const SUMMARY: &'static str =
        "Respire: few packed coefficients up, one small-ring ciphertext down, keys uploaded once";
    const STREAMS: bool = true;
    const ONE_KEY: bool = true;
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

    fn client(params: &Params, shape: Shape, context: &mut Context) -> Result<Self::Client> {
        client::Client::new(params, shape, context)
    }

    fn offline(
        client: &mut Self::Client,
        server: &mut Self::Server,
        link: &mut Link,
        context: &mut Context,
    ) -> Result<()> {
        let keys = client.keys(context)?;
        let keys = link.carry(keys, "keys", Direction::Upload, "offline", None)?;
        client.session = server.register(&keys)?;
        Ok(())
    }

    fn forget(server: &mut Self::Server) {
        server.forget();
    }

    fn query(client: &mut Self::Client, indices: &[u64], context: &mut Context) -> Result<Request> {
        let request = client.query(indices, context)?;
        Ok(client.numbers.open(request))
    }

    fn answer(server: &Self::Server, requests: &[Request], context: &mut Context) -> Result<Vec<Response>> {
        Ok(number_answers(requests, server.answer(requests, context)?))
    }

    fn extract(client: &mut Self::Client, response: &Response, _: &mut Context) -> Result<Vec<Record>> {
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

    fn diagnose(client: &Self::Client, server: &Self::Server, request: &Request, context: &mut Context) -> Result<()> {
        diagnosis::diagnose(client, server, request, context)
    }

    fn update(server: &mut Self::Server, changes: &[Change], _: &mut Context) -> Result<Vec<(&'static str, Frame)>> {
        server.store.update(changes)?;
        Ok(Vec::new())
    }
}
