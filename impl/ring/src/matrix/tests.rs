use crate::kernel::{Kernel, KernelError};
use crate::matrix::dense::{digits_accumulate, matvec_u32};
use crate::matrix::operands::ProductError;
use crate::matrix::packed::PackedMatrix;
use crate::matrix::packed::matmul_accumulate;
use crate::matrix::packed::{Vector32, matvec_new};
use proptest::prelude::*;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WIDTHS: [u32; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16];

/// Elements that make carries between the halves and overflows of the sums likely.
fn residues(rng: &mut impl RngCore, count: usize) -> Vec<u32> {
    let extremes = [0, 1, 0x7fff, 0x8000, 0xffff, 0x7fff_8000, 0x8000_8000, u32::MAX];
    (0..count)
        .map(|_| if rng.next_u32() & 1 == 0 { rng.next_u32() } else { extremes[(rng.next_u32() & 7) as usize] })
        .collect()
}

fn random_matrix(rng: &mut impl RngCore, rows: usize, cols: usize, width: u32) -> (PackedMatrix, Vec<u16>) {
    let mask = (1u32 << width.min(15)) - 1;
    let full = rng.next_u32() & 1 == 0;
    let entries: Vec<u16> = (0..rows * cols).map(|_| if full { mask } else { rng.next_u32() & mask } as u16).collect();
    let mut matrix = PackedMatrix::new(rows, cols, width).unwrap();
    for (row, entries) in entries.chunks(cols).enumerate() {
        matrix.set_row(row, entries).unwrap();
    }
    (matrix, entries)
}

/// a (rows x inner) times b (inner x n), the obvious way.
fn naive(a: &[u32], inner: usize, b: &[u32], n: usize) -> Vec<u32> {
    let mut out = vec![0u32; a.len() / inner * n];
    for (row, out) in a.chunks(inner).zip(out.chunks_mut(n)) {
        for (entry, b) in row.iter().zip(b.chunks(n)) {
            out.iter_mut().zip(b).for_each(|(out, b)| *out = out.wrapping_add(entry.wrapping_mul(*b)));
        }
    }
    out
}

fn widen(entries: &[u16]) -> Vec<u32> {
    entries.iter().map(|entry| u32::from(*entry)).collect()
}

#[test]
fn names_round_trip_and_unknown_ones_are_errors() {
    for kernel in Kernel::ALL {
        assert_eq!(kernel.to_string().parse(), Ok(kernel));
    }
    assert_eq!("neon".parse::<Kernel>(), Err(KernelError::Unknown("neon".into())));
    assert!(Kernel::available().contains(&Kernel::Scalar));
    assert_eq!(Kernel::best().check(), Ok(Kernel::best()));
}

fn check_matvec(rows: usize, cols: usize, width: u32, k: usize, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (matrix, entries) = random_matrix(&mut rng, rows, cols, width);
    let queries: Vec<Vec<u32>> = (0..k).map(|_| residues(&mut rng, cols)).collect();
    let prepared: Vec<_> = queries.iter().map(|query| Vector32::prepare(query)).collect();
    let expected: Vec<_> = queries.iter().map(|query| naive(&widen(&entries), cols, query, 1)).collect();
    for kernel in Kernel::available() {
        for threads in [1, 3] {
            let got = matvec_new(kernel, &matrix, &prepared, threads).unwrap();
            assert_eq!(got, expected, "{kernel}, {rows} x {cols}, width {width}, {k} queries, {threads} threads");
        }
    }
}

fn check_matmul(rows: usize, cols: usize, width: u32, n: usize, split: usize, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (matrix, entries) = random_matrix(&mut rng, rows, cols, width);
    let a = residues(&mut rng, cols * n);
    let start = residues(&mut rng, rows * n);
    let product = naive(&widen(&entries), cols, &a, n);
    let expected: Vec<u32> = start.iter().zip(&product).map(|(s, p)| s.wrapping_add(*p)).collect();
    let split = (split * 32).min(cols / 32 * 32);
    for kernel in Kernel::available() {
        for threads in [1, 2] {
            let mut out = start.clone();
            matmul_accumulate(kernel, &matrix, 0, &a[..split * n], n, &mut out, threads).unwrap();
            matmul_accumulate(kernel, &matrix, split, &a[split * n..], n, &mut out, threads).unwrap();
            assert_eq!(out, expected, "{kernel}, {rows} x {cols} x {n}, width {width}, split at {split}");
        }
    }
}

fn check_dense(l: usize, n: usize, delta: usize, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let a = residues(&mut rng, l * n);
    let right = residues(&mut rng, n);
    let digits: Vec<i16> = (0..delta * l).map(|_| rng.next_u32() as i16).collect();
    let start = residues(&mut rng, delta * n);
    let signed: Vec<u32> = digits.iter().map(|digit| i32::from(*digit) as u32).collect();
    let product = naive(&signed, l, &a, n);
    for kernel in Kernel::available() {
        for threads in [1, 3] {
            let mut out = vec![7; l];
            matvec_u32(kernel, &a, &right, &mut out, threads).unwrap();
            assert_eq!(out, naive(&a, n, &right, 1), "{kernel}");
        }
        let mut out = start.clone();
        digits_accumulate(kernel, &digits, l, &a, n, &mut out).unwrap();
        let expected: Vec<u32> = start.iter().zip(&product).map(|(s, p)| s.wrapping_add(*p)).collect();
        assert_eq!(out, expected, "{kernel}");
    }
}

#[test]
fn matvec_equals_the_naive_product_for_every_width_and_query_count() {
    for (seed, width) in WIDTHS.into_iter().enumerate() {
        for (rows, cols, k) in [(1, 1, 1), (8, 32, 1), (9, 33, 2), (20, 700, 3), (7, 95, 4), (50, 40, 5), (130, 260, 9)]
        {
            check_matvec(rows, cols, width, k, seed as u64);
        }
    }
}

#[test]
fn matmul_equals_the_naive_product_for_every_width() {
    for (seed, width) in WIDTHS.into_iter().enumerate() {
        for (rows, cols, n, split) in [(1, 1, 1, 0), (8, 32, 32, 1), (9, 33, 31, 1), (70, 300, 33, 4), (65, 129, 70, 2)]
        {
            check_matmul(rows, cols, width, n, split, seed as u64);
        }
    }
}

#[test]
fn largest_entries_and_elements_do_not_saturate() {
    // 0x8000_8000 has both halves at -2^15: the extreme of a 16-bit multiplication.
    for (width, element) in WIDTHS.into_iter().flat_map(|w| [(w, 0x7fff_8000), (w, 0x8000_8000), (w, u32::MAX)]) {
        let top = ((1u32 << width.min(15)) - 1) as u16;
        let mut matrix = PackedMatrix::new(8, 640, width).unwrap();
        (0..8).for_each(|row| matrix.set_row(row, &[top; 640]).unwrap());
        let expected = u32::from(top).wrapping_mul(element).wrapping_mul(640);
        for kernel in Kernel::available() {
            let got = matvec_new(kernel, &matrix, &[Vector32::prepare(&[element; 640])], 1).unwrap();
            assert_eq!(got[0], [expected; 8], "{kernel}, width {width}");
            let mut out = vec![0; 8 * 32];
            matmul_accumulate(kernel, &matrix, 0, &[element; 640 * 32], 32, &mut out, 1).unwrap();
            assert_eq!(out, [expected; 8 * 32], "{kernel}, width {width}");
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_errors() {
    let matrix = PackedMatrix::new(5, 70, 9).unwrap();
    let short = [Vector32::prepare(&[0; 69])];
    assert!(matches!(matvec_new(Kernel::Scalar, &matrix, &short, 1), Err(ProductError::Length { .. })));
    assert_eq!(matvec_new(Kernel::Scalar, &matrix, &[], 1), Ok(vec![]));
    let mut out = vec![0; 5 * 2];
    let mut run =
        |first, rows: usize| matmul_accumulate(Kernel::Scalar, &matrix, first, &vec![0; rows * 2], 2, &mut out, 1);
    assert_eq!(run(0, 70), Ok(()));
    assert_eq!(run(64, 6), Ok(()));
    assert_eq!(run(1, 32), Err(ProductError::Alignment(1)));
    assert_eq!(run(0, 31), Err(ProductError::Alignment(31)));
    assert!(matches!(run(64, 7), Err(ProductError::Length { .. })));
    assert!(matvec_u32(Kernel::Scalar, &[0; 5], &[0; 2], &mut [0; 2], 1).is_err());
    assert!(digits_accumulate(Kernel::Scalar, &[0; 5], 2, &[0; 4], 2, &mut [0; 4]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn matvec_on_random_shapes(rows in 1usize..150, cols in 1usize..500, w in 0usize..12, k in 1usize..=5, seed: u64) {
        check_matvec(rows, cols, WIDTHS[w], k, seed);
    }

    #[test]
    fn matmul_on_random_shapes(
        rows in 1usize..140, cols in 1usize..300, w in 0usize..12, n in 1usize..80, split in 0usize..5, seed: u64,
    ) {
        check_matmul(rows, cols, WIDTHS[w], n, split, seed);
    }

    #[test]
    fn dense_products_on_random_shapes(l in 1usize..40, n in 1usize..1200, delta in 1usize..7, seed: u64) {
        check_dense(l, n, delta, seed);
    }
}
