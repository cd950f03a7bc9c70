//! Respire's parameter set.

use std::sync::Arc;

use gadget::Family;
use lattice::RingGadget;
use ring::{Kernel, Ring, StdDev};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::error::{Error, Result};
use crate::core::params::{ErrorSize, ParameterSet, SecretKind, SourceNote};
use crate::core::workload::Shape;
use crate::parts::buckets::{Batch, Buckets};
use crate::parts::folding::{Dimensions, Layout, Responder, ResponseParams};
use crate::parts::ring_matrix::{Rlwe, RlweLiteral, check_error, check_secret};

/// Name of the protocol.
pub(super) const NAME: &str = "respire";

/// A Respire set as written in params/respire/*.toml.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Literal {
    /// Always `respire`.
    pub protocol: String,
    /// One line for tables.
    pub title: String,
    /// Where the set comes from.
    pub source: SourceNote,
    /// Bits of a coefficient of the database: the plaintext modulus is p = 2^plain_bits.
    pub plain_bits: u32,
    /// Most bits of a row's number (nu_1); a larger database has more columns.
    pub row_bits: u32,
    /// Primes modulo which the database is stored: 2, or 1 for half the memory.
    pub matrix_primes: u32,
    /// Buckets by which batches are served; without, each record takes a query to the whole database.
    #[serde(default)]
    pub batch: Option<Batch>,
    /// Ring, secret and error of queries and keys.
    pub rlwe: RlweLiteral,
    /// Bases of the symmetric digits of each step.
    pub bases: Bases,
    /// Ciphertexts that share a mask in a response.
    pub vector: VectorLiteral,
    /// Responses.
    pub response: ResponseLiteral,
}

/// Bases of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bases {
    /// Of the selectors, RGSW ciphertexts (z_GSW).
    pub selector: u64,
    /// Of the automorphism keys that expand leaves.
    pub leaf_expansion: u64,
    /// Of the automorphism keys that expand selectors' rows, and that project.
    pub selector_expansion: u64,
    /// Of the key that converts rows to RGSW.
    pub conversion: u64,
    /// Of the key switch to the keys of a response's vector.
    pub vector: u64,
}

/// The `[vector]` table as written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VectorLiteral {
    /// Most bodies that share a mask (n_vec); 1 for single records.
    pub length: u32,
    /// Distribution of each body's secret.
    pub secret: SecretKind,
    /// Size of the error of the key switch to them.
    pub error: ErrorSize,
}

/// The `[response]` table as written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResponseLiteral {
    /// Coefficients of a slot, which one record of up to so many coefficients takes (d3).
    pub slot_degree: u32,
    /// Ring degree of a response (d2): slot_degree, or a multiple that packs several records into one.
    pub degree: u32,
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

/// A distribution of secrets and an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Small {
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error.
    pub error: StdDev,
}

/// Digits of each gadget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Of selectors.
    pub selector: u64,
    /// Of the automorphism keys of leaves.
    pub leaf_expansion: u64,
    /// Of the automorphism keys of selectors' rows.
    pub selector_expansion: u64,
    /// Of the conversion.
    pub conversion: u64,
    /// Of the switch to a vector's keys.
    pub vector: u64,
    /// Of the switch to the ring of responses.
    pub response: u64,
}

/// A checked Respire set.
#[derive(Clone, Debug)]
pub struct Params {
    pub(super) source: SourceNote,
    /// Degree, slots, digits.
    pub dimensions: Dimensions,
    /// Most bits of a row's number.
    pub row_bits: u32,
    /// Primes of the stored database.
    pub matrix_primes: usize,
    /// Buckets.
    pub batch: Batch,
    /// The ring.
    pub rlwe: Rlwe,
    /// Bases of digits.
    pub bases: Bases,
    /// How many digits each has.
    pub lengths: Lengths,
    /// n_vec.
    pub vector_length: usize,
    /// Secrets and error of vectors.
    pub vector: Small,
    /// Moduli and gadget of responses.
    pub response: ResponseParams,
    /// Secret and error of responses.
    pub response_small: Small,
}

impl ParameterSet for Params {
    type Literal = Literal;

    fn try_new(literal: Literal) -> Result<Self> {
        let Literal {
            protocol,
            title: _,
            source,
            plain_bits,
            row_bits,
            matrix_primes,
            batch,
            rlwe,
            bases,
            vector,
            response,
        } = literal;
        if protocol != "respire" {
            return Err(Error::value("protocol", format!("`{protocol}` in a Respire set; write \"respire\".")));
        }
        let in_range = |key: &str, value: u32, least: u32, most: u32| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(Error::value(key, format!("{value} is not between {least} and {most}.")))
        };
        in_range("plain_bits", plain_bits, 1, 12)?;
        in_range("matrix_primes", matrix_primes, 1, 2)?;
        in_range("vector.length", vector.length, 1, 64)?;
        let batch = batch.unwrap_or(Batch::NONE).check()?;
        let rlwe: Rlwe = (&rlwe).try_into()?;
        let ring = rlwe.ring(Kernel::Scalar)?;
        // Each row takes a coefficient of the query.
        in_range("row_bits", row_bits, 0, rlwe.degree.ilog2())?;
        let length = |key: &str, base: u64| -> Result<u64> {
            let gadget = gadget(&ring, base).map_err(|e| Error::value(&format!("bases.{key}"), e.to_string()))?;
            Ok(gadget.length() as u64)
        };
        let ResponseLiteral { slot_degree, degree, mask_modulus, body_modulus, base, secret, error } = response;
        let powers = slot_degree.is_power_of_two() && degree.is_power_of_two();
        if !powers || slot_degree < 64 || degree < slot_degree || degree as usize > rlwe.degree {
            let problem = format!(
                "slot_degree = {slot_degree}, degree = {degree}: powers of two, 64 <= slot_degree <= degree <= {}.",
                rlwe.degree
            );
            return Err(Error::value("response.degree", problem));
        }
        let response = ResponseParams { degree: degree as usize, mask_modulus, body_modulus, base };
        response.check(&ring, 1 << plain_bits)?;
        let Bases { selector, leaf_expansion, selector_expansion, conversion, vector: vector_base } = bases;
        let lengths = Lengths {
            selector: length("selector", selector)?,
            leaf_expansion: length("leaf_expansion", leaf_expansion)?,
            selector_expansion: length("selector_expansion", selector_expansion)?,
            conversion: length("conversion", conversion)?,
            vector: length("vector", vector_base)?,
            response: Responder::new(response, &ring)?.length() as u64,
        };
        check_secret("vector", vector.secret, rlwe.degree)?;
        check_error("vector", vector.error)?;
        check_secret("response", secret, degree as usize)?;
        check_error("response", error)?;
        Ok(Self {
            source,
            dimensions: Dimensions { degree: rlwe.degree, response_degree: slot_degree as usize, plain_bits },
            row_bits,
            matrix_primes: matrix_primes as usize,
            batch,
            rlwe,
            bases,
            lengths,
            vector_length: vector.length as usize,
            vector: Small { secret: vector.secret, error: vector.error.stddev() },
            response,
            response_small: Small { secret, error: error.stddev() },
        })
    }

    fn source(&self) -> &SourceNote {
        &self.source
    }
}

/// Symmetric digits in that base.
pub(super) fn gadget(ring: &Arc<Ring<u32>>, base: u64) -> Result<RingGadget<u32>> {
    RingGadget::new(ring, Family::Symmetric, base, 0).map_err(|e| Error::value("bases", e.to_string()))
}

impl Params {
    /// How a database is dealt to buckets.
    ///
    /// # Errors
    /// Buckets too large to be described.
    pub fn buckets(&self, shape: Shape) -> Result<Buckets> {
        Buckets::new(shape, self.batch)
    }

    /// The layout of a bucket of that shape.
    ///
    /// # Errors
    /// Records or databases that do not fit; more selectors than a query has coefficients.
    pub fn layout(&self, shape: Shape) -> Result<Layout> {
        let layout = Layout::new(shape, self.dimensions, self.row_bits)?;
        let (bits, digits) = (layout.column_bits + layout.position_bits, self.lengths.selector as usize);
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
        1 << self.dimensions.plain_bits
    }

    /// Slots that one response ring element carries: d2 / d3.
    pub fn slots_per_body(&self) -> usize {
        self.response.degree / self.dimensions.response_degree
    }

    /// Slots that share a mask: n_vec d2 / d3.
    pub fn slots_per_vector(&self) -> usize {
        self.slots_per_body() * self.vector_length
    }

    /// Bytes of the response to so many slots.
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
