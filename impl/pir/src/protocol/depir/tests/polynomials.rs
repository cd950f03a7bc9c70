//! Monomials, interpolation and plans.

use ring::Modulus;

use super::super::interpolate::{interpolate, inverse_vandermonde};
use super::super::monomials::{Monomials, monomials};

#[test]
fn positions_and_exponents_are_inverse() {
    for (m, degree) in [(1, 7), (2, 5), (3, 4), (4, 6), (6, 3)] {
        let all = Monomials::new(m, degree);
        let mut last: Option<Vec<usize>> = None;
        for position in 0..all.count() {
            let exponents = all.exponents(position);
            assert_eq!(all.position(&exponents), position);
            assert!(exponents.iter().sum::<usize>() <= degree);
            // The order compares the last exponent first.
            let reversed: Vec<usize> = exponents.into_iter().rev().collect();
            assert!(last.is_none_or(|last| last < reversed));
            last = Some(reversed);
        }
        assert!((0..m).all(|variable| all.lines(variable).map(|line| line.len()).sum::<usize>() == all.count()));
        assert_eq!(all.runs(m).iter().sum::<usize>(), all.count());
    }
    assert_eq!(
        [monomials(4, 18), monomials(4, 30), monomials(5, 68), monomials(6, 68)],
        [7315, 46_376, 15_020_334, 185_250_786]
    );
    assert_eq!(monomials(6, 1 << 40), u64::MAX);
}

/// The authors' vectors modulo 17, and the values of each interpolated polynomial at its points, computed term by term.
#[test]
fn interpolation_has_the_values() {
    let modulus = Modulus::new(17u32).unwrap();
    let vectors: [(usize, &[u32]); 3] = [
        (1, &[1, 1, 1, 14]),
        (2, &[1, 1, 1, 14, 1, 2, 8, 1, 8, 14]),
        (3, &[1, 1, 1, 14, 1, 2, 8, 1, 8, 14, 1, 2, 8, 2, 16, 8, 1, 8, 8, 14]),
    ];
    for (m, expected) in vectors {
        let all = Monomials::new(m, 3);
        let mut values = vec![0; all.count()];
        values[0] = 1;
        interpolate(&all, &modulus, &mut values);
        assert_eq!(values, expected);
    }
    let modulus = Modulus::new(257u32).unwrap();
    for (m, degree) in [(1, 9), (2, 11), (3, 7), (4, 4)] {
        let all = Monomials::new(m, degree);
        let values: Vec<u32> = (0..all.count() as u32).map(|i| i * i * 31 % 257).collect();
        let mut coefficients = values.clone();
        interpolate(&all, &modulus, &mut coefficients);
        for (position, value) in values.into_iter().enumerate() {
            let point: Vec<u32> = all.exponents(position).into_iter().map(|x| x as u32).collect();
            assert_eq!(at(&all, &modulus, &coefficients, &point), value);
        }
    }
}

/// A polynomial's value, term by term.
pub fn at(all: &Monomials, modulus: &Modulus<u32>, coefficients: &[u32], point: &[u32]) -> u32 {
    let term = |(position, c): (usize, &u32)| {
        let powers = all.exponents(position).into_iter().zip(point).map(|(e, x)| modulus.pow(*x, e as u64));
        powers.fold(*c, |product, power| modulus.mul(product, power))
    };
    coefficients.iter().enumerate().map(term).fold(0, |sum, term| modulus.add(sum, term))
}

#[test]
fn vandermonde_matrices_are_inverted() {
    let modulus = Modulus::new(1_070_081u32).unwrap();
    let points: Vec<u32> = (0..9).map(|i| i * i + 3).collect();
    let coefficients: Vec<u32> = (0..9).map(|i| 1000 * i + 7).collect();
    let value = |y: &u32| coefficients.iter().rev().fold(0, |sum, c| modulus.add(modulus.mul(sum, *y), *c));
    let values: Vec<u32> = points.iter().map(value).collect();
    for rows in [1, 5, 9] {
        let found = inverse_vandermonde(&modulus, &points, rows);
        let found =
            found.iter().map(|row| row.iter().zip(&values).fold(0, |s, (a, v)| modulus.add(s, modulus.mul(*a, *v))));
        assert_eq!(found.collect::<Vec<_>>(), coefficients[..rows]);
    }
}
