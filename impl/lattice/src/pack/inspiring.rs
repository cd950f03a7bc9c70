//! InspiRING (InsPIRe, Algorithms 1 and 2).
//!
//! With G the group of gamma automorphisms that g generates (at gamma = N: 5 and -1), r_sigma = 1/gamma sum_j X^j sigma(ã_j) for sigma in
//! G, the phases of the gamma ciphertexts are the first gamma coefficients of sum_j b_j X^j - sum over sigma of r_sigma sigma(s). From
//! the last power of g to the first, the digits of r at g^(i+1), times the image of the key under g^i, turn it into a summand of
//! the one at g^i: gamma - 1 key switches (gamma - 2 and one from -1 to 1 at gamma = N).

use super::evaluate::{self, DIRECT_TERMS, Sums};
use super::keys::{PackingKeys, PackingMasks};
use super::packing::Packing;
use super::slots::{self, SlotMaps};
use super::table::{PackingTable, Pointwise};
use crate::decompose::GadgetShape;
use crate::error::LatticeError;
use crate::product::Workspace;
use ring::{BlockDiagonal, Kind, Ntt, Poly, Ring, Work};

/// Larger tables exceed every second-level cache, and their lines are written past the caches.
const LARGE_TABLE_BYTES: u64 = 16 << 20;

/// The work that makes a table of gamma ciphertexts, beside key switches: the sums for all automorphisms are computed, and they and the
/// digits are written into the table.
pub(super) fn table_work(gadget: GadgetShape, gamma: usize) -> Work {
    let (ring, length) = (gadget.ring, gadget.length as u64);
    let sums = if gamma == ring.degree {
        ring.transforms(gamma as u64)
    } else {
        ring.products(gamma as u64 + evaluate::butterflies(gamma))
    };
    let is_small = gamma as u64 * length * ring.poly_bytes() < LARGE_TABLE_BYTES;
    let filed = if is_small { Kind::SmallTableSlots } else { Kind::TableSlots };
    sums + Work::of(filed, &[ring.primes as u64, ring.degree as u64, gamma as u64, length + 1])
}

/// The use of the digits of a key switch.
pub(super) trait Sink {
    /// A matrix for each prime. At gamma = N the sums for all sigma are in their first bands, of side N: the sum for an automorphism is
    /// read before its digits are written, so both may have the same place.
    fn room(&mut self, ring: &Ring<u32>) -> Result<&mut [BlockDiagonal], LatticeError>;

    /// Takes the transformed digits that multiply the image of the key of that role under the automorphism of that slot permutation.
    fn take(&mut self, role: usize, slots: &[u32], digits: &[Poly<u32, Ntt>]);
}

/// Sums of products of digits with images of rows.
struct Images {
    /// The rows' images.
    mapped: Vec<Poly<u32, Ntt>>,
    sum: Poly<u32, Ntt>,
}

impl Images {
    fn new(ring: &Ring<u32>, length: usize) -> Self {
        Self { mapped: zeros(ring, length), sum: ring.zero() }
    }

    /// acc += the sum over the digits of digit times image of row.
    fn add_products(
        &mut self,
        ring: &Ring<u32>,
        digits: &[Poly<u32, Ntt>],
        rows: &[Poly<u32, Ntt>],
        slots: &[u32],
        acc: &mut Poly<u32, Ntt>,
    ) {
        for (row, mapped) in rows.iter().zip(&mut self.mapped) {
            ring.permute_slots(row, slots, mapped);
        }
        let (left, right): (Vec<_>, Vec<_>) = (digits.iter().collect(), self.mapped.iter().collect());
        ring.sum_products(&left, &right, &mut [&mut self.sum]);
        ring.add_assign(acc, &self.sum);
    }
}

fn zeros(ring: &Ring<u32>, count: usize) -> Vec<Poly<u32, Ntt>> {
    (0..count).map(|_| ring.zero()).collect()
}

/// Runs all key switches on the masks: returns the packed mask, and passes every step's digits to the sink.
pub(super) fn collapse(
    packing: &Packing,
    masks: &PackingMasks,
    ring_masks: &[Poly<u32, Ntt>],
    workspace: &mut Workspace<u32>,
    sink: &mut impl Sink,
) -> Result<Poly<u32, Ntt>, LatticeError> {
    let (ring, gadget, gamma) = (packing.ring(), &packing.gadget, packing.gamma);
    let n = ring.n();
    let (terms, maps) = (ring_masks.iter().enumerate().collect::<Vec<_>>(), SlotMaps::new(n));
    let factors = evaluate::inverses(ring, gamma);
    let mut sums = if gamma == n && terms.len() > DIRECT_TERMS {
        evaluate::fill(ring, &terms, &factors, sink.room(ring)?);
        None
    } else {
        Some(Sums::new(ring, &terms, gamma, &factors))
    };
    let generator = packing.exponents().first().copied().unwrap_or(1);
    // At gamma = N the powers of the generator are half of the group, their negatives the other.
    let (signs, powers): (&[u64], _) = if gamma == n { (&[1, 2 * n as u64 - 1], gamma / 2) } else { (&[1], gamma) };
    let (mut digits, nothing) = (zeros(ring, gadget.length()), vec![0; n]);
    let (mut images, mut slots, mut component) = (Images::new(ring, gadget.length()), Vec::new(), ring.zero());
    let mut heads = Vec::with_capacity(2);
    for &sign in signs {
        let next = |power: &u64| Some(power * generator % (2 * n as u64));
        let chain: Vec<u64> = std::iter::successors(Some(sign), next).take(powers).collect();
        let mut head: Option<Poly<u32, Ntt>> = None;
        for &exponent in chain.iter().rev() {
            maps.fill(exponent, &mut slots);
            match &mut sums {
                Some(sums) => sums.get(ring, exponent, &slots, &mut component),
                None => {
                    for (matrix, limb) in sink.room(ring)?.iter_mut().zip(component.limbs_mut()) {
                        slots::take(matrix, 0, &slots, limb);
                        if head.is_none() {
                            // The last power has no digits.
                            slots::put(matrix, 0, &slots, &nothing);
                        }
                    }
                }
            }
            if let Some(last) = head {
                let last = ring.inverse(last);
                gadget.transformed_digits(&last, workspace, &mut digits);
                sink.take(0, &slots, &digits);
                images.add_products(ring, &digits, masks.rows(0), &slots, &mut component);
            }
            head = Some(component.clone());
        }
        heads.extend(head);
    }
    let mut heads = heads.into_iter();
    let mut mask = heads.next().unwrap_or_else(|| ring.zero());
    if let Some(conjugate) = heads.next() {
        maps.fill(1, &mut slots);
        gadget.transformed_digits(&ring.inverse(conjugate), workspace, &mut digits);
        sink.take(1, &slots, &digits);
        images.add_products(ring, &digits, masks.rows(1), &slots, &mut mask);
    }
    Ok(mask)
}

/// Adds up products with a client's keys while digits arrive: packing without a table.
pub(super) struct Summed<'a> {
    ring: &'a Ring<u32>,
    keys: &'a PackingKeys,
    images: Images,
    sum: Poly<u32, Ntt>,
    room: Vec<BlockDiagonal>,
}

impl<'a> Summed<'a> {
    pub(super) fn new(packing: &'a Packing, keys: &'a PackingKeys) -> Self {
        let ring = packing.ring();
        Self { ring, keys, images: Images::new(ring, packing.gadget.length()), sum: ring.zero(), room: Vec::new() }
    }

    pub(super) fn into_sum(self) -> Poly<u32, Ntt> {
        self.sum
    }
}

impl Sink for Summed<'_> {
    fn room(&mut self, ring: &Ring<u32>) -> Result<&mut [BlockDiagonal], LatticeError> {
        if self.room.is_empty() {
            self.room = evaluate::zero_matrices(ring, &[ring.n()])?;
        }
        Ok(&mut self.room)
    }

    fn take(&mut self, role: usize, slots: &[u32], digits: &[Poly<u32, Ntt>]) {
        self.images.add_products(self.ring, digits, self.keys.rows(role), slots, &mut self.sum);
    }
}

/// Writes digits to the places where a product with the keys reads them.
struct Filed {
    matrices: Vec<BlockDiagonal>,
    last: Vec<Pointwise>,
}

impl Sink for Filed {
    fn room(&mut self, _: &Ring<u32>) -> Result<&mut [BlockDiagonal], LatticeError> {
        Ok(&mut self.matrices)
    }

    fn take(&mut self, role: usize, slots: &[u32], digits: &[Poly<u32, Ntt>]) {
        for (row, digit) in digits.iter().enumerate() {
            if role == 1 {
                self.last.push(Pointwise { role, row, factor: digit.clone() });
                continue;
            }
            for (matrix, limb) in self.matrices.iter_mut().zip(digit.limbs()) {
                slots::put(matrix, row, slots, limb);
            }
        }
    }
}

/// The table of one output.
pub(super) fn preprocess(
    packing: &Packing,
    masks: &PackingMasks,
    ring_masks: &[Poly<u32, Ntt>],
    workspace: &mut Workspace<u32>,
) -> Result<PackingTable, LatticeError> {
    let ring = packing.ring();
    let sides = packing.sides();
    let matrices = evaluate::zero_matrices(ring, &sides)?;
    let mut filed = Filed { matrices, last: Vec::new() };
    let mask = collapse(packing, masks, ring_masks, workspace, &mut filed)?;
    for matrix in &mut filed.matrices {
        (0..sides.len()).for_each(|band| slots::finish(matrix, band));
    }
    Ok(PackingTable::new(packing, filed.matrices, filed.last, ring.inverse(mask)))
}
