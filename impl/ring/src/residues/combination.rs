//! Numbers given by parts of theirs, modulo other numbers.

use crate::modulus::Modulus;
use crate::word::Residue;

/// Sums of rows times a factor each and of their quotient times another, modulo several numbers.
///
/// The quotient is the integer nearest to the sum of rows times their reciprocals.
#[derive(Clone, Debug)]
pub struct Combination<W> {
    /// 2^shift times what rows are multiplied by for the quotient.
    pub(super) reciprocals: Vec<W>,
    pub(super) shift: u32,
    pub(super) targets: Vec<Target<W>>,
    /// Whether sums are below 2^BITS times any modulus.
    pub(super) short: bool,
}

/// A modulus with the factors of the rows and of the quotient.
#[derive(Clone, Debug)]
pub(super) struct Target<W> {
    pub(super) modulus: Modulus<W>,
    /// In Montgomery's form if the modulus is odd.
    pub(super) factors: Vec<W>,
    /// -1 / q modulo 2^BITS, if q is odd.
    pub(super) inverse: Option<W>,
}

impl<W: Residue> Combination<W> {
    /// Of rows of residues modulo `from`, over which the quotient is, with the factors of each and of the quotient modulo each target.
    pub fn new(from: &[Modulus<W>], targets: impl Iterator<Item = (Modulus<W>, Vec<W>)>) -> Self {
        let bits = u32::BITS - (from.len() as u32 + 1).leading_zeros();
        // Reciprocals are below half of a word, and sums for the quotient below half of two.
        let shortest = from.iter().map(Modulus::bits).min().unwrap_or(2);
        let shift = (W::BITS + shortest.saturating_sub(2)).min(2 * W::BITS - 1 - bits).max(W::BITS);
        let total: u128 = from.iter().map(|q| u128::from(q.value().to_u64())).sum();
        let target = |(modulus, mut factors): (Modulus<W>, Vec<W>)| {
            let odd = !modulus.value().to_u64().is_multiple_of(2);
            if odd {
                let radix = modulus.reduce_u128(1 << W::BITS);
                factors.iter_mut().for_each(|factor| *factor = modulus.mul(*factor, radix));
            }
            Target { modulus, factors, inverse: odd.then(|| modulus.negative_inverse()) }
        };
        Self {
            reciprocals: from
                .iter()
                .map(|q| W::from_u64(((1u128 << shift) / u128::from(q.value().to_u64())) as u64))
                .collect(),
            shift,
            targets: targets.map(target).collect(),
            short: total + from.len() as u128 <= 1 << W::BITS,
        }
    }
}
