//! Arithmetic modulo one number, prime or not, in one machine word.

use crate::word::Residue;

/// A modulus outside the range of its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("modulus {modulus} is outside 2 to 2^{bits} - 1")]
pub struct ModulusError {
    /// The modulus asked for.
    pub modulus: u64,
    /// Bits of the largest modulus of that word.
    pub bits: u32,
}

/// A modulus q with 2 <= q < 2^31 (`u32`) or 2^62 (`u64`), and the constants of Barrett's reduction. Operands and results are
/// residues in [0, q) unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Modulus<W> {
    value: W,
    /// k, the bits of q - 1: q <= 2^k.
    bits: u32,
    /// floor(2^2k / q), below 2^(k + 1).
    ratio: W,
    /// floor(2^64 / q).
    word_ratio: u64,
    /// 2^64 mod q.
    word_residue: W,
}

impl<W: Residue> Modulus<W> {
    /// The modulus `q`.
    pub fn new(q: W) -> Result<Self, ModulusError> {
        let q = q.to_u64();
        if q < 2 || q >> W::MAX_MODULUS_BITS != 0 {
            return Err(ModulusError { modulus: q, bits: W::MAX_MODULUS_BITS });
        }
        let bits = 64 - (q - 1).leading_zeros();
        Ok(Self {
            value: W::from_u64(q),
            bits,
            ratio: W::from_u64(((1 << (2 * bits)) / u128::from(q)) as u64),
            word_ratio: ((1 << 64) / u128::from(q)) as u64,
            word_residue: W::from_u64(((1 << 64) % u128::from(q)) as u64),
        })
    }

    /// q.
    #[inline(always)]
    pub fn value(&self) -> W {
        self.value
    }

    /// The bits of q - 1: the residues are below 2^bits.
    #[inline(always)]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// -1 / q modulo 2^BITS, of an odd q.
    pub(crate) fn negative_inverse(&self) -> W {
        W::from_u64(inverse_of_odd(self.value.to_u64()).wrapping_neg())
    }

    /// a + b.
    #[inline(always)]
    pub fn add(&self, a: W, b: W) -> W {
        W::add_mod(a, b, self.value)
    }

    /// a - b.
    #[inline(always)]
    pub fn sub(&self, a: W, b: W) -> W {
        W::sub_mod(a, b, self.value)
    }

    /// -a.
    #[inline(always)]
    pub fn neg(&self, a: W) -> W {
        self.sub(W::default(), a)
    }

    /// a * b.
    #[inline(always)]
    pub fn mul(&self, a: W, b: W) -> W {
        W::mul_mod(a, b, self.value, self.bits, self.ratio)
    }

    /// base^exponent; 1 for the exponent 0.
    pub fn pow(&self, base: W, mut exponent: u64) -> W {
        let (mut power, mut square) = (W::from_u64(1), base);
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = self.mul(power, square);
            }
            square = self.mul(square, square);
            exponent >>= 1;
        }
        power
    }

    /// The b with a * b = 1, if a and q are coprime.
    pub fn inverse(&self, a: W) -> Option<W> {
        // Extended Euclid; the coefficients stay below q in magnitude.
        let (mut r, mut s) = ((self.value.to_u64() as i64, a.to_u64() as i64), (0i64, 1i64));
        while r.1 != 0 {
            let quotient = r.0 / r.1;
            r = (r.1, r.0 - quotient * r.1);
            s = (s.1, s.0 - quotient * s.1);
        }
        (r.0 == 1).then(|| self.from_signed(s.0))
    }

    /// x mod q for any x.
    #[inline(always)]
    pub fn reduce_u64(&self, x: u64) -> W {
        // The estimate falls short of the quotient by less than 2.
        let estimate = ((u128::from(x) * u128::from(self.word_ratio)) >> 64) as u64;
        let rest = x - estimate * self.value.to_u64();
        W::from_u64(rest.min(rest.wrapping_sub(self.value.to_u64())))
    }

    /// x mod q for any x.
    #[inline(always)]
    pub fn reduce_u128(&self, x: u128) -> W {
        let high = self.mul(self.reduce_u64((x >> 64) as u64), self.word_residue);
        self.add(high, self.reduce_u64(x as u64))
    }

    /// The residue of a signed number.
    #[inline(always)]
    pub fn from_signed(&self, x: i64) -> W {
        let magnitude = self.reduce_u64(x.unsigned_abs());
        if x < 0 { self.neg(magnitude) } else { magnitude }
    }

    /// The representative of a residue in [-q/2, q/2).
    #[inline(always)]
    pub fn centred(&self, a: W) -> i64 {
        let (a, q) = (a.to_u64(), self.value.to_u64());
        if a >= q - q / 2 { a as i64 - q as i64 } else { a as i64 }
    }

    /// floor(w * 2^BITS / q), which makes products by the residue `w` cheap (Shoup).
    #[inline(always)]
    pub fn shoup(&self, w: W) -> W {
        W::shoup_quotient(w, self.value)
    }

    /// x * w for any word x, from the residue `w` and its [`Self::shoup`] quotient.
    #[inline(always)]
    pub fn mul_shoup(&self, x: W, w: W, quotient: W) -> W {
        W::reduce_once(W::mul_shoup_lazy(x, w, quotient, self.value), self.value)
    }
}

/// 1 / x modulo 2^64, x odd: its low bits are the inverse modulo smaller powers of two.
pub fn inverse_of_odd(x: u64) -> u64 {
    // Newton's iteration doubles the right bits, of which x itself has three.
    (0..5).fold(x, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(inverse))))
}

#[cfg(test)]
mod tests;
