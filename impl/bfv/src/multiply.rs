//! Products of ciphertexts.
//!
//! (t/q) times the tensor product, rounded, in residues: operands are lifted to a second ring whose modulus holds what q does not,
//! each once for any number of products.
//!
//! Scalars by which conversions would multiply are part of t(X), by which the tensor product is multiplied slot by slot.

use crate::base::{Conversion, conversion_work, product};
use crate::error::{BfvError, parameter};
use crate::scheme::Scheme;
use crate::switching::{RnsGadget, SwitchShape, SwitchingKey};
use lattice::Rlwe;
use ring::{Coefficient, Ntt, Poly, Ring, RingShape, Word, Work};
use std::sync::Arc;

/// Multiplies ciphertexts of one scheme.
#[derive(Clone, Debug)]
pub struct Multiplier<W: Word> {
    ring: Arc<Ring<W>>,
    /// The second ring, of modulus B.
    extension: Arc<Ring<W>>,
    /// t(X) in both, times 2^2BITS and such scalars that products are the parts of what is converted.
    t: [Poly<W, Ntt>; 2],
    lift: Conversion<W>,
    /// What the division by q subtracts, as parts of the result; and the way back from the second ring.
    remainder: Conversion<W>,
    back: Conversion<W>,
}

/// A ciphertext modulo q and, centred, modulo B.
#[derive(Clone, Debug)]
pub struct Lifted<W: Word>([Rlwe<W, Ntt>; 2]);

impl<W: Word> Lifted<W> {
    /// The ciphertext modulo q.
    pub fn ciphertext(&self) -> &Rlwe<W, Ntt> {
        &self.0[0]
    }
}

/// What the cost of products depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiplyShape {
    /// N and the primes of q.
    pub ring: RingShape,
    /// Primes of B.
    pub extension: usize,
}

/// The primes of B, for products modulo the primes of q, with the sum of the magnitudes of t(X)'s coefficients.
fn extension<W: Word>(n: usize, q: &[u64], sum_norm: f64) -> Result<Vec<u64>, BfvError> {
    let log2 = |numbers: &[u64]| numbers.iter().map(|p| (*p as f64).log2()).sum::<f64>();
    // |t tensor / q| is below N q |t|_1 / 2, and one bit more keeps the way back from B exact.
    let needed = log2(q) + (n as f64).log2() + sum_norm.log2() + 1.0;
    let primes = |bits: u32| {
        let mut left = needed;
        let candidates = ring::primes::primes_below(bits, 2 * n as u64).filter(|p| !q.contains(p));
        let found: Vec<u64> = candidates
            .take_while(|p| {
                let wanted = left > 0.0;
                left -= (*p as f64).log2();
                wanted
            })
            .take(64)
            .collect();
        (left <= 0.0).then_some(found)
    };
    // Bits of the primes, and what a transform takes beside one of the first length. In words of 64 bits fewer longer primes may do.
    let lengths: &[(u32, usize)] = if W::BITS == 32 { &[(28, 2), (31, 3)] } else { &[(50, 1), (58, 1), (61, 1)] };
    let chosen = lengths.iter().filter_map(|&(bits, cost)| Some((primes(bits)?, cost)));
    let (chosen, _) = chosen
        .min_by_key(|(primes, cost)| primes.len() * cost)
        .ok_or_else(|| parameter(format!("too few primes = 1 mod {} hold products of q", 2 * n)))?;
    Ok(chosen)
}

impl MultiplyShape {
    /// The shape of products of two ciphertexts in words of 32 bits, modulo the primes of q and under a plaintext modulus with that sum
    /// of the magnitudes of its coefficients.
    ///
    /// # Errors
    /// Too few primes of that degree.
    pub fn new(n: usize, q: &[u64], sum_norm: f64) -> Result<Self, BfvError> {
        let extension = extension::<u32>(n, q, sum_norm)?.len();
        Ok(Self { ring: RingShape { degree: n, primes: q.len() }, extension })
    }

    fn both(self) -> RingShape {
        RingShape { primes: self.ring.primes + self.extension, ..self.ring }
    }

    fn extended(self) -> RingShape {
        RingShape { primes: self.extension, ..self.ring }
    }

    /// Bytes that a [`Multiplier`] has: the second ring's tables, and t(X) in both.
    pub fn bytes(self) -> u64 {
        self.extended().table_bytes() + self.both().poly_bytes()
    }

    /// Bytes of a lifted operand.
    pub fn lifted_bytes(self) -> u64 {
        2 * self.both().poly_bytes()
    }

    /// Bytes that [`Multiplier::multiply`] takes on the way: the tensor, then its part modulo q and the relinearisation of that.
    pub fn product_bytes(self, gadget: SwitchShape) -> u64 {
        let relinearised = 3 * self.ring.poly_bytes() + (gadget.rows as u64 + 2) * gadget.keys().poly_bytes();
        relinearised.max(3 * self.both().poly_bytes())
    }

    /// The work of [`Multiplier::lift`].
    pub fn lift_work(self) -> Work {
        self.both().transforms(2) + conversion_work(self.ring, self.extension, 2) + self.ring.products(2)
    }

    /// The work of [`Multiplier::scaled_product`].
    pub fn scaled_product_work(self) -> Work {
        self.both().products(7)
            + self.both().transforms(3)
            + conversion_work(self.ring, self.extension, 3)
            + conversion_work(self.extended(), self.ring.primes, 3)
    }

    /// The work of [`Multiplier::multiply`] of two lifted operands.
    pub fn multiply_work(self, gadget: SwitchShape) -> Work {
        self.scaled_product_work() + gadget.relinearise_work()
    }
}

impl<W: Word> Multiplier<W> {
    /// Products of the scheme's ciphertexts.
    ///
    /// # Errors
    /// A ring without enough primes of its degree.
    pub fn new(scheme: &Scheme<W>) -> Result<Self, BfvError> {
        let (ring, n) = (scheme.ring(), scheme.ring().n());
        let chosen = extension::<W>(n, ring.primes(), scheme.modulus().sum_norm())?;
        let extension = Ring::new(n, &chosen, ring.kernel())?;
        let (own, other, vectors) = (ring.rns().moduli(), extension.rns().moduli(), ring.vectors());
        let [lift, back] = [(own, other), (other, own)].map(|(from, to)| Conversion::new(vectors, from, to));
        // The parts of x / q modulo the primes of B: x times these.
        let over_q: Vec<W> = other
            .iter()
            .zip(back.inverses())
            .map(|(b, part)| b.mul(b.inverse(product(b, own)).unwrap_or_default(), *part))
            .collect();
        let negated: Vec<W> = other.iter().zip(&over_q).map(|(b, scalar)| b.neg(*scalar)).collect();
        let mut t = [scheme.t().clone(), scheme.modulus().in_ring(&extension)];
        for (ring, (t, scalars)) in [ring, &extension].into_iter().zip(t.iter_mut().zip([lift.inverses(), &over_q])) {
            for ((limb, (modulus, _)), scalar) in t.limbs_mut().zip(ring.limbs()).zip(scalars) {
                let radix = modulus.pow(modulus.reduce_u64(2), 2 * u64::from(W::BITS));
                vectors.mul_scalar(modulus, limb, modulus.mul(*scalar, radix));
            }
        }
        let remainder = Conversion::times(vectors, own, other, &negated);
        Ok(Self { t, remainder, lift, back, ring: ring.clone(), extension })
    }

    /// What the cost of its products depends on.
    pub fn shape(&self) -> MultiplyShape {
        MultiplyShape { ring: self.ring.shape(), extension: self.extension.primes().len() }
    }

    /// A ciphertext as an operand of any number of products.
    ///
    /// # Errors
    /// A ciphertext of another ring.
    pub fn lift(&self, ciphertext: Rlwe<W, Ntt>) -> Result<Lifted<W>, BfvError> {
        if !self.ring.owns(&ciphertext.a) || !self.ring.owns(&ciphertext.b) {
            return Err(BfvError::Mismatch("a multiplier and a ciphertext of another ring"));
        }
        let lift = |part: &Poly<W, Ntt>| {
            let coefficients = self.ring.inverse(part.clone());
            let mut out = self.extension.zero();
            self.lift.convert(self.ring.n(), coefficients.as_slice(), out.as_mut_slice());
            self.extension.forward(out)
        };
        let lifted = Rlwe { a: lift(&ciphertext.a), b: lift(&ciphertext.b) };
        Ok(Lifted([ciphertext, lifted]))
    }

    /// t/q times the product of two operands, rounded: [b, a, c] of phase b - a s + c s^2.
    pub fn scaled_product(&self, left: &Lifted<W>, right: &Lifted<W>) -> [Poly<W, Coefficient>; 3] {
        let tensor = |i: usize, ring: &Ring<W>| {
            let mut parts = [(); 3].map(|()| ring.zero::<Ntt>());
            for (l, (modulus, _)) in ring.limbs().iter().enumerate() {
                let [left, right] = [left, right].map(|operand| [operand.0[i].b.limb(l), operand.0[i].a.limb(l)]);
                let out = parts.each_mut().map(|part| part.limb_mut(l));
                ring.vectors().tensor(modulus, left, right, self.t[i].limb(l), out);
            }
            parts.map(|part| ring.inverse(part))
        };
        let mut extended = tensor(1, &self.extension);
        let mut own = tensor(0, &self.ring);
        for (own, extended) in own.iter_mut().zip(&mut extended) {
            self.remainder.add(self.ring.n(), own.as_slice(), extended.as_mut_slice());
            self.back.set(self.ring.n(), extended.as_slice(), own.as_mut_slice());
        }
        own
    }

    /// The product of two operands, relinearised.
    ///
    /// # Errors
    /// A gadget or a key of another ring.
    pub fn multiply(
        &self,
        left: &Lifted<W>,
        right: &Lifted<W>,
        gadget: &RnsGadget<W>,
        key: &SwitchingKey<W>,
    ) -> Result<Rlwe<W, Ntt>, BfvError> {
        gadget.relinearise(self.scaled_product(left, right), key)
    }
}
