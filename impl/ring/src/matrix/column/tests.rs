use super::*;
use crate::matrix::operands::ProductError;
use crate::modulus::Modulus;
use crate::poly::{Coefficient, Poly, Ring};
use crate::{Kernel, Prg};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PRIMES: [u32; 2] = [268_369_921, 249_561_089];

/// Entries of which many are extreme, so that sums that are too narrow would overflow.
fn random_matrix(rng: &mut impl RngCore, rows: usize, cols: usize, degree: usize) -> ColumnMatrix {
    let mut matrix = ColumnMatrix::new(rows, cols, degree).unwrap();
    let extreme = rng.next_u32() & 1 == 0;
    for row in 0..rows {
        for col in 0..cols {
            let entry = if extreme { [-EXCESS, EXCESS][row * col % 3 % 2] } else { i32::from(rng.next_u32() as i16) };
            matrix.set(row, col, entry).unwrap();
        }
    }
    matrix
}

fn moduli(primes: &[u32]) -> Vec<Modulus<u32>> {
    primes.iter().map(|prime| Modulus::new(*prime).unwrap()).collect()
}

/// Residues modulo the given primes, or all those with the largest digits.
fn residues(rng: &mut impl RngCore, primes: &[u32], rows: usize, extreme: bool) -> Vec<u32> {
    // The largest number with three digits: all are 322.
    const LARGEST: u32 = 322 * (1 + 646 + 646 * 646);
    let mut draw = |prime: &u32| if extreme { LARGEST % prime } else { rng.next_u32() % prime };
    primes.iter().flat_map(|prime| (0..rows).map(|_| draw(prime)).collect::<Vec<_>>()).collect()
}

#[test]
fn products_are_those_of_the_definition_on_every_kernel() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let shapes =
        [(1, 1, 32), (33, 5, 64), (64, 9, 64), (200, 7, 64), (2048, 6, 2048), (4100, 3, 4096), (20_000, 2, 32)];
    for (rows, cols, degree) in shapes {
        for (primes, queries) in [(&PRIMES[..], 3), (&PRIMES[..1], 1), (&[12289, 65537][..], 2)] {
            let matrix = random_matrix(&mut rng, rows, cols, degree);
            let given: Vec<_> = (0..queries).map(|k| residues(&mut rng, primes, rows, k == 1)).collect();
            let prepared: Vec<_> = given.iter().map(|q| ResidueVector::new(&moduli(primes), q).unwrap()).collect();
            let expected: Vec<Vec<u32>> = given
                .iter()
                .map(|query| {
                    let limb = |i: usize| {
                        let query = &query[i * rows..(i + 1) * rows];
                        let (prime, matrix) = (i128::from(primes[i]), &matrix);
                        (0..cols).map(move |col| {
                            let terms = (0..rows).map(|row| i128::from(matrix.get(row, col)) * i128::from(query[row]));
                            terms.sum::<i128>().rem_euclid(prime) as u32
                        })
                    };
                    (0..primes.len()).flat_map(limb).collect()
                })
                .collect();
            for kernel in Kernel::available() {
                for threads in [1, 2, 3] {
                    let got = product(kernel, &matrix, &prepared, threads).unwrap();
                    assert_eq!(got, expected, "{kernel} {rows} x {cols} in blocks of {degree}, {threads} threads");
                }
            }
        }
    }
}

#[test]
fn sums_of_the_most_extreme_terms_do_not_overflow() {
    let (rows, primes) = (3 * 2048, moduli(&PRIMES[..1]));
    let mut matrix = ColumnMatrix::new(rows, 5, 2048).unwrap();
    for col in 0..5 {
        (0..rows).for_each(|row| matrix.set(row, col, -EXCESS).unwrap());
    }
    // The number with three digits -323.
    let lowest = PRIMES[0] - 323 * (1 + 646 + 646 * 646);
    let query = ResidueVector::new(&primes, &vec![lowest; rows]).unwrap();
    let expected = primes[0].mul(primes[0].from_signed((-EXCESS).into()), primes[0].mul(lowest, rows as u32));
    for kernel in Kernel::available() {
        let got = product(kernel, &matrix, std::slice::from_ref(&query), 1).unwrap();
        assert_eq!(got, [vec![expected; 5]], "{kernel}");
    }
}

#[test]
fn all_ways_of_writing_give_the_same_matrix() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for (rows, cols, degree) in [(1, 1, 32), (70, 45, 64), (130, 64, 64), (96, 33, 2048)] {
        let one = random_matrix(&mut rng, rows, cols, degree);
        let mut other = ColumnMatrix::new(rows, cols, degree).unwrap();
        // What was there before must not shine through.
        (0..rows).for_each(|row| other.set(row, row % cols, EXCESS).unwrap());
        let entry = |(row, col)| one.get(row, col).min(i16::MAX.into()) as i16;
        let places = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
        let flat: Vec<i16> = places.map(entry).collect();
        for first in (0..rows).step_by(LINE) {
            let count = LINE.min(rows - first);
            let split = cols / 3;
            let part = &flat[first * cols..];
            other.set_rows((first, count), (0, split), part, cols).unwrap();
            other.set_rows((first, count), (split, cols - split), &part[split..], cols).unwrap();
        }
        assert_eq!((one.entries(), other.excess().len()), (other.entries(), 0), "{rows} x {cols}");
        for col in 0..cols {
            let column: Vec<i16> = (0..rows).map(|row| entry((row, col))).collect();
            for (block, entries) in column.chunks(degree).enumerate() {
                let (stored, padding) = other.polynomial(block, col).split_at(entries.len());
                assert!(stored == entries && padding.iter().all(|entry| *entry == 0));
                other.set_column(block * degree, col, entries).unwrap();
            }
        }
        assert_eq!(one.entries(), other.entries(), "{rows} x {cols}");
    }
}

#[test]
fn bad_shapes_and_operands_are_errors() {
    assert!(matches!(ColumnMatrix::new(0, 1, 32), Err(MatrixError::Shape { .. })));
    assert!(matches!(ColumnMatrix::new(1, usize::MAX, 32), Err(MatrixError::Shape { .. })));
    assert!(matches!(ColumnMatrix::new(1, 1, 33), Err(MatrixError::Alignment(33))));
    let mut matrix = ColumnMatrix::new(70, 3, 64).unwrap();
    assert_eq!(matrix.stored_bytes(), 96 * 3 * 2);
    assert!(matches!(matrix.set(70, 0, 1), Err(MatrixError::Index { what: "row", .. })));
    assert!(matches!(matrix.set(0, 0, EXCESS + 1), Err(MatrixError::Wide { value: 32769, .. })));
    assert!(matches!(matrix.set(0, 3, 1), Err(MatrixError::Index { what: "column", .. })));
    assert!(matches!(matrix.set_column(63, 0, &[1, 2]), Err(MatrixError::Index { what: "row", .. })));
    assert!(matches!(matrix.set_rows((1, 1), (0, 1), &[0], 1), Err(MatrixError::Alignment(1))));
    assert!(matches!(matrix.set_rows((64, 7), (0, 1), &[0; 7], 1), Err(MatrixError::Index { what: "row", .. })));
    assert!(matches!(matrix.set_rows((0, 1), (3, 1), &[0], 1), Err(MatrixError::Index { what: "column", .. })));
    let primes = moduli(&PRIMES);
    assert!(matches!(ResidueVector::new(&[], &[]), Err(ResidueVectorError::Primes(0))));
    assert!(matches!(ResidueVector::new(&primes, &[0; 3]), Err(ResidueVectorError::Length { .. })));
    let large = moduli(&[1_073_479_681]);
    assert!(matches!(ResidueVector::new(&large, &[0]), Err(ResidueVectorError::TooLarge(_))));
    let right = ResidueVector::new(&primes, &[0; 140]).unwrap();
    let other = ResidueVector::new(&primes[..1], &[0; 70]).unwrap();
    assert!(matches!(product(Kernel::Scalar, &matrix, &[right, other], 1), Err(ProductError::Moduli)));
    let short = ResidueVector::new(&primes, &[0; 138]).unwrap();
    assert!(matches!(product(Kernel::Scalar, &matrix, &[short], 1), Err(ProductError::Length { .. })));
    assert_eq!(product(Kernel::Scalar, &matrix, &[], 1), Ok(Vec::new()));
}

#[test]
fn ring_products_are_those_of_the_coefficients() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let n = 64;
    let primes: Vec<u64> = PRIMES.map(u64::from).to_vec();
    for rows in [5, 64, 100, 64 * 11] {
        let ring = Ring::<u32>::new(n, &primes, Kernel::best()).unwrap();
        let matrix = random_matrix(&mut rng, rows, 4, n);
        let factors: Vec<Poly<u32, Coefficient>> =
            (0..matrix.blocks()).map(|i| ring.expand(&Prg::new([7; 16]), i as u64)).collect();
        let transformed: Vec<_> = factors.iter().map(|factor| ring.forward(factor.clone())).collect();
        let mut out: Vec<_> = (0..3).map(|_| ring.zero()).collect();
        ring_products(&matrix, &ring, &transformed, 1, &mut out).unwrap();
        for (i, out) in out.into_iter().enumerate() {
            let got = ring.inverse(out);
            for (limb, (modulus, _)) in ring.limbs().iter().enumerate() {
                let mut expected = vec![0; n];
                for row in 0..rows {
                    let (entry, factor) = (modulus.from_signed(matrix.get(row, 1 + i).into()), &factors[row / n]);
                    for (k, coefficient) in factor.limb(limb).iter().enumerate() {
                        // X^k X^-row, and X^-n = -1.
                        let at = n + k - row % n;
                        let term = modulus.mul(entry, *coefficient);
                        let term = if at < n { modulus.neg(term) } else { term };
                        expected[at % n] = modulus.add(expected[at % n], term);
                    }
                }
                assert_eq!(got.limb(limb), expected, "{rows} rows, column {}", 1 + i);
            }
        }
        assert!(ring_products(&matrix, &ring, &transformed, 4, &mut [ring.zero()]).is_err());
        assert!(ring_products(&matrix, &ring, &[], 0, &mut [ring.zero()]).is_err());
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn columns_side_by_side_and_lines_ahead_change_no_sum() {
    use super::{ahead::Ahead, avx2, avx512, part::Part, scalar};
    use crate::matrix::lanes::Lanes;
    type Columns = unsafe fn(Part, Ahead, &mut [i64]);
    let all: [(Kernel, usize, Columns); 10] = [
        (Kernel::Avx2, 1, avx2::columns::<3, 1>),
        (Kernel::Avx2, 1, avx2::columns::<3, 2>),
        (Kernel::Avx2, 2, avx2::columns::<6, 1>),
        (Kernel::Avx2, 2, avx2::columns::<6, 2>),
        (Kernel::Avx512, 1, avx512::columns::<3, 1, false>),
        (Kernel::Avx512, 1, avx512::columns::<3, 2, true>),
        (Kernel::Avx512, 1, avx512::columns::<3, 4, true>),
        (Kernel::Avx512, 2, avx512::columns::<6, 1, true>),
        (Kernel::Avx512, 2, avx512::columns::<6, 2, true>),
        (Kernel::Avx512, 2, avx512::columns::<6, 4, false>),
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (height, columns, lines) = (8 * LINE, 7, 5);
    let data: Vec<i16> = (0..height * columns).map(|_| rng.next_u32() as i16).collect();
    let lanes = |count: usize, rng: &mut ChaCha8Rng| -> Vec<Lanes> {
        (0..count).map(|_| Lanes(std::array::from_fn(|_| (rng.next_u32() % 645) as i16 - 322))).collect()
    };
    for primes in [1, 2] {
        let digits = lanes(lines * 3 * primes, &mut rng);
        let part = || Part { data: &data, height, first_row: 2 * LINE, digits: &digits, share: None };
        let mut expected = vec![7; columns * primes];
        scalar::part(part(), primes, &mut expected);
        let lines_ahead = [0, 3, lines, 3 * lines + 1].map(Ahead::Lines);
        let shares = [0, 40, 9 * LINE].map(|share| Ahead::Share(&data[..share]));
        for ahead in lines_ahead.into_iter().chain(shares).chain([0, 7].map(Ahead::Following)) {
            let here = all.iter().filter(|(kernel, of, _)| *of == primes && kernel.check().is_ok());
            for (place, (kernel, _, multiply)) in here.enumerate() {
                let mut sums = vec![7; columns * primes];
                // SAFETY: the processor has the features.
                unsafe { multiply(part(), ahead, &mut sums) };
                assert_eq!(sums, expected, "{kernel} {place}, {primes} primes, {ahead:?}");
            }
        }
    }
}
