//! Plaintexts in columns, each a residue modulo a prime of any length: binomials and the Goldilocks trinomial.

use super::arithmetic::Arithmetic;
use super::dft::{Dft, reverse};
use super::family::{self, Family};
use super::field::{Element, Field};
use crate::error::{BfvError, parameter};
use ring::{Kind, Work};
use std::sync::Arc;

/// Numbers of limbs for which there is arithmetic.
const LIMBS: [usize; 7] = [1, 2, 3, 5, 9, 17, 33];

/// Arithmetic modulo tau(X^k), where X^k is b modulo p.
#[derive(Debug)]
pub(super) struct Columns<const B: usize, const L: usize> {
    field: Field<B, L>,
    k: usize,
    e: usize,
    /// Words of p.
    words: usize,
    /// tau.
    terms: Vec<(usize, i64)>,
    /// b, 1 / b and c, in Montgomery's form.
    b: Element<B, L>,
    b_inverse: Element<B, L>,
    c: Element<B, L>,
    /// psi^j and psi^-j / k for j < k, in Montgomery's form; psi^k = b.
    twists: Vec<Element<B, L>>,
    untwists: Vec<Element<B, L>>,
    dft: Dft<B, L>,
    /// The place in the transform of every slot.
    places: Vec<u32>,
}

/// Bytes of the tables of k slots of that many words: twists, the transform's powers, places.
pub(super) fn table_bytes(k: usize, words: usize) -> u64 {
    (k * (3 * size_of::<u64>() * limbs(words) + size_of::<u32>())) as u64
}

impl Columns<64, 1> {
    /// The arithmetic of the family's t(X^class), in as few words as p takes.
    pub(super) fn dispatch(
        family: &Family,
        n: usize,
        class: u64,
        terms: &[(usize, i64)],
        prime: &[u64],
    ) -> Result<Arc<dyn Arithmetic>, BfvError> {
        macro_rules! of {
            ($limbs:literal) => {
                Arc::new(Columns::<{ 64 * $limbs }, $limbs>::new(family, n, class, terms, prime)?)
            };
        }
        Ok(match limbs(prime.len()) {
            1 => of!(1),
            2 => of!(2),
            3 => of!(3),
            5 => of!(5),
            9 => of!(9),
            17 => of!(17),
            33 => of!(33),
            _ => return Err(parameter("no slot is longer than 2112 bits")),
        })
    }
}

impl<const B: usize, const L: usize> Columns<B, L> {
    fn new(family: &Family, n: usize, class: u64, terms: &[(usize, i64)], prime: &[u64]) -> Result<Self, BfvError> {
        let (k, order) = (family.slots(n), 2 * n);
        let e = n / k;
        let p = element(prime);
        let field = Field::new(p).ok_or_else(|| parameter("the modulus of a slot is odd"))?;
        if !field.is_prime(&family.order_divisors()) {
            return Err(parameter(format!("the modulus of the slots of {family:?} in degree {n} is not prime")));
        }
        let root = field.root_of_unity(order.trailing_zeros() as usize).ok_or_else(|| {
            parameter(format!(
                "the modulus of the slots of {family:?} is not 1 modulo 2N = {order}: plaintexts do not split"
            ))
        })?;
        let power = |base, exponent: usize| field.pow(base, Element::from(exponent as u64));
        let (b, c) = match *family {
            Family::Binomial { b, .. } => {
                let b = element(&[b]);
                (b, field.inverse(b))
            }
            _ => (element(&[8]), element(&[(1 << 62) - (1 << 30)])),
        };
        // Both have order 2e: some odd power of the root is psi with psi^k = b.
        let psi = (1..2 * e).step_by(2).map(|odd| power(root, odd)).find(|psi| power(*psi, k) == b);
        let psi = psi.ok_or_else(|| parameter(format!("{family:?} in degree {n} does not split into slots")))?;
        // Under X -> X^class the roots and X^k become their powers of exponent 1 / class; 1/t keeps its constant coefficient c.
        let psi = power(psi, family::inverse(class, order as u64) as usize);
        let b = power(psi, k);
        let powers = |base, first| {
            let base = field.montgomery(base);
            std::iter::successors(Some(first), |power| Some(field.mul(*power, base))).take(k).collect()
        };
        let one = field.montgomery(Element::ONE);
        let size = field.montgomery(field.inverse(element(&[k as u64])));
        let generator = family::generator(n, k) as usize;
        // Slots are the values at psi^(g^i) = psi omega^j with j = (g^i - 1) / 2e.
        let orbit = std::iter::successors(Some(1), |power| Some(power * generator % order)).take(k);
        Ok(Self {
            k,
            e,
            words: prime.len(),
            terms: terms.to_vec(),
            b: field.montgomery(b),
            b_inverse: field.montgomery(field.inverse(b)),
            c: field.montgomery(c),
            twists: powers(psi, one),
            untwists: powers(field.inverse(psi), size),
            dft: Dft::new(&field, k, power(psi, 2 * e)),
            places: orbit.map(|exponent| reverse((exponent - 1) / (2 * e), k) as u32).collect(),
            field,
        })
    }

    /// Column j as a residue modulo p: the value at X^k = b.
    #[inline(always)]
    fn collapse(&self, z: &[i64], j: usize) -> Element<B, L> {
        let field = &self.field;
        let coefficients = z[j..].iter().step_by(self.k).rev();
        coefficients.fold(Element::ZERO, |sum, z| field.add(field.mul(sum, self.b), field.signed_residue(*z)))
    }

    /// Writes column j of a short plaintext: `residue` times a factor; `c` is that factor times the constant of 1/t.
    ///
    /// Coefficient i of m / t is u_i / p with u_i = c b^-i m modulo p, centred. The short coefficients are t times these fractions:
    /// integers, small, and so known from their lowest words.
    #[inline(always)]
    fn expand(&self, residue: Element<B, L>, c: Element<B, L>, j: usize, low: &mut [u64], out: &mut [i64]) {
        let (field, e) = (&self.field, self.e);
        let mut numerator = field.mul(residue, c);
        for low in low.iter_mut() {
            *low = field.low_word_centred(numerator);
            numerator = field.mul(numerator, self.b_inverse);
        }
        let inverse = field.word_inverse();
        for i in 0..e {
            let sum = self.terms.iter().fold(0u64, |sum, &(exponent, coefficient)| {
                // Y^e = -1 turns what comes from above round.
                let (place, sign) =
                    if i >= exponent { (i - exponent, coefficient) } else { (i + e - exponent, -coefficient) };
                sum.wrapping_add(low[place].wrapping_mul(sign as u64))
            });
            out[self.k * i + j] = sum.wrapping_mul(inverse) as i64;
        }
    }
}

impl<const B: usize, const L: usize> Arithmetic for Columns<B, L> {
    fn shorten(&self, z: &[i64], factor: &[u64], out: &mut [i64]) {
        let c = self.field.mul(self.c, self.field.montgomery(element(factor)));
        let mut low = vec![0; self.e];
        (0..self.k).for_each(|j| self.expand(self.collapse(z, j), c, j, &mut low, out));
    }

    fn negated_residue(&self, words: &[u64]) -> Vec<u64> {
        let negated = self.field.sub(Element::ZERO, self.field.reduce(words));
        negated.as_limbs()[..self.words].to_vec()
    }

    fn encode(&self, values: &[u64], out: &mut [i64]) -> Result<(), BfvError> {
        let mut columns = vec![Element::ZERO; self.k];
        for (place, value) in self.places.iter().zip(values.chunks_exact(self.words)) {
            columns[*place as usize] = element(value);
        }
        self.dft.inverse_unscaled(&self.field, &mut columns);
        let mut low = vec![0; self.e];
        for (j, (column, untwist)) in columns.into_iter().zip(&self.untwists).enumerate() {
            self.expand(self.field.mul(column, *untwist), self.c, j, &mut low, out);
        }
        Ok(())
    }

    fn decode(&self, z: &[i64], values: &mut [u64]) -> Result<(), BfvError> {
        let twisted = self.twists.iter().enumerate().map(|(j, twist)| self.field.mul(self.collapse(z, j), *twist));
        let mut columns: Vec<_> = twisted.collect();
        self.dft.forward(&self.field, &mut columns);
        for (place, value) in self.places.iter().zip(values.chunks_exact_mut(self.words)) {
            value.copy_from_slice(&columns[*place as usize].as_limbs()[..self.words]);
        }
        Ok(())
    }
}

/// The number of limbs that hold a number of that many words.
fn limbs(words: usize) -> usize {
    LIMBS.into_iter().find(|limbs| words <= *limbs).unwrap_or(words)
}

/// The work of shortening a plaintext of k columns in degree n, whose p has that many words, and of encoding or decoding its slots.
pub(super) fn work(k: usize, n: usize, words: usize) -> (Work, Work) {
    // A product modulo p is 2 L^2 products of words.
    let product = 2 * (limbs(words) as u64).pow(2);
    let (n, layers, k) = (n as u64, u64::from(k.trailing_zeros()), k as u64);
    let multiplies = |products| Work::of(Kind::ResidueMultiplyAdds, &[products, product]);
    (multiplies(2 * n + k), multiplies(n + 2 * k + k / 2 * layers))
}

/// The number in those words, no more than L.
fn element<const B: usize, const L: usize>(words: &[u64]) -> Element<B, L> {
    let mut limbs = [0; L];
    limbs[..words.len()].copy_from_slice(words);
    Element::from_limbs(limbs)
}
