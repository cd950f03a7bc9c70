//! The server: matrices of plaintexts, and the keys of all clients.

use ring::PolyMatrix;

use super::{Exchange, Selector, Stage};
use crate::core::{
    Change, Context, Database, Group, Messages, Request, Result, TableBytes, Turns, answers, only, protocol,
};
use crate::parts::bfv::{Asked, ServerKeys, read_queries, write_ciphertext};

/// The plaintexts and the keys of all clients.
pub struct Server<S> {
    selector: S,
    /// Where records are read from that change.
    pub(super) database: Database,
    matrices: Vec<PolyMatrix>,
    /// The keys, by session from 1 on.
    clients: Vec<ServerKeys>,
}

impl<S: Selector> Server<S> {
    /// All stored plaintexts.
    #[cfg(test)]
    pub fn plaintexts(&self) -> Vec<ring::Poly<u32, ring::Ntt>> {
        let of_matrix = |matrix: &PolyMatrix| {
            let places = (0..matrix.rows()).flat_map(|row| (0..matrix.columns()).map(move |column| (row, column)));
            places.map(|(row, column)| matrix.get(row, column).unwrap()).collect::<Vec<_>>()
        };
        self.matrices.iter().flat_map(of_matrix).collect()
    }

    /// The queries of some requests.
    pub(super) fn parse(&self, requests: &[Request]) -> Result<Vec<Asked<'_>>> {
        let exchange = self.selector.exchange();
        let lengths = (&*exchange.ring, exchange.query_bytes(), exchange.ciphertexts[0]);
        read_queries(S::NAME, requests, &self.clients, lengths)
    }

    /// Some ciphertexts of the answer to a query for these records, and all sums before they are switched.
    pub(super) fn stages(&self, asked: Asked, numbers: &[u64], context: &Context) -> Result<Vec<Stage>> {
        // The answer comes first: what its sums are made of is freed before other stages are made.
        let mut steps = Turns::new(&context.clock);
        let sums = self.selector.answer(&self.matrices, std::slice::from_ref(&asked), &mut steps, 1)?.remove(0);
        let mut stages = self.selector.stages(&self.matrices, &asked, (&self.database, numbers), context)?;
        let known = self.selector.known(&self.database, numbers)?;
        let sum = |(ciphertext, plaintext)| Stage { name: "sum", ciphertext, plaintext };
        stages.extend(sums.into_iter().zip(known).map(sum));
        Ok(stages)
    }
}

impl<S: Selector> protocol::Server for Server<S> {
    type Set = S::Set;

    /// Encodes the database (phase `encode`).
    fn new(set: &S::Set, database: &Database, context: &mut Context) -> Result<Self> {
        let mut selector = S::new(set, database.shape(), context.kernel)?;
        selector.prepare(database, &mut context.rng)?;
        let matrix = |(rows, columns)| Ok(PolyMatrix::zero(&selector.exchange().ring, rows, columns)?);
        let mut matrices = selector.matrices().into_iter().map(matrix).collect::<Result<Vec<_>>>()?;
        context.clock.time("encode", Group::Offline, || selector.encode(&mut matrices, database, context))?;
        context.progress.end();
        Ok(Self { selector, database: database.clone(), matrices, clients: Vec::new() })
    }

    fn tables(&self) -> Vec<TableBytes> {
        vec![
            TableBytes::new("database", self.matrices.iter().map(PolyMatrix::bytes).sum()),
            TableBytes::of("keys", self.clients.iter().map(ServerKeys::bytes)),
        ]
    }

    fn publish(&self) -> Messages {
        self.selector.publish()
    }

    fn receive(&mut self, messages: &Messages, _: &mut Context) -> Result<u64> {
        let exchange @ Exchange { gadget, fingerprint, exponents, .. } = self.selector.exchange();
        let keys = only("keys", messages)?.clone().check(S::NAME, "keys", exchange.keys_bytes())?;
        self.clients.push(ServerKeys::read(gadget, *fingerprint, exponents, keys.payload())?);
        Ok(self.clients.len() as u64)
    }

    fn forget(&mut self) {
        self.clients.clear();
    }

    /// Answers every query of every request with one pass over the plaintexts.
    fn answer(&self, requests: &[Request], context: &mut Context) -> Result<Vec<Messages>> {
        let clock = &context.clock;
        let asked = clock.time("answer_parse", Group::Online, || self.parse(requests))?;
        let mut steps = Turns::new(clock);
        let mut sums = self.selector.answer(&self.matrices, &asked, &mut steps, context.threads)?.into_iter();
        steps.finish(Group::Online);
        let exchange @ Exchange { ring, switch, ciphertexts, .. } = self.selector.exchange();
        clock.time("answer_write", Group::Online, || {
            answers(S::NAME, requests, ciphertexts[1] * exchange.answer_bytes(), |_, out| {
                let parts = out.chunks_exact_mut(exchange.answer_bytes());
                for (out, sum) in parts.zip(sums.next().unwrap_or_default()) {
                    out.copy_from_slice(&write_ciphertext(ring, sum, *switch));
                }
                Ok(())
            })
        })
    }

    /// Changes records and makes their plaintexts again. Clients hold nothing of the database, so they need no message.
    fn update(&mut self, changes: &[Change], context: &mut Context) -> Result<Messages> {
        let clock = context.clock.clone();
        clock.time(S::UPDATE, Group::Update, || {
            for (index, record) in changes {
                self.database.change(*index, record.clone())?;
            }
            let indices: Vec<u64> = changes.iter().map(|(index, _)| *index).collect();
            self.selector.rewrite(&mut self.matrices, &self.database, &indices, context)
        })?;
        Ok(Messages::new())
    }
}
