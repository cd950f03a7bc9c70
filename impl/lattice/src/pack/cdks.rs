//! CDKS packing (Chen, Dai, Kim, Song, ACNS 2021).
//!
//! Node v of level k joins nodes v and v + h of the level below, h = gamma / 2^k, with Y = X^(N / 2^k) and tau: X -> X^(2^k + 1):
//! c = c_v + Y c_(v+h) + tau(c_v - Y c_(v+h)). Since tau(Y) = -Y, coefficients that are multiples of N / 2^k double and the others of
//! the level vanish. From level log2 gamma + 1 on there is one node and no second argument: this is the trace. So the phase of the root is
//! N times the sum over j of the constant coefficients times X^(j N / gamma); ring masks and bodies are multiplied by 1/N first,
//! which restores the bodies and does not amplify the noise of the inputs. (YPIR scales the query on the client instead.)
//!
//! **The dense form.** Let T_(v,i) be the digits at node v of level k, so that its key switch adds the sum over i of T_(v,i) y_i to the
//! body. Above it, that sum is added to its images under all compositions of the taus of higher levels, the group of the sigma = 1
//! modulo 2^(k+1), and multiplied by X^(p_v), p_v = v N / gamma, which these fix. So the body of the root contains, slot by
//! slot, the sum over i and sigma of sigma(y_i) [sum_v X^(p_v) sigma(T_(v,i))]: the bracket is what [`evaluate`] computes.

use super::evaluate::{self, Sums};
use super::keys::{PackingKeys, PackingMasks};
use super::levels::Level;
use super::packing::Packing;
use super::slots::{self, SlotMaps};
use super::table::PackingTable;
use crate::decompose::GadgetShape;
use crate::error::LatticeError;
use crate::product::Workspace;
use crate::rlwe::Rlwe;
use ring::{Kind, Ntt, Poly, Ring, Work};

/// The ring masks divided by N, padded to gamma.
fn leaves(packing: &Packing, ring_masks: &[Poly<u32, Ntt>]) -> Vec<Poly<u32, Ntt>> {
    let ring = packing.ring();
    let factors = evaluate::inverses(ring, ring.n());
    let mut leaves = ring_masks.to_vec();
    leaves.iter_mut().for_each(|leaf| evaluate::scale(ring, leaf, &factors));
    leaves.resize_with(packing.gamma, || ring.zero());
    leaves
}

/// The sum c + Y d and the image of c - Y d; for one argument, c and its image.
fn butterfly(
    ring: &Ring<u32>,
    level: &Level,
    mut c: Poly<u32, Ntt>,
    d: Option<Poly<u32, Ntt>>,
) -> (Poly<u32, Ntt>, Poly<u32, Ntt>) {
    let mut difference = c.clone();
    if let Some(mut d) = d {
        ring.mul_assign(&mut d, &level.y);
        ring.add_assign(&mut c, &d);
        ring.sub_assign(&mut difference, &d);
    }
    (c, ring.automorphism_ntt(&difference, &level.map))
}

/// Splits the nodes of the level below into first and second arguments.
fn arguments<T>(mut below: Vec<T>, level: &Level) -> impl Iterator<Item = (T, Option<T>)> {
    let mut second = below.split_off(level.nodes).into_iter();
    below.into_iter().map(move |first| (first, second.next()))
}

/// The packed ciphertext for bodies of zero.
pub(super) fn pack(
    packing: &Packing,
    masks: &PackingMasks,
    keys: &PackingKeys,
    ring_masks: &[Poly<u32, Ntt>],
    workspace: &mut Workspace<u32>,
) -> Result<Rlwe<u32, Ntt>, LatticeError> {
    let ring = packing.ring();
    let mut digits: Vec<Poly<u32, Ntt>> = (0..packing.gadget.length()).map(|_| ring.zero()).collect();
    // The bodies of the leaves are constants, whose packing is exact: they are added at the end.
    let mut nodes: Vec<_> = leaves(packing, ring_masks).into_iter().map(|a| (a, None::<Poly<u32, Ntt>>)).collect();
    for (role, level) in packing.levels.iter().enumerate() {
        let mut next = Vec::with_capacity(level.nodes);
        for ((first_a, first_b), second) in arguments(nodes, level) {
            let (second_a, second_b) = second.unzip();
            let (mut a, mapped) = butterfly(ring, level, first_a, second_a);
            let mut b = match first_b {
                Some(first_b) => {
                    let (mut b, mapped) = butterfly(ring, level, first_b, second_b.flatten());
                    ring.add_assign(&mut b, &mapped);
                    b
                }
                None => ring.zero(),
            };
            packing.gadget.transformed_digits(&ring.inverse(mapped), workspace, &mut digits);
            for (row, digit) in digits.iter().enumerate() {
                ring.mul_add_assign(&mut a, digit, masks.row(role, row));
                ring.mul_add_assign(&mut b, digit, keys.row(role, row));
            }
            next.push((a, Some(b)));
        }
        nodes = next;
    }
    let (a, b) = nodes.pop().unzip();
    Ok(Rlwe { a: a.unwrap_or_else(|| ring.zero()), b: b.flatten().unwrap_or_else(|| ring.zero()) })
}

/// The work that makes a table of N ciphertexts from the digits of the tree: leaves are scaled, digits of a level are summed for all
/// automorphisms above it, and the sums are written into the table.
pub(super) fn table_work(gadget: GadgetShape) -> Work {
    let (ring, length) = (gadget.ring, gadget.length as u64);
    let orders = (1..=ring.degree.ilog2()).map(|level| ring.degree >> level);
    let sums: u64 = orders.map(|order| order as u64 + evaluate::butterflies(order)).sum();
    let (primes, degree) = (ring.primes as u64, ring.degree as u64);
    ring.products(degree + length * sums) + Work::of(Kind::TreeSlots, &[primes, degree, degree, length + 1])
}

/// The table of one output.
pub(super) fn preprocess(
    packing: &Packing,
    masks: &PackingMasks,
    ring_masks: &[Poly<u32, Ntt>],
    workspace: &mut Workspace<u32>,
) -> Result<PackingTable, LatticeError> {
    let (ring, length) = (packing.ring(), packing.gadget.length());
    let n = ring.n();
    let mut matrices = evaluate::zero_matrices(ring, &packing.sides())?;
    let (maps, mut slots, mut image) = (SlotMaps::new(n), Vec::new(), ring.zero());
    let ones = vec![1; ring.primes().len()];
    let mut nodes = leaves(packing, ring_masks);
    for (role, level) in packing.levels.iter().enumerate() {
        let mut next = Vec::with_capacity(level.nodes);
        // By row, then by node.
        let mut digits: Vec<Vec<Poly<u32, Ntt>>> = vec![Vec::with_capacity(level.nodes); length];
        for (first, second) in arguments(nodes, level) {
            let (mut a, mapped) = butterfly(ring, level, first, second);
            let mut fresh: Vec<Poly<u32, Ntt>> = (0..length).map(|_| ring.zero()).collect();
            packing.gadget.transformed_digits(&ring.inverse(mapped), workspace, &mut fresh);
            for (row, digit) in fresh.into_iter().enumerate() {
                ring.mul_add_assign(&mut a, &digit, masks.row(role, row));
                digits[row].push(digit);
            }
            next.push(a);
        }
        for (row, digits) in digits.iter().enumerate() {
            // The automorphisms above this level: as many as there are residues 1 modulo 2^(level + 1).
            let (order, band) = (n >> (role + 1), role * length + row);
            let terms: Vec<_> = digits.iter().enumerate().map(|(v, digit)| (packing.position(v), digit)).collect();
            let mut sums = Sums::new(ring, &terms, order, &ones);
            for exponent in (1..2 * n as u64).step_by(2 * n / order) {
                maps.fill(exponent, &mut slots);
                sums.get(ring, exponent, &slots, &mut image);
                for (matrix, limb) in matrices.iter_mut().zip(image.limbs()) {
                    slots::put(matrix, band, &slots, limb);
                }
            }
            matrices.iter_mut().for_each(|matrix| slots::finish(matrix, band));
        }
        nodes = next;
    }
    let mask = nodes.pop().unwrap_or_else(|| ring.zero());
    Ok(PackingTable::new(packing, matrices, Vec::new(), ring.inverse(mask)))
}
