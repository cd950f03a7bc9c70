use super::*;
use crate::protocol::tests_support::left_by;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::StdDev;

/// Independent reference: row by row of A, word by word.
impl NegacyclicMatrix {
    /// Row `index` of A.
    pub fn row(&self, index: usize) -> Vec<u32> {
        let n = self.dimension();
        let (element, i) = (self.element(index / n), index % n);
        (0..n).map(|j| if j <= i { element[i - j] } else { element[n + i - j].wrapping_neg() }).collect()
    }
}

#[test]
fn hints_are_products_with_the_rows_of_the_matrix() {
    for kernel in Kernel::available() {
        for (rows, columns, width, dimension) in [(9, 64, 8, 64), (20, 1000, 8, 64), (8, 1, 7, 128), (3, 9000, 3, 64)] {
            let public = NegacyclicMatrix::new(Seed([3; 16]), dimension, kernel).unwrap();
            let mut matrix = PackedMatrix::new(rows, columns, width).unwrap();
            let prg = Prg::new([width as u8; 16]);
            for row in 0..rows {
                let mut bytes = vec![0; columns * 2];
                prg.fill_at((row * columns * 2) as u64, &mut bytes);
                let entries: Vec<u16> = match row {
                    0 => vec![0; columns],
                    1 => vec![(1 << width) - 1; columns],
                    _ => bytes.chunks_exact(2).map(|b| u16::from(b[0]) & ((1 << width) - 1)).collect(),
                };
                matrix.set_row(row, &entries).unwrap();
            }
            let offset = 1u16 << (width - 1);
            let expected = |row: usize| {
                let mut sums = vec![0u32; dimension];
                for column in 0..columns {
                    let entry = i32::from(matrix.get(row, column)) - i32::from(offset);
                    for (sum, a) in sums.iter_mut().zip(public.row(column)) {
                        *sum = sum.wrapping_add((entry as u32).wrapping_mul(a));
                    }
                }
                sums
            };
            let hint = public.hint(columns);
            let mut seen = 0;
            hint.for_groups(&matrix, offset, 0..rows.div_ceil(GROUP_ROWS), |first, words| {
                for (i, words) in words.chunks_exact(dimension).enumerate() {
                    assert_eq!(words, expected(first + i), "row {} of {rows} x {columns}, {kernel}", first + i);
                    seen += 1;
                }
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, rows);
        }
    }
}

#[test]
fn bodies_are_products_with_the_rows_of_the_matrix() {
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let public = NegacyclicMatrix::new(Seed([5; 16]), 64, Kernel::best()).unwrap();
    let error = DiscreteGaussian::new(StdDev(11.0)).unwrap();
    let keys: Vec<Vec<i32>> = (0..20)
        .map(|_| {
            let mut key = vec![0; 64];
            error.fill(&mut rng, &mut key);
            key
        })
        .collect();
    let samples = 1000;
    let bodies = public.encrypt_zero(samples, &keys, &error, &mut rng).unwrap();
    let mut squares = 0.0;
    for (key, body) in keys.iter().zip(&bodies) {
        assert_eq!(body.len(), samples);
        for (i, &b) in body.iter().enumerate() {
            let product =
                public.row(i).iter().zip(key).fold(0u32, |sum, (&a, &s)| sum.wrapping_add(a.wrapping_mul(s as u32)));
            squares += f64::from(b.wrapping_sub(product) as i32).powi(2);
        }
    }
    let variance = squares / (keys.len() * samples) as f64;
    assert!((variance / 121.0 - 1.0).abs() < 1.0 / 16.0, "{variance}");
    assert!(public.encrypt_zero(5, &[vec![0; 32]], &error, &mut rng).is_err());
    assert!(public.encrypt_zero(5, &[vec![5000; 64]], &error, &mut rng).is_err());
}

#[test]
fn transformed_keys_are_wiped() {
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let public = NegacyclicMatrix::new(Seed([5; 16]), 64, Kernel::best()).unwrap();
    let error = DiscreteGaussian::new(StdDev(11.0)).unwrap();
    let mut key = vec![0; 64];
    error.fill(&mut rng, &mut key);
    let transformed = public.ring.forward(public.ring.from_signed_i32(&key));
    for limb in transformed.limbs() {
        let secret = bytemuck::cast([limb[0], limb[1], limb[2], limb[3]]);
        let left = left_by(secret, || public.encrypt_zero(100, std::slice::from_ref(&key), &error, &mut rng).unwrap());
        assert_eq!(left, 0);
    }
}

/// The largest sums: every entry and every key at its bound.
#[test]
fn products_at_the_bounds_are_exact() {
    let public = NegacyclicMatrix::new(Seed([6; 16]), 64, Kernel::best()).unwrap();
    let none = DiscreteGaussian::new(StdDev(0.3)).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let key: Vec<i32> = (0..64).map(|i| if i % 3 == 0 { 1 << 12 } else { -(1 << 12) }).collect();
    let body = public.encrypt_zero(128, std::slice::from_ref(&key), &none, &mut rng).unwrap().remove(0);
    for (i, b) in body.iter().enumerate() {
        let product =
            public.row(i).iter().zip(&key).fold(0u32, |sum, (&a, &s)| sum.wrapping_add(a.wrapping_mul(s as u32)));
        assert!((b.wrapping_sub(product) as i32).abs() <= 3, "sample {i}");
    }
}
