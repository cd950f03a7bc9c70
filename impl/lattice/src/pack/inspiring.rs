//! InspiRING (InsPIRe, Algorithms 1 and 2).
//!
//! With G the group of gamma automorphisms that g generates (at gamma = N: 5 and -1), r_sigma = 1/gamma sum_j X^j sigma(ã_j) for sigma in
//! G, the phases of the gamma ciphertexts are the first gamma coefficients of sum_j b_j X^j - sum over sigma of r_sigma sigma(s). From
//! the last power of g to the first, the digits of r at g^(i+1), times the image of the key under g^i, turn it into a summand of
//! the one at g^i: gamma - 1 key switches (gamma - 2 and one from -1 to 1 at gamma = N).

use super::evaluate::{self, Slots, Sums};
use super::table::{PackingTable, Pointwise};
use super::{Packing, PackingKeys, PackingMasks};
use crate::error::LatticeError;
use crate::product::Workspace;
use ring::{Automorphism, Ntt, Poly, Ring};

/// What becomes of the digits of a key switch.
pub(super) trait Sink {
    /// Takes the transformed digits that multiply the image, under the automorphism of those slots, of the key of that role.
    fn take(&mut self, role: usize, slots: &Slots, digits: &[Poly<u32, Ntt>]);
}

/// acc += the sum over the digits of digit times image of row.
fn add_products(
    ring: &Ring<u32>,
    acc: &mut Poly<u32, Ntt>,
    digits: &[Poly<u32, Ntt>],
    rows: &[Poly<u32, Ntt>],
    map: &Automorphism,
) {
    for (digit, row) in digits.iter().zip(rows) {
        ring.mul_add_assign(acc, digit, &ring.automorphism_ntt(row, map));
    }
}

/// Runs all key switches on the masks: gives the packed mask, and every step's digits to the sink.
pub(super) fn collapse(
    packing: &Packing,
    masks: &PackingMasks,
    ring_masks: &[Poly<u32, Ntt>],
    workspace: &mut Workspace<u32>,
    sink: &mut impl Sink,
) -> Result<Poly<u32, Ntt>, LatticeError> {
    let (ring, gadget, gamma) = (packing.ring(), &packing.gadget, packing.gamma);
    let n = ring.n();
    let sums = Sums::traces(ring, ring_masks, gamma)?;
    let exponents = packing.exponents();
    let generator = exponents.first().copied().unwrap_or(1);
    // At gamma = N the powers of the generator are half of the group, their negatives the other.
    let is_full = gamma == n;
    let (signs, powers): (&[u64], _) = if is_full { (&[1, 2 * n as u64 - 1], gamma / 2) } else { (&[1], gamma) };
    let mut digits: Vec<Poly<u32, Ntt>> = (0..gadget.length()).map(|_| ring.zero()).collect();
    let mut heads = Vec::with_capacity(2);
    for &sign in signs {
        let chain: Vec<u64> =
            std::iter::successors(Some(sign), |power| Some(power * generator % (2 * n as u64))).take(powers).collect();
        let map = |exponent: u64| Automorphism::new(n, exponent);
        let mut head: Option<Poly<u32, Ntt>> = None;
        for &exponent in chain.iter().rev() {
            let map = map(exponent)?;
            let mut component = sums.get(ring, map.slots());
            if let Some(last) = head {
                gadget.transformed_digits(&ring.inverse(last), workspace, &mut digits);
                sink.take(0, map.slots(), &digits);
                add_products(ring, &mut component, &digits, masks.rows(0), &map);
            }
            head = Some(component);
        }
        heads.extend(head);
    }
    let mut heads = heads.into_iter();
    let mut mask = heads.next().unwrap_or_else(|| ring.zero());
    if let Some(conjugate) = heads.next() {
        let identity = Automorphism::new(n, 1)?;
        gadget.transformed_digits(&ring.inverse(conjugate), workspace, &mut digits);
        sink.take(1, identity.slots(), &digits);
        add_products(ring, &mut mask, &digits, masks.rows(1), &identity);
    }
    Ok(mask)
}

/// Adds up products with a client's keys as digits come: packing without a table.
pub(super) struct Summed<'a> {
    packing: &'a Packing,
    keys: &'a PackingKeys,
    sum: Poly<u32, Ntt>,
}

impl<'a> Summed<'a> {
    pub(super) fn new(packing: &'a Packing, keys: &'a PackingKeys) -> Self {
        Self { packing, keys, sum: packing.ring().zero() }
    }

    pub(super) fn into_sum(self) -> Poly<u32, Ntt> {
        self.sum
    }
}

impl Sink for Summed<'_> {
    fn take(&mut self, role: usize, slots: &Slots, digits: &[Poly<u32, Ntt>]) {
        for (digit, row) in digits.iter().zip(self.keys.rows(role)) {
            for (i, (modulus, _)) in self.packing.ring().limbs().iter().enumerate() {
                let (row, digit) = (row.limb(i), digit.limb(i));
                for ((sum, digit), slot) in self.sum.limb_mut(i).iter_mut().zip(digit).zip(slots) {
                    *sum = modulus.add(*sum, modulus.mul(*digit, row[*slot as usize]));
                }
            }
        }
    }
}

/// Files digits where a product with the keys will find them.
struct Filed {
    matrices: Vec<ring::BlockDiagonal>,
    side: usize,
    last: Vec<Pointwise>,
}

impl Sink for Filed {
    fn take(&mut self, role: usize, slots: &Slots, digits: &[Poly<u32, Ntt>]) {
        for (row, digit) in digits.iter().enumerate() {
            if role == 1 {
                self.last.push(Pointwise { role, row, factor: digit.clone() });
                continue;
            }
            for (matrix, limb) in self.matrices.iter_mut().zip(digit.limbs()) {
                for (o, (value, slot)) in limb.iter().zip(slots).enumerate() {
                    let columns = matrix.columns_mut(o / ring::diagonal::LINE, row);
                    columns[*slot as usize % self.side][o % ring::diagonal::LINE] = *value;
                }
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
    let side = evaluate::side(packing.gamma);
    let bands = if packing.gamma == 1 { 0 } else { packing.gadget.length() };
    let matrices = evaluate::zero_matrices(ring, &vec![side; bands])?;
    let mut filed = Filed { matrices, side, last: Vec::new() };
    let mask = collapse(packing, masks, ring_masks, workspace, &mut filed)?;
    Ok(PackingTable::new(packing, filed.matrices, filed.last, ring.inverse(mask)))
}
