//! Blind-rotation keys in full, and the rotation.

use super::SeededBlindRotationKey;
use super::buffers::{Buffers, MAX_SELECTORS};
use super::monomials::Monomials;
use super::shape::{RotationShape, Step};
use crate::decompose::RingGadget;
use crate::error::LatticeError;
use crate::lwe::Lwe;
use crate::product::Workspace;
use crate::rlwe::{Rlwe, check};
use ring::residues::TILE;
use ring::{Buffer, Coefficient, Modulus, Ring, Word};

/// A blind-rotation key in full, in the order in which rotations read it.
pub struct BlindRotationKey<W: Word> {
    shape: RotationShape,
    gadget: RingGadget<W>,
    monomials: Monomials<W>,
    /// The order is step, prime, selector, mask before body, tile of [`TILE`] slots, row: a rotation reads the masks of a selector as one
    /// stream of memory, and the bodies as another.
    pub(super) rows: Buffer<W>,
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
                for (limb, this) in this.chunks_exact_mut(2 * length * 2 * selectors * n).enumerate() {
                    let columns = this.chunks_exact_mut(2 * length * n).skip(2 * selector);
                    for (column, part) in columns.zip([&full.a, &full.b]) {
                        let places = column.chunks_exact_mut(TILE).skip(t).step_by(2 * length);
                        let tiles = part.limb(limb).chunks_exact(TILE);
                        places.zip(tiles).for_each(|(place, tile)| place.copy_from_slice(tile));
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

    /// Bytes in memory of this key.
    pub fn bytes(&self) -> usize {
        self.rows.len() * size_of::<W>()
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
    pub fn rotate(
        &self,
        accumulator: &mut Rlwe<W, Coefficient>,
        input: &Lwe,
        workspace: &mut Workspace<W>,
    ) -> Result<(), LatticeError> {
        self.rotate_all(std::slice::from_mut(accumulator), std::slice::from_ref(input), workspace)
    }

    /// Like [`Self::rotate`], for every accumulator with the input of the same number, step by step side by side: the key is read from
    /// memory once for all of them.
    pub fn rotate_all(
        &self,
        accumulators: &mut [Rlwe<W, Coefficient>],
        inputs: &[Lwe],
        workspace: &mut Workspace<W>,
    ) -> Result<(), LatticeError> {
        let (ring, order) = (self.ring(), 2 * self.ring().n() as u64);
        accumulators.iter().try_for_each(|accumulator| accumulator.check(ring))?;
        let fits = |input: &Lwe| {
            let residues = input.b < order && input.a.iter().all(|&a| a < order);
            residues && input.modulus.value() == order && input.a.len() == self.shape.dimension
        };
        if inputs.len() != accumulators.len() || !inputs.iter().all(fits) {
            return Err(LatticeError::Mismatch(
                "a blind rotation and LWE ciphertexts of another modulus, dimension or number",
            ));
        }
        let length = self.gadget.length();
        let mut buffers = std::mem::take(&mut workspace.rotation);
        buffers.fit(ring.n(), length, inputs.len())?;
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
                self.decompose(step, accumulators, inputs, scratch, &mut buffers, workspace);
                self.multiply(step, rows, accumulators, &mut buffers);
            }
        });
        workspace.rotation = buffers;
        Ok(())
    }

    /// Lists the accumulators that the step changes, and decomposes them: (X^c - 1) acc for a single selector, acc for several.
    fn decompose(
        &self,
        step: Step,
        accumulators: &[Rlwe<W, Coefficient>],
        inputs: &[Lwe],
        scratch: &mut Rlwe<W, Coefficient>,
        buffers: &mut Buffers<W>,
        workspace: &mut Workspace<W>,
    ) {
        let (ring, n, length) = (self.ring(), self.ring().n(), self.gadget.length());
        let Buffers { digits, active, .. } = buffers;
        active.clear();
        let exponents = inputs.iter().map(|input| step.exponents(&input.a, 2 * n as u64));
        active.extend(exponents.enumerate().filter(|(_, exponents)| *exponents != [0; MAX_SELECTORS]));
        for ((index, exponents), digits) in active.iter().zip(digits.chunks_exact_mut(2 * length * n)) {
            let accumulator = &accumulators[*index];
            let source = if step.selectors() == 1 {
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
    }

    /// Adds to the active accumulators the products of their digits with the step's rows.
    fn multiply(&self, step: Step, rows: &[W], accumulators: &mut [Rlwe<W, Coefficient>], buffers: &mut Buffers<W>) {
        let (ring, n, selectors) = (self.ring(), self.ring().n(), step.selectors());
        let (pitch, terms, columns) = (n + TILE, 2 * self.gadget.length(), 2 * selectors);
        let Buffers { left, sums, factors, product, digits, active } = buffers;
        let left = left.first(active.len() * terms * pitch);
        let sums = sums.first(active.len() * columns * pitch);
        let rows = rows.chunks_exact(rows.len() / ring.primes().len());
        for (limb, ((modulus, plan), rows)) in ring.limbs().iter().zip(rows).enumerate() {
            for (digits, left) in digits.chunks_exact(n).zip(left.chunks_exact_mut(pitch)) {
                plan.forward_signed(digits, &mut left[..n]);
            }
            let mut right = [&[][..]; 2 * MAX_SELECTORS];
            right.iter_mut().zip(rows.chunks_exact(terms * n)).for_each(|(column, rows)| *column = rows);
            ring.vectors().sum_tiles(modulus, n, left, &right[..columns], sums);
            for ((index, exponents), sums) in active.iter().zip(sums.chunks_exact_mut(columns * pitch)) {
                let accumulator = &mut accumulators[*index];
                let parts = if selectors == 1 {
                    &mut *sums
                } else {
                    let factors = factors.first(MAX_SELECTORS * pitch);
                    for (factor, &exponent) in factors.chunks_exact_mut(pitch).zip(exponents).take(selectors) {
                        self.monomials.less_one(ring, limb, exponent, &mut factor[..n]);
                    }
                    let product = product.first(2 * pitch);
                    self.combine(modulus, selectors, factors, sums, product);
                    product
                };
                let (a, b) = parts.split_at_mut(pitch);
                for (part, sum) in [(a, accumulator.a.limb_mut(limb)), (b, accumulator.b.limb_mut(limb))] {
                    plan.inverse(&mut part[..n]);
                    ring.vectors().add(modulus, sum, &part[..n]);
                }
            }
        }
    }

    /// The sum over the selectors of factor times sum, mask and body.
    fn combine(&self, modulus: &Modulus<W>, selectors: usize, factors: &[W], sums: &[W], product: &mut [W]) {
        let (n, pitch) = (self.ring().n(), self.ring().n() + TILE);
        let none: &[W] = &[];
        let (mut left, mut right) = ([none; MAX_SELECTORS], [none; 2 * MAX_SELECTORS]);
        left.iter_mut().zip(factors.chunks_exact(pitch)).for_each(|(left, factor)| *left = &factor[..n]);
        right.iter_mut().zip(sums.chunks_exact(pitch)).for_each(|(right, sum)| *right = &sum[..n]);
        let (a, b) = product.split_at_mut(pitch);
        let mut out = [&mut a[..n], &mut b[..n]];
        self.ring().vectors().sum_products(modulus, &left[..selectors], &right[..2 * selectors], &mut out);
    }
}
