//! The discrete Gaussian over the integers, by inversion of its cumulative table.

mod double_double;
mod scan;
#[cfg(test)]
mod tests;

use crate::kernel::{Checked, Kernel};
use crate::noise::StdDev;
use double_double::DoubleDouble;
use rand::RngCore;
use scan::TOGETHER;

/// Tables up to this length are scanned whole, in constant time.
const SCANNED: usize = 128;
/// Leading bits of a draw that index the guide of a long table.
const GUIDE_BITS: u32 = 10;

/// A standard deviation outside the range for which tables are built.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("standard deviation {0} is outside {min} to {max}", min = DiscreteGaussian::MIN_STDDEV, max = DiscreteGaussian::MAX_STDDEV)]
pub struct StdDevError(pub f64);

/// Samples x with probability proportional to exp(-x^2 / (2 * stddev^2)).
///
/// The magnitude is found by comparing a uniform 64-bit number with the cumulative probabilities of |x| times 2^64, rounded
/// from 100-bit arithmetic; the sign is one more bit. Each |x| thus has its exact probability to within 2^-64, and all
/// beyond the table together less than 2^-64. Tables of up to 128 magnitudes (stddev up to about 13) are scanned whole, in
/// time independent of the sample; longer ones are searched, so that cache timing may reveal something about the magnitude.
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    /// `thresholds[k]` = 2^64 * P(|x| <= k); draws at or above all of them give the last magnitude.
    thresholds: Vec<u64>,
    /// For each value of a draw's leading bits, the magnitudes at which the search starts and ends. Empty if scanned.
    guide: Vec<u32>,
    /// The path that scans, which is always the best one, as for the generator.
    kernel: Checked,
}

impl DiscreteGaussian {
    /// Smallest supported standard deviation.
    pub const MIN_STDDEV: f64 = 0.3;
    /// Largest supported standard deviation, 2^14.
    pub const MAX_STDDEV: f64 = 16384.0;

    /// Builds the table for that standard deviation (not width).
    pub fn new(stddev: impl Into<StdDev>) -> Result<Self, StdDevError> {
        let StdDev(stddev) = stddev.into();
        if !(Self::MIN_STDDEV..=Self::MAX_STDDEV).contains(&stddev) {
            return Err(StdDevError(stddev));
        }
        // The probability beyond 9.5 standard deviations is below 2^-68 (at 0.3, already beyond 3).
        let last = (9.5 * stddev).ceil() as usize;
        let twice_variance = DoubleDouble::product(stddev, stddev).times(2.0);
        let mut sum = DoubleDouble::from(0.0);
        let cumulative: Vec<DoubleDouble> = (0..=last)
            .map(|k| {
                let square = DoubleDouble::from((k * k) as f64);
                let density = square.divided_by(twice_variance).exp_of_negative();
                sum = sum.plus(if k == 0 { density } else { density.times(2.0) });
                sum
            })
            .collect();
        // The last magnitude needs no threshold: it takes all remaining draws.
        let thresholds = cumulative[..last].iter().map(|partial| partial.divided_by(sum).scaled_to_u64()).collect();
        Ok(Self::of_table(thresholds))
    }

    /// -1, 0 and 1 with probability 1/3 each, to within 2^-64.
    pub fn ternary() -> Self {
        Self::of_table(vec![u64::MAX / 3])
    }

    fn of_table(thresholds: Vec<u64>) -> Self {
        let guide = if thresholds.len() <= SCANNED {
            Vec::new()
        } else {
            let start = |leading: u64| thresholds.partition_point(|t| *t <= leading << (64 - GUIDE_BITS)) as u32;
            (0..1 << GUIDE_BITS).map(start).chain([thresholds.len() as u32]).collect()
        };
        Self { thresholds, guide, kernel: Checked::new(Kernel::best()).unwrap_or(Checked::SCALAR) }
    }

    #[inline]
    fn magnitude(&self, draw: u64) -> u32 {
        if self.guide.is_empty() {
            return self.thresholds.iter().map(|threshold| u32::from(*threshold <= draw)).sum();
        }
        let leading = (draw >> (64 - GUIDE_BITS)) as usize;
        let (start, end) = (self.guide[leading] as usize, self.guide[leading + 1] as usize);
        (start + self.thresholds[start..end].partition_point(|threshold| *threshold <= draw)) as u32
    }

    /// One sample.
    #[inline]
    pub fn sample(&self, rng: &mut impl RngCore) -> i32 {
        let magnitude = self.magnitude(rng.next_u64()) as i32;
        signed(magnitude, rng.next_u32() & 1)
    }

    /// Fills `out` with samples, drawing signs 32 at a time.
    pub fn fill(&self, rng: &mut impl RngCore, out: &mut [i32]) {
        self.for_samples(rng, out, |out, sample| *out = sample);
    }

    /// Adds a sample to each residue modulo 2^32: the noise of LWE ciphertexts.
    pub fn add_to(&self, rng: &mut impl RngCore, residues: &mut [u32]) {
        self.for_samples(rng, residues, |residue, sample| *residue = residue.wrapping_add(sample as u32));
    }

    /// Calls `each` with each place and its sample.
    #[inline]
    fn for_samples<T>(&self, rng: &mut impl RngCore, places: &mut [T], take: impl Fn(&mut T, i32)) {
        for places in places.chunks_mut(TOGETHER) {
            let signs = rng.next_u32();
            let mut draws = [0; TOGETHER];
            draws[..places.len()].fill_with(|| rng.next_u64());
            let magnitudes = match self.guide.is_empty() {
                true => scan::reached(self.kernel, &self.thresholds, &draws),
                false => draws.map(|draw| self.magnitude(draw)),
            };
            for (i, (place, magnitude)) in places.iter_mut().zip(magnitudes).enumerate() {
                take(place, signed(magnitude as i32, signs >> i & 1));
            }
        }
    }
}

/// The magnitude, negated if the bit is set, without a branch.
#[inline]
fn signed(magnitude: i32, negative: u32) -> i32 {
    let mask = -(negative as i32);
    (magnitude ^ mask) - mask
}
