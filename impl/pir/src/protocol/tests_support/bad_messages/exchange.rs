//! An honest exchange and the places where its parties take messages.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::Kernel;

use crate::core::check_change;
use crate::core::database::Database;
use crate::core::error::Result;
use crate::core::protocol::{Client, Context, Messages, Protocol, Request, Server};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::workload::{Shape, Workload};
use crate::protocol::tests_support::context;

/// The places that take messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// The server, a query.
    Request,
    /// The server, a query in one call with an honest one of another client.
    Beside,
    /// The client, an answer.
    Answer,
    /// The client, what the server publishes.
    Published,
    /// The client, a part of the database that it reads.
    Streamed,
    /// The server, a client's keys.
    Upload,
    /// The client, the changes of an update.
    Update,
}

/// An honest exchange, of whose messages bad ones are made.
pub struct Exchange<'a, S: Protocol> {
    params: &'a S::Set,
    shape: Shape,
    database: Database,
    context: Context<'static>,
    server: ServerSession<S>,
    client: ClientSession<S>,
    /// Another client that the server answers in the same calls, the index that it asks for, and its open request.
    neighbour: ClientSession<S>,
    index: u64,
    beside: Request,
    /// A client in the middle of its offline exchange, which has refused every bad message so far.
    victim: ClientSession<S>,
    /// Parts of the database that it has read.
    read: usize,
    published: Messages,
    /// The database in parts, where clients read it.
    streamed: Vec<Messages>,
    uploaded: Messages,
    /// The open request of the client, of which bad ones are made.
    pub request: Request,
    answer: Messages,
    update: Messages,
}

impl<'a, S: Protocol> Exchange<'a, S> {
    pub fn new(params: &'a S::Set, shape: Shape) -> Self {
        let mut context = context(Kernel::best(), 1);
        let database = Database::seeded([9; 16], shape);
        let mut other = ServerSession::<S>::new(params, &database, &mut context).unwrap();
        let change = (0, vec![0; shape.record_bytes()]);
        let update = other.update(&[change], &mut context).unwrap();
        drop(other);
        let mut server = ServerSession::<S>::new(params, &database, &mut context).unwrap();
        let mut client = ClientSession::<S>::new(params, shape, &mut context).unwrap();
        client.connect(&mut server, &mut Link::new(S::NAME), &mut context).unwrap();
        let mut neighbour = ClientSession::<S>::new(params, shape, &mut context).unwrap();
        neighbour.connect(&mut server, &mut Link::new(S::NAME), &mut context).unwrap();
        let published = server.server.publish();
        let mut streamed = Vec::new();
        while let Some((messages, _)) = server.server.stream(streamed.len() as u64) {
            streamed.push(messages);
        }
        let mut first = S::Client::new(params, shape, &mut context).unwrap();
        for messages in std::iter::once(&published).chain(&streamed) {
            first.receive(messages.clone(), &mut context).unwrap();
        }
        let uploaded = first.upload(server.server.owned(), &mut context).unwrap();
        let victim = ClientSession::<S>::new(params, shape, &mut context).unwrap();
        let request = client.ask(&[0], &mut context).unwrap();
        let answer = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
        let index = shape.records - 1;
        let beside = neighbour.ask(&[index], &mut context).unwrap();
        Self {
            params,
            shape,
            database,
            context,
            server,
            client,
            neighbour,
            index,
            beside,
            victim,
            read: 0,
            published,
            streamed,
            uploaded,
            request,
            answer,
            update,
        }
    }

    /// The messages that honest parties send to a place: of the parts of a database any one, in its turn or not.
    pub fn honest(&self, place: Place, rng: &mut impl Rng) -> Messages {
        match place {
            Place::Request | Place::Beside => self.request.messages.clone(),
            Place::Answer => self.answer.clone(),
            Place::Published => self.published.clone(),
            Place::Streamed => self.streamed.choose(rng).cloned().unwrap_or_default(),
            Place::Upload => self.uploaded.clone(),
            Place::Update => self.update.clone(),
        }
    }

    /// Places that this protocol sends something to.
    pub fn places(&self) -> Vec<Place> {
        let all = [
            Place::Request,
            Place::Beside,
            Place::Answer,
            Place::Published,
            Place::Streamed,
            Place::Upload,
            Place::Update,
        ];
        let mut rng = ChaCha20Rng::seed_from_u64(0);
        all.into_iter().filter(|&place| !self.honest(place, &mut rng).is_empty()).collect()
    }

    /// Hands a message over, and says whether the party took it. A party that takes one does something of the right size, and others are served.
    pub fn send(&mut self, place: Place, messages: Messages, request: Request) -> Result<()> {
        match place {
            Place::Request => {
                let queries = request.queries;
                let answers = self.server.answer(&[Request { messages, ..request }], &mut self.context)?;
                self.check_sizes(&answers, &[queries]);
            }
            Place::Beside => self.send_beside(Request { messages, ..request })?,
            Place::Answer => {
                let records = self.client.extract(&messages, &self.context)?;
                assert_eq!(records.len(), 1);
                check_change(self.shape, 0, &records[0]).unwrap();
                if self.client.queries_left() < u64::MAX {
                    // What a client of many hints reads, right or wrong, goes into them: it believes its server.
                    let fresh = self.fresh();
                    self.connect(fresh);
                } else {
                    self.ask();
                }
            }
            Place::Published => {
                self.victim.client.receive(messages, &mut self.context)?;
                self.replace_victim();
            }
            Place::Streamed => {
                self.victim.client.receive(self.published.clone(), &mut self.context).unwrap();
                let number = messages.first().map(|(_, part)| usize::from(part.number()));
                if let Err(error) = self.victim.client.receive(messages, &mut self.context) {
                    // The victim still takes the part whose turn it is.
                    let next = self.read % self.streamed.len();
                    self.victim.client.receive(self.streamed[next].clone(), &mut self.context).unwrap();
                    self.read = next + 1;
                    return Err(error);
                }
                // Parts that are late, doubled or before their turn are refused; the first begins the next window at any time.
                assert!(number == Some(0) || number == Some(self.read), "part {number:?} after {}", self.read);
                self.replace_victim();
            }
            Place::Upload => {
                self.server.server.receive(&messages, &mut self.context)?;
                self.serves();
                self.server.forget();
                let fresh = self.fresh();
                self.connect(fresh);
                self.replace_neighbour();
            }
            Place::Update => {
                self.client.update(&messages, &mut self.context)?;
                // The client believed its server, so it makes the offline exchange again.
                let mut again = self.fresh();
                std::mem::swap(&mut again.client, &mut self.client.client);
                self.connect(again);
                self.serves();
            }
        }
        Ok(())
    }

    /// Sends a bad request and the honest one of the other client in one call, in either order. The honest one is answered right in it, or
    /// right afterwards where the call is refused.
    fn send_beside(&mut self, bad: Request) -> Result<()> {
        let place = self.context.rng.random_range(0..=1);
        let mut requests = vec![bad];
        requests.insert(place, self.beside.clone());
        let answered = self.server.answer(&requests, &mut self.context);
        let answer = if let Ok(answers) = &answered {
            self.check_sizes(answers, &[requests[0].queries, requests[1].queries]);
            answers[place].clone()
        } else {
            self.server.answer(&requests[place..=place], &mut self.context).unwrap().remove(0)
        };
        let record = self.database.record(self.index).unwrap();
        assert_eq!(self.neighbour.extract(&answer, &self.context).unwrap(), [record], "record {}", self.index);
        if self.neighbour.queries_left() == 0 {
            self.replace_neighbour();
        } else {
            self.ask_beside();
        }
        answered.map(drop)
    }

    /// There is an answer to each request, of the described messages.
    fn check_sizes(&self, answers: &[Messages], queries: &[u64]) {
        assert_eq!(answers.len(), queries.len());
        for (answer, &queries) in answers.iter().zip(queries) {
            let sizes = S::describe(self.params, &Workload::new(self.shape, queries, 0).unwrap()).unwrap();
            let described = sizes.messages.iter().filter(|message| message.phase == "answer");
            let described: Vec<(&str, u64)> =
                described.map(|message| (message.name.as_str(), message.payload_bytes)).collect();
            let sent = answer.iter().map(|(name, frame)| (*name, frame.payload().len() as u64));
            assert_eq!(sent.collect::<Vec<(&str, u64)>>(), described, "{queries} queries");
        }
    }

    /// A client that has received nothing.
    fn fresh(&mut self) -> ClientSession<S> {
        ClientSession::new(self.params, self.shape, &mut self.context).unwrap()
    }

    fn replace_victim(&mut self) {
        self.victim = self.fresh();
        self.read = 0;
    }

    /// A client after its offline exchange.
    fn connected(&mut self, mut client: ClientSession<S>) -> ClientSession<S> {
        client.connect(&mut self.server, &mut Link::new(S::NAME), &mut self.context).unwrap();
        client
    }

    /// Puts a client in the place of the one that asks.
    fn connect(&mut self, client: ClientSession<S>) {
        self.client = self.connected(client);
        self.ask();
    }

    fn replace_neighbour(&mut self) {
        let fresh = self.fresh();
        self.neighbour = self.connected(fresh);
        self.ask_beside();
    }

    /// Opens a request of the other client, for any index.
    fn ask_beside(&mut self) {
        self.index = self.context.rng.random_range(0..self.shape.records);
        self.beside = self.neighbour.ask(&[self.index], &mut self.context).unwrap();
    }

    /// Opens a request.
    fn ask(&mut self) {
        self.request = self.client.ask(&[0], &mut self.context).unwrap();
        let asked = std::slice::from_ref(&self.request);
        self.answer = self.server.answer(asked, &mut self.context).unwrap().remove(0);
    }

    /// The open request is answered right, and so is another one.
    pub fn serves(&mut self) {
        let first = self.database.record(0).unwrap();
        assert_eq!(self.client.extract(&self.answer, &self.context).unwrap(), [first]);
        let last = self.shape.records - 1;
        let request = self.client.ask(&[last], &mut self.context).unwrap();
        let answer = self.server.answer(&[request], &mut self.context).unwrap().remove(0);
        assert_eq!(self.client.extract(&answer, &self.context).unwrap(), [self.database.record(last).unwrap()]);
        self.ask();
    }

    /// The client that refused bad messages makes the honest exchange, and is served as well.
    pub fn serves_victim(&mut self) {
        self.victim.connect(&mut self.server, &mut Link::new(S::NAME), &mut self.context).unwrap();
        let last = self.shape.records - 1;
        let request = self.victim.ask(&[last], &mut self.context).unwrap();
        let answer = self.server.answer(&[request], &mut self.context).unwrap().remove(0);
        assert_eq!(self.victim.extract(&answer, &self.context).unwrap(), [self.database.record(last).unwrap()]);
        self.replace_victim();
    }
}
