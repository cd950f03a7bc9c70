//! Protocols that select what is asked for among stored plaintexts, by products with ciphertexts of a client's key: a client that uploads its
//! keys once, and a server of matrices of plaintexts. PIRANA, one-hot PIR and CwPIR say what they encrypt, store and multiply.

mod client;
mod describe;
mod exchange;
mod segments;
mod server;

pub use client::Client;
pub(crate) use describe::{RingNumbers, Sent, StoredNumbers};
pub use exchange::Exchange;
pub use segments::{Segments, sum_segments};
pub use server::Server;

use lattice::Rlwe;
use rand_chacha::ChaCha20Rng;
use ring::{Kernel, Ntt, PolyMatrix};

use crate::core::protocol::none_expected;
use crate::core::{Context, Database, Messages, ParameterSet, Record, Result, Shape, Turns};
use crate::parts::bfv::Asked;

/// A ciphertext.
pub type Ciphertext = Rlwe<u32, Ntt>;

/// A record that is asked for: the number of its query, and the record's number in the order in which records are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The query.
    pub query: usize,
    /// The record.
    pub number: u64,
}

/// An intermediate ciphertext of an answer.
pub struct Stage {
    /// The stage, by which its errors are logged.
    pub name: &'static str,
    /// The ciphertext.
    pub ciphertext: Ciphertext,
    /// What it encrypts.
    pub plaintext: Vec<i64>,
}

/// What a protocol encrypts, stores and multiplies; both parties have one.
pub trait Selector: Sized {
    /// Name of the protocol.
    const NAME: &'static str;
    /// The phase in which changed plaintexts are made again.
    const UPDATE: &'static str;
    /// Its parameter sets.
    type Set: ParameterSet;

    /// What a set and a shape determine.
    fn new(set: &Self::Set, shape: Shape, kernel: Kernel) -> Result<Self>;

    /// Rings, keys and messages.
    fn exchange(&self) -> &Exchange;

    /// Rows and columns of every matrix of plaintexts.
    fn matrices(&self) -> Vec<(usize, usize)>;

    /// Makes all plaintexts.
    fn encode(&self, matrices: &mut [PolyMatrix], database: &Database, context: &Context) -> Result<()>;

    /// Makes the plaintexts of changed records again.
    fn rewrite(
        &self,
        matrices: &mut [PolyMatrix],
        database: &Database,
        indices: &[u64],
        context: &Context,
    ) -> Result<()>;

    /// The ciphertexts of the answers to all queries before they are switched, with one pass over the plaintexts.
    fn answer(
        &self,
        matrices: &[PolyMatrix],
        asked: &[Asked],
        steps: &mut Turns,
        threads: usize,
    ) -> Result<Vec<Vec<Ciphertext>>>;

    /// The short plaintexts of a query for these records.
    fn query(&self, numbers: &[u64]) -> impl Iterator<Item = Result<Vec<i64>>>;

    /// The records in the short plaintexts of an answer.
    fn records(&self, numbers: &[u64], answer: Vec<Vec<i64>>) -> Result<Vec<Record>>;

    /// The short plaintexts of the answer to a query for these records.
    fn known(&self, database: &Database, numbers: &[u64]) -> Result<Vec<Vec<i64>>>;

    /// Some ciphertexts between a query for these records and the sums of its answer.
    fn stages(
        &self,
        matrices: &[PolyMatrix],
        asked: &Asked,
        known: (&Database, &[u64]),
        context: &Context,
    ) -> Result<Vec<Stage>>;

    /// Which queries ask for these records: one each, where no batches share one.
    fn assign(&self, indices: &[u64]) -> Result<Vec<Wanted>> {
        self.exchange().one_each(indices)
    }

    /// The number of queries that ask for that many records.
    fn queries(&self, indices: u64) -> u64 {
        indices
    }

    /// Takes what only the server knows of its database, and draws what it publishes.
    fn prepare(&mut self, database: &Database, rng: &mut ChaCha20Rng) -> Result<()> {
        let _ = (database, rng);
        Ok(())
    }

    /// The messages that every client fetches.
    fn publish(&self) -> Messages {
        Messages::new()
    }

    /// Takes them.
    fn receive(&mut self, messages: &Messages) -> Result<()> {
        none_expected(messages)
    }
}
