//! Products against the ring's own, on all kernels.

use super::{Entry, PolyMatrix, PolyMatrixError, PolyPairs, PolyVector};
use crate::kernel::Kernel;
use crate::poly::{Ntt, Poly, Ring};
use crate::primes::primes_below;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;

fn ring(n: usize, bits: u32, kernel: Kernel) -> Arc<Ring<u32>> {
    let primes: Vec<u64> = primes_below(bits, 2 * n as u64).take(2).collect();
    Ring::new(n, &primes, kernel).unwrap()
}

fn all<const K: usize>(vector: &PolyVector<K>) -> Vec<[Poly<u32, Ntt>; K]> {
    vector.tuples(0..vector.len()).unwrap()
}

/// Products with vectors of tuples of `K`; every polynomial drawn by `draw`.
fn check<const K: usize>(
    ring: &Arc<Ring<u32>>,
    (rows, columns): (usize, usize),
    vectors: usize,
    mut draw: impl FnMut() -> Poly<u32, Ntt>,
) {
    let mut matrix = PolyMatrix::zero(ring, rows, columns).unwrap();
    let places = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    let entries: Vec<_> = places.map(|place| (place, draw())).collect();
    matrix.set(&entries, 1).unwrap();
    let inputs: Vec<Vec<[Poly<u32, Ntt>; K]>> =
        (0..vectors).map(|_| (0..rows).map(|_| std::array::from_fn(|_| draw())).collect()).collect();
    let prepared: Vec<_> =
        inputs.iter().map(|input| PolyVector::new(ring, input.iter().map(|tuple| tuple.each_ref())).unwrap()).collect();
    let prepared: Vec<_> = prepared.iter().collect();
    let expected: Vec<Vec<[Poly<u32, Ntt>; K]>> = inputs
        .iter()
        .map(|input| {
            let mut sums: Vec<[_; K]> = (0..columns).map(|_| std::array::from_fn(|_| ring.zero())).collect();
            for ((row, column), entry) in &entries {
                for (sum, factor) in sums[*column].iter_mut().zip(&input[*row]) {
                    ring.mul_add_assign(sum, entry, factor);
                }
            }
            sums
        })
        .collect();
    for threads in [1, 2, 3] {
        let found: Vec<Vec<_>> = matrix.multiply(&prepared, threads).unwrap().iter().map(all).collect();
        assert!(
            found == expected,
            "{rows} x {columns}, {vectors} vectors of {K}, {threads} threads, {}",
            ring.kernel()
        );
    }
    for (place, entry) in &entries {
        assert_eq!(&matrix.get(place.0, place.1).unwrap(), entry);
    }
    assert_eq!(matrix.bytes(), (rows * columns * ring.n() * 2 * 4) as u64);
}

#[test]
fn products_are_those_of_the_ring() {
    for kernel in Kernel::available() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        for (shape, vectors) in [((1, 1), 1), ((3, 2), 2), ((5, 7), 3), ((300, 4), 2), ((130, 9), 1)] {
            let ring = ring(64, 28, kernel);
            check::<2>(&ring, shape, vectors, || ring.uniform(&mut rng));
            check::<1>(&ring, shape, vectors, || ring.uniform(&mut rng));
        }
    }
}

#[test]
fn sums_of_largest_residues_do_not_overflow() {
    for kernel in Kernel::available() {
        for (bits, rows) in [(28, 700), (30, 40), (31, 9), (20, 300)] {
            let ring = ring(64, bits, kernel);
            let largest = || {
                let mut poly: Poly<u32, Ntt> = ring.zero();
                for (limb, prime) in poly.limbs_mut().zip(ring.primes()) {
                    limb.fill(*prime as u32 - 1);
                }
                poly
            };
            check::<2>(&ring, (rows, 5), 2, largest);
            check::<1>(&ring, (rows, 5), 1, largest);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (ring, other) = (ring(64, 28, Kernel::Scalar), ring(128, 28, Kernel::Scalar));
    assert_eq!(PolyMatrix::zero(&ring, 0, 3).err(), Some(PolyMatrixError::Shape { rows: 0, columns: 3 }));
    assert!(PolyMatrix::zero(&ring, usize::MAX, usize::MAX).is_err());
    let mut matrix = PolyMatrix::zero(&ring, 2, 3).unwrap();
    assert!(matrix.get(2, 0).is_err() && matrix.get(0, 3).is_err());
    assert!(matrix.set(&[((0, 3), ring.zero())], 1).is_err());
    assert_eq!(matrix.set(&[((0, 0), other.zero())], 1), Err(PolyMatrixError::Ring));
    let zero = ring.zero();
    assert!(PolyPairs::new(&other, [[&zero, &zero]]).is_err());
    let one = PolyPairs::new(&ring, [[&zero, &zero]]).unwrap();
    assert_eq!(matrix.multiply(&[&one], 1).err(), Some(PolyMatrixError::Length { found: 1, rows: 2 }));
    let empty = PolyPairs::new(&other, []).unwrap();
    assert_eq!(empty.len(), 0);
    assert_eq!(matrix.multiply(&[&empty], 1).err(), Some(PolyMatrixError::Ring));
    assert!(matrix.multiply::<2>(&[], 1).unwrap().is_empty());
    let mut two = PolyPairs::zero(&ring, 2).unwrap();
    assert!(two.set(1, &[[&zero, &zero]]).is_ok() && two.set(2, &[]).is_ok());
    assert_eq!(two.set(1, &[[&zero; 2]; 2]), Err(PolyMatrixError::Length { found: 3, rows: 2 }));
    assert!(
        two.tuples(2..3).is_err() && two.tuples(1..1).unwrap().is_empty() && empty.tuples(0..0).unwrap().is_empty()
    );
    assert_eq!(empty.tuples(0..1).err(), Some(PolyMatrixError::Length { found: 1, rows: 0 }));
    let sums = |ring, len, count| (0..count).map(|_| PolyPairs::zero(ring, len).unwrap()).collect::<Vec<_>>();
    for (mut sums, error) in [
        (sums(&other, 3, 1), PolyMatrixError::Ring),
        (sums(&ring, 2, 1), PolyMatrixError::Length { found: 2, rows: 3 }),
        (sums(&ring, 3, 2), PolyMatrixError::Length { found: 2, rows: 1 }),
    ] {
        assert_eq!(matrix.multiply_add(&[&two], 0..3, &mut sums, 1), Err(error));
    }
    let foreign = other.zero();
    assert_eq!(two.set(0, &[[&zero, &foreign]]), Err(PolyMatrixError::Ring));
    for columns in [0..4, 4..4] {
        assert!(matrix.multiply_part(&[&two], columns, 1).is_err());
    }
}

/// Products are added to sums as the ring adds them.
#[test]
fn products_are_added_to_sums() {
    for kernel in Kernel::available() {
        let (mut rng, ring) = (ChaCha20Rng::seed_from_u64(5), ring(64, 28, kernel));
        let mut draw = || ring.uniform(&mut rng);
        let mut matrix = PolyMatrix::zero(&ring, 3, 6).unwrap();
        let entries: Vec<_> = (0..18).map(|i| ((i / 6, i % 6), draw())).collect();
        matrix.set(&entries, 1).unwrap();
        let mut vectors = |len| {
            let polys: Vec<_> = (0..2 * len).map(|_| draw()).collect();
            PolyPairs::new(&ring, polys.chunks_exact(2).map(|pair| [&pair[0], &pair[1]])).unwrap()
        };
        let (inputs, old) = ([vectors(3), vectors(3)], [vectors(6), vectors(6)]);
        let inputs: Vec<_> = inputs.iter().collect();
        let (products, before) = (matrix.multiply(&inputs, 1).unwrap(), old.each_ref().map(all));
        let mut sums = Vec::new();
        matrix.multiply_add(&inputs, 0..6, &mut sums, 2).unwrap();
        assert!(sums.iter().map(all).eq(products.iter().map(all)));
        let mut sums: Vec<_> = old.into();
        matrix.multiply_add(&inputs, 0..6, &mut sums, 2).unwrap();
        for ((sums, products), old) in sums.iter().zip(&products).zip(before) {
            for ((sum, product), old) in
                all(sums).as_flattened().iter().zip(all(products).as_flattened()).zip(old.as_flattened())
            {
                let mut expected = old.clone();
                ring.add_assign(&mut expected, product);
                assert_eq!(sum, &expected, "{kernel}");
            }
        }
    }
}

/// A product of some columns is that part of the product of all.
#[test]
fn products_come_in_parts() {
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let ring = ring(64, 28, Kernel::best());
    let (rows, columns) = (3, 11);
    let mut matrix = PolyMatrix::zero(&ring, rows, columns).unwrap();
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let entries: Vec<Entry> = places.map(|place| (place, ring.uniform(&mut rng))).collect();
    matrix.set(&entries, 1).unwrap();
    let polys: Vec<_> = (0..2 * rows).map(|_| ring.uniform(&mut rng)).collect();
    let pairs: Vec<[&Poly<u32, Ntt>; 2]> = polys.chunks_exact(2).map(|pair| [&pair[0], &pair[1]]).collect();
    let mut vector = PolyPairs::zero(&ring, rows).unwrap();
    vector.set(1, &pairs[1..]).unwrap();
    vector.set(0, &pairs[..1]).unwrap();
    let whole = all(&matrix.multiply(&[&PolyPairs::new(&ring, pairs).unwrap()], 1).unwrap()[0]);
    for (first, end) in [(0, 4), (4, 11), (1, 3), (5, 6), (2, 9), (4, 4), (0, 11)] {
        for threads in [1, 3] {
            let part = matrix.multiply_part(&[&vector], first..end, threads).unwrap();
            assert!(all(&part[0]) == whole[first..end], "{first}..{end}");
        }
    }
    #[allow(clippy::reversed_empty_ranges, reason = "what a caller may not ask for")]
    for columns in [8..12, 5..4, 12..12] {
        assert!(matrix.multiply_part(&[&vector], columns, 1).is_err());
    }
}
