//! Parameter sets of Pirouette and Pirouette^H.

use std::sync::Arc;

use gadget::Family;
use lattice::RingGadget;
use lattice::rotate::{Form, RotationShape, SmallSecret};
use ring::{Kernel, Ring, StdDev};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::query::QueryForm;
use crate::core::error::{Error, Result};
use crate::core::params::{ErrorSize, FINGERPRINT_BYTES, ParameterSet, SecretKind, SourceNote, fingerprint};
use crate::core::workload::Shape;
use crate::parts::folding::{Dimensions, Layout, ResponseParams};
use crate::parts::ring_matrix::{Rlwe, RlweLiteral, check_secret};

/// Largest dimension of the small key.
const MAX_DIMENSION: u32 = 1 << 12;

/// A set as written in params/pirouette/*.toml and params/pirouette_h/*.toml, which differ in what a query is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Literal<Q> {
    /// `pirouette` or `pirouette_h`.
    pub protocol: String,
    /// One line for tables.
    pub title: String,
    /// Where the set comes from.
    pub source: SourceNote,
    /// What a query is.
    pub query: Q,
    /// The ring and its key s.
    pub rlwe: RlweLiteral,
    /// The small key z of blind rotations.
    pub lwe: SmallLiteral,
    /// Gadget and form of blind rotations.
    pub blind_rotation: BlindRotationLiteral,
    /// Gadget of the automorphism keys.
    pub automorphism: GadgetLiteral,
    /// Gadget of the squaring key.
    pub squaring: GadgetLiteral,
    /// The RGSW encryptions of the index's bits.
    pub rgsw: RgswLiteral,
    /// How records are laid out.
    pub database: DatabaseLiteral,
    /// Compression of the response.
    pub response: ResponseLiteral,
}

/// The `[lwe]` table as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmallLiteral {
    /// Dimension n.
    pub dimension: u32,
    /// Distribution of the secret z, of ones, zeros and minus ones.
    pub secret: SecretKind,
}

/// A gadget of symmetric digits as written: weights base^dropped, base^(dropped + 1), ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GadgetLiteral {
    /// log2 of the base.
    pub base_log2: u32,
    /// Low digits that are left out.
    #[serde(default)]
    pub dropped: u32,
}

/// The `[blind_rotation]` table as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlindRotationLiteral {
    /// log2 of the gadget's base.
    pub base_log2: u32,
    /// Low digits that are left out.
    #[serde(default)]
    pub dropped: u32,
    /// Key bits taken together in a step: 1 or 2.
    pub bits_per_step: u32,
}

/// The `[rgsw]` table as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RgswLiteral {
    /// log2 of the gadget's base.
    pub base_log2: u32,
    /// Low digits that are left out.
    #[serde(default)]
    pub dropped: u32,
    /// Coefficients from row to row in the accumulator of LWE to RGSW: LWE errors modulo 2N below half of it do no harm, and the more
    /// often 2 divides it, the fewer automorphisms take the rows apart. Left out: the largest power of two that fits.
    #[serde(default)]
    pub spacing: Option<u32>,
}

/// The `[database]` table as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatabaseLiteral {
    /// Plaintext modulus p, a power of two.
    pub plain_modulus: u32,
    /// Bits v1 of the index that select a row of the first dimension, at most; smaller databases have fewer.
    pub first_bits: u32,
    /// Primes modulo which the first dimension runs: 1 (selectors are switched to the first prime) or 2.
    pub moduli: u32,
    /// Whether the records are the client's, and the server holds encryptions of them (Remark 1). Every bit of the index then
    /// folds: `first_bits` and `moduli` are not used.
    #[serde(default)]
    pub encrypted: bool,
}

/// The `[response]` table as written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResponseLiteral {
    /// Degree N1 of the response's ring, a power of two below N.
    pub degree: u32,
    /// Modulus of the mask, which is that of the ring-switching key.
    pub mask_modulus: u64,
    /// Modulus of the body.
    pub body_modulus: u64,
    /// Distribution of the key s1 of the small ring.
    pub secret: SecretKind,
    /// Size of the error of the ring-switching key.
    pub error: ErrorSize,
    /// log2 of the base of the ring-switching key's gadget.
    pub base_log2: u32,
}

/// A checked gadget of symmetric digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymmetricGadget {
    /// log2 of the base.
    pub base_log2: u32,
    /// Low digits that are left out.
    pub dropped: u32,
    /// Number of digits.
    pub length: usize,
}

impl SymmetricGadget {
    /// The gadget for that ring; `key` is the table it stands in.
    pub(super) fn try_new(key: &str, literal: GadgetLiteral, ring: &Arc<Ring<u32>>) -> Result<Self> {
        let GadgetLiteral { base_log2, dropped } = literal;
        if !(1..=27).contains(&base_log2) {
            return Err(Error::value(
                &format!("{key}.base_log2"),
                format!("{base_log2} is not between 1 and 27, the digits of a prime below 2^28."),
            ));
        }
        let mut gadget = Self { base_log2, dropped, length: 0 };
        gadget.length = gadget.of(ring).map_err(|e| Error::value(key, e.to_string()))?.length();
        Ok(gadget)
    }

    /// The decomposition over that ring.
    pub(super) fn of(&self, ring: &Arc<Ring<u32>>) -> std::result::Result<RingGadget<u32>, lattice::LatticeError> {
        RingGadget::new(ring, Family::Symmetric, 1 << self.base_log2, self.dropped as usize)
    }

    /// For descriptions.
    pub(super) fn describe(&self) -> serde_json::Value {
        let Self { base_log2, dropped, length } = self;
        serde_json::json!({ "base_log2": base_log2, "dropped": dropped, "digits": length, "family": "symmetric" })
    }
}

/// Checked layout parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseParams {
    /// log2 p: bits of a coefficient.
    pub plain_bits: u32,
    /// v1 at most.
    pub first_bits: u32,
    /// Primes of the first dimension.
    pub moduli: usize,
    /// Whether the server holds encryptions of the records.
    pub encrypted: bool,
}

impl DatabaseParams {
    /// p.
    pub fn plain_modulus(&self) -> u64 {
        1 << self.plain_bits
    }
}

/// A checked set of either protocol: `F` is what a query is.
#[derive(Clone, Debug)]
pub struct Params<F> {
    pub(super) source: SourceNote,
    /// The ring and its key.
    pub rlwe: Rlwe,
    /// Dimension n of the small key.
    pub dimension: usize,
    /// Distribution of the small key.
    pub small_secret: SecretKind,
    /// Form of blind rotations.
    pub form: Form,
    /// Gadget of the blind-rotation key.
    pub rotation: SymmetricGadget,
    /// Gadget of the automorphism keys.
    pub automorphism: SymmetricGadget,
    /// Gadget of the squaring key.
    pub squaring: SymmetricGadget,
    /// Gadget of the index's RGSW encryptions.
    pub rgsw: SymmetricGadget,
    /// Coefficients between the rows of the accumulator of LWE to RGSW.
    pub spacing: usize,
    /// Layout.
    pub database: DatabaseParams,
    /// Moduli, degree and gadget of responses.
    pub response: ResponseParams,
    /// Distribution of the key of responses.
    pub response_secret: SecretKind,
    /// Size of the error of the ring-switching key.
    pub response_error: StdDev,
    /// What a query is.
    pub query: F,
}

impl<F: std::fmt::Debug> Params<F> {
    /// Of all that keys and queries are made of; not of the layout, which only the server has.
    pub(super) fn fingerprint(&self) -> [u8; FINGERPRINT_BYTES] {
        let Self {
            rlwe,
            dimension,
            small_secret,
            form,
            rotation,
            automorphism,
            squaring,
            rgsw,
            spacing,
            response,
            response_secret,
            response_error,
            query,
            source: _,
            database: _,
        } = self;
        let keys = format!("{rlwe:?} {dimension} {small_secret:?} {form:?} {rotation:?} {automorphism:?} {squaring:?}");
        let rest = format!("{rgsw:?} {spacing} {response:?} {response_secret:?} {response_error:?} {query:?}");
        fingerprint(&format!("{keys} {rest}"))
    }
}

impl<F> Params<F> {
    /// What blind-rotation keys depend on beside the gadget.
    pub(super) fn shape(&self) -> RotationShape {
        let secret = match self.small_secret {
            SecretKind::Binary {} | SecretKind::FixedWeight { minus: 0, .. } => SmallSecret::Binary,
            _ => SmallSecret::Ternary,
        };
        RotationShape { dimension: self.dimension, secret, form: self.form }
    }

    /// How a database lies in memory.
    ///
    /// # Errors
    /// Records or databases that are too large.
    pub(super) fn layout(&self, shape: Shape) -> Result<Layout> {
        let dimensions = Dimensions {
            degree: self.rlwe.degree,
            response_degree: self.response.degree,
            plain_bits: self.database.plain_bits,
        };
        Layout::new(shape, dimensions, self.database.first_bits)
    }

    /// Refuses to stream what is not preprocessed.
    pub(super) fn check_streaming(&self, streamed: bool) -> Result<()> {
        if streamed && self.database.encrypted {
            return Err(Error::Workload(
                "an encrypted database is held as its owner sent it: leave out --streamed, or take a set without database.encrypted."
                    .into(),
            ));
        }
        Ok(())
    }

    /// The ring.
    pub(super) fn ring(&self, kernel: Kernel) -> Result<Arc<Ring<u32>>> {
        self.rlwe.ring(kernel)
    }

    /// floor(Q / p), the message of a selected leaf.
    pub(super) fn scale(&self) -> u64 {
        self.rlwe.modulus() / self.database.plain_modulus()
    }
}

fn small_secret(lwe: &SmallLiteral) -> Result<()> {
    if !(1..=MAX_DIMENSION).contains(&lwe.dimension) {
        return Err(Error::value("lwe.dimension", format!("{} is not between 1 and {MAX_DIMENSION}.", lwe.dimension)));
    }
    match lwe.secret {
        SecretKind::Binary {} | SecretKind::Ternary {} => Ok(()),
        SecretKind::FixedWeight { plus, minus } => {
            let weight = plus.saturating_add(minus);
            if (1..=lwe.dimension).contains(&weight) {
                return Ok(());
            }
            Err(Error::value("lwe.secret", format!("weight {weight} in dimension {}.", lwe.dimension)))
        }
        SecretKind::Uniform {} | SecretKind::UniformRange { .. } | SecretKind::Gaussian { .. } => Err(Error::value(
            "lwe.secret",
            "blind rotations take keys of ones, zeros and minus ones: write binary, ternary or fixed_weight.",
        )),
    }
}

fn checked_spacing(spacing: Option<u32>, rows: usize, degree: usize) -> Result<usize> {
    let most = degree / rows;
    if most < 2 {
        let problem = format!("{rows} digits leave no room in an accumulator of {degree} coefficients.");
        return Err(Error::value("rgsw", problem));
    }
    let spacing = spacing.map_or(1 << most.ilog2(), |spacing| spacing as usize);
    if spacing < 2 || spacing % 2 == 1 || spacing > most {
        let problem = format!("{spacing} is no even number from 2 to N / {rows} = {most}.");
        return Err(Error::value("rgsw.spacing", problem));
    }
    Ok(spacing)
}

fn database(literal: DatabaseLiteral) -> Result<DatabaseParams> {
    let DatabaseLiteral { plain_modulus, first_bits, moduli, encrypted } = literal;
    if !plain_modulus.is_power_of_two() || !(2..=256).contains(&plain_modulus) {
        return Err(Error::value(
            "database.plain_modulus",
            format!("{plain_modulus} is no power of two from 2 to 256."),
        ));
    }
    if !(1..=16).contains(&first_bits) {
        return Err(Error::value("database.first_bits", format!("{first_bits} is not between 1 and 16.")));
    }
    if !(1..=2).contains(&moduli) {
        return Err(Error::value("database.moduli", format!("{moduli}: the ring has 2 primes, write 1 or 2.")));
    }
    let plain_bits = plain_modulus.ilog2();
    if encrypted {
        // One row, and polynomials that are encrypted modulo both primes.
        return Ok(DatabaseParams { plain_bits, first_bits: 0, moduli: 2, encrypted });
    }
    Ok(DatabaseParams { plain_bits, first_bits, moduli: moduli as usize, encrypted })
}

fn response_params(literal: &ResponseLiteral, ring: &Arc<Ring<u32>>, plain_modulus: u64) -> Result<ResponseParams> {
    let ResponseLiteral { degree, mask_modulus, body_modulus, secret, error: _, base_log2 } = *literal;
    if !degree.is_power_of_two() || !(16..=ring.n() as u32).contains(&degree) {
        return Err(Error::value(
            "response.degree",
            format!("{degree} is no power of two from 16 to the ring's degree, {}.", ring.n()),
        ));
    }
    check_secret("response", secret, degree as usize)?;
    if !(1..=27).contains(&base_log2) {
        return Err(Error::value("response.base_log2", format!("{base_log2} is not between 1 and 27.")));
    }
    let params = ResponseParams { degree: degree as usize, mask_modulus, body_modulus, base: 1 << base_log2 };
    params.check(ring, plain_modulus)?;
    Ok(params)
}

impl<F: QueryForm> ParameterSet for Params<F> {
    type Literal = Literal<F::Literal>;

    fn try_new(literal: Self::Literal) -> Result<Self> {
        let Literal {
            protocol,
            title: _,
            source,
            query,
            rlwe,
            lwe,
            blind_rotation,
            automorphism,
            squaring,
            rgsw,
            database: layout,
            response,
        } = literal;
        if protocol != F::NAME {
            return Err(Error::value(
                "protocol",
                format!("`{protocol}` in a set of {}; write \"{}\".", F::NAME, F::NAME),
            ));
        }
        let rlwe = Rlwe::try_from(&rlwe)?;
        let ring = rlwe.ring(Kernel::Scalar)?;
        small_secret(&lwe)?;
        let BlindRotationLiteral { base_log2, dropped, bits_per_step } = blind_rotation;
        let form = match bits_per_step {
            1 => Form::Cmux,
            2 => Form::Joint,
            _ => {
                return Err(Error::value("blind_rotation.bits_per_step", format!("{bits_per_step}: write 1 or 2.")));
            }
        };
        let rotation = SymmetricGadget::try_new("blind_rotation", GadgetLiteral { base_log2, dropped }, &ring)?;
        let database = database(layout)?;
        let RgswLiteral { base_log2, dropped, spacing } = rgsw;
        let rgsw = SymmetricGadget::try_new("rgsw", GadgetLiteral { base_log2, dropped }, &ring)?;
        Ok(Self {
            source,
            dimension: lwe.dimension as usize,
            small_secret: lwe.secret,
            form,
            rotation,
            automorphism: SymmetricGadget::try_new("automorphism", automorphism, &ring)?,
            squaring: SymmetricGadget::try_new("squaring", squaring, &ring)?,
            spacing: checked_spacing(spacing, rgsw.length, rlwe.degree)?,
            rgsw,
            response: response_params(&response, &ring, database.plain_modulus())?,
            response_secret: response.secret,
            response_error: response.error.checked("response.error")?,
            query: F::try_new(query, &rlwe)?,
            database,
            rlwe,
        })
    }

    fn source(&self) -> &SourceNote {
        &self.source
    }
}
