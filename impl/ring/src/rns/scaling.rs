//! Division of numbers modulo Q with rounding: to the system of the first moduli, or to any other modulus.

use super::{Rns, RnsError, evaluate, factors};
use crate::modulus::Modulus;
use crate::residues::Vectors;
use crate::residues::Word;

impl<W: Word> Rns<W> {
    /// The system of the first `len` moduli, if it has as many and `len` is not 0.
    pub fn prefix(&self, len: usize) -> Option<Self> {
        let moduli: Vec<u64> = self.moduli.get(..len)?.iter().map(|q| q.value().to_u64()).collect();
        Self::new(&moduli).ok()
    }

    /// x / P rounded to the nearest integer, modulo Q / P, where P is the product of the moduli that `to` lacks: the last ones.
    /// The remainder subtracted is the representative of x modulo P in [-P/2, P/2), so that ties (only if P is even) go up.
    /// Computed in one step, not modulus by modulus, so that nothing is rounded twice.
    pub fn rescale(&self, vectors: Vectors, residues: &[W], to: &Self, out: &mut [W]) -> Result<(), RnsError> {
        let kept = to.len();
        if kept >= self.len() || self.moduli[..kept] != to.moduli[..] {
            let values = |rns: &Self| rns.moduli.iter().map(|q| q.value().to_u64()).collect();
            return Err(RnsError::NoPrefix { from: values(self), to: values(to) });
        }
        let n = self.coefficients(residues);
        assert_eq!(out.len(), n * kept, "as many residues of each coefficient as moduli are kept");
        let moduli: Vec<u64> = self.moduli[kept..].iter().map(|q| q.value().to_u64()).collect();
        if let [p] = &self.moduli[kept..] {
            for (modulus, out) in to.moduli.iter().zip(out.chunks_exact_mut(n.max(1))) {
                vectors.centred_residues(p, &residues[kept * n..], modulus, out);
            }
        } else {
            self.centred_remainders(residues, &moduli, to, out)?;
        }
        for (i, modulus) in to.moduli.iter().enumerate() {
            let Some(inverse) = modulus.inverse(product_residue(modulus, &moduli)) else {
                return Err(RnsError::NotCoprime(modulus.value().to_u64(), moduli[0]));
            };
            let (out, input) = (&mut out[i * n..(i + 1) * n], &residues[i * n..(i + 1) * n]);
            // (x - rest) / P = -(rest - x) / P.
            vectors.sub(modulus, out, input);
            vectors.mul_scalar(modulus, out, modulus.neg(inverse));
        }
        Ok(())
    }

    /// The centred remainders modulo the product of the last moduli, `dropped`, modulo each that is kept.
    fn centred_remainders(&self, residues: &[W], dropped: &[u64], to: &Self, out: &mut [W]) -> Result<(), RnsError> {
        let (last, n) = (Self::new(dropped)?, self.coefficients(residues));
        let tables: Vec<_> = to.moduli.iter().map(|q| (factors(q, dropped), product_residue(q, dropped))).collect();
        last.for_each_mixed_radix(&residues[to.len() * n..], |j, digits| {
            let negative = last.is_negative(digits);
            for (i, (modulus, (radices, product))) in to.moduli.iter().zip(&tables).enumerate() {
                let rest = evaluate(modulus, radices, &to.ones[i], digits);
                out[i * n + j] = if negative { modulus.sub(rest, *product) } else { rest };
            }
        });
        Ok(())
    }

    /// x * q' / Q rounded to the nearest integer, modulo q', for x in [0, Q) and any q' > 0; ties (only if Q is even) go up. For x
    /// above Q/2 the result is that of x - Q, so the rounding is that of the centred representative.
    ///
    /// # Panics
    /// If the lengths do not match or `modulus` is 0.
    pub fn switch_modulus(&self, residues: &[W], modulus: u64, out: &mut [u64]) {
        assert!(self.coefficients(residues) == out.len() && modulus > 0, "lengths, and a modulus");
        let mut remainder = vec![W::default(); self.len()];
        self.for_each_mixed_radix(residues, |j, digits| {
            // x * q' in mixed radix: digit by digit, what exceeds p_i is carried; the last carry is the quotient by Q.
            let mut carry = 0u64;
            for ((digit, p), remainder) in digits.iter().zip(&self.moduli).zip(&mut remainder) {
                let p = p.value().to_u64();
                let part = u128::from(digit.to_u64()) * u128::from(modulus) + u128::from(carry);
                let (quotient, rest) = match u64::try_from(part) {
                    Ok(part) => (part / p, part % p),
                    Err(_) => ((part / u128::from(p)) as u64, (part % u128::from(p)) as u64),
                };
                (carry, *remainder) = (quotient, W::from_u64(rest));
            }
            // The quotient is below q'; rounded up it may reach q', which is 0.
            let rounded = carry + u64::from(self.is_negative(&remainder));
            out[j] = if rounded == modulus { 0 } else { rounded };
        });
    }
}

/// The product of `factors` modulo `modulus`.
fn product_residue<W: Word>(modulus: &Modulus<W>, factors: &[u64]) -> W {
    let one = modulus.reduce_u64(1);
    factors.iter().fold(one, |product, factor| modulus.mul(product, modulus.reduce_u64(*factor)))
}
