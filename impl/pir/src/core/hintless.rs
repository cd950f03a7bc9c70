//! What protocols share whose clients hold nothing of the database: a public seed goes down, all else comes with a query.
//!
//! Every [`Hintless`] protocol is a [`Scheme`].

use std::collections::VecDeque;

use rand::RngCore;
use ring::{Kernel, Seed};

use crate::core::database::{Database, Record, check_change};
use crate::core::description::{Direction, TableBytes};
use crate::core::error::{Error, Result};
use crate::core::numbers::{RequestNumbers, number_answers};
use crate::core::params::ParameterSet;
use crate::core::scheme::{Change, Context, Request, Response, Scheme, Sizes};
use crate::core::transcript::Link;
use crate::core::wire::{Frame, FrameBuilder};
use crate::core::workload::{Shape, Workload};

/// Bytes of the public seed, from which every mask is expanded.
pub const SEED_BYTES: usize = 16;

/// A protocol without hints. The methods are those of [`Scheme`].
pub trait Hintless: Sized {
    /// See [`Scheme::NAME`].
    const NAME: &'static str;
    /// See [`Scheme::SUMMARY`].
    const SUMMARY: &'static str;
    /// See [`Scheme::STREAMS`].
    const STREAMS: bool = false;
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

    /// See [`Scheme::measure_noise`].
    ///
    /// # Errors
    /// As [`HintlessClient::extract`].
    fn measure_noise(
        client: &Self::Client,
        server: &Self::Server,
        exchange: (&Request, &Response),
        context: &mut Context,
    ) -> Result<()>;
}

/// The server of a [`Hintless`] protocol.
pub trait HintlessServer {
    /// The public seed.
    fn seed(&self) -> Seed;

    /// See [`Scheme::answer`].
    ///
    /// # Errors
    /// A request that does not fit this server's parameters.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Response>>;

    /// See [`Scheme::held`].
    fn held(&self) -> Vec<TableBytes>;

    /// See [`Scheme::update`]; the records exist and have the right length, and clients need no message.
    ///
    /// # Errors
    /// Those of the layers below. The server is not asked any more then: see [`Consistent`].
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
}

/// A server that answers only while hints and tables are those of its database. Updates give old ones back before they make new ones,
/// for memory, so after one that fails half-way some are missing and nothing tells which are old.
pub struct Consistent<S> {
    server: S,
    shape: Shape,
    /// Its tables are made for every answer, and none is kept that could be updated.
    streamed: bool,
    /// An update has begun and not ended.
    updating: bool,
}

impl<S: HintlessServer> Consistent<S> {
    fn new(server: S, shape: Shape, streamed: bool) -> Self {
        Self { server, shape, streamed, updating: false }
    }

    fn check(&self) -> Result<()> {
        if self.updating {
            return Err(Error::Workload(
                "an update was not finished: the server's hints and tables are not those of its database. Preprocess it again."
                    .into(),
            ));
        }
        Ok(())
    }

    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Response>> {
        self.check()?;
        self.server.answer(requests, context)
    }

    /// Changes that do not fit are refused before anything is changed.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<()> {
        self.check()?;
        if self.streamed {
            return Err(Error::Workload(
                "a streamed server has no tables to update. Preprocess it without streaming, or preprocess it again."
                    .into(),
            ));
        }
        changes.iter().try_for_each(|(index, record)| check_change(self.shape, *index, record))?;
        self.updating = true;
        self.server.update(changes, context)?;
        self.updating = false;
        Ok(())
    }
}

/// A client and the numbers of its requests.
pub struct Numbered<C> {
    client: C,
    numbers: RequestNumbers,
}

impl<P: Hintless> Scheme for P {
    const NAME: &'static str = P::NAME;
    const SUMMARY: &'static str = P::SUMMARY;
    const STREAMS: bool = P::STREAMS;
    type Params = P::Params;
    type Server = Consistent<P::Server>;
    type Client = Numbered<P::Client>;

    fn describe(params: &Self::Params, workload: &Workload) -> Result<Sizes> {
        P::describe(params, workload)
    }

    fn preprocess(params: &Self::Params, database: &Database, context: &mut Context) -> Result<Self::Server> {
        Ok(Consistent::new(P::preprocess(params, database, context)?, database.shape(), context.streamed))
    }

    fn held(server: &Self::Server) -> Vec<TableBytes> {
        server.server.held()
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
        builder.payload_mut().copy_from_slice(&server.server.seed().0);
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

    fn measure_noise(
        client: &Self::Client,
        server: &Self::Server,
        exchange: (&Request, &Response),
        context: &mut Context,
    ) -> Result<()> {
        P::measure_noise(&client.client, &server.server, exchange, context)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::tests_support::context;

    /// A server whose updates fail at records of 255, after it has changed something.
    struct Failing {
        changed: usize,
    }

    impl HintlessServer for Failing {
        fn seed(&self) -> Seed {
            Seed([0; SEED_BYTES])
        }

        fn answer(&self, _: &[Request], _: &mut Context) -> Result<Vec<Response>> {
            Ok(Vec::new())
        }

        fn held(&self) -> Vec<TableBytes> {
            Vec::new()
        }

        fn update(&mut self, changes: &[Change], _: &mut Context) -> Result<()> {
            self.changed += changes.len();
            let fails = changes.iter().any(|(_, record)| record == &[255]);
            if fails { Err(Error::Workload("no memory".into())) } else { Ok(()) }
        }
    }

    #[test]
    fn no_answer_follows_an_update_that_failed_half_way() {
        let mut context = context(Kernel::best(), 1);
        let shape = Shape::new(10, 8).unwrap();
        let mut streamed = Consistent::new(Failing { changed: 0 }, shape, true);
        assert!(streamed.update(&[(0, vec![1])], &mut context).unwrap_err().to_string().contains("streamed"));
        assert_eq!(streamed.server.changed, 0);
        let mut server = Consistent::new(Failing { changed: 0 }, shape, false);
        server.update(&[(0, vec![1])], &mut context).unwrap();
        for wrong in [(10, vec![1]), (0, vec![1, 2])] {
            assert!(server.update(&[(1, vec![2]), wrong], &mut context).is_err());
        }
        assert_eq!(server.server.changed, 1, "changes that do not fit reach no server");
        server.answer(&[], &mut context).unwrap();
        let error = server.update(&[(2, vec![255])], &mut context).unwrap_err().to_string();
        assert!(error.contains("no memory"), "{error}");
        // Made again, it would find the records changed and nothing to add to hints.
        let again = server.update(&[(2, vec![3])], &mut context).unwrap_err().to_string();
        let answer = server.answer(&[], &mut context).unwrap_err().to_string();
        for error in [again, answer] {
            assert!(error.contains("not finished") && error.contains("Preprocess it again"), "{error}");
        }
    }
}
