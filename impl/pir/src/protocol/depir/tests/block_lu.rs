//! The paper's way to interpolate (appendix B), as a reference: block LU of the generalised Vandermonde matrix.

use ring::Modulus;

use super::super::interpolate::interpolate;
use super::super::monomials::Monomials;

/// Polynomials in fewer variables: the entries of a block by their exponents, as far as their degree is at most this.
fn restricted(all: &Monomials, block: &[u32], degree: usize) -> Vec<u32> {
    let fits = |position: &usize| all.exponents(*position).iter().sum::<usize>() <= degree;
    (0..block.len()).filter(fits).map(|position| block[position]).collect()
}

/// Solves A x = y in place, for values y at the points of `variables` variables and total degree `degree`.
fn solve(q: &Modulus<u32>, variables: usize, degree: usize, y: &mut [u32]) {
    if variables == 0 {
        return;
    }
    let of = |i: usize| Monomials::new(variables - 1, degree - i);
    let sizes: Vec<usize> = (0..=degree).map(|i| of(i).count()).collect();
    let mut rest = &*y;
    let split = |size: &usize| {
        let (block, after) = rest.split_at(*size);
        rest = after;
        block.to_vec()
    };
    let mut blocks: Vec<Vec<u32>> = sizes.iter().map(split).collect();
    let sub = |block: &mut Vec<u32>, factor: u32, other: &[u32]| {
        block.iter_mut().zip(other).for_each(|(y, x)| *y = q.sub(*y, q.mul(factor, *x)));
    };
    let difference = |i: usize, k: usize| q.from_signed(i as i64 - k as i64);
    // Columns of the unit lower triangle, the first first.
    for j in 0..=degree {
        for i in j + 1..=degree {
            let quotient = |k| q.mul(difference(i, k), q.inverse(difference(j, k)).unwrap());
            let factor = (0..j).map(quotient).fold(1, |product, x| q.mul(product, x));
            let other = restricted(&of(j), &blocks[j], degree - i);
            sub(&mut blocks[i], factor, &other);
        }
    }
    // Columns of the upper triangle, the last first.
    for j in (0..=degree).rev() {
        let diagonal = (0..j).map(|k| difference(j, k)).fold(1, |product, x| q.mul(product, x));
        let mut block = std::mem::take(&mut blocks[j]);
        solve(q, variables - 1, degree - j, &mut block);
        let inverse = q.inverse(diagonal).unwrap();
        block.iter_mut().for_each(|x| *x = q.mul(*x, inverse));
        for i in 0..j {
            let product = (0..i).map(|k| difference(i, k)).fold(1, |product, x| q.mul(product, x));
            let factor = q.mul(product, homogeneous(q, j - i, i));
            // Values of the block's polynomial at the points of block i.
            let (points, terms) = (of(i), of(j));
            let value = |position: usize| {
                let point: Vec<u32> = points.exponents(position).into_iter().map(|x| x as u32).collect();
                super::polynomials::at(&terms, q, &block, &point)
            };
            let values: Vec<u32> = (0..sizes[i]).map(value).collect();
            sub(&mut blocks[i], factor, &values);
        }
        blocks[j] = block;
    }
    y.iter_mut().zip(blocks.concat()).for_each(|(y, x)| *y = x);
}

/// The complete homogeneous symmetric polynomial of degree r at 0, 1, ..., i.
fn homogeneous(q: &Modulus<u32>, r: usize, i: usize) -> u32 {
    let mut sums = vec![0; r + 1];
    sums[0] = 1;
    for z in 0..=i as u32 {
        (1..=r).for_each(|r| sums[r] = q.add(sums[r], q.mul(z, sums[r - 1])));
    }
    sums[r]
}

#[test]
fn divided_differences_solve_the_papers_system() {
    let q = Modulus::new(65_537u32).unwrap();
    for (m, degree) in [(1, 12), (2, 9), (3, 6), (4, 4)] {
        let all = Monomials::new(m, degree);
        let mut values: Vec<u32> = (0..all.count() as u32).map(|i| (i * i * 40_503 + 17 * i + 3) % 65_537).collect();
        let mut expected = values.clone();
        solve(&q, m, degree, &mut expected);
        interpolate(&all, &q, &mut values);
        assert_eq!(values, expected, "{m} variables, degree {degree}");
    }
}
