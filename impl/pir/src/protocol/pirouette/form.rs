//! From a query to selectors of the bits of its index: here the protocols differ.

use super::convert::Selectors;
use super::keys::{Secrets, ServerKeys};
use super::query::QueryForm;
use super::set::Set;
use super::trace::Trace;
use crate::core::{Context, Messages, Request, Result};
use crate::parts::folding::Place;

/// How indices travel from clients to a server.
pub trait Carrier<F: QueryForm>: 'static {
    /// What a client keeps to ask, beside its keys.
    type Asker;
    /// What the server keeps to read a client's queries, beside its keys.
    type Reader: Send + Sync;
    /// A query that was read.
    type Asked: Send;

    /// A fresh [`Self::Asker`].
    fn asker(params: &Set<F>, context: &mut Context) -> Result<Self::Asker>;

    /// What the server needs for its [`Self::Reader`]: messages that follow the keys.
    fn introduce(params: &Set<F>, asker: &Self::Asker, secrets: &Secrets, context: &mut Context) -> Result<Messages>;

    /// Takes these messages.
    fn reader(params: &Set<F>, keys: &ServerKeys, messages: &Messages) -> Result<Self::Reader>;

    /// Bytes in memory of a reader, by name.
    fn held(reader: &Self::Reader) -> Vec<(&'static str, usize)> {
        let _ = reader;
        Vec::new()
    }

    /// A request for the items at `asked`, and the bits of their numbers.
    fn ask(
        params: &Set<F>,
        asker: &mut Self::Asker,
        secrets: &Secrets,
        asked: (&[Place], u32),
        context: &mut Context,
    ) -> Result<Messages>;

    /// The queries of a request.
    fn read(params: &Set<F>, reader: &Self::Reader, request: &Request, bits: u32) -> Result<Vec<Self::Asked>>;
}

/// What a client keeps to ask in that form.
pub type Asker<F> = <<F as Selecting>::Carrier as Carrier<F>>::Asker;
/// What the server keeps to read queries of that form.
pub type Reader<F> = <<F as Selecting>::Carrier as Carrier<F>>::Reader;

/// A client at the server: its keys, and what reads its queries.
pub struct Session<F: Selecting> {
    /// The keys.
    pub keys: ServerKeys,
    /// What reads its queries.
    pub reader: Reader<F>,
}

impl<F: Selecting> Session<F> {
    /// Bytes in memory of each table, and of an encrypted database.
    pub fn held(&self) -> (Vec<(&'static str, usize)>, usize) {
        let (mut keys, cells) = self.keys.held();
        keys.extend(F::Carrier::held(&self.reader));
        (keys, cells)
    }
}

/// A query, and the client that sent it.
pub type Asked<'a, F> = (&'a Session<F>, <<F as Selecting>::Carrier as Carrier<F>>::Asked);

/// The operations of a query form that the rest of the protocol uses.
pub trait Selecting: QueryForm {
    /// How indices travel.
    type Carrier: Carrier<Self>;

    /// For each query the selectors of the index's bits, the most significant first (phases `answer_digits`, `answer_bits`, `answer_cipher`,
    /// `answer_rgsw`, or `answer_conversion` if some overlap).
    fn selectors(
        &self,
        queries: Vec<Asked<Self>>,
        index_bits: u32,
        trace: Option<&mut Trace<Self>>,
        context: &Context,
    ) -> Result<Vec<Selectors>>;
}
