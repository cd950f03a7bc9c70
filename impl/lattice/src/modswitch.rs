//! Modulus switching of RLWE ciphertexts: to fewer primes of the same ring, or to arbitrary moduli, one for the mask and one for the body.

use crate::error::LatticeError;
use crate::rlwe::{Rlwe, RlweKey};
use crate::wire;
use ring::{Coefficient, Kernel, Kind, Modulus, NttPlan, Ring, Word, Work};
use std::sync::Arc;

impl<W: Word> Rlwe<W, Coefficient> {
    /// The ciphertext modulo the first primes only: `to` has the ring's first primes. Rounds to nearest.
    ///
    /// # Errors
    /// A target of another dimension or whose primes are not the ring's first ones, a ciphertext of another ring.
    pub fn rescale(&self, ring: &Ring<W>, to: &Ring<W>) -> Result<Self, LatticeError> {
        self.check(ring)?;
        if to.n() != ring.n() {
            return Err(LatticeError::Mismatch("rings of different dimensions"));
        }
        Ok(Self { a: ring.rescale(&self.a, to)?, b: ring.rescale(&self.b, to)? })
    }

    /// The ciphertext with every residue x of a replaced by the integer nearest to x q_a / q, and every residue x of b by the integer
    /// nearest to x q_b / q (2 <= q_a, q_b < 2^62).
    ///
    /// # Errors
    /// A modulus out of range, a ciphertext of another ring.
    pub fn split_switch(&self, ring: &Ring<W>, modulus_a: u64, modulus_b: u64) -> Result<SplitRlwe, LatticeError> {
        self.check(ring)?;
        let modulus = |q| Modulus::new(q).map_err(|e| LatticeError::Parameter(e.to_string()));
        Ok(SplitRlwe {
            modulus_a: modulus(modulus_a)?,
            modulus_b: modulus(modulus_b)?,
            a: ring.switch_to(&self.a, modulus_a),
            b: ring.switch_to(&self.b, modulus_b),
        })
    }
}

/// A ciphertext whose mask is modulo q_a and whose body is modulo q_b: its phase, as a fraction of 1, is b / q_b - a s / q_a.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitRlwe {
    modulus_a: Modulus<u64>,
    modulus_b: Modulus<u64>,
    a: Vec<u64>,
    b: Vec<u64>,
}

impl SplitRlwe {
    /// The work of [`Rlwe::split_switch`] in dimension n.
    pub fn switch_work(n: usize) -> Work {
        Work::of(Kind::CoefficientsSwitched, &[2, n as u64])
    }

    /// The N residues of the mask.
    pub fn a(&self) -> &[u64] {
        &self.a
    }

    /// The residues of the body: N, or fewer after [`Self::truncate_body`].
    pub fn b(&self) -> &[u64] {
        &self.b
    }

    /// Keeps the first `kept` coefficients of the body, which suffice to decrypt these coefficients.
    pub fn truncate_body(&mut self, kept: usize) {
        self.b.truncate(kept);
    }

    /// Bytes of [`Self::to_bytes`]: N residues of ceil(log2 q_a) bits and `kept` of ceil(log2 q_b) bits.
    pub fn wire_bytes(n: usize, kept: usize, modulus_a: u64, modulus_b: u64) -> usize {
        let bits = n * wire::residue_bits(modulus_a) as usize + kept * wire::residue_bits(modulus_b) as usize;
        bits.div_ceil(8)
    }

    /// The residues of a, then of b, bit-packed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (modulus_a, modulus_b) = (self.modulus_a.value(), self.modulus_b.value());
        let bytes = Self::wire_bytes(self.a.len(), self.b.len(), modulus_a, modulus_b);
        let mut out = wire::Writer::with_capacity(bytes);
        out.write_all(&self.a, wire::residue_bits(modulus_a));
        out.write_all(&self.b, wire::residue_bits(modulus_b));
        out.finish()
    }

    /// Inverse of [`Self::to_bytes`].
    ///
    /// # Errors
    /// A modulus out of range, a wrong number of bytes, a residue not below its modulus, padding that is not zero.
    pub fn from_bytes(
        (n, kept): (usize, usize),
        (modulus_a, modulus_b): (u64, u64),
        bytes: &[u8],
    ) -> Result<Self, LatticeError> {
        let modulus = |q| Modulus::new(q).map_err(|e| LatticeError::Parameter(e.to_string()));
        let mut input = wire::Reader::new(bytes, Self::wire_bytes(n, kept, modulus_a, modulus_b))?;
        let (a, b) = (input.residues(n, modulus_a)?, input.residues(kept, modulus_b)?);
        input.finish()?;
        Ok(Self { modulus_a: modulus(modulus_a)?, modulus_b: modulus(modulus_b)?, a, b })
    }
}

/// Opens switched ciphertexts: multiplies masks modulo any q_a < 2^62 by a small key, exactly.
pub struct SplitKey {
    ring: Arc<Ring<u64>>,
    key: RlweKey<u64>,
}

/// The ring in which switched ciphertexts are opened, whose tables of transforms serve all keys of that degree.
#[derive(Clone)]
pub struct SplitRing(Arc<Ring<u64>>);

impl SplitRing {
    /// The ring of degree `n`.
    ///
    /// # Errors
    /// A degree without NTT primes of 61 bits.
    pub fn new(n: usize) -> Result<Self, LatticeError> {
        // The product over the integers is below N 2^62 max|s|: two primes of 61 bits hold it for max|s| < 2^40.
        let primes: Vec<u64> = ring::primes::primes_below(61, 2 * n as u64).take(2).collect();
        Ok(Self(Ring::new(n, &primes, Kernel::best())?))
    }

    /// Bytes of its tables.
    pub fn table_bytes(n: usize) -> u64 {
        2 * NttPlan::<u64>::bytes_for(n)
    }

    /// The opener of a key of that degree.
    pub fn key<W: Word>(&self, key: &RlweKey<W>) -> Result<SplitKey, LatticeError> {
        let key = RlweKey::from_coefficients(&self.0, key.coefficients().to_vec())?;
        Ok(SplitKey { ring: Arc::clone(&self.0), key })
    }
}

impl SplitKey {
    /// The opener of that key, with its own ring; for many keys make a [`SplitRing`] once.
    ///
    /// # Errors
    /// A ring without NTT primes of 61 bits.
    pub fn new<W: Word>(key: &RlweKey<W>) -> Result<Self, LatticeError> {
        SplitRing::new(key.ring().n())?.key(key)
    }

    /// a s modulo q_a.
    fn mask(&self, ciphertext: &SplitRlwe) -> Vec<u64> {
        let ring = &self.ring;
        let mut product = ring.zero();
        // Residues below 2^62 reduced modulo each prime.
        for (limb, (modulus, _)) in ring.limbs().iter().enumerate() {
            product.limb_mut(limb).iter_mut().zip(&ciphertext.a).for_each(|(slot, &a)| *slot = modulus.reduce_u64(a));
        }
        let mut product = ring.forward(product);
        ring.mul_assign(&mut product, self.key.ntt());
        let mut wide = vec![0u128; ring.n()];
        ring.compose_u128(&ring.inverse(product), &mut wide);
        let q = ring.modulus_u128().unwrap_or(u128::MAX);
        let modulus = &ciphertext.modulus_a;
        let residue = |x: u128| {
            if x > q / 2 { modulus.neg(modulus.reduce_u128(q - x)) } else { modulus.reduce_u128(x) }
        };
        wide.into_iter().map(residue).collect()
    }

    /// The phase in units of q_b: b - (q_b / q_a) (a s), in [-q_b / 2, q_b / 2), to double precision.
    pub fn phase(&self, ciphertext: &SplitRlwe) -> Result<Vec<f64>, LatticeError> {
        self.check(ciphertext)?;
        let (qa, qb) = (ciphertext.modulus_a.value() as f64, ciphertext.modulus_b.value() as f64);
        let mask = self.mask(ciphertext);
        Ok(ciphertext
            .b
            .iter()
            .zip(&mask)
            .map(|(&b, &mask)| {
                let phase = b as f64 - mask as f64 * (qb / qa);
                phase - (phase / qb).round() * qb
            })
            .collect())
    }

    /// The phase as a fraction of 1 in units of 2^-64, modulo 1, to two of them: b / q_b - a s / q_a.
    ///
    /// # Errors
    /// A ciphertext of another dimension.
    pub fn fractions(&self, ciphertext: &SplitRlwe) -> Result<Vec<u64>, LatticeError> {
        self.check(ciphertext)?;
        let fraction = |x: u64, q: &Modulus<u64>| ((u128::from(x) << u64::BITS) / u128::from(q.value())) as u64;
        let mask = self.mask(ciphertext);
        let halves = ciphertext.b.iter().zip(&mask);
        let of = |(&b, &mask)| fraction(b, &ciphertext.modulus_b).wrapping_sub(fraction(mask, &ciphertext.modulus_a));
        Ok(halves.map(of).collect())
    }

    /// The message modulo `p` that the phase is nearest to, of each coefficient of the body: round(p (b / q_b - a s / q_a)) mod p.
    ///
    /// # Errors
    /// A ciphertext of another dimension; p q_a q_b at 2^126 or above.
    pub fn decode(&self, ciphertext: &SplitRlwe, p: u64) -> Result<Vec<u64>, LatticeError> {
        self.check(ciphertext)?;
        let (qa, qb) = (u128::from(ciphertext.modulus_a.value()), u128::from(ciphertext.modulus_b.value()));
        let both = qa * qb;
        let limit = both.checked_mul(u128::from(p)).filter(|x| *x < 1 << 126 && p >= 2);
        limit
            .ok_or_else(|| LatticeError::Parameter(format!("decoding modulo {p} needs 2 <= p < 2^126 / (q_a q_b)")))?;
        let mask = self.mask(ciphertext);
        Ok(ciphertext
            .b
            .iter()
            .zip(&mask)
            .map(|(&b, &mask)| {
                let phase = (u128::from(b) * qa + both - u128::from(mask) * qb) % both;
                ((phase * u128::from(p) + both / 2) / both % u128::from(p)) as u64
            })
            .collect())
    }

    fn check(&self, ciphertext: &SplitRlwe) -> Result<(), LatticeError> {
        if ciphertext.a.len() != self.ring.n() || ciphertext.b.len() > self.ring.n() {
            return Err(LatticeError::Mismatch("a switched ciphertext and a key of different dimensions"));
        }
        Ok(())
    }
}
