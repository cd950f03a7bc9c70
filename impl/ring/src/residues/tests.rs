use super::*;
use proptest::prelude::*;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Residues with many extremes among them.
pub(crate) fn residues<W: Word>(rng: &mut impl RngCore, q: u64, len: usize) -> Vec<W> {
    (0..len)
        .map(|_| match rng.next_u32() % 5 {
            0 => q - 1,
            1 => 0,
            _ => rng.next_u64() % q,
        })
        .map(W::from_u64)
        .collect()
}

fn wide<W: Word>(values: &[W]) -> Vec<u128> {
    values.iter().map(|value| value.to_u64().into()).collect()
}

/// Every operation on every path against remainders of 128-bit integers.
fn check<W: Word>(q: u64, len: usize, terms: usize, columns: usize, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (modulus, q128) = (Modulus::new(W::from_u64(q)).unwrap(), u128::from(q));
    let [a, b, acc]: [Vec<W>; 3] = std::array::from_fn(|_| residues(&mut rng, q, len));
    let (wa, wb, wacc) = (wide(&a), wide(&b), wide(&acc));
    let scalar = residues::<W>(&mut rng, q, 1)[0];
    let left: Vec<Vec<W>> = (0..terms).map(|_| residues(&mut rng, q, len)).collect();
    let right: Vec<Vec<W>> = (0..terms * columns).map(|_| residues(&mut rng, q, len)).collect();
    let words: Vec<u64> =
        (0..len).map(|i| if i % 3 == 0 { u64::MAX - i as u64 } else { rng.next_u64() >> (i % 64) }).collect();
    let bound = (q.min(1 << 31) - 1).max(1) as i64;
    let small: Vec<i32> = (0..len).map(|_| (rng.next_u64() as i64 % bound) as i32).collect();
    let any: Vec<i32> = (0..len).map(|i| if i == 0 { i32::MIN } else { rng.next_u32() as i32 }).collect();
    for kernel in Kernel::available() {
        let vectors = Vectors::new(kernel).unwrap();
        let expect = |name: &str, got: &[W], expected: &dyn Fn(usize) -> u128| {
            let expected: Vec<u128> = (0..len).map(expected).collect();
            assert_eq!(wide(got), expected, "{name}, {kernel}, q = {q}, {len} elements");
        };
        let mut out = a.clone();
        vectors.add(&modulus, &mut out, &b);
        expect("add", &out, &|i| (wa[i] + wb[i]) % q128);
        out.copy_from_slice(&a);
        vectors.sub(&modulus, &mut out, &b);
        expect("sub", &out, &|i| (wa[i] + q128 - wb[i]) % q128);
        out.copy_from_slice(&a);
        vectors.neg(&modulus, &mut out);
        expect("neg", &out, &|i| (q128 - wa[i]) % q128);
        out.copy_from_slice(&a);
        vectors.mul(&modulus, &mut out, &b);
        expect("mul", &out, &|i| wa[i] * wb[i] % q128);
        out.copy_from_slice(&acc);
        vectors.mul_add(&modulus, &mut out, &a, &b);
        expect("mul_add", &out, &|i| (wacc[i] + wa[i] * wb[i]) % q128);
        out.copy_from_slice(&a);
        vectors.mul_scalar(&modulus, &mut out, scalar);
        expect("mul_scalar", &out, &|i| wa[i] * u128::from(scalar.to_u64()) % q128);
        if q % 2 == 1 {
            let mut parts = [(); 3].map(|()| vec![W::default(); len]);
            vectors.tensor(&modulus, [&a, &b], [&acc, &a], &acc, parts.each_mut().map(Vec::as_mut_slice));
            let radix = modulus.pow(modulus.reduce_u64(2), 2 * u64::from(W::BITS));
            parts.iter_mut().for_each(|part| vectors.mul_scalar(&modulus, part, radix));
            let times = |i: usize, sum: u128| sum % q128 * wacc[i] % q128;
            expect("tensor", &parts[0], &|i| times(i, wa[i] * wacc[i]));
            expect("tensor", &parts[1], &|i| times(i, wa[i] * wa[i] + wb[i] * wacc[i]));
            expect("tensor", &parts[2], &|i| times(i, wb[i] * wa[i]));
        }
        if W::BITS == 32 && modulus.bits() > 3 {
            let base_log2 = modulus.bits().div_ceil(3);
            let mut digits = vec![0; 3 * len];
            vectors.balanced_digits(&modulus, &a, base_log2, &mut digits);
            for i in 0..len {
                let [low, middle, high] = [0, 1, 2].map(|t| i64::from(digits[t * len + i]));
                assert_eq!((high << (2 * base_log2)) + (middle << base_log2) + low, modulus.centred(a[i]), "{kernel}");
                assert!(low.abs().max(middle.abs()) <= 1 << (base_log2 - 1));
            }
        }
        vectors.reduce(&modulus, &words, &mut out);
        expect("reduce", &out, &|i| u128::from(words[i]) % q128);
        for signed in [&small, &any] {
            vectors.reduce_signed(&modulus, signed, &mut out);
            expect("reduce_signed", &out, &|i| i128::from(signed[i]).rem_euclid(q.into()) as u128);
        }
        let mut outs = vec![vec![W::from_u64(1); len]; columns];
        let left: Vec<&[W]> = left.iter().map(Vec::as_slice).collect();
        let right: Vec<&[W]> = right.iter().map(Vec::as_slice).collect();
        vectors.sum_products(&modulus, &left, &right, &mut outs.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
        for (c, out) in outs.iter().enumerate() {
            expect("sum_products", out, &|i| {
                (0..terms).fold(0, |sum, t| {
                    (sum + u128::from(left[t][i].to_u64()) * u128::from(right[t * columns + c][i].to_u64())) % q128
                })
            });
        }
    }
}

/// Multiples of the blocks of every path, and lengths that leave a remainder.
fn lengths() -> impl Strategy<Value = usize> {
    prop_oneof![0usize..140, (1usize..4).prop_map(|blocks| 64 * blocks)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn slices_of_32_bit_residues(
        bits in 1u32..=31, random: u32, len in lengths(), terms in 0usize..20, columns in 1usize..8, seed: u64
    ) {
        let q = ((random >> (32 - bits)) | 1 << (bits - 1)).max(2);
        check::<u32>(q.into(), len, terms, columns, seed);
    }

    #[test]
    fn slices_of_64_bit_residues(
        bits in 1u32..=62, random: u64, len in lengths(), terms in 0usize..12, columns in 1usize..4, seed: u64
    ) {
        check::<u64>(((random >> (64 - bits)) | 1 << (bits - 1)).max(2), len, terms, columns, seed);
    }
}

#[test]
fn extreme_moduli_and_sums_longer_than_the_word() {
    for q in [2, 3, 1 << 7, 1 << 8, (1 << 8) + 1, (1 << 28) - 57, 1 << 30, (1 << 31) - 1] {
        check::<u32>(q, 64, 600, 3, q);
        check::<u32>(q, 70, 600, 2, q);
    }
    for q in [2, 1 << 32, (1 << 50) - 27, (1 << 51) - 1, 1 << 51, (1 << 62) - 1] {
        check::<u64>(q, 64, 100, 3, q);
        check::<u64>(q, 70, 100, 2, q);
    }
}

/// Sums of the largest products, on both sides of every bound: of one quotient estimate, of the word, of the sum it is reduced to.
#[test]
fn largest_sums_are_reduced() {
    for bits in 8..=31u32 {
        for q in [(1u64 << (bits - 1)) + 1, (1 << bits) - 1] {
            let modulus = Modulus::new(q as u32).unwrap();
            let square = (q - 1).pow(2);
            let estimated = (1u64 << (modulus.bits() + 31).min(63)) / square;
            let wide = scalar::terms_u32(&modulus) as u64;
            let counts = [estimated, wide, 2 * wide].map(|bound| bound.saturating_sub(1)..=bound + 2);
            for terms in counts.into_iter().flatten().filter(|terms| *terms <= 1100) {
                let (largest, n) = (vec![q as u32 - 1; TILE], TILE);
                // One factor less by one in the last term: not all sums are multiples of that of one term.
                let last: Vec<u32> = (0..n).map(|i| (q - 1) as u32 - (i % 2) as u32).collect();
                let terms = terms as usize;
                let left = vec![&largest[..]; terms];
                let mut right = vec![&largest[..]; 7 * terms];
                right.iter_mut().rev().take(7).for_each(|right| *right = &last);
                let expected: Vec<u32> = (0..n)
                    .map(|i| {
                        let less = if terms > 0 { u128::from(q - 1) * (i % 2) as u128 } else { 0 };
                        ((terms as u128 * u128::from(square) - less) % u128::from(q)) as u32
                    })
                    .collect();
                for kernel in Kernel::available() {
                    let mut outs = vec![vec![1; n]; 7];
                    let mut out: Vec<&mut [u32]> = outs.iter_mut().map(Vec::as_mut_slice).collect();
                    Vectors::new(kernel).unwrap().sum_products(&modulus, &left, &right, &mut out);
                    assert!(outs.iter().all(|out| *out == expected), "{kernel}, q = {q}, {terms} terms");
                }
            }
        }
    }
}

#[test]
fn pairs_of_residues_compose() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (p0, p1) in
        [(7u32, 11), (257, (1 << 31) - 1), ((1 << 28) - 273, (1 << 28) - 57), ((1 << 31) - 19, (1 << 31) - 1)]
    {
        let inverse = Modulus::new(p1).unwrap().inverse(p0 % p1).unwrap();
        let product = u64::from(p0) * u64::from(p1);
        let values: Vec<u64> = residues(&mut rng, product, 100);
        let a: Vec<u32> = values.iter().map(|value| (value % u64::from(p0)) as u32).collect();
        let b: Vec<u32> = values.iter().map(|value| (value % u64::from(p1)) as u32).collect();
        let wide = |values: &[u32]| values.iter().map(|value| u64::from(*value)).collect::<Vec<_>>();
        for kernel in Kernel::available() {
            let (vectors, mut out) = (Vectors::new(kernel).unwrap(), vec![0; 100]);
            u32::compose_pair(vectors, (p0, p1), inverse, (&a, &b), &mut out);
            assert_eq!(out, values);
            let primes = (u64::from(p0), u64::from(p1));
            u64::compose_pair(vectors, primes, inverse.into(), (&wide(&a), &wide(&b)), &mut out);
            assert_eq!(out, values);
        }
    }
}

#[test]
fn multiples_of_rows_are_added() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for (rows, width) in [(0, 5), (1, 1), (3, 17), (8, 64), (9, 783)] {
        let digits: Vec<i32> = (0..rows).map(|_| rng.next_u32() as i32 >> 11).collect();
        let elements: Vec<u32> = (0..rows * width).map(|_| rng.next_u32() >> 1).collect();
        let before: Vec<u32> = (0..width).map(|_| rng.next_u32()).collect();
        let exact: Vec<i64> = (0..width)
            .map(|j| {
                let products =
                    digits.iter().enumerate().map(|(t, d)| i64::from(*d) * i64::from(elements[t * width + j]));
                i64::from(before[j]) + products.sum::<i64>()
            })
            .collect();
        for kernel in Kernel::available() {
            let vectors = Vectors::new(kernel).unwrap();
            let mut wrapping = before.clone();
            vectors.add_multiples(&digits, &elements, &mut wrapping);
            assert!(wrapping.iter().zip(&exact).all(|(found, exact)| *found == *exact as u32), "{kernel}, {rows} rows");
            let mut wide: Vec<i64> = before.iter().map(|x| i64::from(*x)).collect();
            vectors.add_wide_multiples(&digits, &elements, &mut wide);
            assert_eq!(wide, exact, "{kernel}, {rows} rows");
        }
    }
}

fn tiles<W: Word>(q: u64, n: usize, (groups, terms, columns): (usize, usize, usize)) {
    let mut rng = ChaCha8Rng::seed_from_u64(q);
    let modulus = Modulus::new(W::from_u64(q)).unwrap();
    let pitch = n + TILE;
    let left: Vec<W> = residues(&mut rng, q, groups * terms * pitch);
    let right: Vec<Vec<W>> = (0..terms * columns).map(|_| residues(&mut rng, q, n)).collect();
    let slices: Vec<&[W]> = right.iter().map(Vec::as_slice).collect();
    let of_column = |column: usize| {
        let tiles = |at: usize| right.iter().skip(column).step_by(columns).flat_map(move |x| x[at..at + TILE].to_vec());
        (0..n).step_by(TILE).flat_map(tiles).collect()
    };
    let tiled: Vec<Vec<W>> = (0..columns).map(of_column).collect();
    let tiled: Vec<&[W]> = tiled.iter().map(Vec::as_slice).collect();
    for kernel in Kernel::available() {
        let vectors = Vectors::new(kernel).unwrap();
        let mut found = vec![W::from_u64(1); groups * columns * pitch];
        vectors.sum_tiles(&modulus, n, &left, &tiled, &mut found);
        for (left, found) in left.chunks_exact(terms * pitch).zip(found.chunks_exact(columns * pitch)) {
            let left: Vec<&[W]> = left.chunks_exact(pitch).map(|x| &x[..n]).collect();
            let mut expected = vec![vec![W::default(); n]; columns];
            let mut out: Vec<&mut [W]> = expected.iter_mut().map(Vec::as_mut_slice).collect();
            vectors.sum_products(&modulus, &left, &slices, &mut out);
            for (found, expected) in found.chunks_exact(pitch).zip(&expected) {
                assert_eq!(
                    found[..n],
                    expected[..],
                    "{kernel}, q = {q}, {groups} groups, {terms} terms, {columns} columns"
                );
                // What lies between vectors is left alone.
                assert!(found[n..].iter().all(|x| *x == W::from_u64(1)));
            }
        }
    }
}

#[test]
fn sums_by_tiles_are_sums_of_products() {
    // A short modulus, one whose sums are reduced on the way, the usual ones; single groups and columns beside pairs.
    for (q, terms) in [(97, 3), ((1 << 31) - 1, 9), ((1 << 28) - 57, 7), ((1 << 28) - 57, 14), (1 << 28, 300)] {
        tiles::<u32>(q, 2 * TILE, (1, terms, 2));
        tiles::<u32>(q, 3 * TILE, (4, terms, 5));
        tiles::<u32>(q, TILE, (3, terms, 3));
    }
    for q in [97, (1 << 50) - 27, (1 << 61) + 1] {
        tiles::<u64>(q, 2 * TILE, (2, 6, 3));
    }
}

/// Combinations on every path against remainders of 128-bit integers: random residues, or the largest everywhere.
fn check_combination<W: Word>(from: &[u64], to: &[u64], n: usize, short: bool, largest: bool) {
    let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
    let mut residues =
        |q: u64, n: usize| -> Vec<W> { if largest { vec![W::from_u64(q - 1); n] } else { residues(&mut rng, q, n) } };
    let moduli =
        |moduli: &[u64]| -> Vec<Modulus<W>> { moduli.iter().map(|q| Modulus::new(W::from_u64(*q)).unwrap()).collect() };
    let (rows, sums): (Vec<Vec<W>>, Vec<Vec<W>>) =
        (from.iter().map(|q| residues(*q, n)).collect(), to.iter().map(|q| residues(*q, n)).collect());
    let factors: Vec<Vec<W>> = to.iter().map(|q| residues(*q, from.len() + 1)).collect();
    let combination = Combination::new(&moduli(from), moduli(to).into_iter().zip(factors.iter().cloned()));
    assert_eq!(combination.short, short, "{from:?}");
    let expected = |i: usize, j: usize, add: bool| {
        let fractions = rows.iter().zip(from).map(|(row, q)| row[j].to_u64() as f64 / *q as f64);
        let quotient = (fractions.sum::<f64>() + 0.5).floor() as u128;
        let products = rows.iter().map(|row| row[j].to_u64().into()).chain([quotient]).zip(&factors[i]);
        let first = if add { u128::from(sums[i][j].to_u64()) } else { 0 };
        products.fold(first, |sum, (x, factor)| (sum + x * u128::from(factor.to_u64())) % u128::from(to[i])) as u64
    };
    for kernel in Kernel::available() {
        for add in [false, true] {
            let mut out = sums.concat();
            Vectors::new(kernel).unwrap().combine(&combination, n, &rows.concat(), &mut out, add);
            for (at, found) in out.iter().enumerate() {
                assert_eq!(found.to_u64(), expected(at / n, at % n, add), "{kernel}, {from:?} to {to:?}");
            }
        }
    }
}

#[test]
fn rows_are_combined() {
    const LONG: u64 = (1 << 28) - 57;
    const LONGEST: [u64; 3] = [(1 << 31) - 1, (1 << 31) - 19, (1 << 31) - 61];
    let primes: Vec<u64> = crate::primes::primes_below(28, 8192).take(9).collect();
    let mut cases: Vec<(&[u64], &[u64])> =
        (1..=9).map(|count| (&primes[..count], &[LONG, (1 << 31) - 1, 3][..])).collect();
    cases.push((&LONGEST[..2], &LONGEST));
    cases.push((&LONGEST, &LONGEST));
    // Targets that are even.
    cases.push((&LONGEST[..2], &[1 << 30]));
    cases.push((&[257, 65_537], &[1 << 20, 101]));
    for (from, to) in cases {
        for (n, largest) in [(32, false), (40, false), (32, true)] {
            check_combination::<u32>(from, to, n, from.len() < 3 || from[0] != LONGEST[0], largest);
            check_combination::<u64>(from, to, n, true, largest);
        }
    }
    for largest in [false, true] {
        check_combination::<u64>(&[(1 << 61) - 1, (1 << 50) - 27], &[(1 << 60) - 93, 1 << 61], 32, true, largest);
        check_combination::<u64>(&[(1 << 62) - 57; 5], &[(1 << 61) - 1, (1 << 62) - 57], 32, false, largest);
    }
}
