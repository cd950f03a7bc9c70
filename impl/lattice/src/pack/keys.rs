//! Packing keys: public masks from fixed seeds, bodies from clients.

use super::packing::{Method, Packing};
use crate::decompose::Scale;
use crate::error::LatticeError;
use crate::keyswitch::automorphism_key;
use crate::rlwe::{Masks, RlweKey};
use crate::wire;
use rand::RngCore;
use ring::{DiscreteGaussian, Ntt, Poly, Ring, Seed};

/// The packings that keys and their masks belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Belongs {
    method: Method,
    gamma: usize,
    scale: Scale,
}

impl Belongs {
    fn to(packing: &Packing) -> Self {
        // The keys of CDKS are those of the trace for every number of leaves: they serve packings of every width.
        let gamma = match packing.method {
            Method::Inspiring => packing.gamma,
            Method::Cdks => packing.ring().n(),
        };
        Self { method: packing.method, gamma, scale: packing.gadget.scale() }
    }

    /// Whether keys of this packing serve that one too. InspiRING's first key of a full packing, X -> X^5, is also the key of half a packing.
    fn serves(self, packing: &Packing) -> bool {
        let full = packing.ring().n();
        let halves = self.method == Method::Inspiring && self.gamma == full && 2 * packing.gamma == full;
        self == if halves { Self { gamma: full, ..Self::to(packing) } } else { Self::to(packing) }
    }
}

/// A polynomial for each role and each digit of the gadget.
type Rows = Vec<Vec<Poly<u32, Ntt>>>;

fn are_of(rows: &Rows, ring: &Ring<u32>) -> bool {
    rows.iter().flatten().all(|row| ring.owns(row))
}

/// The masks of packing keys, the same for all clients: tables depend on them.
#[derive(Clone, Debug)]
pub struct PackingMasks {
    belongs: Belongs,
    seed: Seed,
    rows: Rows,
}

impl PackingMasks {
    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.rows.iter().flatten().map(Poly::bytes).sum()
    }

    /// Masks with given polynomials.
    #[cfg(test)]
    pub(super) fn of_rows(packing: &Packing, rows: Rows) -> Self {
        Self { belongs: Belongs::to(packing), seed: Seed([0; 16]), rows }
    }

    /// The mask of row `row` (its digit) of the key of role `role`.
    pub fn row(&self, role: usize, row: usize) -> &Poly<u32, Ntt> {
        &self.rows[role][row]
    }

    pub(super) fn rows(&self, role: usize) -> &[Poly<u32, Ntt>] {
        &self.rows[role]
    }

    pub(super) fn check(&self, packing: &Packing) -> Result<(), LatticeError> {
        if !self.belongs.serves(packing) || !are_of(&self.rows, packing.ring()) {
            return Err(LatticeError::Mismatch("a packing and masks of another"));
        }
        Ok(())
    }
}

/// A client's packing keys: the bodies, whose masks are public.
#[derive(Clone, Debug)]
pub struct PackingKeys {
    belongs: Belongs,
    rows: Rows,
}

impl PackingKeys {
    /// Keys with given bodies.
    #[cfg(test)]
    pub(super) fn of_rows(packing: &Packing, rows: Rows) -> Self {
        Self { belongs: Belongs::to(packing), rows }
    }

    /// The body of row `row` (its digit) of the key of role `role`.
    pub fn row(&self, role: usize, row: usize) -> &Poly<u32, Ntt> {
        &self.rows[role][row]
    }

    pub(super) fn rows(&self, role: usize) -> &[Poly<u32, Ntt>] {
        &self.rows[role]
    }

    /// All bodies, role after role.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &Poly<u32, Ntt>> {
        self.rows.iter().flatten()
    }

    pub(super) fn check(&self, packing: &Packing) -> Result<(), LatticeError> {
        if !self.belongs.serves(packing) || !are_of(&self.rows, packing.ring()) {
            return Err(LatticeError::Mismatch("a packing and keys of another"));
        }
        Ok(())
    }

    /// The bit-packed bodies, role after role.
    pub fn to_bytes(&self, packing: &Packing) -> Vec<u8> {
        let mut out = wire::Writer::with_capacity(packing.key_bytes());
        self.bodies().for_each(|body| out.write_poly(packing.ring(), body));
        out.finish()
    }

    /// Inverse of [`Self::to_bytes`].
    ///
    /// # Errors
    /// A wrong number of bytes, a residue not below its prime, padding that is not zero.
    pub fn from_bytes(packing: &Packing, bytes: &[u8]) -> Result<Self, LatticeError> {
        let mut input = wire::Reader::new(bytes, packing.key_bytes())?;
        let mut rows = Vec::new();
        for _ in packing.exponents() {
            let key = (0..packing.gadget.length()).map(|_| input.poly(packing.ring()));
            rows.push(key.collect::<Result<_, _>>()?);
        }
        input.finish()?;
        Ok(Self { belongs: Belongs::to(packing), rows })
    }
}

impl Packing {
    /// Bytes of the keys on the wire: a polynomial a role and digit. InspiRING with N = 2048, two primes of 28 bits and 3 digits:
    /// 2 * 3 * 2048 * 56 bits = 84 KiB; CDKS: 11 * 3 * 2048 * 56 bits = 462 KiB.
    pub fn key_bytes(&self) -> usize {
        (self.exponents().len() * self.gadget.length() * wire::poly_bits(self.ring())).div_ceil(8)
    }

    /// The seed of the masks of the key for X -> X^`exponent`. It depends on everything that distinguishes keys, because keys of one secret must
    /// not share a mask: the difference of keys with one mask is that of their messages, which are known functions of the secret.
    fn mask_seed(&self, seed: &Seed, exponent: u64) -> Seed {
        let Belongs { method, gamma, scale } = Belongs::to(self);
        let (base, dropped, length) = scale.parts();
        seed.derive(&format!(
            "packing {method} gamma {gamma} exponent {exponent} base {base} dropped {dropped} length {length}"
        ))
    }

    /// The public masks expanded from `seed`, a constant of the parameter set.
    pub fn masks(&self, seed: Seed) -> PackingMasks {
        let rows = |exponent| {
            let prg = self.mask_seed(&seed, exponent).prg();
            (0..self.gadget.length() as u64).map(|row| self.ring().expand(&prg, row)).collect()
        };
        PackingMasks { belongs: Belongs::to(self), seed, rows: self.exponents().into_iter().map(rows).collect() }
    }

    /// Fresh keys under `key`: RLWE'(-s(X^k)) for every exponent k, with the public masks. Make them once for each secret: keys
    /// made twice share masks and messages, so that their errors average out.
    ///
    /// # Errors
    /// A key of another ring, masks of another packing.
    pub fn keys(
        &self,
        key: &RlweKey<u32>,
        masks: &PackingMasks,
        error: &DiscreteGaussian,
        rng: &mut impl RngCore,
    ) -> Result<PackingKeys, LatticeError> {
        masks.check(self)?;
        let mut rows = Vec::new();
        for exponent in self.exponents() {
            let mut streams = Masks::new(self.mask_seed(&masks.seed, exponent));
            let bodies = automorphism_key(key, exponent, &self.gadget, error, &mut streams, rng)?.into_bodies();
            rows.push(bodies);
        }
        Ok(PackingKeys { belongs: Belongs::to(self), rows })
    }
}
