//! Interpolation over R_p = Z_p[X]/(X^d + 1) at unit monomials (InsPIRe, sections 6.1 and G.3).
//!
//! Apart from one product with a constant, the arithmetic consists of additions and negacyclic shifts of coefficient vectors: p needs no
//! transform, and may be any odd number.

use ring::{Modulus, Vectors};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The method of interpolation, which determines the t points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interpolate {
    /// Points X^(2 d j / t), t a power of two; an inverse Fourier transform in O(t log t) operations (Algorithm 7).
    CooleyTukey,
    /// Points X^j, any t; divided differences in O(t^2) operations (Algorithm 11).
    Lagrange,
}

impl Interpolate {
    /// The exponent e of point j, the monomial X^e.
    pub fn exponent(self, degree: usize, points: usize, j: usize) -> usize {
        match self {
            Self::CooleyTukey => 2 * degree / points * j,
            Self::Lagrange => j,
        }
    }
}

/// Interpolation at t points. Vectors of t elements of R_p are t * d residues, element after element.
///
/// In several variables (appendix G.2) a point is a tuple with a point for each variable. Written in the base of the number of points of a
/// variable, digit a of j is the number of point j's entry for variable a, and coefficient j belongs to the product of Z_a^(digit a of j).
pub struct Interpolation {
    method: Interpolate,
    modulus: Modulus<u32>,
    vectors: Vectors,
    degree: usize,
    /// Points of one variable.
    points: usize,
    variables: u32,
    /// 1/t, and 1/2.
    inverses: (u32, u32),
    scratch: Vec<u32>,
}

impl Interpolation {
    /// Interpolation at `points` points of each variable modulo an odd p; for [`Interpolate::CooleyTukey`] a power of two up to 2 d,
    /// else any number up to 2 d.
    pub fn new(
        method: Interpolate,
        modulus: Modulus<u32>,
        vectors: Vectors,
        degree: usize,
        (points, variables): (usize, u32),
    ) -> Self {
        let inverse = |x: usize| modulus.inverse(modulus.reduce_u64(x as u64)).unwrap_or_default();
        let inverses = (if method == Interpolate::CooleyTukey { inverse(points) } else { 1 }, inverse(2));
        Self { method, modulus, vectors, degree, points, variables, inverses, scratch: vec![0; degree] }
    }

    /// From the values at the points to the coefficients of the polynomial of degree below t through them, in place.
    pub fn interpolate(&mut self, values: &mut [u32]) {
        let (d, side) = (self.degree, self.points);
        assert_eq!(values.len(), side.pow(self.variables) * d, "a value at each point");
        for line in values.chunks_exact_mut(side * d) {
            self.interpolate_line(line);
        }
        // Along the other variables, whose elements are not adjacent.
        let mut line = vec![0; if self.variables > 1 { side * d } else { 0 }];
        for variable in 1..self.variables {
            let stride = side.pow(variable) * d;
            for block in values.chunks_exact_mut(side * stride) {
                for first in (0..stride).step_by(d) {
                    for (i, element) in line.chunks_exact_mut(d).enumerate() {
                        element.copy_from_slice(&block[first + i * stride..][..d]);
                    }
                    self.interpolate_line(&mut line);
                    for (i, element) in line.chunks_exact(d).enumerate() {
                        block[first + i * stride..][..d].copy_from_slice(element);
                    }
                }
            }
        }
    }

    fn interpolate_line(&mut self, values: &mut [u32]) {
        match self.method {
            Interpolate::CooleyTukey => self.cooley_tukey(values),
            Interpolate::Lagrange => self.lagrange(values),
        }
    }

    /// The value at point j of the polynomial with those coefficients, by Horner's rule in one variable after the other.
    pub fn evaluate(&mut self, coefficients: &[u32], j: usize) -> Vec<u32> {
        let (mut left, mut j) = (coefficients.to_vec(), j);
        for _ in 0..self.variables {
            let lines = left.chunks_exact(self.points * self.degree);
            left = lines.flat_map(|line| self.evaluate_line(line, j % self.points)).collect();
            j /= self.points;
        }
        left
    }

    fn evaluate_line(&mut self, coefficients: &[u32], j: usize) -> Vec<u32> {
        let exponent = self.method.exponent(self.degree, self.points, j);
        let mut elements = coefficients.chunks_exact(self.degree).rev();
        let mut value = elements.next().map_or_else(|| vec![0; self.degree], <[u32]>::to_vec);
        for element in elements {
            self.shift(&value, exponent);
            value.copy_from_slice(&self.scratch);
            self.vectors.add(&self.modulus, &mut value, element);
        }
        value
    }

    /// `scratch` becomes X^exponent times the element.
    fn shift(&mut self, element: &[u32], exponent: usize) {
        let (shift, negated) = (exponent % self.degree, exponent / self.degree % 2 == 1);
        let (wrapped, moved) = self.scratch.split_at_mut(shift);
        let (stays, wraps) = element.split_at(self.degree - shift);
        moved.copy_from_slice(stays);
        wrapped.copy_from_slice(wraps);
        self.vectors.neg(&self.modulus, if negated { moved } else { wrapped });
    }

    fn cooley_tukey(&mut self, values: &mut [u32]) {
        let (d, t) = (self.degree, self.points);
        if t == 1 {
            return;
        }
        for i in 0..t {
            let j = i.reverse_bits() >> (usize::BITS - t.trailing_zeros());
            if i < j {
                let (low, high) = values.split_at_mut(j * d);
                low[i * d..(i + 1) * d].swap_with_slice(&mut high[..d]);
            }
        }
        let mut half = 1;
        while half < t {
            for block in values.chunks_exact_mut(2 * half * d) {
                let (evens, odds) = block.split_at_mut(half * d);
                for (i, (even, odd)) in evens.chunks_exact_mut(d).zip(odds.chunks_exact_mut(d)).enumerate() {
                    self.shift(odd, 2 * d - d / half * i);
                    odd.copy_from_slice(even);
                    self.vectors.sub(&self.modulus, odd, &self.scratch);
                    self.vectors.add(&self.modulus, even, &self.scratch);
                }
            }
            half *= 2;
        }
        self.vectors.mul_scalar(&self.modulus, values, self.inverses.0);
    }

    /// Newton's divided differences, then the polynomial in powers of Z from the last difference on.
    fn lagrange(&mut self, values: &mut [u32]) {
        let (d, t) = (self.degree, self.points);
        for j in 1..t {
            for i in (j..t).rev() {
                let (before, at) = values.split_at_mut(i * d);
                let at = &mut at[..d];
                self.vectors.sub(&self.modulus, at, &before[(i - 1) * d..]);
                self.divide(at, i - j, j);
            }
        }
        // P <- P (Z - X^k) + z_k for the differences z_k, in place: coefficient i of P is at k + 1 + i before the step.
        for k in (0..t.saturating_sub(1)).rev() {
            for i in k..t - 1 {
                let (low, high) = values.split_at_mut((i + 1) * d);
                self.shift(&high[..d], k);
                self.vectors.sub(&self.modulus, &mut low[i * d..], &self.scratch);
            }
        }
    }

    /// Divides an element by X^(base + step) - X^base, 0 < step < 2 d, base + step <= 2 d (Lemma 8).
    fn divide(&mut self, element: &mut [u32], base: usize, step: usize) {
        let d = self.degree;
        let modulus = self.modulus;
        // h (X^step - 1) = f reads h_j = h_(j - step) - f_j, indices modulo 2 d with h_(j + d) = -h_j. A cycle of d / g steps, g =
        // gcd(step, 2 d), leads from h_j to -h_j (Lemma 7): h_j is half of the sum of the f on it.
        let cycles = 1 << step.trailing_zeros().min(d.trailing_zeros());
        let cycle = |start: usize| (1..=d / cycles).map(move |i| (start + i * step) % (2 * d));
        let signed = |element: &[u32], at: usize| {
            if at < d { element[at] } else { modulus.neg(element[at - d]) }
        };
        for start in 0..cycles {
            let sum = cycle(start).fold(0, |sum, at| modulus.add(sum, signed(element, at)));
            let mut h = modulus.mul(sum, self.inverses.1);
            for at in cycle(start) {
                h = modulus.sub(h, signed(element, at));
                self.scratch[at % d] = if at < d { h } else { modulus.neg(h) };
            }
        }
        element.copy_from_slice(&self.scratch);
        self.shift(element, 2 * d - base);
        element.copy_from_slice(&self.scratch);
    }
}

#[cfg(test)]
mod tests;
