//! Clients whose whole state follows from the public seed, and which use a fresh ring key for every index.

use std::sync::Arc;

use lattice::{RlweKey, SplitKey, SplitRing};
use rand_chacha::ChaCha20Rng;
use ring::{DiscreteGaussian, Kernel, Ring, Seed};

use super::Rlwe;
use crate::core::seed;
use crate::core::{
    Client, Context, Error, Frame, FrameBuilder, Messages, NoiseLog, Protocol, Record, Request, Result, Shape, only,
};

/// The part of such a client that each protocol defines.
pub trait Asks: Protocol + 'static {
    /// The layout of the database.
    type Layout;
    /// The expansion of the public seed.
    type Public;

    /// The layout of a database.
    fn layout(set: &Self::Set, shape: Shape) -> Result<Self::Layout>;

    /// Expands the public seed.
    fn expand(set: &Self::Set, layout: &Self::Layout, seed: Seed, kernel: Kernel) -> Result<Self::Public>;

    /// Ring, secret and error of queries.
    fn rlwe(set: &Self::Set) -> &Rlwe;

    /// The ring.
    fn ring(public: &Self::Public) -> &Arc<Ring<u32>>;

    /// The messages of a query, with their bytes; those of zero bytes are not sent.
    fn parts(client: &RingClient<Self>, public: &Self::Public) -> Vec<(&'static str, usize)>;

    /// Writes the query for a record into its messages.
    fn ask(
        client: &RingClient<Self>,
        public: &Self::Public,
        query: &Query,
        rng: &mut ChaCha20Rng,
        parts: &mut [&mut [u8]],
    ) -> Result<()>;

    /// Bytes of the answer to a query.
    fn answer_bytes(client: &RingClient<Self>) -> usize;

    /// The record in an answer.
    fn open(client: &RingClient<Self>, index: u64, opener: &SplitKey, answer: &[u8]) -> Result<Record>;

    /// Logs all errors of the answer to query number `k` of a request; see [`Client::log_errors`].
    fn errors(
        client: &RingClient<Self>,
        answer: (u64, &SplitKey, &[u8]),
        server: &Self::Server,
        request: (&Request, usize),
        context: &Context,
        log: &mut NoiseLog,
    ) -> Result<()>;
}

/// One requested index, with the secret of its query.
pub struct Query {
    /// The record.
    pub index: u64,
    /// The secret.
    pub key: RlweKey<u32>,
}

/// The public seed's expansions.
pub struct RingClient<P: Asks> {
    /// The parameter set.
    pub set: P::Set,
    /// The layout.
    pub layout: P::Layout,
    /// The sampler of errors.
    pub error: DiscreteGaussian,
    shape: Shape,
    public: Option<P::Public>,
    /// The ring in which answers are decrypted.
    opener: SplitRing,
}

impl<P: Asks> RingClient<P> {
    /// The expansion of the public seed.
    pub fn public(&self) -> Result<&P::Public> {
        self.public.as_ref().ok_or_else(|| Error::message("seed", "it must be fetched before a query."))
    }

    /// The message of a response to `queries` queries.
    fn message(&self, answer: &Messages, queries: usize) -> Result<Frame> {
        only("answer", answer)?.clone().check(P::NAME, "answer", (P::answer_bytes(self) * queries) as u64)
    }
}

impl<P: Asks> Client for RingClient<P> {
    type Server = P::Server;
    type Query = Query;

    /// A client that has not yet seen the seed.
    fn new(set: &P::Set, shape: Shape, _: &mut Context) -> Result<Self> {
        let rlwe = P::rlwe(set);
        Ok(Self {
            layout: P::layout(set, shape)?,
            error: rlwe.error.sampler()?,
            shape,
            public: None,
            opener: SplitRing::new(rlwe.degree)?,
            set: set.clone(),
        })
    }

    fn receive(&mut self, messages: Messages, context: &mut Context) -> Result<()> {
        let seed = seed::received(P::NAME, &messages)?;
        self.public = Some(P::expand(&self.set, &self.layout, seed, context.kernel)?);
        Ok(())
    }

    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Query>, Messages)> {
        indices.iter().try_for_each(|&index| self.shape.check_index(index))?;
        let (public, rng) = (self.public()?, &mut context.rng);
        let secret = P::rlwe(&self.set).secret.distribution();
        let parts: Vec<_> = P::parts(self, public).into_iter().filter(|(_, bytes)| *bytes > 0).collect();
        let mut builders: Vec<_> = parts.iter().map(|(_, bytes)| FrameBuilder::new(bytes * indices.len())).collect();
        let mut places: Vec<_> =
            builders.iter_mut().zip(&parts).map(|(b, (_, bytes))| b.payload_mut().chunks_exact_mut(*bytes)).collect();
        let mut asked = Vec::with_capacity(indices.len());
        for &index in indices {
            let query = Query { index, key: RlweKey::sample(P::ring(public), &secret, rng)? };
            let mut own: Vec<&mut [u8]> = places.iter_mut().filter_map(Iterator::next).collect();
            P::ask(self, public, &query, rng, &mut own)?;
            asked.push(query);
        }
        let messages = builders.into_iter().zip(parts).map(|(b, (name, _))| (name, b.finish(P::NAME, name))).collect();
        Ok((asked, messages))
    }

    fn extract(&mut self, asked: &[Query], answer: &Messages, _: &Context) -> Result<Vec<Record>> {
        let message = self.message(answer, asked.len())?;
        let answers = message.payload().chunks_exact(P::answer_bytes(self));
        let record = |(query, answer): (&Query, _)| P::open(self, query.index, &self.opener.key(&query.key)?, answer);
        asked.iter().zip(answers).map(record).collect()
    }

    fn log_errors(
        &self,
        asked: &[Query],
        server: &P::Server,
        (request, answer): (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        let message = self.message(answer, asked.len())?;
        let answers = message.payload().chunks_exact(P::answer_bytes(self));
        for (k, (query, answer)) in asked.iter().zip(answers).enumerate() {
            let (opener, mut of_query) = (self.opener.key(&query.key)?, NoiseLog::default());
            P::errors(self, (query.index, &opener, answer), server, (request, k), context, &mut of_query)?;
            context.noise.add_of_one_key(of_query);
        }
        Ok(())
    }
}
