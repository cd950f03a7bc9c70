//! The inverse of oblivious expansion (the packing of Chen, Dai, Kim, Song, ACNS 2021, of whole ciphertexts): many ciphertexts become one.

use crate::decompose::{GadgetShape, RingGadget};
use crate::error::LatticeError;
use crate::product::Workspace;
use crate::rlwe::Rlwe;
use crate::trace::{TraceKeys, inverse_power_of_two};
use ring::{Coefficient, Word, Work};

impl GadgetShape {
    /// The work of [`RingGadget::join`]: an automorphism, a turn, a sum, a difference and a second sum for each ciphertext but one.
    pub fn join_work(self, count: u64) -> Work {
        (self.automorphism_work() + self.ring.moves(2 * 4)) * count.saturating_sub(1)
    }
}

impl<W: Word> RingGadget<W> {
    /// Joins r ciphertexts, a power of two: the phase of the result is the sum over j and u of m_(j, u r) X^(j + u r), where m_j is the phase
    /// of number j.
    ///
    /// Multiplies by 1/r modulo q first, so that errors of the keys need not be multiples of r; then for i = r/2, r/4, ..., 1 replaces c_j,
    /// j < i, by c + tau(d) with c = c_j + X^i c_(i+j), d = c_j - X^i c_(i+j) and tau: X -> X^(N / i + 1), under which X^i changes its sign.
    /// That takes one key switch, whose noise the i levels' doublings multiply by up to i. The keys' levels are log2 N - log2 r + 1 to log2 N.
    ///
    /// # Errors
    /// Not a power of two up to N, a missing key, a ciphertext or a key of another ring, a key made with another gadget.
    pub fn join(
        &self,
        mut inputs: Vec<Rlwe<W, Coefficient>>,
        keys: &TraceKeys<W>,
        workspace: &mut Workspace<W>,
    ) -> Result<Rlwe<W, Coefficient>, LatticeError> {
        let (ring, count) = (self.ring(), inputs.len());
        if !count.is_power_of_two() || count > ring.n() {
            return Err(LatticeError::Parameter(format!("a power of two up to {} is joined, not {count}", ring.n())));
        }
        let factor = inverse_power_of_two(self.modulus(), count.ilog2());
        for input in &mut inputs {
            input.check(ring)?;
            input.mul_scalar_assign(ring, factor);
        }
        let (mut turned, mut difference, mut mapped) = (Rlwe::zero(ring), Rlwe::zero(ring), Rlwe::zero(ring));
        let mut half = count / 2;
        while half > 0 {
            let key = keys.level(ring.n().ilog2() - half.ilog2())?;
            let (kept, others) = inputs.split_at_mut(half);
            for (kept, other) in kept.iter_mut().zip(others) {
                other.mul_monomial_into(ring, half, &mut turned);
                difference.copy_from(kept);
                difference.sub_assign(ring, &turned);
                self.automorphism(&difference, key, workspace, &mut mapped)?;
                kept.add_assign(ring, &turned);
                kept.add_assign(ring, &mapped);
            }
            inputs.truncate(half);
            half /= 2;
        }
        inputs.pop().ok_or_else(|| LatticeError::Parameter("no ciphertext to join".to_owned()))
    }
}
