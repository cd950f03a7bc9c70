//! Key switching between LWE keys: every coordinate of the mask is decomposed into digits, which multiply encryptions of
//! the old key's coefficients times the gadget's weights.

use super::{Lwe, LweKey};
use crate::decompose::Scale;
use crate::error::LatticeError;
use crate::wire;
use gadget::{Coins, Gadget};
use rand::RngCore;
use ring::secret::uniform_below;
use ring::{DiscreteGaussian, Modulus, Seed};
use std::sync::Arc;

/// Rows whose products with digits are summed before a reduction: digits are below 2^21 (bases to 2^20), halves of residues
/// below 2^32, so that 2^10 products stay below 2^63.
const LAZY_ROWS: usize = 1 << 10;

/// A key that switches from dimension `from` to dimension `to`, as it travels: a seed for the masks, and the bodies.
///
/// Row (i, t) encrypts -s_i * base^(dropped + t) under the new key, i-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeededLweSwitchKey {
    seed: Seed,
    modulus: Modulus<u64>,
    scale: Scale,
    to: usize,
    bodies: Vec<u64>,
}

impl SeededLweSwitchKey {
    /// A fresh key from `from` to `to`. The seed must serve no other ciphertext under `to`.
    pub fn new(
        from: &LweKey,
        to: &LweKey,
        gadget: &dyn Gadget<u64>,
        error: &DiscreteGaussian,
        seed: Seed,
        rng: &mut impl RngCore,
    ) -> Result<Self, LatticeError> {
        let (modulus, scale) = identity(gadget)?;
        let weights = weights(gadget, &modulus);
        let mut masks = seed.prg().rng();
        let mut a = vec![0; to.coefficients().len()];
        let mut bodies = Vec::with_capacity(from.coefficients().len() * weights.len());
        for &s in from.coefficients() {
            let s = modulus.from_signed(-i64::from(s));
            for &weight in &weights {
                a.fill_with(|| uniform_below(&mut masks, modulus.value()));
                bodies.push(to.body(&modulus, &a, modulus.mul(s, weight), error, rng));
            }
        }
        Ok(Self { seed, modulus, scale, to: a.len(), bodies })
    }

    /// The rows, masks and all.
    pub fn expand(&self) -> LweSwitchKey {
        let mut masks = self.seed.prg().rng();
        let mut rows = Vec::with_capacity(self.bodies.len() * (self.to + 1));
        for &body in &self.bodies {
            rows.extend((0..self.to).map(|_| uniform_below(&mut masks, self.modulus.value())));
            rows.push(body);
        }
        LweSwitchKey { modulus: self.modulus, scale: self.scale, to: self.to, rows }
    }

    /// Bytes of [`Self::to_bytes`] for a key from dimension `from` with `length` digits: the seed, then the bodies.
    pub fn wire_bytes(modulus: Modulus<u64>, from: usize, length: usize) -> usize {
        wire::SEED_BYTES + wire::packed_bytes(from * length, wire::residue_bits(modulus.value()))
    }

    /// The seed, then the bodies bit-packed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = wire::Writer::with_capacity(wire::SEED_BYTES + 8 * self.bodies.len());
        out.write_seed(&self.seed);
        out.write_all(&self.bodies, wire::residue_bits(self.modulus.value()));
        out.finish()
    }

    /// Inverse of [`Self::to_bytes`], for a key made with that gadget between those dimensions: the bytes tell neither.
    ///
    /// # Errors
    /// A wrong number of bytes, a residue not below q, padding that is not zero.
    pub fn from_bytes(
        gadget: &dyn Gadget<u64>,
        (from, to): (usize, usize),
        bytes: &[u8],
    ) -> Result<Self, LatticeError> {
        let (modulus, scale) = identity(gadget)?;
        let mut input = wire::Reader::new(bytes, Self::wire_bytes(modulus, from, scale.length()))?;
        let seed = input.seed();
        let bodies = input.residues(from * scale.length(), modulus.value())?;
        input.finish()?;
        Ok(Self { seed, modulus, scale, to, bodies })
    }
}

/// What keys depend on of a gadget.
fn identity(gadget: &dyn Gadget<u64>) -> Result<(Modulus<u64>, Scale), LatticeError> {
    let modulus = Modulus::new(gadget.modulus()).map_err(|e| LatticeError::Parameter(e.to_string()))?;
    Ok((modulus, Scale::of(gadget)))
}

/// The gadget's weights base^(dropped + t) modulo q.
fn weights(gadget: &dyn Gadget<u64>, modulus: &Modulus<u64>) -> Vec<u64> {
    let base = modulus.reduce_u64(gadget.base());
    (0..gadget.length()).map(|t| modulus.pow(base, (gadget.dropped() + t) as u64)).collect()
}

/// The rows of a key switch in full: row r holds `to` residues of its mask, then its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LweSwitchKey {
    modulus: Modulus<u64>,
    scale: Scale,
    to: usize,
    rows: Vec<u64>,
}

/// Switches ciphertexts with one key and one gadget.
pub struct LweSwitcher {
    key: LweSwitchKey,
    gadget: Arc<dyn Gadget<u64>>,
    from: usize,
}

impl LweSwitcher {
    /// A switch with that key, made with that gadget.
    ///
    /// # Errors
    /// A gadget of another modulus, base, number of dropped digits or length.
    pub fn new(key: LweSwitchKey, gadget: Arc<dyn Gadget<u64>>) -> Result<Self, LatticeError> {
        let rows = key.rows.len() / (key.to + 1);
        if gadget.modulus() != key.modulus.value() || Scale::of(gadget.as_ref()) != key.scale {
            return Err(LatticeError::Mismatch("a key-switching key and a gadget it was not made with"));
        }
        Ok(Self { from: rows / gadget.length(), key, gadget })
    }

    /// The ciphertext under the new key: its phase is the old phase plus the noise of the switch.
    ///
    /// # Errors
    /// A ciphertext of another dimension or modulus.
    pub fn switch(&self, input: &Lwe, coins: &mut Coins) -> Result<Lwe, LatticeError> {
        if input.a.len() != self.from || input.modulus != self.key.modulus {
            return Err(LatticeError::Mismatch("an LWE ciphertext and a key-switching key for another"));
        }
        let (width, length) = (self.key.to + 1, self.gadget.length());
        let mut digits = vec![0i32; length * self.from];
        self.gadget.decompose(&input.a, &mut digits, coins);
        let mut sum = LazySum::new(self.key.modulus, width);
        // Rows are i-major, digits t-major.
        for (i, rows) in self.key.rows.chunks_exact(length * width).enumerate() {
            for (t, row) in rows.chunks_exact(width).enumerate() {
                sum.add(digits[t * self.from + i], row);
            }
        }
        let mut a = sum.finish();
        let b = a.pop().unwrap_or_default();
        Ok(Lwe { modulus: input.modulus, a, b: input.modulus.add(b, input.b) })
    }
}

/// Sum of digit * row modulo q, reduced every [`LAZY_ROWS`] rows: low and high halves of the residues are summed apart.
struct LazySum {
    modulus: Modulus<u64>,
    total: Vec<u64>,
    low: Vec<i64>,
    high: Vec<i64>,
    rows: usize,
}

impl LazySum {
    fn new(modulus: Modulus<u64>, width: usize) -> Self {
        Self { modulus, total: vec![0; width], low: vec![0; width], high: vec![0; width], rows: 0 }
    }

    fn add(&mut self, digit: i32, row: &[u64]) {
        if self.rows == LAZY_ROWS {
            self.reduce();
        }
        let digit = i64::from(digit);
        for ((low, high), &residue) in self.low.iter_mut().zip(&mut self.high).zip(row) {
            *low += digit * i64::from(residue as u32);
            *high += digit * (residue >> 32) as i64;
        }
        self.rows += 1;
    }

    fn reduce(&mut self) {
        let q = i128::from(self.modulus.value());
        for ((total, low), high) in self.total.iter_mut().zip(&mut self.low).zip(&mut self.high) {
            let sum = (i128::from(*high) << 32) + i128::from(*low) + i128::from(*total);
            *total = sum.rem_euclid(q) as u64;
            (*low, *high) = (0, 0);
        }
        self.rows = 0;
    }

    fn finish(mut self) -> Vec<u64> {
        self.reduce();
        self.total
    }
}
