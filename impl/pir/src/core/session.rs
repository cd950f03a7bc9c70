//! The part of server and client that is the same for every protocol: the offline exchange, request numbers, unfinished updates.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::core::database::{Database, Record, check_change};
use crate::core::description::{Direction, TableBytes};
use crate::core::error::{Error, Result};
use crate::core::protocol::{Change, Client, Context, Messages, Protocol, Request, Server};
use crate::core::transcript::Link;
use crate::core::wire::Frame;
use crate::core::workload::Shape;

/// A server that answers only while its hints and tables match its database. To save memory, an update frees old tables before it makes
/// new ones; after an update that fails half-way some are missing, and nothing records which are old.
pub struct ServerSession<P: Protocol> {
    pub(crate) server: P::Server,
    shape: Shape,
    /// Whether its tables are made for every answer, so that none is kept that could be updated.
    streamed: bool,
    /// Whether an update has begun and not ended.
    updating: bool,
    /// Updates so far, modulo 2^16.
    epoch: u16,
}

impl<P: Protocol> ServerSession<P> {
    /// See [`Server::new`].
    pub fn new(params: &P::Set, database: &Database, context: &mut Context) -> Result<Self> {
        let server = P::Server::new(params, database, context)?;
        Ok(Self { server, shape: database.shape(), streamed: context.streamed, updating: false, epoch: 0 })
    }

    /// See [`Server::tables`].
    pub fn tables(&self) -> Vec<TableBytes> {
        self.server.tables()
    }

    /// See [`Server::touch`].
    pub fn touch(&self) {
        self.server.touch();
    }

    /// See [`Server::forget`].
    pub fn forget(&mut self) {
        self.server.forget();
    }

    fn check(&self) -> Result<()> {
        if self.updating {
            return Err(Error::Workload(
                "an update was not finished: the server's hints and tables do not match its database. Preprocess it again."
                    .into(),
            ));
        }
        Ok(())
    }

    /// Answers requests in order; each answer carries the number of its request and the number of updates so far.
    pub fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        self.check()?;
        let mut answers = self.server.answer(requests, context)?;
        for (request, answer) in requests.iter().zip(&mut answers) {
            let number = request.messages.first().map_or(0, |(_, message)| message.number());
            change(answer, |message| message.numbered(number).at_epoch(self.epoch));
        }
        Ok(answers)
    }

    /// Changes records, after checking all of them. Returns the messages that every client must fetch.
    pub fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        self.check()?;
        if self.streamed {
            return Err(Error::Workload(
                "a streamed server has no tables to update. Preprocess it without streaming, or preprocess it again."
                    .into(),
            ));
        }
        changes.iter().try_for_each(|(index, record)| check_change(self.shape, *index, record))?;
        self.updating = true;
        let messages = self.server.update(changes, context)?;
        self.updating = false;
        self.epoch = self.epoch.wrapping_add(1);
        Ok(messages)
    }
}

/// A client and its open requests. Requests and answers are numbered: a client that decrypted an answer with the secrets of another request
/// would get wrong records without noticing.
pub struct ClientSession<P: Protocol> {
    pub(crate) client: P::Client,
    /// Its number at the server, once the offline exchange is done.
    session: Option<u64>,
    /// Number of the next request.
    next: u16,
    /// The open requests by number, the oldest first.
    open: VecDeque<(u16, Vec<Asked<P>>)>,
    /// The request that was extracted last.
    extracted: Vec<Asked<P>>,
}

type Asked<P> = <<P as Protocol>::Client as Client>::Query;

impl<P: Protocol> ClientSession<P> {
    /// See [`Client::new`].
    pub fn new(params: &P::Set, shape: Shape, context: &mut Context) -> Result<Self> {
        let client = P::Client::new(params, shape, context)?;
        Ok(Self { client, session: None, next: 0, open: VecDeque::new(), extracted: Vec::new() })
    }

    /// The offline exchange: hints down, keys up; everything goes through `link`. Made again, it closes open requests: they may be under another
    /// public seed, and their answers would decrypt to wrong records.
    pub fn connect(&mut self, server: &mut ServerSession<P>, link: &mut Link, context: &mut Context) -> Result<()> {
        self.open.clear();
        let published = link.carry_all(server.server.publish(), Direction::Download, "offline", None)?;
        self.client.receive(published, context)?;
        for part in 0.. {
            let Some((messages, served)) = server.server.stream(part) else { break };
            self.client.receive(link.carry_part(messages, part, served)?, context)?;
        }
        let uploaded = self.client.upload(server.server.owned(), context)?;
        let uploaded = link.carry_all(uploaded, Direction::Upload, "offline", None)?;
        self.session = Some(server.server.receive(&uploaded, context)?);
        Ok(())
    }

    /// The session of a client that was kept from an earlier one: it fetches what the server publishes, and reads no database again.
    pub fn resume(
        client: P::Client,
        server: &mut ServerSession<P>,
        link: &mut Link,
        context: &mut Context,
    ) -> Result<Self> {
        let mut session = Self { client, session: None, next: 0, open: VecDeque::new(), extracted: Vec::new() };
        let published = link.carry_all(server.server.publish(), Direction::Download, "offline", None)?;
        session.client.receive(published, context)?;
        session.session = Some(server.server.receive(&Messages::new(), context)?);
        Ok(session)
    }

    /// See [`Client::queries_left`].
    pub fn queries_left(&self) -> u64 {
        self.client.queries_left()
    }

    /// See [`Client::precompute`].
    pub fn precompute(&mut self, indices: u64, context: &mut Context) -> Result<()> {
        self.client.precompute(indices, context)
    }

    /// One request for all `indices`.
    pub fn query(&mut self, indices: &[u64], context: &mut Context) -> Result<Request> {
        let session =
            self.session.ok_or_else(|| Error::message("query", "the offline exchange must come before a query."))?;
        let (asked, mut messages) = self.client.query(indices, context)?;
        change(&mut messages, |message| message.numbered(self.next));
        self.open.push_back((self.next, asked));
        self.next = self.next.wrapping_add(1);
        Ok(Request { messages, queries: self.client.queries(indices.len() as u64)?, session })
    }

    /// The records of the oldest open request, which this closes unless the answer is refused.
    pub fn extract(&mut self, answer: &Messages, context: &Context) -> Result<Vec<Record>> {
        let (oldest, asked) = self.open.front().ok_or_else(|| Error::message("answer", "no request is under way."))?;
        if let Some(other) = answer.iter().map(|(_, message)| message.number()).find(|number| number != oldest) {
            let problem = format!(
                "it answers request {other}, the oldest one under way is {oldest}: answers are extracted in the order of their requests. \
                 If one is lost, ask again with a fresh client."
            );
            return Err(Error::message("answer", problem));
        }
        let records = self.client.extract(asked, answer, context);
        if matches!(records, Ok(_) | Err(Error::Record { .. })) {
            self.extracted = self.open.pop_front().map(|(_, asked)| asked).unwrap_or_default();
        }
        records
    }

    /// Logs the errors of the answer that was extracted last; see [`Client::log_errors`].
    pub fn log_errors(
        &self,
        server: &ServerSession<P>,
        exchange: (&Request, &Messages),
        context: &mut Context,
    ) -> Result<()> {
        self.client.log_errors(&self.extracted, &server.server, exchange, context)
    }

    /// Logs the errors on the way to the answer that was extracted last; see [`Client::diagnose`].
    pub fn diagnose(&self, server: &ServerSession<P>, request: &Request, context: &mut Context) -> Result<()> {
        self.client.diagnose(&self.extracted, &server.server, request, context)
    }

    /// See [`Client::update`].
    pub fn update(&mut self, messages: &Messages, context: &mut Context) -> Result<()> {
        self.client.update(messages, context)
    }
}

fn change(messages: &mut Messages, change: impl Fn(Frame) -> Frame) {
    for (_, message) in messages {
        *message = change(std::mem::replace(message, Frame::empty()));
    }
}
