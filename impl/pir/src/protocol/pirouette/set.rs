//! Parameter sets of Pirouette and Pirouette^H.

use std::sync::Arc;

use lattice::rotate::{Form, RotationShape, SmallSecret};
use ring::{Kernel, Ring};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::query::{Encryption, QueryForm};
use super::selector::Selector;
use crate::core::{
    Error, ErrorSize, FINGERPRINT_BYTES, MAX_LWE_STDDEV, ParameterSet, Result, SecretKind, Shape, fingerprint,
    in_range, power_of_two,
};
use crate::parts::folding::{Dimensions, Layout, ResponseParams};
use crate::parts::ring_matrix::{Gadget, Rlwe, check_secret};

/// Largest dimension of the small key.
const MAX_DIMENSION: usize = 1 << 12;

/// The tables of params/pirouette/*.toml and params/pirouette_h/*.toml, which differ in the form of a query.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set<Q> {
    /// The form of a query.
    pub query: Q,
    /// The ring and its key s.
    pub rlwe: Rlwe,
    /// The small key z of blind rotations.
    pub lwe: SmallKey,
    /// Blind rotations.
    pub blind_rotation: BlindRotation,
    /// Gadget of the automorphism keys.
    pub automorphism: Gadget,
    /// Gadget of the squaring key.
    pub squaring: Gadget,
    /// The RGSW encryptions of the index's bits.
    pub rgsw: Selector,
    /// The layout of records.
    pub database: Records,
    /// Compression of the response.
    pub response: Response,
}

/// The `[lwe]` table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmallKey {
    /// Dimension n.
    pub dimension: usize,
    /// Distribution of the secret z, of ones, zeros and minus ones.
    pub secret: SecretKind,
}

/// The `[blind_rotation]` table: a gadget, and the number of key bits in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlindRotation {
    /// log2 of the gadget's base.
    base_log2: u32,
    /// Low digits that are left out.
    #[serde(default)]
    dropped: usize,
    /// Key bits that a step handles together: 1 or 2.
    pub bits_per_step: u32,
}

/// The `[database]` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// Plaintext modulus p, a power of two.
    pub plain_modulus: u64,
    /// Most bits v1 of the index that select a row of the first dimension; smaller databases have fewer.
    first_bits: u32,
    /// Number of primes of the first dimension: 1 (selectors are switched to the first prime) or 2.
    moduli: usize,
    /// Whether the client owns the records, and the server holds encryptions of them (Remark 1). Every bit of the index then
    /// folds: `first_bits` and `moduli` are not used.
    #[serde(default)]
    pub encrypted: bool,
}

/// The `[response]` table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Degree N1 of the response's ring, a power of two below N.
    pub degree: usize,
    /// Modulus of the mask, which is that of the ring-switching key.
    pub mask_modulus: u64,
    /// Modulus of the body.
    pub body_modulus: u64,
    /// Distribution of the key s1 of the small ring.
    pub secret: SecretKind,
    /// Size of the error of the ring-switching key.
    pub error: ErrorSize,
    /// log2 of the base of the ring-switching key's gadget.
    base_log2: u32,
}

impl BlindRotation {
    /// The gadget of the blind-rotation key.
    pub fn gadget(&self) -> Gadget {
        Gadget::symmetric(self.base_log2, self.dropped)
    }
}

impl Records {
    /// log2 p: bits of a coefficient.
    pub fn plain_bits(&self) -> u32 {
        self.plain_modulus.ilog2()
    }

    /// Most bits v1, which are 0 for encrypted records: they are in one row.
    fn first_bits(&self) -> u32 {
        if self.encrypted { 0 } else { self.first_bits }
    }

    /// Number of primes of the first dimension: encrypted polynomials have both.
    pub fn moduli(&self) -> usize {
        if self.encrypted { 2 } else { self.moduli }
    }
}

impl Response {
    /// Moduli, degree and gadget.
    pub fn params(&self) -> ResponseParams {
        let Self { degree, mask_modulus, body_modulus, base_log2, .. } = *self;
        ResponseParams { degree, mask_modulus, body_modulus, base: 1 << base_log2 }
    }
}

impl SmallKey {
    fn check(&self) -> Result<()> {
        in_range("lwe.dimension", self.dimension, 1..=MAX_DIMENSION)?;
        match self.secret {
            SecretKind::Uniform {} | SecretKind::UniformRange { .. } | SecretKind::Gaussian { .. } => {
                Err(Error::value(
                    "lwe.secret",
                    "blind rotations take keys of ones, zeros and minus ones: write binary, ternary or fixed_weight.",
                ))
            }
            secret => secret.check("lwe.secret", self.dimension, 0.0),
        }
    }
}

impl<F: QueryForm> ParameterSet for Set<F> {
    fn check(&self) -> Result<()> {
        let Self { query, rlwe, lwe, blind_rotation, automorphism, squaring, rgsw, database, response } = self;
        rlwe.check(2..=2)?;
        lwe.check()?;
        if !(1..=2).contains(&blind_rotation.bits_per_step) {
            let problem = format!("{}: write 1 or 2.", blind_rotation.bits_per_step);
            return Err(Error::value("blind_rotation.bits_per_step", problem));
        }
        blind_rotation.gadget().check("blind_rotation", rlwe, true)?;
        automorphism.check("automorphism", rlwe, true)?;
        squaring.check("squaring", rlwe, true)?;
        rgsw.check("rgsw", rlwe)?;
        power_of_two("database.plain_modulus", database.plain_modulus as usize, 2..=256, "")?;
        in_range("database.first_bits", database.first_bits, 1..=16)?;
        if !(1..=2).contains(&database.moduli) {
            let problem = format!("{}: the ring has 2 primes, write 1 or 2.", database.moduli);
            return Err(Error::value("database.moduli", problem));
        }
        power_of_two("response.degree", response.degree, 16..=rlwe.degree, ", the ring's degree")?;
        check_secret("response.secret", response.secret, response.degree)?;
        in_range("response.base_log2", response.base_log2, 1..=27)?;
        response.error.check("response.error", MAX_LWE_STDDEV)?;
        response.params().check(&self.ring(Kernel::Scalar)?, database.plain_modulus)?;
        query.check(rlwe)
    }
}

impl<F: QueryForm> Set<F> {
    /// A hash of the parameters of keys and queries, without the layout, which only the server has.
    pub(super) fn fingerprint(&self) -> Result<[u8; FINGERPRINT_BYTES]> {
        fingerprint(self, &["database"])
    }

    /// Digits of a gadget over the ring.
    pub(super) fn length(&self, gadget: Gadget) -> usize {
        gadget.length(self.rlwe.modulus())
    }

    /// The LWE encryption that is sent, if one is.
    pub(super) fn encryption(&self) -> Option<Encryption> {
        self.query.encryption(self.rlwe.degree)
    }

    /// The messages for an index of `index_bits` bits, if it is sent in LWE encryptions.
    pub(super) fn messages(&self, index: u64, index_bits: u32) -> Result<Vec<u64>> {
        self.encryption().map_or(Ok(Vec::new()), |encryption| self.query.messages(&encryption, index, index_bits))
    }

    /// Coefficients between the rows of the accumulator of LWE to RGSW.
    pub(super) fn spacing(&self) -> usize {
        self.rgsw.spacing(&self.rlwe)
    }

    /// The shape of blind rotations, on which their keys depend beside the gadget.
    pub(super) fn shape(&self) -> RotationShape {
        let secret = match self.lwe.secret {
            SecretKind::Binary {} | SecretKind::FixedWeight { minus: 0, .. } => SmallSecret::Binary,
            _ => SmallSecret::Ternary,
        };
        let form = if self.blind_rotation.bits_per_step == 2 { Form::Joint } else { Form::Cmux };
        RotationShape { dimension: self.lwe.dimension, secret, form }
    }

    /// The layout of a database; refuses records and databases that are too large.
    pub(super) fn layout(&self, shape: Shape) -> Result<Layout> {
        let dimensions = Dimensions {
            degree: self.rlwe.degree,
            response_degree: self.response.degree,
            item_slots: 1,
            stacked: 1,
            plain_bits: self.database.plain_bits(),
        };
        let layout = Layout::new(shape, dimensions, self.database.first_bits())?;
        self.query.check_bits(index_bits(&layout))?;
        Ok(layout)
    }

    /// Refuses to stream encrypted records, which are not preprocessed.
    pub(super) fn check_streaming(&self, streamed: bool) -> Result<()> {
        if streamed && self.database.encrypted {
            return Err(Error::Workload(
                "an encrypted database is held as its owner sent it: leave out --streamed, or take a set without database.encrypted."
                    .into(),
            ));
        }
        Ok(())
    }

    pub(super) fn ring(&self, kernel: Kernel) -> Result<Arc<Ring<u32>>> {
        self.rlwe.ring(kernel)
    }

    /// floor(Q / p), the message of a selected leaf.
    pub(super) fn scale(&self) -> u64 {
        self.rlwe.scale(self.database.plain_modulus)
    }
}

/// Bits of an index: row, column, position.
pub(super) fn index_bits(layout: &Layout) -> u32 {
    layout.row_bits + layout.column_bits + layout.position_bits
}
