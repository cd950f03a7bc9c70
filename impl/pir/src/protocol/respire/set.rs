//! Respire's parameter set.

use std::convert::Infallible;
use std::sync::Arc;

use gadget::{Family, new_gadget};
use lattice::RingGadget;
use ring::{Kernel, Ring};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::{Error, ErrorSize, MAX_QUERIES, ParameterSet, Result, SecretKind, Shape, in_range};
use crate::parts::buckets::{Batch, Buckets};
use crate::parts::folding::{Dimensions, Layout, ResponseParams};
use crate::parts::ring_matrix::{MAX_STDDEV, Rlwe, check_secret};

/// Name of the protocol.
pub(super) const NAME: &str = "respire";

/// The keys and tables of params/respire/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Bits of a coefficient of the database: the plaintext modulus is p = 2^plain_bits.
    pub plain_bits: u32,
    /// Most bits of a row's number (nu_1); a larger database has more columns.
    pub row_bits: u32,
    /// Primes modulo which the database is stored: 2, or 1 for half the memory.
    pub matrix_primes: usize,
    /// Buckets for batches; without this table each record takes a query to the whole database.
    #[serde(default)]
    pub batch: Batch,
    /// Ring, secret and error of queries and keys.
    pub rlwe: Rlwe,
    /// Bases of the symmetric digits of each step.
    pub bases: Steps<u64>,
    /// Ciphertexts that share a mask in a response.
    pub vector: Vector,
    /// Responses.
    pub response: Response,
}

/// A value for each gadget: its base, its length, or the gadget itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steps<T> {
    /// Selectors, which are RGSW ciphertexts (z_GSW).
    pub selector: T,
    /// Automorphism keys that expand leaves.
    pub leaf_expansion: T,
    /// Automorphism keys that expand selectors' rows, and that project.
    pub selector_expansion: T,
    /// The key that converts rows to RGSW.
    pub conversion: T,
    /// The key switch to the keys of a response's vector.
    pub vector: T,
}

impl<T> Steps<T> {
    /// `of` each step, with its name, or the first error.
    pub fn try_map<U, E>(
        self,
        of: impl Fn(&'static str, T) -> std::result::Result<U, E>,
    ) -> std::result::Result<Steps<U>, E> {
        Ok(Steps {
            selector: of("selector", self.selector)?,
            leaf_expansion: of("leaf_expansion", self.leaf_expansion)?,
            selector_expansion: of("selector_expansion", self.selector_expansion)?,
            conversion: of("conversion", self.conversion)?,
            vector: of("vector", self.vector)?,
        })
    }
}

/// The `[vector]` table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// Most bodies that share a mask (n_vec); 1 for single records.
    pub length: usize,
    /// Distribution of each body's secret.
    pub secret: SecretKind,
    /// Size of the error of the key switch to them.
    pub error: ErrorSize,
}

/// The `[response]` table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Coefficients of a slot (d3), which holds a record of up to that length.
    pub slot_degree: usize,
    /// Ring degree of a response (d2): slot_degree, or a multiple that packs several records into one.
    pub degree: usize,
    /// Prime modulus of the mask (q2).
    pub mask_modulus: u64,
    /// Modulus of the bodies (q3).
    pub body_modulus: u64,
    /// Base of the digits of the switch to that ring.
    pub base: u64,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error of the switching key.
    pub error: ErrorSize,
}

impl Response {
    /// Moduli and gadget.
    pub fn params(&self) -> ResponseParams {
        let Self { degree, mask_modulus, body_modulus, base, .. } = *self;
        ResponseParams { degree, mask_modulus, body_modulus, base }
    }
}

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        let Self { plain_bits, row_bits, matrix_primes, batch, rlwe, bases, vector, response } = self;
        in_range("plain_bits", *plain_bits, 1..=12)?;
        in_range("matrix_primes", *matrix_primes, 1..=2)?;
        in_range("vector.length", vector.length, 1..=64)?;
        batch.check(MAX_QUERIES as usize)?;
        rlwe.check(2..=2)?;
        // Each row takes a coefficient of the query.
        in_range("row_bits", *row_bits, 0..=rlwe.degree.ilog2())?;
        let ring = rlwe.ring(Kernel::Scalar)?;
        bases.try_map(|key, base| {
            gadget(&ring, base).map_err(|e| Error::value(&format!("bases.{key}"), e.to_string()))
        })?;
        let Response { slot_degree, degree, secret, error, .. } = *response;
        let powers = slot_degree.is_power_of_two() && degree.is_power_of_two();
        if !powers || slot_degree < 64 || degree < slot_degree || degree > rlwe.degree {
            let problem = format!(
                "slot_degree = {slot_degree}, degree = {degree}: powers of two, 64 <= slot_degree <= degree <= {}.",
                rlwe.degree
            );
            return Err(Error::value("response.degree", problem));
        }
        response.params().check(&ring, self.plain_modulus())?;
        check_secret("vector.secret", vector.secret, rlwe.degree)?;
        vector.error.check("vector.error", MAX_STDDEV)?;
        check_secret("response.secret", secret, degree)?;
        error.check("response.error", MAX_STDDEV)
    }
}

/// The gadget of symmetric digits in that base.
pub(super) fn gadget(ring: &Arc<Ring<u32>>, base: u64) -> Result<RingGadget<u32>> {
    RingGadget::new(ring, Family::Symmetric, base, 0).map_err(Error::from)
}

/// Number of digits in that base of residues modulo `modulus`; `None` if a check would refuse the base.
fn length(modulus: u64, base: u64) -> u64 {
    new_gadget(Family::Symmetric, modulus, base, 0, Kernel::Scalar).map_or(0, |gadget| gadget.length() as u64)
}

impl Set {
    /// Digits of each gadget.
    pub fn lengths(&self) -> Steps<u64> {
        let Ok(lengths) = self.bases.try_map(|_, base| Ok::<_, Infallible>(length(self.rlwe.modulus(), base)));
        lengths
    }

    /// Digits of the switch to the ring of responses.
    pub fn response_length(&self) -> u64 {
        length(self.response.mask_modulus, self.response.base)
    }

    /// Degree, slots, bits of a coefficient.
    fn dimensions(&self) -> Dimensions {
        let (degree, response_degree) = (self.rlwe.degree, self.response.slot_degree);
        Dimensions { degree, response_degree, item_slots: 1, stacked: 1, plain_bits: self.plain_bits }
    }

    /// The buckets of a database.
    pub fn buckets(&self, shape: Shape) -> Result<Buckets> {
        Buckets::new(shape, self.batch)
    }

    /// The layout of a bucket of that shape; refuses records and databases that do not fit, and more selectors than a query has
    /// coefficients for.
    pub fn layout(&self, shape: Shape) -> Result<Layout> {
        let layout = Layout::new(shape, self.dimensions(), self.row_bits)?;
        let (bits, digits) = (layout.column_bits + layout.position_bits, self.lengths().selector as usize);
        if bits as usize * digits > self.rlwe.degree {
            return Err(Error::Workload(format!(
                "{} columns and {} positions take {bits} bits of {digits} coefficients, more than the {} of a query. Give \
                 fewer records, or a set with more row_bits.",
                layout.columns,
                layout.positions(),
                self.rlwe.degree
            )));
        }
        Ok(layout)
    }

    /// p.
    pub fn plain_modulus(&self) -> u64 {
        1 << self.plain_bits
    }

    /// Slots that one response ring element carries: d2 / d3.
    pub fn slots_per_body(&self) -> usize {
        self.response.degree / self.response.slot_degree
    }

    /// Slots that share a mask: n_vec d2 / d3.
    pub fn slots_per_vector(&self) -> usize {
        self.slots_per_body() * self.vector.length
    }

    /// Bytes of the response to `slots` slots.
    pub fn response_bytes(&self, slots: usize) -> usize {
        let (full, rest) = (slots / self.slots_per_vector(), slots % self.slots_per_vector());
        let vector = |slots: usize| self.mask_bytes() + slots.div_ceil(self.slots_per_body()) * self.body_bytes();
        full * vector(self.slots_per_vector()) + if rest > 0 { vector(rest) } else { 0 }
    }

    /// Bytes of a response's mask.
    pub fn mask_bytes(&self) -> usize {
        lattice::wire::packed_bytes(self.response.degree, lattice::wire::residue_bits(self.response.mask_modulus))
    }

    /// Bytes of one body of a response.
    pub fn body_bytes(&self) -> usize {
        lattice::wire::packed_bytes(self.response.degree, lattice::wire::residue_bits(self.response.body_modulus))
    }
}
