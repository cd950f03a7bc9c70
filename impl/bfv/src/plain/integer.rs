//! Integers as plaintext moduli: single words, and slots by the plain negacyclic transform.

use super::arithmetic::Arithmetic;
use super::family;
use crate::error::{BfvError, parameter};
use ring::{Kernel, Kind, Modulus, NttPlan, Work};

/// The work of encoding or decoding n slots.
pub(super) fn slots_work(n: usize) -> Work {
    Work::from([(Kind::Transform(n), 1), (Kind::MovedSlots, n as u64)])
}

/// The work of shortening a plaintext of n coefficients.
pub(super) fn shorten_work(n: usize) -> Work {
    Work::of(Kind::ResidueMultiplyAdds, &[n as u64])
}

/// Bytes of the transform of n slots and of their places.
pub(super) fn table_bytes(n: usize) -> u64 {
    NttPlan::<u64>::bytes_for(n) + (size_of::<u32>() * n) as u64
}

/// Arithmetic modulo an integer t.
#[derive(Debug)]
pub(super) struct Integer {
    n: usize,
    modulus: Modulus<u64>,
    /// The transform, and the place in it of every slot; none if t is not a prime = 1 mod 2N.
    slots: Option<(NttPlan<u64>, Vec<u32>)>,
}

impl Integer {
    pub(super) fn new(n: usize, t: u64, kernel: Kernel) -> Result<Self, BfvError> {
        let modulus = Modulus::new(t).map_err(|error| parameter(error.to_string()))?;
        let order = 2 * n as u64;
        // Row 0: the powers of 5, which turn it; row 1: their negatives, the conjugates.
        let slots = NttPlan::new(n, t, kernel).ok().map(|plan| {
            let powers = std::iter::successors(Some(1), |power| Some(power * family::generator(n, n) % order));
            let row: Vec<u64> = powers.take(n / 2).collect();
            let exponents = row.iter().copied().chain(row.iter().map(|exponent| order - exponent));
            let places = exponents.map(|exponent| plan.slot_of(exponent as usize) as u32).collect();
            (plan, places)
        });
        Ok(Self { n, modulus, slots })
    }

    fn slots(&self) -> Result<&(NttPlan<u64>, Vec<u32>), BfvError> {
        self.slots.as_ref().ok_or_else(|| {
            let (t, order) = (self.modulus.value(), 2 * self.n);
            parameter(format!("plaintexts modulo {t} have slots only if it is a prime = 1 mod {order}"))
        })
    }
}

impl Arithmetic for Integer {
    fn shorten(&self, z: &[i64], factor: &[u64], out: &mut [i64]) {
        let modulus = &self.modulus;
        let quotient = modulus.shoup(factor[0]);
        for (out, z) in out.iter_mut().zip(z) {
            *out = modulus.centred(modulus.mul_shoup(modulus.from_signed(*z), factor[0], quotient));
        }
    }

    fn negated_residue(&self, words: &[u64]) -> Vec<u64> {
        let modulus = &self.modulus;
        let reduced =
            words.iter().rev().fold(0, |rest, word| modulus.reduce_u128(u128::from(rest) << 64 | u128::from(*word)));
        vec![modulus.neg(reduced)]
    }

    fn encode(&self, values: &[u64], out: &mut [i64]) -> Result<(), BfvError> {
        let (plan, places) = self.slots()?;
        let mut transformed = vec![0; self.n];
        places.iter().zip(values).for_each(|(place, value)| transformed[*place as usize] = *value);
        plan.inverse(&mut transformed);
        out.iter_mut().zip(transformed).for_each(|(out, x)| *out = self.modulus.centred(x));
        Ok(())
    }

    fn decode(&self, z: &[i64], values: &mut [u64]) -> Result<(), BfvError> {
        let (plan, places) = self.slots()?;
        let mut transformed: Vec<u64> = z.iter().map(|z| self.modulus.from_signed(*z)).collect();
        plan.forward(&mut transformed);
        values.iter_mut().zip(places).for_each(|(value, place)| *value = transformed[*place as usize]);
        Ok(())
    }
}
