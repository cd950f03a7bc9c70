//! Noise as numbers: centred residues in double precision, of any modulus.

use ring::{Coefficient, Poly, Ring, Word};

/// The coefficients in [-q/2, q/2), in double precision.
///
/// # Panics
/// If the polynomial is of another ring.
pub fn centred<W: Word>(ring: &Ring<W>, poly: &Poly<W, Coefficient>) -> Vec<f64> {
    assert!(ring.owns(poly), "a polynomial of this ring");
    let q = ring.rns().product();
    let mut limbs = vec![0; ring.n() * q.len()];
    ring.rns().compose_limbs(poly.as_slice(), &mut limbs);
    let value =
        |limbs: &mut dyn DoubleEndedIterator<Item = u64>| limbs.rfold(0.0, |sum, x| sum * 2f64.powi(64) + x as f64);
    limbs
        .chunks_exact(q.len())
        .map(|x| {
            // q - x, exactly, so that small negative numbers keep their digits.
            let mut borrow = false;
            let negated: Vec<u64> = q
                .iter()
                .zip(x)
                .map(|(q, x)| {
                    let (difference, first) = q.overflowing_sub(*x);
                    let (difference, second) = difference.overflowing_sub(u64::from(borrow));
                    borrow = first || second;
                    difference
                })
                .collect();
            if negated.iter().rev().lt(x.iter().rev()) {
                -value(&mut negated.into_iter())
            } else {
                value(&mut x.iter().copied())
            }
        })
        .collect()
}
