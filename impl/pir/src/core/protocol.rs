//! What a protocol is.
//!
//! Three small traits, wide enough for client-keyed, hint-based, hintless, stateful, many-index and batched protocols. The runner
//! drives every implementation the same way: it times, counts, checks and records; a protocol only computes.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use ring::Kernel;
use schemars::JsonSchema;

use crate::core::clock::{Clock, Group};
use crate::core::database::{Database, Record};
use crate::core::description::{Sizes, TableBytes};
use crate::core::error::{Error, Result};
use crate::core::noise::NoiseLog;
use crate::core::params::ParameterSet;
use crate::core::progress::Progress;
use crate::core::wire::{Frame, FrameBuilder};
use crate::core::workload::{MAX_QUERIES, Shape, Workload};

/// Bytes of a block of a streamed database, or a little more: several times the last-level cache.
pub const BLOCK_BYTES: u64 = 256 << 20;

/// What a protocol computes with: kernel path, threads, randomness, clock, progress.
pub struct Context<'a> {
    /// Kernel path of every matrix product.
    pub kernel: Kernel,
    /// Threads of the server.
    pub threads: usize,
    /// Whether the server streams: it does not keep the largest part of the preprocessed database, but builds it block by block while it
    /// answers, each block within [`Clock::outside`] and larger than the last-level cache. Only where [`Protocol::STREAMS`].
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
    /// Times the product with a database that is kept. If its packing tables are streamed, the database was idle for a minute or more while
    /// they were made, and the system may have reclaimed its pages: it is then read once outside the clock, as a previous query would have.
    pub(crate) fn time_product<R>(&self, phase: &str, product: impl Fn() -> Result<R>) -> Result<R> {
        if self.streamed {
            self.clock.outside(&product)?;
        }
        self.clock.time(phase, Group::Online, product)
    }
}

/// A request of one client, which may carry many indices.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its messages, in order.
    pub messages: Messages,
    /// Number of queries in the messages: one for each index, or for each bucket where batches go to buckets.
    pub queries: u64,
    /// The client that is asking, by the number that the server gave it in the offline exchange; 0 if the server holds no keys. A server
    /// knows it from the connection, so no message contains it.
    pub session: u64,
}

/// Messages in the order in which they travel, by name.
pub type Messages = Vec<(&'static str, Frame)>;

/// A change of one record.
pub type Change = (u64, Record);

/// A single-server PIR protocol. It only computes; requests, versions and unfinished updates are handled by
/// [`ServerSession`](crate::core::session::ServerSession) and [`ClientSession`](crate::core::session::ClientSession), which tests and the
/// runner go through.
pub trait Protocol: Sized {
    /// Name on the command line, in parameter files and in records.
    const NAME: &'static str;
    /// One line for `pirlab list`.
    const SUMMARY: &'static str;
    /// Whether answers can stream the preprocessed database: see [`Workload::streamed`] and [`Context::streamed`].
    const STREAMS: bool = false;
    /// Whether one key of the client serves all its queries. Noise under other keys then needs other clients and their offline exchanges.
    const ONE_KEY: bool = false;
    /// Whether a client makes its queries ahead, before it knows the indices: the phase `precompute`.
    const AHEAD: bool = false;
    /// Whether records may be asked for by key: see [`Database::name`]. What is asked for is then a key, and the record of one that no record
    /// has is empty.
    const KEYS: bool = false;
    /// Its parameter sets.
    type Set: ParameterSet;
    /// What descriptions say of how a database is laid out: see [`Description::layout`](crate::core::description::Description::layout).
    type Numbers: JsonSchema;
    /// Everything the server keeps.
    type Server: Server<Set = Self::Set>;
    /// Everything one client keeps between queries.
    type Client: Client<Server = Self::Server>;

    /// Refuses a set that passes its own check but belongs to another protocol.
    fn check(set: &Self::Set) -> Result<()> {
        let _ = set;
        Ok(())
    }

    /// Layout, exact message lengths, memory, operation counts and LWE instances. Touches no database.
    fn describe(params: &Self::Set, workload: &Workload) -> Result<Sizes>;
}

/// The server of a [`Protocol`]. A method fails where a message or a change does not fit its parameters.
pub trait Server: Sized {
    /// Its parameter sets.
    type Set;

    /// Encodes the database and precomputes everything that does not need a client.
    fn new(params: &Self::Set, database: &Database, context: &mut Context) -> Result<Self>;

    /// The tables that are built now, with their lengths, under the names and in the order of
    /// [`MemoryMap::server`](crate::core::description::MemoryMap::server). The tables of a block that a streaming server holds only while it
    /// answers are left out.
    fn tables(&self) -> Vec<TableBytes>;

    /// Reads a byte of each page of a table of which an answer reads a few random places, outside the clock: see [`ring::Buffer::touch`].
    /// Where answers read most pages, the exchange before touches them.
    fn touch(&self) {}

    /// The messages that every client fetches before its first query: hints, a public seed.
    fn publish(&self) -> Messages {
        Messages::new()
    }

    /// The messages of number `part` among those that a client reads, one after the other, before a window of queries: the whole database
    /// in parts. Beside them the number of queries that all parts together serve. None after the last part.
    fn stream(&self, part: u64) -> Option<(Messages, u64)> {
        let _ = part;
        None
    }

    /// The database, if the client owns it and encrypts it for the server.
    fn owned(&self) -> Option<&Database> {
        None
    }

    /// Takes a client's upload; returns the number of its session.
    fn receive(&mut self, messages: &Messages, context: &mut Context) -> Result<u64> {
        let _ = context;
        none_expected(messages).map(|()| 0)
    }

    /// Forgets what clients uploaded.
    fn forget(&mut self) {}

    /// Answers requests of one or several clients together, in order.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>>;

    /// Changes records (the session has checked index and length); returns the messages that every client must fetch.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages>;
}

/// The client of a [`Protocol`]. A method fails if a message does not fit or comes too early.
pub trait Client: Sized {
    /// The server it asks.
    type Server: Server;
    /// The secrets that decrypt the answer to one index.
    type Query;

    /// A client with fresh keys, or without keys if every query has its own.
    fn new(params: &<Self::Server as Server>::Set, shape: Shape, context: &mut Context) -> Result<Self>;

    /// Takes the messages that the server publishes.
    fn receive(&mut self, messages: Messages, context: &mut Context) -> Result<()> {
        let _ = context;
        none_expected(&messages)
    }

    /// The messages that the server needs before the first query: keys, and the encrypted records of a client that owns the database.
    fn upload(&mut self, owned: Option<&Database>, context: &mut Context) -> Result<Messages> {
        let _ = (owned, context);
        Ok(Messages::new())
    }

    /// Makes what requests for `indices` indices need beside the indices themselves: see [`Protocol::AHEAD`].
    fn precompute(&mut self, indices: u64, context: &mut Context) -> Result<()> {
        let _ = (indices, context);
        Ok(())
    }

    /// The number of indices that the client can still ask for before the offline exchange has to be made again.
    fn queries_left(&self) -> u64 {
        u64::MAX
    }

    /// The number of queries in a request for `indices` indices: one for each, or one for each bucket of every batch.
    fn queries(&self, indices: u64) -> Result<u64> {
        Ok(indices)
    }

    /// One request for all `indices`, and the secrets that decrypt its answer.
    fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<(Vec<Self::Query>, Messages)>;

    /// The records that an answer holds.
    fn extract(&mut self, asked: &[Self::Query], answer: &Messages, context: &Context) -> Result<Vec<Record>>;

    /// Decrypts everything the client can in an answer (not only the records asked for) and logs, by stage, how far each phase is from its
    /// message. The message is computed from the server's data and the indices, never by rounding the phase, so that an error that is
    /// decrypted wrongly is logged at its full size. Called outside the clock, before any update.
    fn log_errors(
        &self,
        asked: &[Self::Query],
        server: &Self::Server,
        exchange: (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()>;

    /// Answers `request` once more and logs, by stage, the errors of intermediate ciphertexts, which no client ever sees; this is possible
    /// because both parties run in one process. Called outside the clock, after the answer was extracted. Protocols whose answers show
    /// every stage add nothing.
    fn diagnose(
        &self,
        asked: &[Self::Query],
        server: &Self::Server,
        request: &Request,
        context: &mut Context,
    ) -> Result<()> {
        let _ = (asked, server, request, context);
        Ok(())
    }

    /// Brings the client up to date. A client that holds nothing of the database applies no messages.
    fn update(&mut self, messages: &Messages, context: &mut Context) -> Result<()> {
        let _ = context;
        none_expected(messages)
    }
}

pub(crate) fn none_expected(messages: &Messages) -> Result<()> {
    match &messages[..] {
        [] => Ok(()),
        [(name, _), ..] => Err(Error::message(name, "this protocol has no such message.")),
    }
}

/// The only message of a request, an answer or an offline exchange.
pub(crate) fn only<'a>(name: &'static str, messages: &'a Messages) -> Result<&'a Frame> {
    match &messages[..] {
        [(found, message)] if *found == name => Ok(message),
        _ => Err(Error::message(name, format!("one message `{name}` is expected, and no other."))),
    }
}

/// The message of an update, of which there is one: a whole hint or its changes. So a client takes all of an update or nothing.
pub(crate) fn update_of(messages: &Messages) -> Result<(&'static str, &Frame)> {
    match &messages[..] {
        [(name, message)] => Ok((*name, message)),
        _ => Err(Error::message("hint_delta", "one message is expected for each update, and no other.")),
    }
}

/// The client of a session; a server numbers its clients from 1 on.
pub(crate) fn client_of<T>(clients: &[T], session: u64) -> Result<&T> {
    let index = session.checked_sub(1).and_then(|index| usize::try_from(index).ok());
    index.and_then(|index| clients.get(index)).ok_or_else(|| {
        Error::message("query", format!("session {session} has sent no keys; send the message `keys` first."))
    })
}

/// Checks a request's number of queries, with which the payload's length is then compared.
pub(crate) fn check_queries(request: &Request) -> Result<()> {
    if (1..=MAX_QUERIES).contains(&request.queries) {
        return Ok(());
    }
    Err(Error::message("query", format!("{} queries in one request; from 1 to {MAX_QUERIES}.", request.queries)))
}

/// Calls `each` with the parts of every query of the requests. `expected` lists a query's messages with their bytes a query; those of zero
/// bytes are not sent.
pub(crate) fn for_each_query(
    protocol: &'static str,
    requests: &[Request],
    expected: &[(&'static str, usize)],
    mut each: impl FnMut(&[&[u8]]) -> Result<()>,
) -> Result<()> {
    let expected: Vec<_> = expected.iter().filter(|(_, bytes)| *bytes > 0).collect();
    let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    for request in requests {
        check_queries(request)?;
        if !request.messages.iter().map(|(name, _)| *name).eq(names.iter().copied()) {
            return Err(Error::message("query", format!("a request is these messages: {}.", names.join(", "))));
        }
        let frame = |((_, frame), (name, bytes)): (&(&str, Frame), &&(&str, usize))| {
            frame.clone().check(protocol, name, request.queries.saturating_mul(*bytes as u64))
        };
        let frames: Vec<Frame> = request.messages.iter().zip(&expected).map(frame).collect::<Result<_>>()?;
        for k in 0..request.queries as usize {
            let part = |(frame, (_, bytes)): (_, &&(_, usize))| &Frame::payload(frame)[k * bytes..(k + 1) * bytes];
            each(&frames.iter().zip(&expected).map(part).collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

/// A message `answer` to every request: `write` is called for each query, by number, and fills its `bytes` bytes.
pub(crate) fn answers(
    protocol: &'static str,
    requests: &[Request],
    bytes: usize,
    mut write: impl FnMut(usize, &mut [u8]) -> Result<()>,
) -> Result<Vec<Messages>> {
    let mut numbers = 0..;
    let mut respond = |request: &Request| {
        let mut builder = FrameBuilder::new(bytes * request.queries as usize);
        let parts = builder.payload_mut().chunks_exact_mut(bytes);
        parts.zip(&mut numbers).try_for_each(|(part, number)| write(number, part))?;
        Ok(vec![("answer", builder.finish(protocol, "answer"))])
    };
    requests.iter().map(&mut respond).collect()
}
