//! The constants of a decomposition of one family modulo one q in one base.

use crate::family::Family;
use crate::residue::Residue;
use ring::KernelError;

/// The largest base.
const MAX_BASE: u64 = 1 << 20;

/// Reasons to refuse a decomposition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GadgetError {
    /// The modulus is out of range.
    #[error("modulus {modulus} is not between 2 and 2^{max_bits}")]
    Modulus {
        /// The modulus, decimal.
        modulus: String,
        /// The bound's exponent.
        max_bits: u32,
    },
    /// The base is out of range.
    #[error("base {0} is not between 2 and 2^20")]
    Base(u64),
    /// Only deterministic digits can be dropped, and not all of them.
    #[error("{dropped} low digits cannot be dropped from {family} digits in base {base} of residues modulo {modulus}")]
    Dropped {
        /// The family.
        family: Family,
        /// The modulus, decimal.
        modulus: String,
        /// The base.
        base: u64,
        /// The digits to drop.
        dropped: usize,
    },
    /// A randomised decomposition needs two digits: with one there is no carry to move.
    #[error("{family} needs a base below the modulus; base {base} and modulus {modulus} give one digit")]
    OneDigit {
        /// The family.
        family: Family,
        /// The modulus, decimal.
        modulus: String,
        /// The base.
        base: u64,
    },
    /// The processor lacks the kernel's instructions.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// The constants of a decomposition. The digits are those of w = u + `add` (- q where selected): w is never negative, and all
/// digits but the top one are (w / b^(dropped + t)) mod b.
#[derive(Clone, Debug)]
pub(crate) struct Plan<W> {
    pub(crate) family: Family,
    pub(crate) modulus: W,
    pub(crate) base: u64,
    /// log2 of the base if it is a power of two.
    pub(crate) base_bits: Option<u32>,
    pub(crate) length: usize,
    pub(crate) dropped: usize,
    /// b^dropped.
    pub(crate) unit: W,
    /// b^(dropped + length - 1), the weight of the top digit; which is the papers' B if nothing is dropped.
    pub(crate) top: W,
    pub(crate) add: W,
    /// Balanced and symmetric digits: residues from here on stand for u - q.
    pub(crate) threshold: W,
    /// Subtracted from every digit but the top one.
    pub(crate) offset: i64,
    /// Subtracted from the top digit.
    pub(crate) top_offset: i64,
    /// The digits of q, of the same number as the decomposition's: the top one is floor(q / `top`).
    pub(crate) modulus_digits: Vec<i64>,
    /// The narrowest of 8, 16 and 32 bits that holds every digit.
    pub(crate) lane_bits: u32,
    /// The number that is subtracted from each digit.
    pub(crate) offsets: Vec<i64>,
    /// For bases 2^l, the place of each digit in planes of 8, 16, 32 and 64 bits of a 64-bit value.
    places: [Vec<Place>; 4],
}

/// The place of a digit in the planes of its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The plane of its lowest bit.
    pub(crate) plane: usize,
    /// That bit's position in the plane.
    pub(crate) shift: u32,
    /// Whether it reaches into the next plane.
    pub(crate) crosses: bool,
    /// The bits of the digit; all for the top digit.
    pub(crate) mask: u64,
}

impl Place {
    /// The bits of the digit that are in its planes of `lane_bits`: those above the last plane are zero.
    pub(crate) fn exact_mask(&self, lane_bits: u32) -> u64 {
        if self.crosses { self.mask } else { self.mask & ((1 << (lane_bits - self.shift)) - 1) }
    }
}

impl<W: Residue> Plan<W> {
    pub(crate) fn new(family: Family, modulus: W, base: u64, dropped: usize) -> Result<Self, GadgetError> {
        let q = modulus.to_u128();
        if !(2..=1 << W::MAX_MODULUS_BITS).contains(&q) {
            return Err(GadgetError::Modulus { modulus: q.to_string(), max_bits: W::MAX_MODULUS_BITS });
        }
        if !(2..=MAX_BASE).contains(&base) {
            return Err(GadgetError::Base(base));
        }
        let b = u128::from(base);
        let not_dropped = || GadgetError::Dropped { family, modulus: q.to_string(), base, dropped };
        let exponent = u32::try_from(dropped).map_err(|_| not_dropped())?;
        let unit = b.checked_pow(exponent).filter(|unit| *unit < q).ok_or_else(not_dropped)?;
        if dropped > 0 && family.randomised() {
            return Err(not_dropped());
        }
        // Everything below stays under 4 q <= 2^128, and signed values under 2^127.
        let half_unit = unit / 2;
        let mut plan = Self {
            family,
            modulus,
            base,
            base_bits: base.is_power_of_two().then(|| base.trailing_zeros()),
            length: 1,
            dropped,
            unit: W::from_u128(unit),
            top: W::from_u128(unit),
            add: W::from_u128(half_unit),
            threshold: modulus,
            offset: 0,
            top_offset: 0,
            modulus_digits: Vec::new(),
            lane_bits: 32,
            offsets: Vec::new(),
            places: Default::default(),
        };
        let mut top = unit;
        match family {
            Family::Unsigned => {
                // A residue rounded up may need the top digit b: its weight is then at least q.
                let largest = (q - 1 + half_unit) / unit;
                let fits = |top: u128| {
                    let (digit, rest) = (largest / (top / unit), largest % (top / unit));
                    digit < b || (dropped > 0 && digit == b && rest == 0)
                };
                while !fits(top) {
                    top *= b;
                    plan.length += 1;
                }
            }
            Family::Balanced | Family::Symmetric => {
                let half = b / 2;
                plan.offset = half as i64;
                plan.threshold = W::from_u128(q.div_ceil(2));
                let (least, most) = (-((q / 2) as i128), (q.div_ceil(2) - 1) as i128);
                let mut lift = half_unit;
                let low = loop {
                    let floor = |value: i128| (value + lift as i128).div_euclid(top as i128);
                    if floor(most) <= half as i128 && floor(least) >= -(half as i128) {
                        break floor(least).min(0).unsigned_abs();
                    }
                    lift += half * top;
                    top *= b;
                    plan.length += 1;
                };
                plan.top_offset = low as i64;
                plan.add = W::from_u128(lift + low * top);
            }
            _ => {
                while q.div_ceil(top) > b {
                    top *= b;
                    plan.length += 1;
                }
                if plan.length < 2 {
                    return Err(GadgetError::OneDigit { family, modulus: q.to_string(), base });
                }
                if !matches!(family, Family::Jlp21 | Family::DitherQ) {
                    let lift = q.div_ceil(top);
                    plan.top_offset = lift as i64;
                    plan.add = W::from_u128(lift * top);
                }
            }
        }
        plan.top = W::from_u128(top);
        let mut rest = q / unit;
        for _ in 1..plan.length {
            plan.modulus_digits.push((rest % b) as i64);
            rest /= b;
        }
        plan.modulus_digits.push(rest as i64);
        let fits = |bits: &u32| {
            let limit = 1i64 << (bits - 1);
            plan.ranges().iter().all(|&(least, most)| least >= -limit && most < limit)
        };
        plan.lane_bits = [8, 16].into_iter().find(fits).unwrap_or(32);
        plan.offsets = vec![plan.offset; plan.length];
        plan.offsets[plan.length - 1] = plan.top_offset;
        if let Some(bits) = plan.base_bits {
            plan.places = [8, 16, 32, 64].map(|lane| (0..plan.length).map(|t| plan.place(bits, lane, t)).collect());
        }
        Ok(plan)
    }

    fn place(&self, base_bits: u32, lane_bits: u32, digit: usize) -> Place {
        let bit = (self.dropped + digit) as u32 * base_bits;
        let (plane, shift) = (bit / lane_bits, bit % lane_bits);
        let top = digit + 1 == self.length;
        Place {
            plane: plane as usize,
            shift,
            crosses: shift > 0 && (plane + 1) * lane_bits < u64::BITS && (top || shift + base_bits > lane_bits),
            mask: if top { u64::MAX } else { self.base - 1 },
        }
    }

    /// The place of each digit in planes of 8, 16, 32 or 64 bits.
    pub(crate) fn places(&self, lane_bits: u32) -> &[Place] {
        &self.places[lane_bits.ilog2() as usize - 3]
    }

    /// b^(dropped + t).
    pub(crate) fn weight(&self, digit: usize) -> W {
        (0..digit).fold(self.unit, |weight, _| weight * W::from_u128(u128::from(self.base)))
    }

    /// The least and the greatest value of each digit.
    pub(crate) fn ranges(&self) -> Vec<(i64, i64)> {
        let (q, top, b) = (self.modulus.to_u128(), self.top.to_u128(), self.base as i64);
        let largest = ((q - 1) / top) as i64;
        let lift = q.div_ceil(top) as i64;
        let (first, middle, last) = match self.family {
            Family::Unsigned => {
                let digits = (0, b - 1);
                (digits, digits, (0, ((q - 1 + self.add.to_u128()) / top) as i64))
            }
            Family::Balanced => {
                let digits = (-(b / 2), (b + 1) / 2 - 1);
                let most = (q.div_ceil(2) - 1 + self.add.to_u128()) / top;
                let least = (self.add.to_u128() - q / 2) / top;
                (digits, digits, (least as i64 - self.top_offset, most as i64 - self.top_offset))
            }
            Family::Symmetric => {
                let digits = (-(b / 2), b / 2);
                let top_digit = |value: u128| (value / top) as i64 - self.top_offset;
                let most = top_digit(q.div_ceil(2) - 1 + self.add.to_u128());
                // The digits of q / 2 are those of -q / 2.
                let least = if q % 2 == 0 { top_digit(self.add.to_u128() - q / 2) } else { 0 };
                (digits, digits, (least.min(-most), most))
            }
            Family::Gmp19 => ((1 - b, b - 1), (-b, b), (-lift, largest + 1)),
            Family::Zy22 => ((1 - b, b - 1), (1 - b, b - 1), (-lift, largest + 1)),
            Family::Jlp21 => {
                let q_digits = &self.modulus_digits;
                let mut ranges: Vec<_> = q_digits.iter().map(|q_i| (-b - q_i, b)).collect();
                ranges[0].1 = b - 1;
                ranges[self.length - 1] = (-q_digits[self.length - 1], largest + 1);
                return ranges;
            }
            Family::Jlp24 => ((-b, b - 1), (-b, b), (-lift, largest + 1)),
            Family::DitherQ => ((1 - b, b - 1), (1 - b, b - 1), (-largest, largest)),
        };
        let mut ranges = vec![middle; self.length];
        ranges[0] = first;
        ranges[self.length - 1] = last;
        ranges
    }

    /// The largest distance modulo q of the recomposed value from the input.
    pub(crate) fn error_bound(&self) -> W {
        W::from_u128(self.unit.to_u128() / 2)
    }

    /// Bits of randomness an exact sampler needs for a coefficient.
    pub(crate) fn random_bits(&self) -> f64 {
        let (k, log_b) = (self.length as f64, (self.base as f64).log2());
        let log_q = (self.modulus.to_u128() as f64).log2();
        match self.family {
            Family::Unsigned | Family::Balanced | Family::Symmetric => 0.0,
            // The carry of digit i takes i + 1 digits.
            Family::Gmp19 => log_q + k * (k - 1.0) / 2.0 * log_b,
            Family::Zy22 => log_q + (k - 1.0) * log_b,
            Family::Jlp21 | Family::Jlp24 => k,
            Family::DitherQ => log_q,
        }
    }
}
