//! The polynomial of total degree D that has given values at the points of its own exponents.
//!
//! The points are a lower set, so divided differences along one variable after the other give the coefficients of Newton's basis, and
//! lines along each variable then become sums of monomials: O(N D m) products, where the paper's block LU (appendix B) has O(N^2).

use ring::{Kind, Modulus, Work};

use super::monomials::Monomials;

/// Replaces the values at the points, in the order of the monomials, by the coefficients. D is below the prime modulus.
pub fn interpolate(monomials: &Monomials, modulus: &Modulus<u32>, values: &mut [u32]) {
    let small: Vec<u32> = (0..=monomials.degree() as u64).map(|i| modulus.reduce_u64(i)).collect();
    let inverses: Vec<u32> = small.iter().map(|i| modulus.inverse(*i).unwrap_or_default()).collect();
    for_each_line(monomials, values, |line| {
        for (k, inverse) in inverses.iter().enumerate().take(line.len()).skip(1) {
            for i in (k..line.len()).rev() {
                line[i] = modulus.mul(modulus.sub(line[i], line[i - 1]), *inverse);
            }
        }
    });
    for_each_line(monomials, values, |line| {
        for (k, node) in small.iter().enumerate().take(line.len()).rev() {
            for i in k..line.len() - 1 {
                line[i] = modulus.sub(line[i], modulus.mul(*node, line[i + 1]));
            }
        }
    });
}

fn for_each_line(monomials: &Monomials, values: &mut [u32], change: impl Fn(&mut [u32])) {
    for variable in 0..monomials.variables() {
        for places in monomials.lines(variable) {
            let mut line: Vec<u32> = places.iter().map(|place| values[*place]).collect();
            change(&mut line);
            places.iter().zip(line).for_each(|(place, value)| values[*place] = value);
        }
    }
}

/// The work of [`interpolate`] of `count` monomials.
pub fn interpolate_work(variables: usize, degree: usize, count: u64) -> Work {
    // Lines have half of D entries on average, and two passes.
    Work::of(Kind::ResidueMultiplyAdds, &[count, degree as u64, variables as u64])
}

/// The matrix whose row j gives coefficient j, below `rows`, of the polynomial with given values at distinct points.
pub fn inverse_vandermonde(modulus: &Modulus<u32>, points: &[u32], rows: usize) -> Vec<Vec<u32>> {
    let k = points.len();
    // The product of all Y - y, the coefficient of Y^0 first.
    let mut master = vec![1];
    for y in points {
        master.insert(0, 0);
        for i in 0..master.len() - 1 {
            master[i] = modulus.sub(master[i], modulus.mul(*y, master[i + 1]));
        }
    }
    let mut matrix = vec![vec![0; k]; rows];
    for (column, y) in points.iter().enumerate() {
        // The product without Y - y, by synthetic division, and its value at y.
        let mut quotient = vec![0; k];
        for i in (0..k).rev() {
            let next = quotient.get(i + 1).copied().unwrap_or_default();
            quotient[i] = modulus.add(master[i + 1], modulus.mul(*y, next));
        }
        let value = quotient.iter().rev().fold(0, |sum, c| modulus.add(modulus.mul(sum, *y), *c));
        let scale = modulus.inverse(value).unwrap_or_default();
        matrix.iter_mut().zip(&quotient).for_each(|(row, c)| row[column] = modulus.mul(*c, scale));
    }
    matrix
}
