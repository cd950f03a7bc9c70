//! The digits of a polynomial: of its residues, prime by prime, or of its coefficients as integers.

use super::gadget::{Cut, RnsGadget};
use ring::{Coefficient, Modulus, Ntt, Poly, Word};

/// The digits of a polynomial in the NTT domain, in the order of a key's rows.
#[derive(Clone, Debug)]
pub struct Digits<W: Word>(pub(super) Vec<Poly<W, Ntt>>);

impl<W: Word> Digits<W> {
    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(Poly::bytes).sum()
    }
}

impl<W: Word> RnsGadget<W> {
    /// The digits of a polynomial of the ciphertexts' ring, for any number of keys.
    ///
    /// # Panics
    /// If it is of another ring.
    pub fn digits(&self, input: &Poly<W, Ntt>) -> Digits<W> {
        self.digits_of_coefficients(&self.ring().inverse(input.clone()))
    }

    /// As [`Self::digits`], of a polynomial in the coefficient domain.
    ///
    /// # Panics
    /// If it is of another ring.
    pub fn digits_of_coefficients(&self, input: &Poly<W, Coefficient>) -> Digits<W> {
        assert!(self.ring().owns(input), "a polynomial of the gadget's ring");
        match self.cut() {
            Cut::Residues { base_log2, counts, bound } => self.of_residues(input, *base_log2, counts, *bound),
            Cut::Integers(gadget) => {
                let mut digits = vec![0; gadget.length() * self.ring().n()];
                gadget.cut(input, &mut digits);
                // No digit reaches a prime.
                Digits(digits.chunks_exact(self.ring().n()).map(|digits| self.transformed(digits, 0)).collect())
            }
        }
    }

    fn of_residues(&self, input: &Poly<W, Coefficient>, base_log2: u32, counts: &[usize], bound: u64) -> Digits<W> {
        let (n, key_ring) = (self.ring().n(), self.key_ring());
        let mut out = Vec::with_capacity(self.rows());
        for ((modulus, _), (limb, count)) in self.ring().limbs().iter().zip(input.limbs().zip(counts)) {
            // Digits nearly always fit 32 bits, for which there are vector paths.
            if W::BITS == 32 {
                let mut digits = vec![0; count * n];
                key_ring.vectors().balanced_digits(modulus, limb, base_log2, &mut digits);
                out.extend(digits.chunks_exact(n).map(|digits| self.transformed(digits, bound)));
                continue;
            }
            for digits in cut(modulus, limb, *count, base_log2).chunks_exact(n) {
                if bound <= i32::MAX as u64 {
                    let narrow: Vec<i32> = digits.iter().map(|digit| *digit as i32).collect();
                    out.push(self.transformed(&narrow, bound));
                    continue;
                }
                let mut transformed = key_ring.zero();
                for ((prime, plan), limb) in key_ring.limbs().iter().zip(transformed.limbs_mut()) {
                    limb.iter_mut().zip(digits).for_each(|(x, digit)| *x = prime.from_signed(*digit));
                    plan.forward(limb);
                }
                out.push(transformed);
            }
        }
        Digits(out)
    }

    /// A digit of each coefficient, none above `bound` in magnitude, in the NTT domain.
    fn transformed(&self, digits: &[i32], bound: u64) -> Poly<W, Ntt> {
        let mut transformed = self.key_ring().zero();
        for ((prime, plan), limb) in self.key_ring().limbs().iter().zip(transformed.limbs_mut()) {
            if prime.value().to_u64() > bound {
                plan.forward_signed(digits, limb);
            } else {
                self.key_ring().vectors().reduce_signed(prime, digits, limb);
                plan.forward(limb);
            }
        }
        transformed
    }
}

/// Balanced digits of centred residues, digit by digit: all but the last in [-base/2, base/2), the last what is left.
fn cut<W: Word>(modulus: &Modulus<W>, residues: &[W], count: usize, base_log2: u32) -> Vec<i64> {
    let n = residues.len();
    let mut digits = vec![0; count * n];
    let (half, mask) = (1i64 << (base_log2 - 1), (1i64 << base_log2) - 1);
    for (j, residue) in residues.iter().enumerate() {
        let mut rest = modulus.centred(*residue);
        for t in 0..count - 1 {
            let digit = ((rest + half) & mask) - half;
            digits[t * n + j] = digit;
            rest = (rest - digit) >> base_log2;
        }
        digits[(count - 1) * n + j] = rest;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_recompose(q in 3u64..1 << 61, x: u64, base_log2 in 1u32..=61) {
            let modulus = Modulus::new(q).unwrap();
            let count = modulus.bits().div_ceil(base_log2) as usize;
            let digits = cut(&modulus, &[x % q], count, base_log2);
            let sum = digits.iter().rev().fold(0i128, |sum, digit| (sum << base_log2) + i128::from(*digit));
            prop_assert_eq!(sum, i128::from(modulus.centred(x % q)));
            let half = 1i64 << (base_log2 - 1);
            prop_assert!(digits.iter().all(|digit| digit.abs() <= half));
        }
    }
}
