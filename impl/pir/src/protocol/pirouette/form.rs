//! From a query to selectors of the bits of its index: here the protocols differ.

use super::carrier::{Carried, Carrier, Reader};
use super::convert::Selectors;
use super::keys::ServerKeys;
use super::trace::Trace;
use crate::core::{Context, Result};

/// A client at the server: its keys, and what reads its queries.
pub struct Session<F: Carried> {
    /// The keys.
    pub keys: ServerKeys,
    /// What reads its queries.
    pub reader: Reader<F>,
}

impl<F: Carried> Session<F> {
    /// Bytes in memory of each table, and of an encrypted database.
    pub fn held(&self) -> (Vec<(&'static str, usize)>, usize) {
        let (mut keys, cells) = self.keys.held();
        keys.extend(F::Carrier::held(&self.reader));
        (keys, cells)
    }
}

/// A query, and the client that sent it.
pub type Asked<'a, F> = (&'a Session<F>, <<F as Carried>::Carrier as Carrier<F>>::Asked);

/// The operations of a query form that the rest of the protocol uses.
pub trait Selecting: Carried {
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
