//! Sums of ciphertexts times prepared plaintexts, and matrices in slots by their diagonals.

use crate::error::{BfvError, parameter};
use crate::scheme::Scheme;
use crate::switching::{RnsGadget, SwitchShape, SwitchingKey};
use lattice::Rlwe;
use ring::{Ntt, Poly, Ring, RingShape, Word, Work};

/// The sum of ciphertexts, each times a plaintext.
///
/// # Errors
/// Not as many plaintexts as ciphertexts, one of another ring.
pub fn sum_products<W: Word>(
    ring: &Ring<W>,
    plaintexts: &[&Poly<W, Ntt>],
    ciphertexts: &[&Rlwe<W, Ntt>],
) -> Result<Rlwe<W, Ntt>, BfvError> {
    let right: Vec<&Poly<W, Ntt>> = ciphertexts.iter().flat_map(|ciphertext| [&ciphertext.a, &ciphertext.b]).collect();
    let owned = plaintexts.iter().chain(&right).all(|poly| ring.owns(poly));
    if plaintexts.len() != ciphertexts.len() || !owned {
        return Err(BfvError::Mismatch("plaintexts and ciphertexts of other numbers or rings"));
    }
    let mut out = Rlwe::zero(ring);
    ring.sum_products(plaintexts, &right, &mut [&mut out.a, &mut out.b]);
    Ok(out)
}

/// The work of [`sum_products`] of that many.
pub fn sum_products_work(ring: RingShape, terms: u64) -> Work {
    ring.products(terms.saturating_mul(2))
}

/// A square matrix of slot values, or one for each row of slots, ready to multiply encrypted vectors. Baby steps have a key each and
/// start from the digits of the input, giant steps have one key for all.
///
/// y = sum_g rot_(g B)(sum_b d_(g, b) rot_b(v)), where d_(g, b) is diagonal g B + b turned back by g B.
#[derive(Clone, Debug)]
pub struct Diagonals<W: Word> {
    baby: usize,
    giant_exponent: u64,
    baby_exponents: Vec<u64>,
    plaintexts: Vec<Poly<W, Ntt>>,
}

impl<W: Word> Diagonals<W> {
    /// The matrix with those entries: `entry` writes the words of entry (i, j), which slot i of the result takes of place j of the
    /// vector's row of slots. `baby`: B, which divides the slots of a row.
    ///
    /// # Errors
    /// A B that does not divide the slots of a row, entries that are not below the modulus of slots.
    pub fn new(
        scheme: &Scheme<W>,
        baby: usize,
        mut entry: impl FnMut(usize, usize, &mut [u64]),
    ) -> Result<Self, BfvError> {
        let modulus = scheme.modulus();
        let (row, words) = (modulus.slots() / modulus.id().rows(), modulus.words());
        if baby == 0 || !row.is_multiple_of(baby) {
            return Err(parameter(format!("baby steps must divide the {row} slots of a row: {baby} do not")));
        }
        let mut values = vec![0; modulus.slots() * words];
        let mut plaintexts = Vec::with_capacity(row);
        for diagonal in 0..row {
            let turned = diagonal - diagonal % baby;
            for (slot, value) in values.chunks_exact_mut(words).enumerate() {
                let first = slot - slot % row;
                let place = (slot % row + row - turned) % row;
                entry(first + place, (place + diagonal) % row, value);
            }
            plaintexts.push(scheme.prepare(&modulus.encode(&values)?)?);
        }
        let baby_exponents = (1..baby).map(|places| modulus.id().rotation(places)).collect();
        Ok(Self { baby, giant_exponent: modulus.id().rotation(baby), baby_exponents, plaintexts })
    }

    /// The exponents of the keys of the baby steps, 1 to B - 1 places.
    pub fn baby_exponents(&self) -> &[u64] {
        &self.baby_exponents
    }

    /// The exponent of the key of the giant step.
    pub fn giant_exponent(&self) -> u64 {
        self.giant_exponent
    }

    /// The matrix times an encrypted vector.
    ///
    /// # Errors
    /// A vector or keys of another ring or exponent.
    pub fn multiply(
        &self,
        gadget: &RnsGadget<W>,
        vector: &Rlwe<W, Ntt>,
        baby: &[SwitchingKey<W>],
        giant: &SwitchingKey<W>,
    ) -> Result<Rlwe<W, Ntt>, BfvError> {
        let ring = gadget.ring();
        let exponents = baby.iter().map(SwitchingKey::exponent);
        let giant_fits = giant.exponent() == self.giant_exponent || self.plaintexts.len() == self.baby;
        if !exponents.eq(self.baby_exponents.iter().copied()) || !giant_fits {
            return Err(BfvError::Mismatch("a matrix and keys of other rotations"));
        }
        if !ring.owns(&vector.a) {
            return Err(BfvError::Mismatch("a gadget and a vector of another ring"));
        }
        let digits = gadget.digits(&vector.a);
        let turned = baby.iter().map(|key| gadget.switch(&digits, &vector.b, key));
        let turned: Vec<Rlwe<W, Ntt>> = std::iter::once(Ok(vector.clone())).chain(turned).collect::<Result<_, _>>()?;
        let turned: Vec<&Rlwe<W, Ntt>> = turned.iter().collect();
        let mut sum: Option<Rlwe<W, Ntt>> = None;
        for plaintexts in self.plaintexts.chunks_exact(self.baby).rev() {
            let plaintexts: Vec<&Poly<W, Ntt>> = plaintexts.iter().collect();
            let mut part = sum_products(ring, &plaintexts, &turned)?;
            if let Some(sum) = &sum {
                part.add_assign(ring, &gadget.automorphism(sum, giant)?);
            }
            sum = Some(part);
        }
        Ok(sum.unwrap_or_else(|| Rlwe::zero(ring)))
    }

    /// The work of [`Self::multiply`] for rows of `slots` slots.
    pub fn multiply_work(shape: SwitchShape, slots: u64, baby: u64) -> Work {
        let giants = (slots / baby.max(1)).saturating_sub(1);
        shape.digits_work()
            + shape.switch_work() * baby.saturating_sub(1)
            + sum_products_work(shape.ring, slots)
            + (shape.automorphism_work() + shape.ring.moves(2)) * giants
    }
}
