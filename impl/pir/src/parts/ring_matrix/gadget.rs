//! Gadgets of parameter sets, and the sizes of the packing keys and tables made with them.

use std::sync::Arc;

use gadget::{Family, new_gadget};
use lattice::pack::{DIRECT_TERMS, Method};
use lattice::{GadgetShape, RingGadget};
use ring::{Kernel, Ring};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Rlwe;
use crate::core::plan::numbers;
use crate::core::{Error, Result, in_range};

/// A gadget: digits of weights base^dropped, base^(dropped + 1), ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gadget {
    /// log2 of the base z.
    pub base_log2: u32,
    /// Low digits that are left out.
    #[serde(default)]
    pub dropped: usize,
    /// The kind of the digits.
    #[serde(default)]
    pub digits: Digits,
}

/// Digits of a gadget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Digits {
    /// From 0 to z - 1, as the reference implementations of packing have them.
    Unsigned,
    /// From -z/2 to z/2 - 1, as the papers write them.
    Balanced,
    /// From -z/2 to z/2, symmetric for uniform numbers, as external products use them.
    #[default]
    Symmetric,
}

impl From<Digits> for Family {
    fn from(digits: Digits) -> Self {
        match digits {
            Digits::Unsigned => Family::Unsigned,
            Digits::Balanced => Family::Balanced,
            Digits::Symmetric => Family::Symmetric,
        }
    }
}

impl Gadget {
    /// A gadget of symmetric digits.
    pub fn symmetric(base_log2: u32, dropped: usize) -> Self {
        Self { base_log2, dropped, digits: Digits::Symmetric }
    }

    /// Refuses bases out of range, gadgets without a digit and digits of another kind; `key` is its table in the file.
    pub fn check(self, key: &str, rlwe: &Rlwe, symmetric: bool) -> Result<()> {
        in_range(&format!("{key}.base_log2"), self.base_log2, 1..=27)?;
        if (self.digits == Digits::Symmetric) != symmetric {
            let problem = if symmetric { "leave it out: digits are symmetric." } else { "write unsigned or balanced." };
            return Err(Error::value(&format!("{key}.digits"), problem));
        }
        self.of(&rlwe.ring(Kernel::Scalar)?).map(|_| ()).map_err(|e| Error::value(key, e.to_string()))
    }

    /// The base z.
    pub fn base(self) -> u64 {
        1 << self.base_log2
    }

    /// The decomposition over that ring.
    pub fn of(self, ring: &Arc<Ring<u32>>) -> Result<RingGadget<u32>> {
        RingGadget::new(ring, self.digits.into(), self.base(), self.dropped).map_err(Error::from)
    }

    /// Number l of digits modulo `modulus`; `None` if a check would refuse the gadget.
    pub fn length(self, modulus: u64) -> usize {
        new_gadget(self.digits.into(), modulus, self.base(), self.dropped, Kernel::Scalar).map_or(0, |g| g.length())
    }

    /// The shape of the gadget, on which the cost of its products depends.
    pub fn shape(self, rlwe: &Rlwe) -> GadgetShape {
        GadgetShape { ring: rlwe.shape(), base: self.base(), length: self.length(rlwe.modulus()) }
    }

    /// What a description says of it.
    pub fn describe(self, modulus: u64) -> GadgetNumbers {
        GadgetNumbers::new(self, self.length(modulus))
    }
}

numbers! {
    /// What a description says of a gadget, with its number of digits.
    pub struct GadgetNumbers(gadget: Gadget, length: usize) {
        digits: usize = length,
        base_log2: u32 = gadget.base_log2,
        dropped: usize = gadget.dropped,
        #[serde(skip_serializing_if = "Option::is_none")]
        family: Option<Digits> = Some(gadget.digits).filter(|digits| *digits == Digits::Symmetric),
        #[serde(skip_serializing_if = "Option::is_none")]
        signed: Option<bool> = (gadget.digits != Digits::Symmetric).then_some(gadget.digits == Digits::Balanced),
    }
}

/// The sizes of keys and tables of a packing method with a gadget.
#[derive(Clone, Copy)]
pub struct Packing<'a> {
    rlwe: &'a Rlwe,
    method: Method,
    /// Ciphertexts that are packed into one: the degree, or fewer with InspiRING.
    gamma: usize,
    /// The shape of the gadget, on which the cost of packing depends.
    pub gadget: GadgetShape,
}

impl<'a> Packing<'a> {
    /// The packing of `degree` ciphertexts over that ring.
    pub fn new(rlwe: &'a Rlwe, method: Method, gadget: Gadget) -> Self {
        Self { rlwe, method, gamma: rlwe.degree, gadget: gadget.shape(rlwe) }
    }

    /// The same packing for up to `gamma` ciphertexts.
    pub fn of_gamma(self, gamma: usize) -> Self {
        Self { gamma, ..self }
    }

    /// Whether both halves of a ciphertext are packed, and joined.
    fn is_full(self) -> bool {
        self.gamma == self.rlwe.degree
    }

    fn length(self) -> u64 {
        self.gadget.length as u64
    }

    /// Polynomials of the packing keys of one query: digits of automorphisms with a key, of whole packings.
    pub fn key_polynomials(self) -> u64 {
        let roles = match self.method {
            Method::Cdks => u64::from(self.rlwe.degree.ilog2()),
            Method::Inspiring => 1 + u64::from(self.is_full()),
        };
        roles * self.length()
    }

    /// Bytes of the packing keys of one query, which are bodies only.
    pub fn key_bytes(self) -> u64 {
        let bits = u64::from(self.rlwe.residue_bits());
        (self.key_polynomials() * self.rlwe.degree as u64 * bits).div_ceil(8)
    }

    /// Bytes of the masks of packing keys in memory.
    pub fn key_mask_bytes(self) -> u64 {
        self.key_polynomials() * self.rlwe.poly_bytes()
    }

    /// Bytes of the packing table of one output: a linear form of a slot for each role and digit, of as many slots as the images
    /// of the role's key come from (for level k of CDKS d / 2^k, in whole lines).
    pub fn table_bytes(self) -> u64 {
        let degree = self.rlwe.degree;
        let slots: usize = match self.method {
            Method::Cdks => (1..=degree.ilog2()).map(|level| (degree >> level).max(ring::matrix::diagonal::LINE)).sum(),
            Method::Inspiring => self.gamma.max(ring::matrix::diagonal::LINE),
        };
        slots as u64 * self.length() * self.rlwe.poly_bytes()
    }

    /// Bytes of that table in memory: the part that packing reads, the packed mask and, with a full InspiRING, the factors that join both
    /// halves.
    pub fn held_table_bytes(self) -> u64 {
        let polys = match self.method {
            Method::Inspiring if self.is_full() => 1 + self.length(),
            Method::Cdks | Method::Inspiring => 1,
        };
        self.table_bytes() + polys * self.rlwe.poly_bytes()
    }

    /// Bytes alive, beside the table and the ring masks, while the table of one output is made. CDKS: the leaves, the first level of its tree
    /// and that level's digits, less the masks. InspiRING: the buffers of its key switches, since the sums for all automorphisms are stored
    /// in the table.
    pub fn making_bytes(self) -> u64 {
        match self.method {
            Method::Cdks => self.rlwe.degree as u64 * self.rlwe.poly_bytes() * (3 + self.length()) / 2,
            Method::Inspiring => self.switching_bytes(),
        }
    }

    /// Bytes alive, beside the ring masks of `ciphertexts` ciphertexts, while they are packed without a table. CDKS: the nodes
    /// of its tree. InspiRING: the sums for all automorphisms, and at gamma < d the roots of their transform.
    pub fn packing_bytes(self, ciphertexts: usize) -> u64 {
        let polys = match self.method {
            Method::Inspiring if ciphertexts <= DIRECT_TERMS => 2 * ciphertexts,
            Method::Inspiring if !self.is_full() => self.gamma + self.gamma / 2,
            _ => self.gamma,
        };
        polys as u64 * self.rlwe.poly_bytes() + self.switching_bytes()
    }

    /// Bytes of the buffers of InspiRING's key switches: digits, images of keys' rows, sums, heads, lists of slots, and sixteen slots of all
    /// masks while they are transformed.
    fn switching_bytes(self) -> u64 {
        let lanes = ring::matrix::diagonal::LINE;
        (2 * self.length() + 8) * self.rlwe.poly_bytes() + (4 * lanes * (self.rlwe.degree + lanes)) as u64
    }
}
