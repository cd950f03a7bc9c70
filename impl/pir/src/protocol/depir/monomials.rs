//! Exponents of total degree at most D in m variables, in the paper's order (appendix B): blocks by the exponent of the last variable, each
//! ordered so in turn, the first variable innermost. Records have them as points too.

/// All of them. Any set with an exponent has those below it, so that positions add up from blocks.
#[derive(Clone, Debug)]
pub struct Monomials {
    variables: usize,
    degree: usize,
    /// Of v variables and degree d, at [v][d][i], the monomials before those whose last exponent is i.
    starts: Vec<Vec<Vec<usize>>>,
}

/// C(D + m, m): monomials, and records; beyond 2^64 the largest number.
pub fn monomials(variables: usize, degree: usize) -> u64 {
    let product = |count: u128, i: usize| (count * (degree + i) as u128 / i as u128).min(u128::from(u64::MAX) << 8);
    (1..=variables).fold(1, product).min(u64::MAX.into()) as u64
}

impl Monomials {
    /// Of `variables` at least one.
    pub fn new(variables: usize, degree: usize) -> Self {
        let starts = |v: usize, d: usize| {
            let before = |sum: &mut usize, i: usize| {
                let start = *sum;
                *sum += monomials(v.saturating_sub(1), d - i) as usize;
                Some(start)
            };
            (0..=d).scan(0, before).collect()
        };
        let starts = (0..=variables).map(|v| (0..=degree).map(|d| starts(v, d)).collect()).collect();
        Self { variables, degree, starts }
    }

    /// m.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// D.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Their number.
    pub fn count(&self) -> usize {
        monomials(self.variables, self.degree) as usize
    }

    /// The position of exponents whose sum is at most D.
    pub fn position(&self, exponents: &[usize]) -> usize {
        let (mut position, mut left) = (0, self.degree);
        for (v, exponent) in exponents.iter().enumerate().rev() {
            position += self.starts[v + 1][left][*exponent];
            left -= exponent;
        }
        position
    }

    /// The exponents at a position.
    pub fn exponents(&self, mut position: usize) -> Vec<usize> {
        let (mut exponents, mut left) = (vec![0; self.variables], self.degree);
        for v in (0..self.variables).rev() {
            let starts = &self.starts[v + 1][left];
            let exponent = starts.partition_point(|start| *start <= position) - 1;
            position -= starts[exponent];
            exponents[v] = exponent;
            left -= exponent;
        }
        exponents
    }

    /// The lines along a variable: positions of equal other exponents, its exponent ascending from zero.
    pub fn lines(&self, variable: usize) -> impl Iterator<Item = Vec<usize>> {
        let starts = (0..self.count()).map(|position| self.exponents(position));
        starts.filter(move |exponents| exponents[variable] == 0).map(move |mut exponents| {
            let length = self.degree - exponents.iter().sum::<usize>() + 1;
            let at = |i| {
                exponents[variable] = i;
                self.position(&exponents)
            };
            (0..length).map(at).collect()
        })
    }

    /// Numbers of monomials that differ in the first variable alone, in the order of the first `variables` ones.
    pub fn runs(&self, variables: usize) -> Vec<usize> {
        let rest = Self::new(variables - 1, self.degree);
        let run = |position| self.degree + 1 - rest.exponents(position).iter().sum::<usize>();
        (0..rest.count()).map(run).collect()
    }
}
