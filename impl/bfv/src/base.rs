//! Numbers from one residue number system in another, and their rounded division by what is dropped.

use ring::{Kind, Modulus, Ring, RingShape, Vectors, Word, Work};

/// Coefficients converted at a time, a power of two as degrees are: what they need stays in the first cache.
const BLOCK: usize = 256;

/// Takes centred numbers modulo Q to residues modulo other primes.
///
/// x = sum_i y_i Q/q_i - v Q with the parts y_i = x (Q/q_i)^-1 modulo q_i and v the integer nearest to sum_i y_i / q_i. That sum is in
/// fixed point, so that x within 2^-20 Q of Q/2 may count as x - Q or x + Q: equal modulo Q, and nearly as small.
#[derive(Clone, Debug)]
pub(crate) struct Conversion<W> {
    vectors: Vectors,
    from: Vec<Modulus<W>>,
    /// (Q/q_i)^-1 modulo q_i.
    inverses: Vec<W>,
    /// 2^shift / q_i.
    reciprocals: Vec<W>,
    shift: u32,
    to: Vec<Target<W>>,
    /// Sums of products are below 2 to that.
    bits: u32,
}

/// A prime, and what numbers modulo it take.
#[derive(Clone, Debug)]
struct Target<W> {
    modulus: Modulus<W>,
    /// Q/q_i for every i, and -Q.
    factors: Vec<W>,
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
        let cofactor = |modulus: &Modulus<W>, i: usize| {
            let others = from.iter().enumerate().filter(|(j, _)| *j != i);
            others.fold(W::from_u64(1), |product, (_, q)| modulus.mul(product, modulus.reduce_u64(q.value().to_u64())))
        };
        let inverse = |(i, q): (usize, &Modulus<W>)| q.inverse(cofactor(q, i)).unwrap_or_default();
        let target = |modulus: &Modulus<W>| Target {
            modulus: *modulus,
            factors: (0..from.len())
                .map(|i| cofactor(modulus, i))
                .chain([modulus.neg(product(modulus, from))])
                .collect(),
        };
        let longest = |moduli: &[Modulus<W>]| moduli.iter().map(|q| q.bits()).max().unwrap_or(0);
        let terms = u32::BITS - (from.len() as u32 + 1).leading_zeros();
        // Reciprocals are below half of a word, and sums of as many products as primes below half of two.
        let shortest = from.iter().map(|q| q.bits()).min().unwrap_or(2);
        let shift = (W::BITS + shortest.saturating_sub(2)).min(2 * W::BITS - 1 - terms).max(W::BITS);
        let reciprocal = |q: &Modulus<W>| W::from_u64(((1u128 << shift) / u128::from(q.value().to_u64())) as u64);
        Self {
            bits: longest(from) + longest(to) + terms,
            inverses: from.iter().enumerate().map(inverse).collect(),
            reciprocals: from.iter().map(reciprocal).collect(),
            shift,
            to: to.iter().map(target).collect(),
            from: from.to_vec(),
            vectors,
        }
    }

    /// The same numbers, times a scalar modulo each of the other primes.
    pub(crate) fn times(mut self, scalars: &[W]) -> Self {
        for (Target { modulus, factors }, scalar) in self.to.iter_mut().zip(scalars) {
            factors.iter_mut().for_each(|factor| *factor = modulus.mul(*factor, *scalar));
        }
        self
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
                .for_each(|(to, out)| self.vectors.centred_residues(from, input, &to.modulus, out));
        }
        let mut parts = input.to_vec();
        for ((q, inverse), part) in self.from.iter().zip(&self.inverses).zip(parts.chunks_exact_mut(n)) {
            self.vectors.mul_scalar(q, part, *inverse);
        }
        self.set(n, &parts, out);
    }

    /// The residues modulo the others of the numbers of those parts.
    pub(crate) fn set(&self, n: usize, parts: &[W], out: &mut [W]) {
        self.of_parts(n, parts, out, |_, out, sums| out.copy_from_slice(sums));
    }

    /// Adds to residues modulo the others the numbers of those parts.
    pub(crate) fn add(&self, n: usize, parts: &[W], sums: &mut [W]) {
        self.of_parts(n, parts, sums, |modulus, out, sums| self.vectors.add(modulus, out, sums));
    }

    fn of_parts(&self, n: usize, parts: &[W], out: &mut [W], put: impl Fn(&Modulus<W>, &mut [W], &[W])) {
        let (block, terms) = (BLOCK.min(n), self.from.len());
        // A row of each y_i, and one of v.
        let (mut rows, mut sums) = (vec![W::default(); block * (terms + 1)], vec![W::default(); block]);
        for start in (0..n).step_by(block) {
            let (scaled, turns) = rows.split_at_mut(block * terms);
            for (row, part) in scaled.chunks_exact_mut(block).zip(parts.chunks_exact(n)) {
                row.copy_from_slice(&part[start..start + block]);
            }
            self.vectors.nearest((&self.reciprocals, self.shift), scaled, turns);
            for (Target { modulus, factors }, out) in self.to.iter().zip(out.chunks_exact_mut(n)) {
                self.vectors.sum_multiples(modulus, (factors, self.bits), &rows, &mut sums);
                put(modulus, &mut out[start..start + block], &sums);
            }
        }
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
