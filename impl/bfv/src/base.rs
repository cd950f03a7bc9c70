//! Numbers from one residue number system in another, and their rounded division by what is dropped.

use ring::{Combination, Kind, Modulus, Ring, RingShape, Vectors, Word, Work};

/// Takes centred numbers modulo Q to residues modulo other primes.
///
/// x = sum_i y_i Q/q_i - v Q with the parts y_i = x (Q/q_i)^-1 modulo q_i and v the integer nearest to sum_i y_i / q_i. That sum is in
/// fixed point, so that x near Q/2 (within 2^-20 Q where the q_i are of like length) may count as x - Q or x + Q: equal modulo Q, and
/// nearly as small.
#[derive(Clone, Debug)]
pub(crate) struct Conversion<W> {
    vectors: Vectors,
    from: Vec<Modulus<W>>,
    /// (Q/q_i)^-1 modulo q_i.
    inverses: Vec<W>,
    to: Vec<Modulus<W>>,
    sums: Combination<W>,
}

/// The work of [`Conversion::convert`] for `polynomials` of a ring's degree from the ring's primes to `to` others: a product for each pair of
/// primes and one for the multiple of Q; from one prime a sum for each other.
pub(crate) fn conversion_work(ring: RingShape, to: usize, polynomials: u64) -> Work {
    let kind = if ring.primes > 1 { Kind::ConvertedResidues } else { Kind::ResidueMultiplyAdds };
    let terms = if ring.primes > 1 { ring.primes + 1 } else { 1 };
    Work::of(kind, &[(ring.degree * to * terms) as u64, polynomials])
}

/// The work of [`Division::divide`] for `polynomials`, by what is dropped and how many primes are kept.
pub(crate) fn division_work(dropped: RingShape, kept: usize, polynomials: u64) -> Work {
    conversion_work(dropped, kept, polynomials) + RingShape { primes: kept, ..dropped }.products(polynomials)
}

impl<W: Word> Conversion<W> {
    /// From some moduli to others; all of them are distinct primes.
    pub(crate) fn new(vectors: Vectors, from: &[Modulus<W>], to: &[Modulus<W>]) -> Self {
        Self::times(vectors, from, to, &vec![W::from_u64(1); to.len()])
    }

    /// The same numbers, times a scalar modulo each of the other primes; not for [`Self::convert`].
    pub(crate) fn times(vectors: Vectors, from: &[Modulus<W>], to: &[Modulus<W>], scalars: &[W]) -> Self {
        let cofactor = |modulus: &Modulus<W>, i: usize| product(modulus, &[&from[..i], &from[i + 1..]].concat());
        let inverse = |(i, q): (usize, &Modulus<W>)| q.inverse(cofactor(q, i)).unwrap_or_default();
        let target = |(modulus, scalar): (&Modulus<W>, &W)| {
            let cofactors = (0..from.len()).map(|i| cofactor(modulus, i));
            let factors = cofactors.chain([modulus.neg(product(modulus, from))]);
            (*modulus, factors.map(|factor| modulus.mul(factor, *scalar)).collect())
        };
        Self {
            inverses: from.iter().enumerate().map(inverse).collect(),
            sums: Combination::new(from, to.iter().zip(scalars).map(target)),
            from: from.to_vec(),
            to: to.to_vec(),
            vectors,
        }
    }

    /// (Q/q_i)^-1 modulo q_i.
    pub(crate) fn inverses(&self) -> &[W] {
        &self.inverses
    }

    /// Residues limb by limb, `n` of each modulus, to residues of the others.
    pub(crate) fn convert(&self, n: usize, input: &[W], out: &mut [W]) {
        if let [from] = &self.from[..] {
            return self
                .to
                .iter()
                .zip(out.chunks_exact_mut(n))
                .for_each(|(to, out)| self.vectors.centred_residues(from, input, to, out));
        }
        let mut parts = input.to_vec();
        for ((q, inverse), part) in self.from.iter().zip(&self.inverses).zip(parts.chunks_exact_mut(n)) {
            self.vectors.mul_scalar(q, part, *inverse);
        }
        self.set(n, &parts, out);
    }

    /// The residues modulo the others of the numbers of those parts.
    pub(crate) fn set(&self, n: usize, parts: &[W], out: &mut [W]) {
        self.vectors.combine(&self.sums, n, parts, out, false);
    }

    /// Adds to residues modulo the others the numbers of those parts.
    pub(crate) fn add(&self, n: usize, parts: &[W], sums: &mut [W]) {
        self.vectors.combine(&self.sums, n, parts, sums, true);
    }
}

/// Division, rounded to nearest, of numbers modulo D K by D, the product of the primes that are dropped.
#[derive(Clone, Debug)]
pub(crate) struct Division<W> {
    remainder: Conversion<W>,
    /// 1/D modulo each prime that is kept.
    inverses: Vec<W>,
}

impl<W: Word> Division<W> {
    /// Drops some moduli and keeps others; all of them are distinct primes.
    pub(crate) fn new(vectors: Vectors, dropped: &[Modulus<W>], kept: &[Modulus<W>]) -> Self {
        let inverse = |modulus: &Modulus<W>| modulus.inverse(product(modulus, dropped)).unwrap_or_default();
        Self { remainder: Conversion::new(vectors, dropped, kept), inverses: kept.iter().map(inverse).collect() }
    }

    /// What the residues `kept` of numbers become, whose residues modulo the dropped primes are `dropped`. `transform` makes of
    /// coefficients modulo a prime of `ring`, given by its number, what `kept` holds.
    pub(crate) fn divide(&self, ring: &Ring<W>, dropped: &[W], kept: &mut [W], transform: impl Fn(usize, &mut [W])) {
        let (n, vectors) = (ring.n(), ring.vectors());
        let mut remainders = vec![W::default(); self.inverses.len() * n];
        self.remainder.convert(n, dropped, &mut remainders);
        let limbs = kept.chunks_exact_mut(n).zip(remainders.chunks_exact_mut(n)).zip(ring.limbs());
        for (i, ((kept, remainder), (modulus, _))) in limbs.enumerate() {
            transform(i, remainder);
            vectors.sub(modulus, kept, remainder);
            vectors.mul_scalar(modulus, kept, self.inverses[i]);
        }
    }
}

/// The product of moduli modulo another.
pub(crate) fn product<W: Word>(modulus: &Modulus<W>, factors: &[Modulus<W>]) -> W {
    let residue = |q: &Modulus<W>| modulus.reduce_u64(q.value().to_u64());
    factors.iter().fold(W::from_u64(1), |product, q| modulus.mul(product, residue(q)))
}
