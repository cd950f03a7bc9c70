//! Oblivious expansion (Angel, Chen, Laine, Setty, IEEE S&P 2018): one ciphertext becomes 2^depth, of which number j carries the
//! coefficients at places j modulo 2^depth.

use super::gadget::{RnsGadget, SwitchShape};
use super::key::SwitchingKey;
use crate::error::{BfvError, parameter};
use lattice::Rlwe;
use ring::{Modulus, Ntt, Poly, Word, Work};

/// The exponents of the keys that expansion to `depth` levels of a ring of degree `n` takes: N / 2^i + 1 for i = 0, 1, ...
pub fn expansion_exponents(n: usize, depth: u32) -> impl Iterator<Item = u64> {
    (0..depth).map(move |level| (n as u64 >> level) + 1)
}

impl SwitchShape {
    /// The work of [`RnsGadget::expand`]: an automorphism for each ciphertext of every level but the last; a sum, a difference and a
    /// product with a monomial for those that the next level has beside them.
    pub fn expand_work(self, depth: u32, count: u64) -> Work {
        let ciphertexts = |level: u32| (1u64 << level).min(count);
        let automorphisms: u64 = (0..depth).map(ciphertexts).sum();
        let upper: u64 = (0..depth).map(|level| ciphertexts(level + 1) - ciphertexts(level)).sum();
        self.automorphism_work() * automorphisms
            + self.ring.moves(2 * (automorphisms + upper))
            + self.ring.products(2 * (upper + 1))
    }
}

impl<W: Word> RnsGadget<W> {
    /// Expands a ciphertext of phase sum_k m_k X^k into the first `count` of 2^depth ciphertexts: the phase of number j is the sum over u
    /// of m_(j + u 2^depth) X^(u 2^depth). The i-th key is of the i-th of [`expansion_exponents`].
    ///
    /// The input is divided by 2^depth modulo q first, so that its error is not multiplied; then level i replaces every c by c + tau(c)
    /// and X^(-2^i) (c - tau(c)), tau: X -> X^(N / 2^i + 1).
    ///
    /// # Errors
    /// A depth above log2 N, a count above 2^depth, another number of keys, a key of another exponent, a ciphertext of another ring.
    pub fn expand(
        &self,
        input: &Rlwe<W, Ntt>,
        count: usize,
        keys: &[&SwitchingKey<W>],
    ) -> Result<Vec<Rlwe<W, Ntt>>, BfvError> {
        let (ring, depth) = (self.ring(), keys.len() as u32);
        if depth > ring.n().ilog2() || count > 1 << depth {
            return Err(parameter(format!("{count} ciphertexts at depth {depth} of a ring of degree {}", ring.n())));
        }
        if !expansion_exponents(ring.n(), depth).eq(keys.iter().map(|key| key.exponent())) || !ring.owns(&input.b) {
            return Err(BfvError::Mismatch("a ciphertext and keys of another expansion"));
        }
        let mut first = input.clone();
        for part in [&mut first.a, &mut first.b] {
            for ((modulus, _), limb) in ring.limbs().iter().zip(part.limbs_mut()) {
                ring.vectors().mul_scalar(modulus, limb, inverse_power_of_two(modulus, depth));
            }
        }
        let mut level = vec![first];
        for (i, key) in keys.iter().enumerate() {
            let back = ring.monomial_ntt(2 * ring.n() - (1 << i));
            // An output of the last level descends from its number modulo 2^i: those from `count` on are not wanted.
            let upper = level.len().min(count.saturating_sub(1 << i));
            let mut odd = Vec::with_capacity(upper);
            for (j, c) in level.iter_mut().enumerate() {
                let mapped = self.automorphism(c, key)?;
                if j < upper {
                    let part = |part: &Poly<W, Ntt>, mapped: &Poly<W, Ntt>| {
                        let mut difference = part.clone();
                        ring.sub_assign(&mut difference, mapped);
                        ring.mul_assign(&mut difference, &back);
                        difference
                    };
                    odd.push(Rlwe { a: part(&c.a, &mapped.a), b: part(&c.b, &mapped.b) });
                }
                c.add_assign(ring, &mapped);
            }
            level.append(&mut odd);
        }
        level.truncate(count);
        Ok(level)
    }
}

/// 2^-depth modulo q.
fn inverse_power_of_two<W: Word>(modulus: &Modulus<W>, depth: u32) -> W {
    let half = modulus.value().to_u64().div_ceil(2);
    modulus.pow(modulus.reduce_u64(half), u64::from(depth))
}
