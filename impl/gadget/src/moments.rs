//! The exact first and second moments of every digit over a uniform residue and the coins.

use crate::family::Family;
use crate::plan::Plan;
use crate::residue::Residue;

/// Moments of one digit over uniform u in Z_q and the coins of the decomposition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// E x.
    pub mean: f64,
    /// E x^2, about zero, which multiplies the variance of a gadget row's error.
    pub mean_square: f64,
}

impl Moments {
    /// E (x - E x)^2.
    pub fn variance(&self) -> f64 {
        self.mean_square - self.mean * self.mean
    }

    /// The moments of x + s, where s is independent of x.
    fn plus(self, mean: f64, variance: f64) -> Self {
        Self { mean: self.mean + mean, mean_square: self.mean_square + 2.0 * self.mean * mean + mean * mean + variance }
    }
}

/// Moments of a digit that is always zero.
const NOTHING: Moments = Moments { mean: 0.0, mean_square: 0.0 };

pub(crate) fn moments<W: Residue>(plan: &Plan<W>) -> Vec<Moments> {
    let (q, add, b) = (plan.modulus.to_u128(), plan.add.to_u128(), plan.base as f64);
    let top = plan.length - 1;
    // Digit t of a uniform integer in [low, high).
    let digit = |t: usize, low: u128, high: u128| {
        let weight = plan.weight(t).to_u128();
        let period = (t < top).then_some(plan.base);
        let (low_sums, high_sums) = (digit_sums(weight, period, low), digit_sums(weight, period, high));
        let count = (high - low) as f64;
        Moments { mean: (high_sums.0 - low_sums.0) / count, mean_square: (high_sums.1 - low_sums.1) / count }
    };
    let carry_in = |t: usize| if t > 0 { (0.5, 0.25) } else { (0.0, 0.0) };
    let all = 0..plan.length;
    match plan.family {
        Family::Unsigned => all.map(|t| digit(t, add, add + q)).collect(),
        Family::Balanced => {
            let low = plan.threshold.to_u128() + add - q;
            let offset = |t| if t < top { plan.offset } else { plan.top_offset };
            all.map(|t| digit(t, low, low + q).plus(-(offset(t) as f64), 0.0)).collect()
        }
        // The digits of 0 are zero, and q - u has the moments of u; u = q / 2 has the digits of u - q.
        Family::Symmetric => {
            let low = plan.threshold.to_u128() + add - q;
            let offset = |t| if t < top { plan.offset } else { plan.top_offset };
            all.map(|t| {
                let square =
                    |low, high| digit(t, low, high).plus(-(offset(t) as f64), 0.0).mean_square * (high - low) as f64;
                let half = if q % 2 == 0 { digit(t, low, low + 1).plus(-(offset(t) as f64), 0.0) } else { NOTHING };
                let squares = 2.0 * square(add, add + q.div_ceil(2)) + half.mean_square;
                Moments { mean: half.mean / q as f64, mean_square: squares / q as f64 }
            })
            .collect()
        }
        // v is u or u - q with equal probability: uniform in [-q, q).
        Family::Jlp24 => all
            .map(|t| {
                let (mean, variance) = carry_in(t);
                let x = digit(t, add - q, add + q).plus(mean, variance);
                if t < top { x.plus(-b / 2.0, b * b / 4.0) } else { x.plus(-(plan.top_offset as f64), 0.0) }
            })
            .collect(),
        Family::Jlp21 => all
            .map(|t| {
                let (mean, variance) = carry_in(t);
                let q_t = plan.modulus_digits[t] as f64;
                let x = digit(t, 0, q).plus(mean, variance).plus(-q_t / 2.0, q_t * q_t / 4.0);
                if t < top { x.plus(-b / 2.0, b * b / 4.0) } else { x }
            })
            .collect(),
        Family::DitherQ => all.map(|t| Moments { mean: 0.0, mean_square: 2.0 * digit(t, 0, q).variance() }).collect(),
        Family::Gmp19 | Family::Zy22 => {
            all.map(|t| Moments { mean: 0.0, mean_square: centred_square(plan, t) }).collect()
        }
    }
}

/// Sums over 0 <= v < `end` of d and d^2, d = floor(v / `weight`), modulo `base` if there is one.
fn digit_sums(weight: u128, base: Option<u64>, end: u128) -> (f64, f64) {
    // Sums of d and d^2 over the whole digits below n.
    let powers = |n: f64| (n * (n - 1.0) / 2.0, n * (n - 1.0) * (2.0 * n - 1.0) / 6.0);
    let (full, rest) = match base {
        Some(base) => {
            let period = weight * u128::from(base);
            let cycles = (end / period) as f64 * weight as f64;
            let (first, second) = powers(base as f64);
            ((cycles * first, cycles * second), end % period)
        }
        None => ((0.0, 0.0), end),
    };
    let (last, partial) = ((rest / weight) as f64, (rest % weight) as f64);
    let (first, second) = powers(last);
    (full.0 + weight as f64 * first + partial * last, full.1 + weight as f64 * second + partial * last * last)
}

/// E x_t^2 of GMP19 and ZY22. Given v it is a function f(v), symmetric about zero; v is u with probability 1 - u/q, else u - q,
/// so over uniform u the mean is 2/q sum_{0 <= u < q} (1 - u/q) f(u), as f(0) = 0.
fn centred_square<W: Residue>(plan: &Plan<W>, t: usize) -> f64 {
    let (q, b) = (plan.modulus.to_u128(), plan.base as f64);
    let weight = plan.weight(t).to_u128();
    if t + 1 == plan.length {
        // The top digit rounds v / B at random: f interpolates the squares.
        return 2.0 * interpolated(weight, q, q as f64, |w| w * w).0 / q as f64;
    }
    let period = weight * u128::from(plan.base);
    match plan.family {
        // Digit t of the dithered sum rounds (v mod b^(t+1)) / b^t at random to w, and then moves it by b with probability w / b.
        Family::Zy22 => periodic(q, period, |end| interpolated(weight, end, q as f64, |w| w * (b - w))),
        // p (1 - p) of the digit's own carry, and of the carry coming in.
        _ => {
            let own = b * b * periodic(q, period, |end| bernoulli(period, end, q as f64));
            own + if t > 0 { periodic(q, weight, |end| bernoulli(weight, end, q as f64)) } else { 0.0 }
        }
    }
}

/// 2/q sum_{0 <= u < q} (1 - u/q) f(u) for f of that period; `sums(end)` are sum (1 - u/q) f(u) and sum f(u) over 0 <= u < end,
/// within one period.
fn periodic(q: u128, period: u128, sums: impl Fn(u128) -> (f64, f64)) -> f64 {
    let size = q as f64;
    let (cycles, rest) = ((q / period) as f64, q % period);
    let (tilted, plain) = sums(period);
    // In cycle c the weight 1 - u/q is lower by c period / q.
    let full = cycles * tilted - plain * (period as f64 / size) * cycles * (cycles - 1.0) / 2.0;
    let (tilted, plain) = sums(rest);
    2.0 / size * (full + tilted - plain * cycles * (period as f64 / size))
}

/// Sums over 0 <= u < `end` of (1 - u/q) f(u) and of f(u), where f interpolates g linearly between multiples of `weight`.
fn interpolated(weight: u128, end: u128, q: f64, g: impl Fn(f64) -> f64) -> (f64, f64) {
    let step = weight as f64;
    let (mut tilted, mut plain) = (0.0, 0.0);
    for segment in 0..end.div_ceil(weight) {
        let (start, n) = (segment as f64 * step, (end - segment * weight).min(weight) as f64);
        let (low, rise) = (g(segment as f64), (g(segment as f64 + 1.0) - g(segment as f64)) / step);
        // Sums of 1, r and r^2 over 0 <= r < n.
        let (first, second) = (n * (n - 1.0) / 2.0, n * (n - 1.0) * (2.0 * n - 1.0) / 6.0);
        plain += n * low + first * rise;
        tilted += (1.0 - start / q) * (n * low + first * rise) - (first * low + second * rise) / q;
    }
    (tilted, plain)
}

/// Sums over 0 <= u < `end` of (1 - u/q) p (1 - p) and of p (1 - p), where p = u / `period`.
fn bernoulli(period: u128, end: u128, q: f64) -> (f64, f64) {
    let (m, n) = (period as f64, end as f64);
    let (first, second) = (n * (n - 1.0) / 2.0, n * (n - 1.0) * (2.0 * n - 1.0) / 6.0);
    let (plain, moment) = ((first * m - second) / (m * m), (second * m - first * first) / (m * m));
    (plain - moment / q, plain)
}
