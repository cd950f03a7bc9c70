//! Products with gadget encryptions: gadget product, external product, CMUX.
//!
//! All of them decompose polynomials into digits, transform the digits modulo every prime (ell NTTs a polynomial and a prime),
//! sum their products with the rows, and transform two sums back (2 NTTs a prime).

use crate::decompose::{GadgetShape, Integers, RingGadget};
use crate::error::LatticeError;
use crate::rlwe::{Rgsw, Rlwe, RlwePrime, check};
use crate::rotate::Buffers;
use gadget::Coins;
use ring::{Coefficient, Ntt, NttPlan, Poly, Ring, Word, Work};

/// Buffers and coins of the products, reused from call to call, on any ring.
pub struct Workspace<W: Word> {
    integers: Integers,
    digits: Vec<i32>,
    /// One row of values each, modulo the prime at hand.
    transformed: Vec<Poly<W, Ntt>>,
    scratch: Option<Rlwe<W, Coefficient>>,
    coins: Coins,
    pub(crate) rotation: Buffers<W>,
}

impl<W: Word> Workspace<W> {
    /// Empty buffers. Only randomised gadgets draw coins.
    pub fn new(coins: Coins) -> Self {
        Self {
            integers: Integers::default(),
            digits: Vec::new(),
            transformed: Vec::new(),
            scratch: None,
            coins,
            rotation: Buffers::default(),
        }
    }

    /// The coins.
    pub(crate) fn coins(&mut self) -> &mut Coins {
        &mut self.coins
    }

    /// The digits of a polynomial of the gadget's ring, digit-major.
    pub(crate) fn digits(&mut self, gadget: &RingGadget<W>, input: &Poly<W, Coefficient>, digits: &mut [i32]) {
        gadget.digits(input, &mut self.integers, digits, &mut self.coins);
    }

    /// Makes room for `rows` rows of digits of that ring.
    fn fit(&mut self, ring: &Ring<W>, rows: usize) {
        self.digits.resize(rows * ring.n(), 0);
        self.transformed.retain(|row| row.n() == ring.n());
        if let Some(prime) = ring.prefix(1).filter(|_| self.transformed.len() < rows) {
            self.transformed.resize_with(rows, || prime.zero());
        }
        self.transformed.truncate(rows);
    }

    /// A ciphertext of that ring with any value, which must be put back after use.
    fn take_scratch(&mut self, ring: &Ring<W>) -> Rlwe<W, Coefficient> {
        self.scratch.take().filter(|scratch| scratch.is_of(ring)).unwrap_or_else(|| Rlwe::zero(ring))
    }

    /// Calls `use_it` with a ciphertext of that ring, of any value, and the workspace.
    pub(crate) fn with_scratch<T>(
        &mut self,
        ring: &Ring<W>,
        call: impl FnOnce(&mut Rlwe<W, Coefficient>, &mut Self) -> T,
    ) -> T {
        let mut scratch = self.take_scratch(ring);
        let result = call(&mut scratch, self);
        self.scratch = Some(scratch);
        result
    }
}

/// NTTs of size N modulo one prime that a product of `parts` polynomials takes: forward and inverse.
pub fn product_ntts(parts: usize, length: usize, primes: usize) -> (usize, usize) {
    (parts * length * primes, 2 * primes)
}

impl GadgetShape {
    /// The work of [`RingGadget::gadget_product`].
    pub fn gadget_product_work(self) -> Work {
        self.product_work(1)
    }

    /// The work of [`RingGadget::external_product`].
    pub fn external_product_work(self) -> Work {
        self.product_work(2)
    }

    /// The work of [`RingGadget::cmux`]: a difference, an external product, a sum.
    pub fn cmux_work(self) -> Work {
        self.external_product_work() + self.ring.moves(2 * 2)
    }

    fn product_work(self, parts: usize) -> Work {
        let (forward, inverse) = product_ntts(parts, self.length, self.ring.primes);
        let rows = (parts * self.length) as u64;
        self.ring.ntts((forward + inverse) as u64) + self.digits_work(parts as u64) + self.ring.products(2 * rows)
    }
}

impl<W: Word> RingGadget<W> {
    /// RLWE'(m) times a polynomial c: an encryption of m c. `out` is overwritten.
    pub fn gadget_product(
        &self,
        c: &Poly<W, Coefficient>,
        key: &RlwePrime<W>,
        workspace: &mut Workspace<W>,
        out: &mut Rlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        self.product(&[(c, key)], workspace, out)
    }

    /// RGSW(m) times a ciphertext: the phase is multiplied by m. `out` is overwritten.
    pub fn external_product(
        &self,
        input: &Rlwe<W, Coefficient>,
        selector: &Rgsw<W>,
        workspace: &mut Workspace<W>,
        out: &mut Rlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        self.product(&[(&input.a, &selector.mask), (&input.b, &selector.body)], workspace, out)
    }

    /// zero + RGSW(bit) (one - zero): selects `zero` or `one`. `out` is overwritten.
    pub fn cmux(
        &self,
        selector: &Rgsw<W>,
        zero: &Rlwe<W, Coefficient>,
        one: &Rlwe<W, Coefficient>,
        workspace: &mut Workspace<W>,
        out: &mut Rlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        let ring = self.ring();
        zero.check(ring)?;
        one.check(ring)?;
        workspace.with_scratch(ring, |difference, workspace| {
            difference.copy_from(one);
            difference.sub_assign(ring, zero);
            self.external_product(difference, selector, workspace, out)
        })?;
        out.add_assign(ring, zero);
        Ok(())
    }

    /// The digits of a polynomial of the ring in the NTT domain, one polynomial each.
    ///
    /// # Panics
    /// If there are not as many outputs as digits, or one is of another ring.
    pub(crate) fn transformed_digits(
        &self,
        input: &Poly<W, Coefficient>,
        workspace: &mut Workspace<W>,
        out: &mut [Poly<W, Ntt>],
    ) {
        let (ring, n) = (self.ring(), self.ring().n());
        assert!(out.len() == self.length() && out.iter().all(|poly| ring.owns(poly)));
        workspace.digits.resize(self.length() * n, 0);
        let Workspace { integers, digits, coins, .. } = workspace;
        self.digits(input, integers, digits, coins);
        for (digits, out) in digits.chunks_exact(n).zip(out) {
            for ((_, plan), limb) in ring.limbs().iter().zip(out.limbs_mut()) {
                plan.forward_signed(digits, limb);
            }
        }
    }

    /// Refuses a key of another ring or one made with another gadget.
    pub(crate) fn check_key(&self, key: &RlwePrime<W>) -> Result<(), LatticeError> {
        if key.scale != self.scale() || key.rows.len() != self.length() {
            return Err(LatticeError::Mismatch("a gadget and a key made with another"));
        }
        if !key.rows.iter().all(|row| row.is_of(self.ring())) {
            return Err(LatticeError::Mismatch("a gadget and a key of another ring"));
        }
        Ok(())
    }

    /// The sum over the parts and their digits of digit times row.
    fn product(
        &self,
        parts: &[(&Poly<W, Coefficient>, &RlwePrime<W>)],
        workspace: &mut Workspace<W>,
        out: &mut Rlwe<W, Coefficient>,
    ) -> Result<(), LatticeError> {
        self.product_and(parts, workspace, out, NttPlan::inverse)
    }

    /// Like [`Self::product`], but the result stays in the NTT domain.
    pub(crate) fn product_ntt(
        &self,
        parts: &[(&Poly<W, Coefficient>, &RlwePrime<W>)],
        workspace: &mut Workspace<W>,
        out: &mut Rlwe<W, Ntt>,
    ) -> Result<(), LatticeError> {
        self.product_and(parts, workspace, out, |_, _| ())
    }

    /// The product, limb by limb; `finish` completes a limb.
    fn product_and<D>(
        &self,
        parts: &[(&Poly<W, Coefficient>, &RlwePrime<W>)],
        workspace: &mut Workspace<W>,
        out: &mut Rlwe<W, D>,
        finish: impl Fn(&NttPlan<W>, &mut [W]),
    ) -> Result<(), LatticeError> {
        let ring = self.ring();
        out.check(ring)?;
        for (part, key) in parts {
            check(ring, part)?;
            self.check_key(key)?;
        }
        let polys: Vec<_> = parts.iter().map(|(poly, _)| *poly).collect();
        let rows = |limb: usize, right: &mut Vec<_>| {
            let rows = parts.iter().flat_map(|(_, key)| &key.rows);
            rows.for_each(|row| right.extend([row.a.limb(limb), row.b.limb(limb)]));
        };
        self.sum_digits(&polys, rows, workspace, &mut [&mut out.a, &mut out.b], finish);
        Ok(())
    }

    /// The sums over the digits of all polynomials of digit times row, one for each output, limb by limb: `rows` appends the rows of a limb,
    /// for each digit as many as there are outputs, and `finish` completes a limb of an output. All are of the gadget's ring.
    pub(crate) fn sum_digits<'a, D>(
        &self,
        polys: &[&Poly<W, Coefficient>],
        rows: impl Fn(usize, &mut Vec<&'a [W]>),
        workspace: &mut Workspace<W>,
        out: &mut [&mut Poly<W, D>],
        finish: impl Fn(&NttPlan<W>, &mut [W]),
    ) {
        let (ring, n, length) = (self.ring(), self.ring().n(), self.length());
        workspace.fit(ring, polys.len() * length);
        let Workspace { integers, digits, transformed, coins, .. } = workspace;
        for (poly, digits) in polys.iter().zip(digits.chunks_exact_mut(length * n)) {
            self.digits(poly, integers, digits, coins);
        }
        let mut right: Vec<&[W]> = Vec::with_capacity(out.len() * transformed.len());
        for (limb, (modulus, plan)) in ring.limbs().iter().enumerate() {
            for (digits, row) in digits.chunks_exact(n).zip(transformed.iter_mut()) {
                plan.forward_signed(digits, row.as_mut_slice());
            }
            let left: Vec<&[W]> = transformed.iter().map(Poly::as_slice).collect();
            right.clear();
            rows(limb, &mut right);
            let mut sums: Vec<&mut [W]> = out.iter_mut().map(|poly| poly.limb_mut(limb)).collect();
            ring.vectors().sum_products(modulus, &left, &right, &mut sums);
            sums.into_iter().for_each(|sum| finish(plan, sum));
        }
    }
}
