//! The homomorphic trace: sums of automorphisms, which keep only the coefficients of a subring.

use crate::decompose::{GadgetShape, RingGadget};
use crate::error::LatticeError;
use crate::keyswitch::{AutomorphismKey, automorphism_key};
use crate::product::Workspace;
use crate::rlwe::{Masks, Rlwe, RlweKey, SeededRlwePrime};
use rand::RngCore;
use ring::{Coefficient, DiscreteGaussian, Ring, Word, Work};

/// The keys of the trace and of the oblivious expansion on the wire: for X -> X^(2^i + 1), i = 1..=log2 N.
///
/// A protocol that uses only some levels makes only those: see [`TraceKeys::new`].
///
/// # Errors
/// A level 0, whose exponent would be even; a gadget of another ring than the key's.
pub fn trace_keys<W: Word>(
    key: &RlweKey<W>,
    levels: std::ops::RangeInclusive<u32>,
    gadget: &RingGadget<W>,
    error: &DiscreteGaussian,
    masks: &mut Masks,
    rng: &mut impl RngCore,
) -> Result<Vec<SeededRlwePrime<W>>, LatticeError> {
    levels.map(|level| automorphism_key(key, exponent(level), gadget, error, masks, rng)).collect()
}

/// The exponent 2^level + 1.
fn exponent(level: u32) -> u64 {
    (1 << level) + 1
}

/// Automorphism keys for consecutive levels, ready for use.
#[derive(Clone, Debug)]
pub struct TraceKeys<W: Word> {
    first: u32,
    keys: Vec<AutomorphismKey<W>>,
}

impl<W: Word> TraceKeys<W> {
    /// The keys [`trace_keys`] made for levels `first`, `first + 1`, ...
    ///
    /// # Errors
    /// A level 0, whose exponent would be even; a key of another ring.
    pub fn new(ring: &Ring<W>, first: u32, keys: &[SeededRlwePrime<W>]) -> Result<Self, LatticeError> {
        let keys = (first..)
            .zip(keys)
            .map(|(level, key)| AutomorphismKey::new(ring, exponent(level), key))
            .collect::<Result<_, _>>()?;
        Ok(Self { first, keys })
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.keys.iter().map(AutomorphismKey::bytes).sum()
    }

    /// Refuses a gadget with which the keys were not made.
    pub(crate) fn check(&self, gadget: &RingGadget<W>) -> Result<(), LatticeError> {
        self.keys.iter().try_for_each(|key| key.check(gadget))
    }

    /// The key for X -> X^(2^level + 1).
    ///
    /// # Errors
    /// A level without a key.
    pub fn level(&self, level: u32) -> Result<&AutomorphismKey<W>, LatticeError> {
        level
            .checked_sub(self.first)
            .and_then(|index| self.keys.get(index as usize))
            .ok_or_else(|| LatticeError::Parameter(format!("no automorphism key for the exponent 2^{level} + 1")))
    }
}

impl GadgetShape {
    /// The work of [`RingGadget::trace`]. Its sums and its product with a constant are not counted.
    pub fn trace_work(self, kept: usize) -> Work {
        self.automorphism_work() * u64::from((self.ring.degree / kept).ilog2())
    }
}

impl<W: Word> RingGadget<W> {
    /// Projects the phase to the multiples of X^(N / kept): those `kept` coefficients (a power of two, at most N) stay, the
    /// others become zero up to noise. Multiplies by (N / kept)^-1 modulo q first, then adds the automorphisms
    /// X -> X^(2^i + 1) for i = log2 N down to log2 kept + 1.
    ///
    /// # Errors
    /// A `kept` out of range, a missing key, a ciphertext or a key of another ring, a key made with another gadget.
    pub fn trace(
        &self,
        input: &Rlwe<W, Coefficient>,
        kept: usize,
        keys: &TraceKeys<W>,
        workspace: &mut Workspace<W>,
    ) -> Result<Rlwe<W, Coefficient>, LatticeError> {
        let ring = self.ring();
        let n = ring.n();
        if !kept.is_power_of_two() || kept > n {
            return Err(LatticeError::Parameter(format!("the trace keeps a power of two up to {n}, not {kept}")));
        }
        input.check(ring)?;
        let mut sum = input.clone();
        sum.mul_scalar_assign(ring, inverse_power_of_two(self.modulus(), (n / kept).ilog2()));
        let mut mapped = Rlwe::zero(ring);
        for level in (kept.ilog2() + 1..=n.ilog2()).rev() {
            self.automorphism(&sum, keys.level(level)?, workspace, &mut mapped)?;
            sum.add_assign(ring, &mapped);
        }
        Ok(sum)
    }
}

/// 2^-exponent modulo an odd q.
pub(crate) fn inverse_power_of_two(q: u128, exponent: u32) -> u128 {
    // Halving modulo q: an odd residue becomes even by adding q.
    (0..exponent).fold(1, |x, _| if x & 1 == 0 { x >> 1 } else { (x >> 1) + (q >> 1) + 1 })
}
