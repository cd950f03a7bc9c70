//! How indices travel from clients to a server: in LWE encryptions, or under a cipher.

use super::keys::{Secrets, ServerKeys};
use super::query::QueryForm;
use super::set::Set;
use crate::core::{Context, Messages, Request, Result};
use crate::parts::folding::Place;

/// How indices travel.
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

/// A query form, and how its indices travel.
pub trait Carried: QueryForm {
    /// How indices travel.
    type Carrier: Carrier<Self>;
}

/// What a client keeps to ask in that form.
pub type Asker<F> = <<F as Carried>::Carrier as Carrier<F>>::Asker;
/// What the server keeps to read queries of that form.
pub type Reader<F> = <<F as Carried>::Carrier as Carrier<F>>::Reader;
