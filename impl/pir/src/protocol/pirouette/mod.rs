//! Pirouette and Pirouette^H: a query is a seed and one LWE body, or one for each bit of the index; the server decomposes it
//! homomorphically into bits, makes RGSW encryptions of them, and selects with these.
//!
//! docs/pirouette.md has the symbols, the phases, the byte formulas and the deviations from the paper.

mod client;
mod convert;
mod converted;
mod describe;
mod digits;
mod encrypted;
mod form;
mod keys;
mod overlap;
mod params;
mod query;
mod server;
mod switching;
#[cfg(test)]
mod tests;
mod trace;

use std::marker::PhantomData;
use std::sync::Arc;

pub use params::{Literal, Params};
pub use query::QueryForm;
pub use query::{Bits, Index, SeedUse};

use crate::core::clock::Group;
use crate::core::database::{Database, Record};
use crate::core::description::{Direction, TableBytes};
use crate::core::error::Result;
use crate::core::numbers::number_answers;
use crate::core::scheme::{Change, Context, Request, Response, Scheme, Sizes};
use crate::core::transcript::Link;
use crate::core::wire::Frame;
use crate::core::workload::{Shape, Workload};
use form::Selecting;

/// The protocol whose queries have that form.
#[derive(Debug)]
pub struct Folding<F>(PhantomData<F>);

/// One LWE encryption of the index.
pub type Pirouette = Folding<Index>;
/// One LWE encryption of every bit of the index.
pub type PirouetteH = Folding<Bits>;

/// Name of the message that carries the seed of all of a client's queries.
const SEED: &str = "query_seed";

impl<F: Selecting> Scheme for Folding<F> {
    const NAME: &'static str = F::NAME;
    const SUMMARY: &'static str = F::SUMMARY;
    const STREAMS: bool = true;
    const ONE_KEY: bool = true;
    type Params = Params<F>;
    type Server = server::Server<F>;
    type Client = client::Client<F>;

    fn describe(params: &Params<F>, workload: &Workload) -> Result<Sizes> {
        describe::describe(params, workload)
    }

    fn preprocess(params: &Params<F>, database: &Database, context: &mut Context) -> Result<Self::Server> {
        server::Server::preprocess(params, database, context)
    }

    fn held(server: &Self::Server) -> Vec<TableBytes> {
        server.held()
    }

    fn client(params: &Params<F>, shape: Shape, context: &mut Context) -> Result<Self::Client> {
        client::Client::new(params, shape, context)
    }

    /// The client makes its keys (phase `keys`) and sends them; the server expands them (`key_expansion`).
    fn offline(
        client: &mut Self::Client,
        server: &mut Self::Server,
        link: &mut Link,
        context: &mut Context,
    ) -> Result<()> {
        let clock = Arc::clone(&context.clock);
        let keys = clock.time("keys", Group::Offline, || client.keys(context))?;
        let carried: Result<Vec<(&'static str, Frame)>> = keys
            .into_iter()
            .map(|(name, frame)| Ok((name, link.carry(frame, name, Direction::Upload, "offline", None)?)))
            .collect();
        let mut carried = carried?;
        if let Some(seed) = client.seed() {
            let seed = keys::frame::<F>(SEED, &seed);
            carried.push((SEED, link.carry(seed, SEED, Direction::Upload, "offline", None)?));
        }
        if let Some(database) = server.owned() {
            let database = clock.time("database_encryption", Group::Offline, || client.encrypt(database, context))?;
            let name = encrypted::DATABASE;
            carried.push((name, link.carry(database, name, Direction::Upload, "offline", None)?));
        }
        let session = clock.time("key_expansion", Group::Offline, || server.receive(&carried, context))?;
        client.open_session(session);
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
        Ok(number_answers(requests, server.answer(requests, None, context)?))
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
        let place = client.asked()?;
        let cell = server.cell(&place)?;
        // The trace logs while the server has the rest of the context.
        let mut noise = std::mem::take(&mut context.noise);
        let mut trace = client.trace(place, cell, &mut noise);
        server.answer(std::slice::from_ref(request), Some(&mut trace), context)?;
        context.noise = noise;
        Ok(())
    }

    fn update(
        server: &mut Self::Server,
        changes: &[Change],
        context: &mut Context,
    ) -> Result<Vec<(&'static str, Frame)>> {
        server.update(changes, context)?;
        Ok(Vec::new())
    }
}
