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

/// The rings in which switched ciphertexts are opened, whose tables of transforms serve all keys of that degree: of a prime of 50 bits
/// for short products, and of two of 61 bits.
#[derive(Clone)]
pub struct SplitRing([Arc<Ring<u64>>; 2]);

impl SplitRing {
    /// The rings of degree `n`.
    ///
    /// # Errors
    /// A degree without NTT primes of 61 bits.
    pub fn new(n: usize) -> Result<Self, LatticeError> {
        let ring = |bits, count| {
            let primes: Vec<u64> = ring::primes::primes_below(bits, 2 * n as u64).take(count).collect();
            Ring::new(n, &primes, Kernel::best())
        };
        // The product over the integers is below N 2^62 max|s|: two primes of 61 bits hold it for max|s| < 2^40.
        Ok(Self([ring(SHORT_BITS, 1)?, ring(61, 2)?]))
    }

    /// Bytes of its tables.
    pub fn table_bytes(n: usize) -> u64 {
        3 * NttPlan::<u64>::bytes_for(n)
    }

    /// The opener of a key of that degree.
    pub fn key<W: Word>(&self, key: &RlweKey<W>) -> Result<SplitKey, LatticeError> {
        let coefficients = key.coefficients();
        let largest = coefficients.iter().map(|s| s.unsigned_abs()).max().unwrap_or(0).into();
        let key = |ring| RlweKey::from_coefficients(ring, coefficients.to_vec());
        let Self([short, long]) = self;
        Ok(SplitKey { keys: [key(short)?, key(long)?], largest })
    }
}

/// Opens switched ciphertexts: multiplies masks modulo any q_a < 2^62 by a small key, exactly.
pub struct SplitKey {
    /// The key in both rings.
    keys: [RlweKey<u64>; 2],
    /// Its largest coefficient, by size.
    largest: u64,
}

impl SplitKey {
    /// The opener of that key, with its own ring; for many keys make a [`SplitRing`] once.
    ///
    /// # Errors
    /// A ring without NTT primes of 61 bits.
    pub fn new<W: Word>(key: &RlweKey<W>) -> Result<Self, LatticeError> {
        SplitRing::new(key.ring().n())?.key(key)
    }

    /// The work of opening a ciphertext with masks modulo `modulus_a`, under a key below 2^5.
    pub fn work(n: usize, modulus_a: u64) -> Work {
        // Two transforms modulo a prime of 50 bits take as long as three modulo one of 28, four modulo primes of 61 bits as twelve.
        let transforms = if is_short(n, modulus_a, 1 << 5) { 3 } else { 12 };
        [(Kind::Transform(n), transforms), (Kind::CoefficientsSwitched, n as u64)].into()
    }

    /// a s modulo q_a.
    fn mask(&self, ciphertext: &SplitRlwe) -> Vec<u64> {
        let modulus = &ciphertext.modulus_a;
        let [short, long] = &self.keys;
        let key = if is_short(short.ring().n(), modulus.value(), self.largest) { short } else { long };
        let ring = key.ring();
        let mut product = ring.zero();
        // Residues below 2^62 reduced modulo each prime.
        for (limb, (prime, _)) in ring.limbs().iter().enumerate() {
            product.limb_mut(limb).iter_mut().zip(&ciphertext.a).for_each(|(slot, &a)| *slot = prime.reduce_u64(a));
        }
        let mut product = ring.forward(product);
        ring.mul_assign(&mut product, key.ntt());
        let product = ring.inverse(product);
        if let [(prime, _)] = ring.limbs() {
            return product.limb(0).iter().map(|&x| modulus.from_signed(prime.centred(x))).collect();
        }
        let mut wide = vec![0u128; ring.n()];
        ring.compose_u128(&product, &mut wide);
        let q = ring.modulus_u128().unwrap_or(u128::MAX);
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

    /// The phase as a fraction of 1 in units of 2^-64, modulo 1, to 2^12 of them: b / q_b - a s / q_a.
    ///
    /// # Errors
    /// A ciphertext of another dimension.
    pub fn fractions(&self, ciphertext: &SplitRlwe) -> Result<Vec<u64>, LatticeError> {
        self.check(ciphertext)?;
        let mask = self.mask(ciphertext);
        let [fraction_a, fraction_b] = [&ciphertext.modulus_a, &ciphertext.modulus_b].map(fraction);
        Ok(ciphertext.b.iter().zip(&mask).map(|(&b, &mask)| fraction_b(b).wrapping_sub(fraction_a(mask))).collect())
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
        let limit = limit
            .ok_or_else(|| LatticeError::Parameter(format!("decoding modulo {p} needs 2 <= p < 2^126 / (q_a q_b)")))?;
        let message = |(&b, &mask): (&u64, &u64)| {
            let (b, mask) = (u128::from(b) * qa, u128::from(mask) * qb);
            let phase = if b >= mask { b - mask } else { b + both - mask };
            let target = phase * u128::from(p) + both / 2;
            // Numbers of one word are divided several times as fast.
            let message = if limit < 1 << 62 { target as u64 / both as u64 } else { (target / both) as u64 };
            if message == p { 0 } else { message }
        };
        Ok(ciphertext.b.iter().zip(&self.mask(ciphertext)).map(message).collect())
    }

    fn check(&self, ciphertext: &SplitRlwe) -> Result<(), LatticeError> {
        let [key, _] = &self.keys;
        let n = key.ring().n();
        if ciphertext.a.len() != n || ciphertext.b.len() > n {
            return Err(LatticeError::Mismatch("a switched ciphertext and a key of different dimensions"));
        }
        Ok(())
    }
}

/// Bits of a prime that holds short products: AVX-512 has a multiply-add for it.
const SHORT_BITS: u32 = 50;

/// Whether a product of a mask and a key with coefficients up to `largest` is below half of such a prime.
fn is_short(n: usize, modulus_a: u64, largest: u64) -> bool {
    u128::from(modulus_a) * u128::from(largest) * (n as u128) < 1 << (SHORT_BITS - 2)
}

/// x / q in units of 2^-64, of a residue x, to 2^11 of them.
fn fraction(modulus: &Modulus<u64>) -> impl Fn(u64) -> u64 {
    let q = modulus.value();
    let (ratio, rest) = ((1u128 << 64) / u128::from(q), (1u128 << 64) % u128::from(q));
    let part = rest as f64 / q as f64;
    move |x| x.wrapping_mul(ratio as u64).wrapping_add((x as f64 * part) as u64)
}
