//! Oblivious expansion (Angel, Chen, Laine, Setty, IEEE S&P 2018; as Spiral and Respire use it): one ciphertext becomes 2^depth, of which
//! number j carries the coefficients at positions j modulo 2^depth.

use crate::decompose::RingGadget;
use crate::error::LatticeError;
use crate::product::Workspace;
use crate::rlwe::Rlwe;
use crate::trace::{TraceKeys, inverse_power_of_two};
use ring::{Coefficient, Word};

impl<W: Word> RingGadget<W> {
    /// Expands `input`, phase sum_k m_k X^k, into the first `count` of 2^depth ciphertexts: the phase of number j is the sum
    /// over u of m_(j + u 2^depth) X^(u 2^depth). With depth = log2 N that is the constant m_j.
    ///
    /// Multiplies by 2^-depth modulo q first; then level i = 0, 1, ... replaces every c by c + tau(c) and X^(-2^i) (c - tau(c)),
    /// tau: X -> X^(N / 2^i + 1), which takes one key switch a ciphertext. The keys' levels are log2 N - depth + 1 to log2 N.
    ///
    /// # Errors
    /// depth > log2 N, count > 2^depth, a missing key, a ciphertext or a key of another ring, a key made with another gadget.
    pub fn expand(
        &self,
        input: &Rlwe<W, Coefficient>,
        depth: u32,
        count: usize,
        keys: &TraceKeys<W>,
        workspace: &mut Workspace<W>,
    ) -> Result<Vec<Rlwe<W, Coefficient>>, LatticeError> {
        let ring = self.ring();
        let log_n = ring.n().ilog2();
        if depth > log_n || count > 1 << depth {
            return Err(LatticeError::Parameter(format!(
                "expansion to {count} ciphertexts at depth {depth} of a ring of dimension {}",
                ring.n()
            )));
        }
        input.check(ring)?;
        let mut first = input.clone();
        first.mul_scalar_assign(ring, inverse_power_of_two(self.modulus(), depth));
        let mut level = vec![first];
        let (mut mapped, mut difference) = (Rlwe::zero(ring), Rlwe::zero(ring));
        for i in 0..depth {
            let key = keys.level(log_n - i)?;
            // X^(-2^i) = X^(2 N - 2^i).
            let back = 2 * ring.n() - (1 << i);
            // An output j of the last level descends from number j mod 2^i: those from `count` on have no wanted descendants.
            let upper = level.len().min(count.saturating_sub(1 << i));
            let mut odd = Vec::with_capacity(upper);
            for (j, c) in level.iter_mut().enumerate() {
                self.automorphism(c, key, workspace, &mut mapped)?;
                if j < upper {
                    difference.copy_from(c);
                    difference.sub_assign(ring, &mapped);
                    odd.push(difference.mul_monomial(ring, back));
                }
                c.add_assign(ring, &mapped);
            }
            level.append(&mut odd);
        }
        level.truncate(count);
        Ok(level)
    }
}
