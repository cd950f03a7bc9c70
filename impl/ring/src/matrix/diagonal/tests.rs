use super::*;
use crate::kernel::Kernel;
use crate::primes::primes_below;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Entry (row, column) of band `band` by the definition of the storage.
fn entry(matrix: &BlockDiagonal, band: usize, side: usize, row: usize, column: usize) -> u64 {
    if row / side != column / side {
        return 0;
    }
    matrix.columns(row / LINE, band)[column % side][row % LINE].into()
}

fn check(bits: u32, n: usize, sides: &[usize], largest: bool) {
    let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
    let q = primes_below(bits, 2).next().unwrap();
    let modulus = Modulus::new(q as u32).unwrap();
    let mut residue = || if largest { q as u32 - 1 } else { rng.next_u32() % q as u32 };
    let mut matrix = BlockDiagonal::zero(&modulus, n, sides).unwrap();
    assert_eq!(matrix.bytes(), 4 * n * sides.iter().sum::<usize>());
    for (strip, band) in (0..n / LINE).flat_map(|strip| (0..sides.len()).map(move |band| (strip, band))) {
        matrix.columns_mut(strip, band).as_flattened_mut().fill_with(&mut residue);
    }
    let count = 2 * MAX_BATCH + 3;
    let inputs: Vec<Vec<Vec<u32>>> =
        (0..count).map(|_| sides.iter().map(|_| (0..n).map(|_| residue()).collect()).collect()).collect();
    let expected: Vec<Vec<u32>> = inputs
        .iter()
        .map(|input| {
            let row = |row: usize| {
                let mut sum = 0u128;
                for (band, &side) in sides.iter().enumerate() {
                    for (column, &x) in input[band].iter().enumerate() {
                        sum += u128::from(entry(&matrix, band, side, row, column)) * u128::from(x);
                    }
                }
                (sum % u128::from(q)) as u32
            };
            (0..n).map(row).collect()
        })
        .collect();
    let inputs: Vec<Vec<&[u32]>> = inputs.iter().map(|input| input.iter().map(|x| &x[..]).collect()).collect();
    for kernel in Kernel::available() {
        let vectors = Vectors::new(kernel).unwrap();
        for batch in [1, 2, 3, 4, 5, 8, count] {
            let mut out = vec![vec![0; n]; batch];
            let mut views: Vec<&mut [u32]> = out.iter_mut().map(|out| &mut out[..]).collect();
            matrix.multiply(vectors, &inputs[..batch], &mut views);
            assert_eq!(out, expected[..batch], "{kernel}, {batch} vectors, {bits} bits");
        }
    }
}

#[test]
fn products_are_those_of_the_definition() {
    check(28, 64, &[64, 64, 16, 32], false);
    check(31, 32, &[16, 32], false);
    check(10, 48, &[16], false);
    check(28, 16, &[], false);
}

#[test]
fn sums_do_not_overflow() {
    // 1024 products of 28 bits, and 96 of 31 bits, need 66 and 69 bits.
    check(28, 512, &[512, 512], true);
    check(31, 96, &[96], true);
}

#[test]
fn blocks_tile_the_diagonal() {
    let modulus = Modulus::new(17).unwrap();
    for (n, side) in [(32, 8), (32, 0), (48, 32), (32, 64)] {
        assert_eq!(BlockDiagonal::zero(&modulus, n, &[side]).unwrap_err(), DiagonalError::Side { side, n });
    }
}
