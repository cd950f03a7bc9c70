//! What a protocol is.
//!
//! One trait wide enough for client-keyed, hint-based, hintless, stateful, many-index and batched protocols. The runner
//! drives every implementation the same way: it times, counts, checks and records; a protocol only computes.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use ring::Kernel;

use crate::core::clock::{Clock, Group};
use crate::core::database::{Database, Record};
use crate::core::description::{Description, Direction, TableBytes};
use crate::core::error::{Error, Result};
use crate::core::noise::NoiseLog;
use crate::core::params::ParameterSet;
pub(crate) use crate::core::plan::operations;
use crate::core::progress::Progress;
use crate::core::transcript::Link;
use crate::core::wire::Frame;
use crate::core::workload::{MAX_QUERIES, Shape, Workload};

/// Bytes of what is built together where the preprocessed database is streamed, or a little more: several times the last-level cache.
pub const BLOCK_BYTES: u64 = 256 << 20;

/// What a protocol computes with: kernel path, threads, randomness, clock, progress.
pub struct Context<'a> {
    /// Kernel path of every matrix product.
    pub kernel: Kernel,
    /// Threads of the server.
    pub threads: usize,
    /// Whether the server may not keep what is largest of the preprocessed database, but builds it block by block while it answers,
    /// each block within [`Clock::outside`] and larger than the last-level cache. Only where [`Scheme::STREAMS`].
    pub streamed: bool,
    /// All randomness: from the operating system, or from `--seed`.
    pub rng: ChaCha20Rng,
    /// Phases finer than the runner's.
    pub clock: Arc<Clock>,
    /// Errors at each decryption.
    pub noise: NoiseLog,
    /// Where long work reports how far it is.
    pub progress: &'a dyn Progress,
}

impl Context<'_> {
    /// Times the product with a database that is kept. Where its packing tables are not, nobody has read it while they were made, a minute
    /// and more, and the system takes idle pages away: it is then read once outside the clock, as by the query before.
    pub(crate) fn time_product<R>(&self, phase: &str, product: impl Fn() -> Result<R>) -> Result<R> {
        if self.streamed {
            self.clock.outside(&product)?;
        }
        self.clock.time(phase, Group::Online, product)
    }
}

/// A request of one client: its messages, in order. May carry many indices.
#[derive(Clone, Debug)]
pub struct Request {
    /// Messages by name.
    pub messages: Vec<(&'static str, Frame)>,
    /// Number of queries in the messages: one for each index, or for each bucket where batches go to buckets.
    pub queries: u64,
    /// Which of the clients whose keys the server holds is asking, by the number the server gave it in the offline exchange; 0 where
    /// it holds none. A server knows it from the connection, so it is no part of a message.
    pub session: u64,
}

/// The answer to one request: its messages, in order.
#[derive(Clone, Debug)]
pub struct Response {
    /// Messages by name.
    pub messages: Vec<(&'static str, Frame)>,
    /// Number of queries answered.
    pub queries: u64,
}

/// A change of one record.
pub type Change = (u64, Record);

/// A single-server PIR protocol.
pub trait Scheme: Sized {
    /// Name on the command line, in parameter files and in records.
    const NAME: &'static str;
    /// One line for `pirlab list`.
    const SUMMARY: &'static str;
    /// Whether answers can stream the preprocessed database: see [`Workload::streamed`] and [`Context::streamed`].
    const STREAMS: bool = false;
    /// Whether one key of the client serves all its queries. Noise under other keys then takes other clients, and their offline exchanges.
    const ONE_KEY: bool = false;
    /// Checked parameter set.
    type Params: ParameterSet;
    /// Everything the server keeps.
    type Server;
    /// Everything one client keeps, between queries and while one is under way.
    type Client;

    /// Layout, exact message lengths, memory, operation counts and LWE instances. Touches no database.
    ///
    /// The caller fills in the parameters' identity.
    ///
    /// # Errors
    /// The set does not serve this workload.
    fn describe(params: &Self::Params, workload: &Workload) -> Result<Sizes>;

    /// Encodes the database and precomputes whatever no client is needed for.
    ///
    /// # Errors
    /// The set does not serve this database, or the database cannot be read.
    fn preprocess(params: &Self::Params, database: &Database, context: &mut Context) -> Result<Self::Server>;

    /// What the server keeps now, by table: names and order of
    /// [`MemoryMap::server`](crate::core::description::MemoryMap::server), lengths of what is there. A streamed server holds
    /// the tables of a block only while it answers: they are not among them.
    fn held(server: &Self::Server) -> Vec<TableBytes>;

    /// A client with fresh keys (or none, where keys are per query).
    ///
    /// # Errors
    /// The set does not serve this shape.
    fn client(params: &Self::Params, shape: Shape, context: &mut Context) -> Result<Self::Client>;

    /// The offline exchange: hints down, keys up, streams; everything that travels goes through `link`.
    ///
    /// # Errors
    /// A message does not arrive as it was sent.
    fn offline(
        client: &mut Self::Client,
        server: &mut Self::Server,
        link: &mut Link,
        context: &mut Context,
    ) -> Result<()>;

    /// Forgets the keys that clients sent, where the server holds any.
    fn forget(server: &mut Self::Server) {
        let _ = server;
    }

    /// One request for all `indices`.
    ///
    /// # Errors
    /// An index out of range.
    fn query(client: &mut Self::Client, indices: &[u64], context: &mut Context) -> Result<Request>;

    /// Answers requests of one or several clients together, in order.
    ///
    /// # Errors
    /// A request that does not fit this server's parameters.
    fn answer(server: &Self::Server, requests: &[Request], context: &mut Context) -> Result<Vec<Response>>;

    /// The records of the client's oldest open request.
    ///
    /// # Errors
    /// A response that does not fit the request.
    fn extract(client: &mut Self::Client, response: &Response, context: &mut Context) -> Result<Vec<Record>>;

    /// Decrypts everything the client can in the response it extracted last (not only the records asked for) and logs by stage how far
    /// each phase is from its message. That message is known from what the server stores and was asked, never from the phase: an error
    /// that is decrypted wrongly is logged as large as it is. Called outside the clock, before any update.
    ///
    /// # Errors
    /// As [`Self::extract`].
    fn measure_noise(
        client: &Self::Client,
        server: &Self::Server,
        exchange: (&Request, &Response),
        context: &mut Context,
    ) -> Result<()>;

    /// Answers `request` once more and logs, by stage, the errors of the ciphertexts on the way to the response, which no client
    /// ever sees: possible here, where both parties are at hand. Called outside the clock, after the response was extracted.
    /// Protocols whose responses show every stage have nothing to add.
    ///
    /// # Errors
    /// As [`Self::answer`].
    fn diagnose(client: &Self::Client, server: &Self::Server, request: &Request, context: &mut Context) -> Result<()> {
        let _ = (client, server, request, context);
        Ok(())
    }

    /// Changes records on the server; returns the messages every client must fetch.
    ///
    /// # Errors
    /// An index out of range, a record of another length.
    fn update(
        server: &mut Self::Server,
        changes: &[Change],
        context: &mut Context,
    ) -> Result<Vec<(&'static str, Frame)>>;

    /// Brings a client up to date. One that holds nothing of the database has no messages to apply.
    ///
    /// # Errors
    /// A message that does not fit.
    fn apply_update(
        client: &mut Self::Client,
        messages: &[(&'static str, Frame)],
        context: &mut Context,
    ) -> Result<()> {
        let _ = (client, context);
        match messages {
            [] => Ok(()),
            [(name, _), ..] => Err(Error::message(name, "updates of this protocol have no messages.")),
        }
    }
}

/// A [`Description`] without the identity of its parameter set.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// See [`Description::layout`].
    pub layout: serde_json::Map<String, serde_json::Value>,
    /// See [`Description::messages`].
    pub messages: Vec<crate::core::description::MessageSize>,
    /// See [`Description::memory`].
    pub memory: crate::core::description::MemoryMap,
    /// See [`Description::operations`].
    pub operations: serde_json::Map<String, serde_json::Value>,
    /// See [`Description::instances`].
    pub instances: Vec<crate::core::description::LweInstance>,
}

impl Sizes {
    /// Payload bytes of the message `name`; zero where there is none.
    pub fn payload_bytes(&self, name: &str) -> u64 {
        self.messages.iter().find(|message| message.name == name).map_or(0, |message| message.payload_bytes)
    }

    /// Adds a message.
    pub fn message(
        &mut self,
        name: &str,
        direction: Direction,
        phase: &str,
        payload_bytes: u64,
        formula: &str,
        queries_served: Option<u64>,
    ) {
        self.messages.push(crate::core::description::MessageSize {
            name: name.into(),
            direction,
            phase: phase.into(),
            payload_bytes,
            frame_bytes: payload_bytes.saturating_add(crate::core::wire::HEADER_BYTES),
            formula: formula.into(),
            queries_served,
        });
    }

    /// With the parameter set's identity: what `pirlab describe` prints.
    pub fn describe(
        self,
        protocol: &str,
        parameters: crate::core::params::ParametersId,
        workload: &Workload,
    ) -> Description {
        let Sizes { layout, messages, memory, operations, instances } = self;
        Description {
            schema: crate::core::description::DESCRIPTION_SCHEMA.into(),
            id: None,
            protocol: protocol.into(),
            parameters,
            shape: workload.into(),
            queries: workload.queries,
            updates: workload.updates,
            streamed: workload.streamed,
            layout,
            messages,
            memory,
            operations,
            instances,
        }
    }
}

/// Checks a request's number of queries, which the payload's length is then held against.
///
/// # Errors
/// None, or more than [`MAX_QUERIES`].
pub(crate) fn check_queries(request: &Request) -> Result<()> {
    if (1..=MAX_QUERIES).contains(&request.queries) {
        return Ok(());
    }
    Err(Error::message("query", format!("{} queries in one request; from 1 to {MAX_QUERIES}.", request.queries)))
}
