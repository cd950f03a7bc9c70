//! Blind-rotation keys in full, and the rotation.

use super::SeededBlindRotationKey;
use super::monomials::Monomials;
use super::shape::{MAX_SELECTORS, RotationShape, Step};
use crate::decompose::RingGadget;
use crate::error::LatticeError;
use crate::lwe::Lwe;
use crate::product::Workspace;
use crate::rlwe::{Rlwe, check};
use ring::vector::TILE;
use ring::{Buffer, Coefficient, Ring, Word};

/// A blind-rotation key in full, in the order in which rotations read it.
pub struct BlindRotationKey<W: Word> {
    shape: RotationShape,
    gadget: RingGadget<W>,
    monomials: Monomials<W>,
    /// Step after step, prime after prime, a tile of [`TILE`] slots after the other; in a tile row after row, selector after selector,
    /// mask and body: one stream of memory.
    pub(super) rows: Buffer<W>,
}

/// Buffers of rotations.
#[derive(Default)]
pub(crate) struct Buffers<W> {
    /// The transformed digits of both parts, modulo one prime; a tile apart, so that they do not share sets of the caches.
    left: Vec<W>,
    /// The products with each selector: mask, then body.
    sums: Vec<W>,
    /// X^c - 1 for each selector.
    factors: Vec<W>,
    /// The digits of both parts of every accumulator.
    digits: Vec<i32>,
}

impl<W: Word> BlindRotationKey<W> {
    /// Expands a key made with that gadget.
    ///
    /// # Errors
    /// A key made with another gadget or for another ring, no memory.
    pub fn new(gadget: &RingGadget<W>, seeded: &SeededBlindRotationKey<W>) -> Result<Self, LatticeError> {
        let (ring, shape, length) = (gadget.ring(), seeded.shape, gadget.length());
        if seeded.scale != gadget.scale() || seeded.rows.len() != shape.selectors() * 2 * length {
            return Err(LatticeError::Mismatch("a gadget and a blind-rotation key made with another"));
        }
        seeded.rows.iter().try_for_each(|row| check(ring, &row.b))?;
        let n = ring.n();
        let mut rows = Buffer::zeroed(Self::words(ring, shape, length))
            .map_err(|error| LatticeError::Parameter(format!("blind-rotation key: {error}")))?;
        let (mut rest, mut source) = (&mut rows[..], &seeded.rows[..]);
        for step in shape.steps() {
            let selectors = step.selectors();
            let (this, later) = rest.split_at_mut(Self::step_words(ring, step, length));
            let (seeded, remaining) = source.split_at(selectors * 2 * length);
            for (i, row) in seeded.iter().enumerate() {
                let (selector, t) = (i / (2 * length), i % (2 * length));
                let full = row.expand(ring);
                let columns = 2 * selectors;
                for (limb, this) in this.chunks_exact_mut(2 * length * columns * n).enumerate() {
                    let tiles = full.a.limb(limb).chunks_exact(TILE).zip(full.b.limb(limb).chunks_exact(TILE));
                    for (this, (a, b)) in this.chunks_exact_mut(2 * length * columns * TILE).zip(tiles) {
                        let at = (t * columns + 2 * selector) * TILE;
                        this[at..at + TILE].copy_from_slice(a);
                        this[at + TILE..at + 2 * TILE].copy_from_slice(b);
                    }
                }
            }
            (rest, source) = (later, remaining);
        }
        Ok(Self { shape, gadget: gadget.clone(), monomials: Monomials::new(ring), rows })
    }

    fn step_words(ring: &Ring<W>, step: Step, length: usize) -> usize {
        step.selectors() * 2 * length * 2 * ring.n() * ring.primes().len()
    }

    fn words(ring: &Ring<W>, shape: RotationShape, length: usize) -> usize {
        shape.selectors() * 2 * length * 2 * ring.n() * ring.primes().len()
    }

    /// Bytes of an expanded key: 4 n N `length` residues for CMUX and binary secrets.
    pub fn expanded_bytes(ring: &Ring<W>, shape: RotationShape, length: usize) -> usize {
        Self::words(ring, shape, length) * size_of::<W>()
    }

    /// The shape it was made for.
    pub fn shape(&self) -> RotationShape {
        self.shape
    }

    /// The gadget it was made with.
    pub fn gadget(&self) -> &RingGadget<W> {
        &self.gadget
    }

    /// The ring.
    pub fn ring(&self) -> &Ring<W> {
        self.gadget.ring()
    }

    /// Multiplies the accumulator's phase by X^(-phase of `input`), `input` an LWE ciphertext modulo 2N under the small key.
    ///
    /// # Errors
    /// An accumulator of another ring, an input of another modulus or dimension.
    pub fn rotate(
        &self,
        accumulator: &mut Rlwe<W, Coefficient>,
        input: &Lwe,
        workspace: &mut Workspace<W>,
    ) -> Result<(), LatticeError> {
        self.rotate_all(std::slice::from_mut(accumulator), std::slice::from_ref(input), workspace)
    }

    /// As [`Self::rotate`], every accumulator by the input of the same number, step by step side by side: the key is read from memory
    /// once for all of them.
    ///
    /// # Errors
    /// As [`Self::rotate`]; as many inputs as accumulators.
    pub fn rotate_all(
        &self,
        accumulators: &mut [Rlwe<W, Coefficient>],
        inputs: &[Lwe],
        workspace: &mut Workspace<W>,
    ) -> Result<(), LatticeError> {
        let (ring, order) = (self.ring(), 2 * self.ring().n() as u64);
        accumulators.iter().try_for_each(|accumulator| accumulator.check(ring))?;
        let fits = |input: &Lwe| input.modulus.value() == order && input.a.len() == self.shape.dimension;
        if inputs.len() != accumulators.len() || !inputs.iter().all(fits) {
            return Err(LatticeError::Mismatch(
                "a blind rotation and LWE ciphertexts of another modulus, dimension or number",
            ));
        }
        let length = self.gadget.length();
        let mut buffers = std::mem::take(&mut workspace.rotation);
        buffers.fit(ring.n(), length, inputs.len());
        workspace.with_scratch(ring, |scratch, workspace| {
            for (accumulator, input) in accumulators.iter_mut().zip(inputs) {
                let exponent = (order - input.b) % order;
                scratch.copy_from(accumulator);
                scratch.mul_monomial_into(ring, exponent as usize, accumulator);
            }
            let mut rest = &self.rows[..];
            for step in self.shape.steps() {
                let (rows, later) = rest.split_at(Self::step_words(ring, step, length));
                rest = later;
                self.step(step, rows, accumulators, inputs, scratch, &mut buffers, workspace);
            }
        });
        workspace.rotation = buffers;
        Ok(())
    }

    /// One step on every accumulator.
    #[expect(clippy::too_many_arguments, reason = "buffers and operands of an inner loop")]
    fn step(
        &self,
        step: Step,
        rows: &[W],
        accumulators: &mut [Rlwe<W, Coefficient>],
        inputs: &[Lwe],
        scratch: &mut Rlwe<W, Coefficient>,
        buffers: &mut Buffers<W>,
        workspace: &mut Workspace<W>,
    ) {
        let (ring, n, length, selectors) = (self.ring(), self.ring().n(), self.gadget.length(), step.selectors());
        let order = 2 * n as u64;
        let exponents = |input: &Lwe| step.exponents(&input.a, order);
        for ((accumulator, input), digits) in
            accumulators.iter().zip(inputs).zip(buffers.digits.chunks_exact_mut(2 * length * n))
        {
            let exponents = exponents(input);
            if exponents == [0; MAX_SELECTORS] {
                continue;
            }
            // A single selector multiplies (X^c - 1) acc, several multiply acc.
            let source = if selectors == 1 {
                accumulator.mul_monomial_into(ring, exponents[0], scratch);
                scratch.sub_assign(ring, accumulator);
                &*scratch
            } else {
                accumulator
            };
            let (of_a, of_b) = digits.split_at_mut(length * n);
            workspace.digits(&self.gadget, &source.a, of_a);
            workspace.digits(&self.gadget, &source.b, of_b);
        }
        for (limb, ((modulus, plan), rows)) in
            ring.limbs().iter().zip(rows.chunks_exact(rows.len() / ring.limbs().len())).enumerate()
        {
            for ((accumulator, input), digits) in
                accumulators.iter_mut().zip(inputs).zip(buffers.digits.chunks_exact(2 * length * n))
            {
                let exponents = exponents(input);
                if exponents == [0; MAX_SELECTORS] {
                    continue;
                }
                for (digits, left) in digits.chunks_exact(n).zip(buffers.left.chunks_exact_mut(n + TILE)) {
                    plan.forward_signed(digits, &mut left[..n]);
                }
                let left: Vec<&[W]> = buffers.left.chunks_exact(n + TILE).map(|left| &left[..n]).collect();
                let (single, several) = buffers.sums.split_at_mut(2 * n);
                if selectors == 1 {
                    let mut out: Vec<&mut [W]> = single.chunks_exact_mut(n).collect();
                    ring.vectors().sum_tiles(modulus, &left, rows, &mut out);
                } else {
                    let several = &mut several[..2 * selectors * n];
                    let mut out: Vec<&mut [W]> = several.chunks_exact_mut(n).collect();
                    ring.vectors().sum_tiles(modulus, &left, rows, &mut out);
                    let factors = &mut buffers.factors[..selectors * n];
                    for (factor, &exponent) in factors.chunks_exact_mut(n).zip(&exponents) {
                        self.monomials.less_one(ring, limb, exponent, factor);
                    }
                    let left: Vec<&[W]> = factors.chunks_exact(n).collect();
                    let right: Vec<&[W]> = several.chunks_exact(n).collect();
                    let mut out: Vec<&mut [W]> = single.chunks_exact_mut(n).collect();
                    ring.vectors().sum_products(modulus, &left, &right, &mut out);
                }
                let (a, b) = single.split_at_mut(n);
                plan.inverse(a);
                plan.inverse(b);
                ring.vectors().add(modulus, accumulator.a.limb_mut(limb), a);
                ring.vectors().add(modulus, accumulator.b.limb_mut(limb), b);
            }
        }
    }
}

impl<W: Word> Buffers<W> {
    fn fit(&mut self, n: usize, length: usize, accumulators: usize) {
        self.left.resize(2 * length * (n + TILE), W::default());
        self.sums.resize(2 * (1 + MAX_SELECTORS) * n, W::default());
        self.factors.resize(MAX_SELECTORS * n, W::default());
        self.digits.resize(accumulators * 2 * length * n, 0);
    }
}
