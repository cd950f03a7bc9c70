//! A ring of polynomials and its operations.

use super::storage::Aligned;
use super::{Automorphism, Coefficient, Ntt, Poly, RingShape};
use crate::kernel::{Kernel, KernelError};
use crate::modulus::Modulus;
use crate::ntt::{NttError, NttPlan};
use crate::prg::Prg;
use crate::residues::Vectors;
use crate::residues::Word;
use crate::rns::{Rns, RnsError};
use crate::sampling;
use rand::RngCore;
use std::sync::Arc;

/// Reasons to refuse a ring.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// No transform of that size or modulus.
    #[error(transparent)]
    Ntt(#[from] NttError),
    /// Moduli that make no residue number system.
    #[error(transparent)]
    Rns(#[from] RnsError),
    /// The processor lacks the kernel.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// Polynomials modulo X^N + 1 and Q, a product of distinct primes = 1 mod 2N. Its methods take polynomials of this ring only: they
/// panic if N or the primes differ.
#[derive(Clone, Debug)]
pub struct Ring<W> {
    n: usize,
    limbs: Vec<(Modulus<W>, NttPlan<W>)>,
    rns: Rns<W>,
    vectors: Vectors,
    primes: Arc<[u64]>,
}

impl<W: Word> Ring<W> {
    /// The ring of those primes, in that order.
    pub fn new(n: usize, primes: &[u64], kernel: Kernel) -> Result<Arc<Self>, RingError> {
        let (vectors, rns) = (Vectors::new(kernel)?, Rns::<W>::new(primes)?);
        let plan = |modulus: &Modulus<W>| Ok((*modulus, NttPlan::new(n, modulus.value(), kernel)?));
        let limbs = rns.moduli().iter().map(plan).collect::<Result<_, RingError>>()?;
        Ok(Arc::new(Self { n, limbs, rns, vectors, primes: primes.into() }))
    }

    /// N.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The shape of the ring, on which the cost of its operations depends.
    pub fn shape(&self) -> RingShape {
        RingShape { degree: self.n, primes: self.primes().len() }
    }

    /// Each prime with its transform.
    pub fn limbs(&self) -> &[(Modulus<W>, NttPlan<W>)] {
        &self.limbs
    }

    /// The primes.
    pub fn primes(&self) -> &[u64] {
        &self.primes
    }

    /// The residue number system of the primes.
    pub fn rns(&self) -> &Rns<W> {
        &self.rns
    }

    /// The slice arithmetic that the ring uses.
    pub fn vectors(&self) -> Vectors {
        self.vectors
    }

    /// The kernel it was made for.
    pub fn kernel(&self) -> Kernel {
        self.vectors.kernel()
    }

    /// Q, if below 2^128.
    pub fn modulus_u128(&self) -> Option<u128> {
        self.rns.product_u128()
    }

    /// log2(Q).
    pub fn modulus_log2(&self) -> f64 {
        self.rns.product_log2()
    }

    /// The ring of the first `len` primes, with the same transforms; None if it has fewer or `len` is 0.
    pub fn prefix(&self, len: usize) -> Option<Arc<Self>> {
        let rns = self.rns.prefix(len)?;
        let (limbs, primes) = (self.limbs[..len].to_vec(), self.primes[..len].into());
        Some(Arc::new(Self { n: self.n, limbs, rns, vectors: self.vectors, primes }))
    }

    /// The polynomial 0.
    pub fn zero<D>(&self) -> Poly<W, D> {
        Poly::from_data(Aligned::zeroed(self.n * self.limbs.len()), self.n, self.primes.clone())
    }

    /// Whether the other ring has the same N and primes, in the same order.
    pub fn is_same(&self, other: &Self) -> bool {
        self.n == other.n && (Arc::ptr_eq(&self.primes, &other.primes) || self.primes == other.primes)
    }

    /// Whether the polynomial has this ring's N and primes.
    pub fn owns<D>(&self, poly: &Poly<W, D>) -> bool {
        poly.is_over(self.n, &self.primes)
    }

    fn check<D>(&self, poly: &Poly<W, D>) {
        assert!(self.owns(poly), "a polynomial of this ring");
    }

    /// The limbs of a polynomial, each with its modulus and transform.
    fn each<'a, D>(
        &'a self,
        poly: &'a mut Poly<W, D>,
    ) -> impl Iterator<Item = (&'a Modulus<W>, &'a NttPlan<W>, &'a mut [W])> {
        self.check(poly);
        self.limbs.iter().zip(poly.data.chunks_exact_mut(self.n)).map(|((modulus, plan), limb)| (modulus, plan, limb))
    }

    /// To NTT domain, in place.
    pub fn forward(&self, mut poly: Poly<W, Coefficient>) -> Poly<W, Ntt> {
        self.each(&mut poly).for_each(|(_, plan, limb)| plan.forward(limb));
        Poly::from_data(poly.data, self.n, poly.primes)
    }

    /// To coefficient domain, in place.
    pub fn inverse(&self, mut poly: Poly<W, Ntt>) -> Poly<W, Coefficient> {
        self.each(&mut poly).for_each(|(_, plan, limb)| plan.inverse(limb));
        Poly::from_data(poly.data, self.n, poly.primes)
    }

    /// Like [`Self::inverse`], into a polynomial that exists.
    pub fn inverse_into(&self, a: &Poly<W, Ntt>, out: &mut Poly<W, Coefficient>) {
        self.check(a);
        for ((_, plan, out), a) in self.each(out).zip(a.limbs()) {
            out.copy_from_slice(a);
            plan.inverse(out);
        }
    }

    /// a += b.
    pub fn add_assign<D>(&self, a: &mut Poly<W, D>, b: &Poly<W, D>) {
        self.check(b);
        self.each(a).zip(b.limbs()).for_each(|((modulus, _, a), b)| self.vectors.add(modulus, a, b));
    }

    /// a -= b.
    pub fn sub_assign<D>(&self, a: &mut Poly<W, D>, b: &Poly<W, D>) {
        self.check(b);
        self.each(a).zip(b.limbs()).for_each(|((modulus, _, a), b)| self.vectors.sub(modulus, a, b));
    }

    /// a = -a.
    pub fn neg_assign<D>(&self, a: &mut Poly<W, D>) {
        self.each(a).for_each(|(modulus, _, a)| self.vectors.neg(modulus, a));
    }

    /// a *= b.
    pub fn mul_assign(&self, a: &mut Poly<W, Ntt>, b: &Poly<W, Ntt>) {
        self.check(b);
        self.each(a).zip(b.limbs()).for_each(|((modulus, _, a), b)| self.vectors.mul(modulus, a, b));
    }

    /// acc += a * b.
    pub fn mul_add_assign(&self, acc: &mut Poly<W, Ntt>, a: &Poly<W, Ntt>, b: &Poly<W, Ntt>) {
        self.check(a);
        self.check(b);
        let factors = a.limbs().zip(b.limbs());
        self.each(acc).zip(factors).for_each(|((modulus, _, acc), (a, b))| self.vectors.mul_add(modulus, acc, a, b));
    }

    /// `out[c] = sum over t of left[t] * right[t * C + c]` for the C polynomials of `out`: a gadget product with `left` the digits and
    /// `right` the rows of the key. See [`Vectors::sum_products`].
    pub fn sum_products(&self, left: &[&Poly<W, Ntt>], right: &[&Poly<W, Ntt>], out: &mut [&mut Poly<W, Ntt>]) {
        out.iter().for_each(|poly| self.check(poly));
        left.iter().chain(right).for_each(|poly| self.check(poly));
        for (i, (modulus, _)) in self.limbs.iter().enumerate() {
            let left: Vec<&[W]> = left.iter().map(|poly| poly.limb(i)).collect();
            let right: Vec<&[W]> = right.iter().map(|poly| poly.limb(i)).collect();
            let mut out: Vec<&mut [W]> = out.iter_mut().map(|poly| poly.limb_mut(i)).collect();
            self.vectors.sum_products(modulus, &left, &right, &mut out);
        }
    }

    /// a *= scalar.
    pub fn mul_scalar_assign<D>(&self, a: &mut Poly<W, D>, scalar: u128) {
        self.each(a).for_each(|(modulus, _, a)| self.vectors.mul_scalar(modulus, a, modulus.reduce_u128(scalar)));
    }

    /// a *= scalar.
    pub fn mul_signed_assign<D>(&self, a: &mut Poly<W, D>, scalar: i64) {
        self.each(a).for_each(|(modulus, _, a)| self.vectors.mul_scalar(modulus, a, modulus.from_signed(scalar)));
    }

    /// The polynomial with those N coefficients.
    pub fn from_signed(&self, coefficients: &[i64]) -> Poly<W, Coefficient> {
        assert_eq!(coefficients.len(), self.n, "N coefficients");
        let mut poly = self.zero();
        for (modulus, _, limb) in self.each(&mut poly) {
            limb.iter_mut().zip(coefficients).for_each(|(out, x)| *out = modulus.from_signed(*x));
        }
        poly
    }

    /// The polynomial with those N coefficients.
    pub fn from_signed_i32(&self, coefficients: &[i32]) -> Poly<W, Coefficient> {
        let mut poly = self.zero();
        self.set_signed_i32(&mut poly, coefficients);
        poly
    }

    /// Like [`Self::from_signed_i32`], into a polynomial that exists.
    pub fn set_signed_i32(&self, poly: &mut Poly<W, Coefficient>, coefficients: &[i32]) {
        assert_eq!(coefficients.len(), self.n, "N coefficients");
        self.each(poly).for_each(|(modulus, _, limb)| self.vectors.reduce_signed(modulus, coefficients, limb));
    }

    /// The polynomial with those N coefficients, any 64-bit numbers.
    pub fn from_u64(&self, coefficients: &[u64]) -> Poly<W, Coefficient> {
        let mut poly = self.zero();
        self.rns.decompose_u64(self.vectors, coefficients, &mut poly.data);
        poly
    }

    /// The polynomial with those N coefficients, any 128-bit numbers.
    pub fn from_u128(&self, coefficients: &[u128]) -> Poly<W, Coefficient> {
        let mut poly = self.zero();
        self.rns.decompose_u128(coefficients, &mut poly.data);
        poly
    }

    /// The coefficients in [0, Q).
    ///
    /// # Panics
    /// If Q is 2^64 or more or `out` has not N elements.
    pub fn compose_u64(&self, poly: &Poly<W, Coefficient>, out: &mut [u64]) {
        self.check(poly);
        self.rns.compose_u64(self.vectors, &poly.data, out);
    }

    /// The coefficients in [0, Q).
    ///
    /// # Panics
    /// If Q is 2^128 or more or `out` has not N elements.
    pub fn compose_u128(&self, poly: &Poly<W, Coefficient>, out: &mut [u128]) {
        self.check(poly);
        self.rns.compose_u128(&poly.data, out);
    }

    /// A uniform polynomial.
    pub fn uniform<D>(&self, rng: &mut impl RngCore) -> Poly<W, D> {
        let mut poly = self.zero();
        sampling::fill_uniform(rng, self.rns.moduli(), &mut poly.data);
        poly
    }

    /// The uniform polynomial determined by the seed of `prg` and the number of the stream, the same on every machine and path.
    pub fn expand<D>(&self, prg: &Prg, stream: u64) -> Poly<W, D> {
        let mut poly = self.zero();
        sampling::expand_uniform(prg, stream, self.rns.moduli(), &mut poly.data);
        poly
    }

    /// a * X^exponent, the exponent taken modulo 2N.
    pub fn mul_monomial(&self, a: &Poly<W, Coefficient>, exponent: usize) -> Poly<W, Coefficient> {
        let mut out = self.zero();
        self.mul_monomial_into(a, exponent, &mut out);
        out
    }

    /// Like [`Self::mul_monomial`], into a polynomial that exists.
    pub fn mul_monomial_into(&self, a: &Poly<W, Coefficient>, exponent: usize, out: &mut Poly<W, Coefficient>) {
        self.check(a);
        let (shift, negated) = (exponent % self.n, exponent / self.n % 2 == 1);
        for ((modulus, _, out), a) in self.each(out).zip(a.limbs()) {
            let (wrapped, moved) = out.split_at_mut(shift);
            let (stays, wraps) = a.split_at(self.n - shift);
            moved.copy_from_slice(stays);
            wrapped.copy_from_slice(wraps);
            self.vectors.neg(modulus, if negated { moved } else { wrapped });
        }
    }

    /// X^exponent, the exponent taken modulo 2N.
    pub fn monomial_ntt(&self, exponent: usize) -> Poly<W, Ntt> {
        let mut out = self.zero();
        for (modulus, plan, out) in self.each(&mut out) {
            let root = modulus.pow(plan.root(), (exponent % (2 * self.n)) as u64);
            out[0] = root;
            // Bit h of a slot's number adds N / h to the exponent 2 bitrev(j) + 1.
            let mut done = 1;
            while done < self.n {
                let (first, second) = out[..2 * done].split_at_mut(done);
                second.copy_from_slice(first);
                self.vectors.mul_scalar(modulus, second, modulus.pow(root, (self.n / done) as u64));
                done *= 2;
            }
        }
        out
    }

    /// a(X^k).
    pub fn automorphism_coefficient(&self, a: &Poly<W, Coefficient>, table: &Automorphism) -> Poly<W, Coefficient> {
        let mut out = self.zero();
        self.automorphism_coefficient_into(a, table, &mut out);
        out
    }

    /// Like [`Self::automorphism_coefficient`], into a polynomial that exists.
    pub fn automorphism_coefficient_into(
        &self,
        a: &Poly<W, Coefficient>,
        table: &Automorphism,
        out: &mut Poly<W, Coefficient>,
    ) {
        assert_eq!(table.n(), self.n, "a table for this N");
        self.check(a);
        for ((modulus, _, out), a) in self.each(out).zip(a.limbs()) {
            for (out, source) in out.iter_mut().zip(table.sources()) {
                let value = a[(source >> 1) as usize];
                *out = if source & 1 == 1 { modulus.neg(value) } else { value };
            }
        }
    }

    /// a(X^k): a permutation of the slots.
    pub fn automorphism_ntt(&self, a: &Poly<W, Ntt>, table: &Automorphism) -> Poly<W, Ntt> {
        assert_eq!(table.n(), self.n, "a table for this N");
        self.check(a);
        let mut out = self.zero();
        self.each(&mut out).zip(a.limbs()).for_each(|((_, _, out), a)| self.vectors.permute(table.slots(), a, out));
        out
    }

    /// As [`Self::automorphism_ntt`], of a limb alone.
    ///
    /// # Panics
    /// If the table is for another N, or a slice has not N elements.
    pub fn automorphism_limb(&self, a: &[W], table: &Automorphism, out: &mut [W]) {
        assert_eq!(table.n(), self.n, "a table for this N");
        self.vectors.permute(table.slots(), a, out);
    }

    /// a(X^k) for the automorphism whose [`Automorphism::slots`] are given.
    ///
    /// # Panics
    /// If there are not N slots, or one is out of range.
    pub fn permute_slots(&self, a: &Poly<W, Ntt>, slots: &[u32], out: &mut Poly<W, Ntt>) {
        self.check(a);
        self.each(out).zip(a.limbs()).for_each(|((_, _, out), a)| self.vectors.permute(slots, a, out));
    }

    /// a / P rounded to nearest, where P is the product of the primes that `to` lacks: the last ones. See [`Rns::rescale`].
    pub fn rescale(&self, a: &Poly<W, Coefficient>, to: &Self) -> Result<Poly<W, Coefficient>, RnsError> {
        self.check(a);
        let mut out = to.zero();
        self.rns.rescale(self.vectors, &a.data, &to.rns, &mut out.data)?;
        Ok(out)
    }

    /// The coefficients of a * q' / Q rounded to nearest, modulo q' > 0. See [`Rns::switch_modulus`].
    pub fn switch_to(&self, a: &Poly<W, Coefficient>, modulus: u64) -> Vec<u64> {
        self.check(a);
        let mut out = vec![0; self.n];
        self.rns.switch_modulus(&a.data, modulus, &mut out);
        out
    }
}
