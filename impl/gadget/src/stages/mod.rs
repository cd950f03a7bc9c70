//! The samplers for one coefficient at a time, in the steps whose cost Tables 1 to 5 of the paper state.
//!
//! The same code runs on machine words, to be timed, and on [`Counted`] ones, to count bit operations. `SHIFT` takes digits by
//! shifts and masks (bases 2^l), otherwise by a division each, as in the papers. Coins are drawn beforehand and
//! handed in. As in the papers' implementations, probabilities are compared in double precision: digits recompose exactly,
//! probabilities are right to 2^-52 ([`crate::Gadget`] has the exact laws).

mod counting;
mod word;

pub use counting::{Counted, CountedDigit, CountedReal, Operations, count};
pub use word::{StageDigit, StageReal, StageWord};

use crate::family::Family;
use crate::plan::{GadgetError, Plan};

/// The constants of one modulus and base, which the steps need.
#[derive(Clone, Debug)]
pub struct Stages<W: StageWord, const SHIFT: bool> {
    modulus: W,
    base: W,
    base_bits: u32,
    mask: W,
    length: usize,
    /// B = b^(k-1), and its logarithm for a base 2^l.
    top: W,
    top_bits: u32,
    /// The least multiple of B that makes u - q positive, and how many times B it is.
    lift: W,
    lifts: W::Small,
    digit_base: W::Small,
    zero: W::Small,
    modulus_digits: Vec<W::Small>,
    inverse_base: W::Real,
    inverse_modulus: W::Real,
}

impl<W: StageWord, const SHIFT: bool> Stages<W, SHIFT> {
    /// For q = `modulus`, at most 2^126 (2^62 on `u64`), and a base below it, a power of two if `SHIFT`.
    pub fn new(modulus: u128, base: u64) -> Result<Self, GadgetError> {
        let plan = Plan::<u128>::new(Family::Jlp24, modulus, base, 0)?;
        if SHIFT && plan.base_bits.is_none() {
            return Err(GadgetError::Base(base));
        }
        let base_bits = 64 - (base - 1).leading_zeros();
        let small = |value: i64| W::Small::constant(value, base_bits);
        Ok(Self {
            modulus: W::constant(modulus),
            base: W::constant(base.into()),
            base_bits,
            mask: W::constant((base - 1).into()),
            length: plan.length,
            top: W::constant(plan.top),
            top_bits: (plan.length as u32 - 1) * base_bits,
            lift: W::constant(plan.add),
            lifts: small(plan.top_offset),
            digit_base: small(base as i64),
            zero: small(0),
            modulus_digits: plan.modulus_digits.iter().map(|digit| small(*digit)).collect(),
            inverse_base: W::Real::constant(1.0 / base as f64),
            inverse_modulus: W::Real::constant(1.0 / modulus as f64),
        })
    }

    /// k.
    pub fn length(&self) -> usize {
        self.length
    }

    /// A digit of that value.
    pub fn digit(&self, value: i64) -> W::Small {
        W::Small::constant(value, self.base_bits)
    }

    #[inline]
    fn split(&self, u: W) -> (W, W::Small) {
        if SHIFT {
            (u >> self.base_bits, (u & self.mask).digit(self.base_bits))
        } else {
            let digit = u % self.base;
            ((u - digit) / self.base, digit.digit(self.base_bits))
        }
    }

    /// Decomposition: all digits but the last, which is the rest.
    pub fn decomposition(&self, mut u: W, digits: &mut [W::Small]) {
        let last = digits.len() - 1;
        for digit in &mut digits[..last] {
            (u, *digit) = self.split(u);
        }
        digits[last] = u.digit(self.base_bits);
    }

    /// Decomposition of a value below B into k - 1 digits.
    fn low_digits(&self, mut u: W, digits: &mut [W::Small]) {
        for digit in digits {
            (u, *digit) = self.split(u);
        }
    }

    /// Probability: whether u - q is taken, which happens with probability u/q over a uniform word.
    pub fn probability(&self, u: W, coin: u64) -> bool {
        (u.float() * self.inverse_modulus).exceeds(coin)
    }

    /// u or u - q, plus a multiple of B that keeps it positive.
    fn representative(&self, u: W, minus_q: bool) -> W {
        if minus_q { u + self.lift - self.modulus } else { u + self.lift }
    }

    /// Compute, lines 1 to 7 of Algorithm 3: v mod B and floor(v / B) of v = u or u - q.
    pub fn compute(&self, u: W, minus_q: bool) -> (W, W::Small) {
        let v = self.representative(u, minus_q);
        if SHIFT {
            (v & (self.top - W::constant(1)), (v >> self.top_bits).digit(self.base_bits) - self.lifts)
        } else {
            let low = v % self.top;
            (low, ((v - low) / self.top).digit(self.base_bits) - self.lifts)
        }
    }

    /// Algorithm 1: z = S_q y (JLP21) for y = -`carries`.
    pub fn precompute(&self, carries: &[W::Small], z: &mut [W::Small]) {
        let selected = carries[self.length - 1];
        let mut incoming = self.zero;
        for (i, (z, carry)) in z.iter_mut().zip(carries).enumerate() {
            let moved = if i + 1 < self.length { incoming - self.digit_base * *carry } else { incoming };
            *z = moved - self.modulus_digits[i] * selected;
            incoming = *carry;
        }
    }

    /// JLP21, Addition: x = u + S_q y for y = -`carries`, the product included.
    pub fn addition(&self, carries: &[W::Small], x: &mut [W::Small]) {
        let (last, selected) = (self.length - 1, carries[self.length - 1]);
        let mut incoming = self.zero;
        for ((x, carry), q_i) in x[..last].iter_mut().zip(carries).zip(&self.modulus_digits) {
            *x = *x + incoming - self.digit_base * *carry - *q_i * selected;
            incoming = *carry;
        }
        x[last] = x[last] + incoming - self.modulus_digits[last] * selected;
    }

    /// JLP21, Addition where z = S_q y was stored; the seed's line 2 of Algorithm 2.
    pub fn addition_stored(&self, z: &[W::Small], x: &mut [W::Small]) {
        x.iter_mut().zip(z).for_each(|(x, z)| *x = *x + *z);
    }

    /// GMP19, Transformation: t = S^-1 v, that is t_i = (v mod b^(i+1)) / b^(i+1).
    pub fn transformation(&self, digits: &[W::Small], t: &mut [W::Real]) {
        let mut last = W::Real::default();
        for (t, digit) in t.iter_mut().zip(digits) {
            last = (last + W::Real::constant(digit.value() as f64)) * self.inverse_base;
            *t = last;
        }
    }

    /// GMP19, Sampling: carry i with probability t_i.
    pub fn sampling(&self, t: &[W::Real], coins: &[u64], carries: &mut [W::Small]) {
        for ((carry, t), coin) in carries.iter_mut().zip(t).zip(coins) {
            *carry = self.digit(i64::from(t.exceeds(*coin)));
        }
    }

    /// GMP19, Addition: x = v + S y.
    pub fn carry_addition(&self, carries: &[W::Small], x: &mut [W::Small]) {
        let last = self.length - 1;
        let mut incoming = self.zero;
        for (x, carry) in x[..last].iter_mut().zip(carries) {
            *x = *x + incoming - self.digit_base * *carry;
            incoming = *carry;
        }
        x[last] = x[last] + incoming - self.lifts;
    }

    /// ZY22, Subgaussian': digit by digit, w or w - b with probability w/b. `coins`: values below b.
    pub fn subgaussian_sequential(&self, mut u: W, coins: &[u64], x: &mut [W::Small]) {
        for (x, coin) in x.iter_mut().zip(coins) {
            let (rest, digit) = self.split(u);
            if (*coin as i64) < digit.value() {
                *x = digit - self.digit_base;
                u = rest + W::constant(1);
            } else {
                *x = digit;
                u = rest;
            }
        }
    }

    /// ZY22, Check: whether the digits of k - 1 places recompose to `low`, not to `low` - B.
    pub fn check(&self, x: &[W::Small], low: W) -> bool {
        let sum = x.iter().rev().fold(W::constant(0), |sum, digit| sum.append(self.base, *digit));
        sum.value() == low.value()
    }

    /// The seed's Subgaussian', Algorithm 2: digits of u' plus z.
    pub fn subgaussian(&self, low: W, z: &[W::Small], x: &mut [W::Small]) {
        self.low_digits(low, x);
        self.addition_stored(z, x);
    }

    /// GMP19 as a whole. `coins`: k uniform words.
    pub fn gmp19(&self, u: W, coins: &[u64], t: &mut [W::Real], carries: &mut [W::Small], x: &mut [W::Small]) {
        let v = self.representative(u, self.probability(u, coins[self.length - 1]));
        self.decomposition(v, x);
        self.transformation(&x[..self.length - 1], t);
        self.sampling(&t[..self.length - 1], coins, carries);
        self.carry_addition(carries, x);
    }

    /// ZY22 as a whole. `coins`: k - 1 values below b, then a uniform word.
    pub fn zy22(&self, u: W, coins: &[u64], x: &mut [W::Small]) {
        let last = self.length - 1;
        let (low, a) = self.compute(u, self.probability(u, coins[last]));
        self.subgaussian_sequential(low, &coins[..last], &mut x[..last]);
        x[last] = if self.check(&x[..last], low) { a } else { a + self.digit(1) };
    }

    /// JLP21 as a whole, z stored.
    pub fn jlp21(&self, u: W, z: &[W::Small], x: &mut [W::Small]) {
        self.decomposition(u, x);
        self.addition_stored(z, x);
    }

    /// JLP21 as a whole, S_q y computed online.
    pub fn jlp21_online(&self, u: W, carries: &[W::Small], x: &mut [W::Small]) {
        self.decomposition(u, x);
        self.addition(carries, x);
    }

    /// JLP24 as a whole, Algorithm 3: `z` holds z_0 .. z_{k-2} of S y, then -y_{k-2}; `minus_q` is whether y_{k-1} = -1.
    pub fn jlp24(&self, u: W, minus_q: bool, z: &[W::Small], x: &mut [W::Small]) {
        let last = self.length - 1;
        let (low, a) = self.compute(u, minus_q);
        self.subgaussian(low, &z[..last], &mut x[..last]);
        x[last] = a + z[last];
    }

    /// Algorithm 1 for JLP24: z_i = -b r_i + r_{i-1}, last r_{k-2}, for y = -`carries`.
    pub fn precompute_jlp24(&self, carries: &[W::Small], z: &mut [W::Small]) {
        let last = self.length - 1;
        let mut incoming = self.zero;
        for (z, carry) in z[..last].iter_mut().zip(carries) {
            *z = incoming - self.digit_base * *carry;
            incoming = *carry;
        }
        z[last] = incoming;
    }
}
