//! What protocols share whose clients hold nothing of the database: a public seed goes down, all else comes with a query.
//!
//! Every [`Hintless`] protocol is a [`Scheme`].

use std::collections::VecDeque;

use rand::RngCore;
use ring::{Kernel, Seed};

use crate::database::{Database, Record};
use crate::description::Direction;
use crate::error::{Error, Result};
use crate::noise::NoiseLog;
use crate::numbers::{RequestNumbers, number_answers};
use crate::params::ParameterSet;
use crate::scheme::{Change, Context, Request, Response, Scheme, Sizes};
use crate::transcript::Link;
use crate::wire::{Frame, FrameBuilder};
use crate::workload::{Shape, Workload};

/// Bytes of the public seed, from which every mask is expanded.
pub const SEED_BYTES: usize = 16;

/// A protocol without hints. The methods are those of [`Scheme`].
pub trait Hintless: Sized {
    /// See [`Scheme::NAME`].
    const NAME: &'static str;
    /// See [`Scheme::SUMMARY`].
    const SUMMARY: &'static str;
    /// Checked parameter set.
    type Params: ParameterSet;
    /// Everything the server keeps.
    type Server: HintlessServer;
    /// Everything one client keeps.
    type Client: HintlessClient;

    /// See [`Scheme::describe`].
    ///
    /// # Errors
    /// The set does not serve this workload.
    fn describe(params: &Self::Params, workload: &Workload) -> Result<Sizes>;

    /// See [`Scheme::preprocess`].
    ///
    /// # Errors
    /// The set does not serve this database, or the database cannot be read.
    fn preprocess(params: &Self::Params, database: &Database, context: &mut Context) -> Result<Self::Server>;

    /// See [`Scheme::client`].
    ///
    /// # Errors
    /// The set does not serve this shape.
    fn client(params: &Self::Params, shape: Shape) -> Result<Self::Client>;
}

/// The server of a [`Hintless`] protocol.
pub trait HintlessServer {
    /// The public seed.
    fn seed(&self) -> Seed;

    /// See [`Scheme::answer`].
    ///
    /// # Errors
    /// A request that does not fit this server's parameters; an update that was not finished.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Response>>;

    /// See [`Scheme::update`]; clients need no message.
    ///
    /// # Errors
    /// An index out of range, a record of another length.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<()>;
}

/// A client of a [`Hintless`] protocol: no state between queries but the public seed, fresh secrets for every index.
pub trait HintlessClient {
    /// Takes the public seed.
    ///
    /// # Errors
    /// Those of parameters.
    fn receive_seed(&mut self, seed: Seed, kernel: Kernel) -> Result<()>;

    /// See [`Scheme::query`].
    ///
    /// # Errors
    /// An index out of range, no seed yet.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<Request>;

    /// See [`Scheme::extract`].
    ///
    /// # Errors
    /// A response that does not fit the oldest open request.
    fn extract(&mut self, response: &Response) -> Result<Vec<Record>>;

    /// See [`Scheme::measure_noise`].
    ///
    /// # Errors
    /// As [`Self::extract`].
    fn measure_noise(&self, response: &Response, noise: &mut NoiseLog) -> Result<()>;
}

/// A client and the numbers of its requests.
pub struct Numbered<C> {
    client: C,
    numbers: RequestNumbers,
}

impl<P: Hintless> Scheme for P {
    const NAME: &'static str = P::NAME;
    const SUMMARY: &'static str = P::SUMMARY;
    type Params = P::Params;
    type Server = P::Server;
    type Client = Numbered<P::Client>;

    fn describe(params: &Self::Params, workload: &Workload) -> Result<Sizes> {
        P::describe(params, workload)
    }

    fn preprocess(params: &Self::Params, database: &Database, context: &mut Context) -> Result<Self::Server> {
        P::preprocess(params, database, context)
    }

    fn client(params: &Self::Params, shape: Shape, _: &mut Context) -> Result<Self::Client> {
        Ok(Numbered { client: P::client(params, shape)?, numbers: RequestNumbers::default() })
    }

    fn offline(
        client: &mut Self::Client,
        server: &mut Self::Server,
        link: &mut Link,
        context: &mut Context,
    ) -> Result<()> {
        let mut builder = FrameBuilder::new(SEED_BYTES);
        builder.payload_mut().copy_from_slice(&server.seed().0);
        let message = link.carry(builder.finish(P::NAME, "seed"), "seed", Direction::Download, "offline", None)?;
        let message = message.check(P::NAME, "seed", SEED_BYTES as u64)?;
        let mut seed = Seed([0; SEED_BYTES]);
        seed.0.copy_from_slice(message.payload());
        client.client.receive_seed(seed, context.kernel)
    }

    fn query(client: &mut Self::Client, indices: &[u64], context: &mut Context) -> Result<Request> {
        let request = client.client.query(indices, context)?;
        Ok(client.numbers.open(request))
    }

    fn answer(server: &Self::Server, requests: &[Request], context: &mut Context) -> Result<Vec<Response>> {
        Ok(number_answers(requests, server.answer(requests, context)?))
    }

    fn extract(client: &mut Self::Client, response: &Response, _: &mut Context) -> Result<Vec<Record>> {
        client.numbers.check(response)?;
        let records = client.client.extract(response)?;
        client.numbers.close();
        Ok(records)
    }

    fn measure_noise(client: &Self::Client, response: &Response, context: &mut Context) -> Result<()> {
        client.client.measure_noise(response, &mut context.noise)
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

/// A fresh public seed.
pub(crate) fn public_seed(context: &mut Context) -> Seed {
    let mut seed = Seed([0; SEED_BYTES]);
    context.rng.fill_bytes(&mut seed.0);
    seed
}

/// A client's requests under way, oldest first, and the one extracted last: for each index what decrypts its answer.
pub(crate) struct OpenRequests<Q> {
    open: VecDeque<Vec<Q>>,
    extracted: Vec<Q>,
}

impl<Q> Default for OpenRequests<Q> {
    fn default() -> Self {
        Self { open: VecDeque::new(), extracted: Vec::new() }
    }
}

impl<Q> OpenRequests<Q> {
    /// Adds a request.
    pub fn push(&mut self, queries: Vec<Q>) {
        self.open.push_back(queries);
    }

    /// The oldest request under way.
    ///
    /// # Errors
    /// There is none.
    pub fn oldest(&self) -> Result<&[Q]> {
        self.open.front().map(Vec::as_slice).ok_or_else(|| Error::message("answer", "no query is under way."))
    }

    /// The oldest request is extracted.
    pub fn close(&mut self) {
        self.extracted = self.open.pop_front().unwrap_or_default();
    }

    /// The request extracted last.
    pub fn extracted(&self) -> &[Q] {
        &self.extracted
    }
}

/// Packing tables, which updates make anew. The old one goes before the new one is made: together they would be the largest sum of
/// memory. One that could not be made is missing, and the server answers no more until an update has made it.
pub(crate) struct Tables<T>(Vec<Option<T>>);

impl<T> Default for Tables<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> FromIterator<T> for Tables<T> {
    fn from_iter<I: IntoIterator<Item = T>>(tables: I) -> Self {
        Self(tables.into_iter().map(Some).collect())
    }
}

impl<T> Tables<T> {
    /// Adds a table.
    pub fn push(&mut self, table: T) {
        self.0.push(Some(table));
    }

    /// Drops tables: the data they were made of has changed. Returns all that are missing now.
    pub fn invalidate(&mut self, which: impl IntoIterator<Item = usize>) -> Vec<usize> {
        for i in which {
            self.0[i] = None;
        }
        (0..self.0.len()).filter(|&i| self.0[i].is_none()).collect()
    }

    /// Sets a table that was missing.
    pub fn set(&mut self, i: usize, table: T) {
        self.0[i] = Some(table);
    }

    /// One table.
    ///
    /// # Errors
    /// It is missing.
    pub fn get(&self, i: usize) -> Result<&T> {
        let missing = || Error::Workload("an update was not finished: make it again before the next answer.".into());
        self.0[i].as_ref().ok_or_else(missing)
    }

    /// All tables.
    ///
    /// # Errors
    /// One is missing.
    pub fn all(&self) -> Result<Vec<&T>> {
        (0..self.0.len()).map(|i| self.get(i)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_table_is_refused_until_it_is_made() {
        let mut tables: Tables<u32> = [10, 11, 12].into_iter().collect();
        assert_eq!(tables.all().unwrap(), [&10, &11, &12]);
        assert_eq!(tables.invalidate([1]), [1]);
        assert!(tables.all().is_err() && tables.get(1).is_err());
        assert_eq!(tables.get(2).unwrap(), &12);
        assert_eq!(tables.invalidate([2]), [1, 2], "what an earlier update left undone is done with the next");
        tables.set(1, 21);
        tables.set(2, 22);
        assert_eq!(tables.all().unwrap(), [&10, &21, &22]);
    }
}
