//! What travels between the parties: keys of one secret, seeded queries, and answers.

use std::ops::Range;
use std::sync::Arc;

use bfv::{ModulusId, RnsGadget, Scheme, SwitchingKey};
use ring::{Kernel, PolyPairs, Ring};

use super::{Ciphertext, Wanted};
use crate::core::{FINGERPRINT_BYTES, ParameterSet, Result, Shape, fingerprint};
use crate::parts::bfv::{AnswerOpener, FamilyRing, RingTable, Switch, answer_bytes, query_bytes};

/// Rings, key switches, and the lengths of messages.
pub struct Exchange {
    shape: Shape,
    params: FamilyRing,
    pub(super) switch: Option<Switch>,
    pub(super) fingerprint: [u8; FINGERPRINT_BYTES],
    /// The ring of ciphertexts.
    pub ring: Arc<Ring<u32>>,
    /// Encryption under the set's plaintext modulus.
    pub scheme: Scheme<u32>,
    /// Key switches.
    pub gadget: RnsGadget<u32>,
    /// The keys that a client uploads, in the order in which they travel.
    pub exponents: Vec<u64>,
    pub(super) opener: AnswerOpener,
    /// Ciphertexts of a query, and of the answer to it.
    pub(super) ciphertexts: [usize; 2],
}

impl Exchange {
    /// Of a set with that ring and switch, whose queries and answers have that many ciphertexts.
    pub fn new(
        set: &impl ParameterSet,
        (params, switch): (&FamilyRing, Option<Switch>),
        (shape, ciphertexts): (Shape, [usize; 2]),
        exponents: impl FnOnce(ModulusId) -> Vec<u64>,
        kernel: Kernel,
    ) -> Result<Self> {
        // The ring of ciphertexts is a part of the keys' ring, whose tables it shares.
        let gadget = params.gadget(kernel)?;
        let ring = gadget.ring().clone();
        let scheme = params.scheme(&ring)?;
        Ok(Self {
            shape,
            fingerprint: fingerprint(set, &[])?,
            gadget,
            exponents: exponents(scheme.modulus().id()),
            opener: AnswerOpener::new(params.degree, switch)?,
            params: params.clone(),
            switch,
            ciphertexts,
            scheme,
            ring,
        })
    }

    /// The ring's parameters.
    pub fn params(&self) -> &FamilyRing {
        &self.params
    }

    /// A query for each of these records.
    pub fn one_each(&self, indices: &[u64]) -> Result<Vec<Wanted>> {
        indices.iter().try_for_each(|&index| self.shape.check_index(index))?;
        Ok(indices.iter().enumerate().map(|(query, &number)| Wanted { query, number }).collect())
    }

    /// Which plaintext modulus it is.
    pub fn id(&self) -> ModulusId {
        self.scheme.modulus().id()
    }

    /// Words of the value of a slot.
    pub fn words(&self) -> usize {
        self.scheme.modulus().words()
    }

    /// The values of the slots of a plaintext, all of them zero.
    pub fn zeros(&self) -> Vec<u64> {
        vec![0; self.scheme.modulus().slots() * self.words()]
    }

    /// The plaintext that is one in these slots and zero elsewhere.
    pub fn units(&self, slots: impl IntoIterator<Item = usize>) -> Result<Vec<i64>> {
        let (mut values, words) = (self.zeros(), self.words());
        slots.into_iter().for_each(|slot| values[slot * words] = 1);
        Ok(self.scheme.modulus().encode(&values)?)
    }

    /// The plaintexts of these values of slots.
    pub fn encode(&self, values: &[Vec<u64>]) -> Result<Vec<Vec<i64>>> {
        values.iter().map(|values| Ok(self.scheme.modulus().encode(values)?)).collect()
    }

    /// The values of slots of these plaintexts.
    pub fn decode(&self, plaintexts: &[Vec<i64>]) -> Result<Vec<Vec<u64>>> {
        plaintexts.iter().map(|z| Ok(self.scheme.modulus().decode(z)?)).collect()
    }

    /// Bytes of the keys' message.
    pub(super) fn keys_bytes(&self) -> u64 {
        self.params.keys_bytes(self.exponents.len() as u64)
    }

    /// Bytes of a query.
    pub(super) fn query_bytes(&self) -> usize {
        query_bytes(&self.params, self.ciphertexts[0])
    }

    /// Bytes of a ciphertext of an answer.
    pub(super) fn answer_bytes(&self) -> usize {
        answer_bytes(&self.params, self.switch)
    }

    /// The sum of some products, each turned by a key as often as its place among them.
    pub fn sum_turned<'a>(
        &self,
        products: &PolyPairs,
        range: Range<usize>,
        key: impl Fn() -> Result<&'a SwitchingKey<u32>>,
    ) -> Result<Ciphertext> {
        let mut sum: Option<Ciphertext> = None;
        for [a, b] in products.tuples(range)?.into_iter().rev() {
            let mut next = Ciphertext { a, b };
            if let Some(sum) = &sum {
                next.add_assign(&self.ring, &self.gadget.automorphism(sum, key()?)?);
            }
            sum = Some(next);
        }
        Ok(sum.unwrap_or_else(|| Ciphertext::zero(&self.ring)))
    }
}
