//! Products of ciphertexts.
//!
//! (t/q) times the tensor product, rounded, in residues: operands are lifted to a second ring whose modulus holds what q does not,
//! each once for any number of products; sums of products are scaled down and relinearised once.

use crate::base::{Conversion, Division, conversion_work, division_work};
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
    /// t(X) in both.
    t: [Poly<W, Ntt>; 2],
    lift: Conversion<W>,
    /// The division by q, and the way back from the second ring.
    division: Division<W>,
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

/// A sum of products of phases, modulo q and modulo B: parts of degree 0, 1 (negated) and 2 in the secret.
#[derive(Clone, Debug)]
pub struct Tensor<W: Word>([[Poly<W, Ntt>; 3]; 2]);

/// What the cost of products depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiplyShape {
    /// N and the primes of q.
    pub ring: RingShape,
    /// Primes of B.
    pub extension: usize,
}

/// The primes of B, for sums of that many products modulo the primes of q, with the sum of the magnitudes of t(X)'s coefficients.
fn extension<W: Word>(n: usize, q: &[u64], sum_norm: f64, terms: usize) -> Result<Vec<u64>, BfvError> {
    let log2 = |numbers: &[u64]| numbers.iter().map(|p| (*p as f64).log2()).sum::<f64>();
    // |t tensor / q| is below terms * N q |t|_1 / 2, and one bit more keeps the way back from B exact.
    let needed = log2(q) + (n as f64).log2() + sum_norm.log2() + (terms.max(1) as f64).log2() + 1.0;
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
        let extension = extension::<u32>(n, q, sum_norm, 1)?.len();
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

    /// Bytes that [`Multiplier::multiply`] takes on the way: the tensor, what is scaled down, and the relinearisation of that.
    pub fn product_bytes(self, gadget: SwitchShape) -> u64 {
        3 * (self.both().poly_bytes() + self.ring.poly_bytes()) + (gadget.rows as u64 + 2) * gadget.keys().poly_bytes()
    }

    /// The work of [`Multiplier::lift`].
    pub fn lift_work(self) -> Work {
        self.both().transforms(2) + conversion_work(self.ring, self.extension, 2)
    }

    /// The work of [`Multiplier::add_product`].
    pub fn add_product_work(self) -> Work {
        self.both().products(4)
    }

    /// The work of [`Multiplier::scale_down`].
    pub fn scale_down_work(self) -> Work {
        self.both().products(3)
            + self.both().transforms(3)
            + division_work(self.ring, self.extension, 3)
            + conversion_work(self.extended(), self.ring.primes, 3)
    }

    /// The work of [`Multiplier::multiply`] of two lifted operands.
    pub fn multiply_work(self, gadget: SwitchShape) -> Work {
        let relinearise =
            gadget.coefficient_digits_work() + gadget.switch_work() + self.ring.transforms(2) + self.ring.moves(1);
        self.add_product_work() + self.scale_down_work() + relinearise
    }
}

impl<W: Word> Multiplier<W> {
    /// Products of the scheme's ciphertexts, of which up to `terms` are summed before they are scaled down.
    ///
    /// # Errors
    /// A ring without enough primes of its degree.
    pub fn new(scheme: &Scheme<W>, terms: usize) -> Result<Self, BfvError> {
        let (ring, n) = (scheme.ring(), scheme.ring().n());
        let chosen = extension::<W>(n, ring.primes(), scheme.modulus().sum_norm(), terms)?;
        let extension = Ring::new(n, &chosen, ring.kernel())?;
        let extended_t = scheme.modulus().in_ring(&extension);
        let (own, other, vectors) = (ring.rns().moduli(), extension.rns().moduli(), ring.vectors());
        Ok(Self {
            t: [scheme.t().clone(), extended_t],
            lift: Conversion::new(vectors, own, other),
            division: Division::new(vectors, own, other),
            back: Conversion::new(vectors, other, own),
            ring: ring.clone(),
            extension,
        })
    }

    /// What the cost of its products depends on.
    pub fn shape(&self) -> MultiplyShape {
        MultiplyShape { ring: self.ring.shape(), extension: self.extension.primes().len() }
    }

    fn rings(&self) -> [&Ring<W>; 2] {
        [&self.ring, &self.extension]
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

    /// The empty sum.
    pub fn tensor(&self) -> Tensor<W> {
        Tensor(self.rings().map(|ring| [0; 3].map(|_| ring.zero())))
    }

    /// Adds the product of two operands to a sum.
    pub fn add_product(&self, sum: &mut Tensor<W>, left: &Lifted<W>, right: &Lifted<W>) {
        for (ring, (sum, (left, right))) in
            self.rings().into_iter().zip(sum.0.iter_mut().zip(left.0.iter().zip(&right.0)))
        {
            ring.mul_add_assign(&mut sum[0], &left.b, &right.b);
            ring.mul_add_assign(&mut sum[1], &left.a, &right.b);
            ring.mul_add_assign(&mut sum[1], &left.b, &right.a);
            ring.mul_add_assign(&mut sum[2], &left.a, &right.a);
        }
    }

    /// t/q times a sum of products, rounded: [b, a, c] of phase b - a s + c s^2.
    pub fn scale_down(&self, sum: Tensor<W>) -> [Poly<W, Coefficient>; 3] {
        let [own, extended] = sum.0;
        let [own_t, extended_t] = &self.t;
        let mut parts = own.into_iter().zip(extended);
        [(); 3].map(|()| {
            let Some((mut own, mut extended)) = parts.next() else { return self.ring.zero() };
            self.ring.mul_assign(&mut own, own_t);
            self.extension.mul_assign(&mut extended, extended_t);
            let (own, mut extended) = (self.ring.inverse(own), self.extension.inverse(extended));
            self.division.divide(&self.extension, own.as_slice(), extended.as_mut_slice(), |_, _| ());
            let mut out = self.ring.zero();
            self.back.convert(self.ring.n(), extended.as_slice(), out.as_mut_slice());
            out
        })
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
        let mut sum = self.tensor();
        self.add_product(&mut sum, left, right);
        gadget.relinearise(self.scale_down(sum), key)
    }
}
