//! Numbers from one residue number system in another, and their rounded division by what is dropped.

use ring::{Kind, Modulus, Ring, RingShape, Vectors, Word, Work};

/// Coefficients converted at a time: what they need stays in the first cache.
const BLOCK: usize = 256;

/// Takes centred numbers modulo Q to residues modulo other primes.
///
/// x = sum_i y_i Q/q_i - v Q with y_i = x (Q/q_i)^-1 modulo q_i and v the nearest integer to sum_i y_i / q_i. That sum is in double
/// precision, so that x within 2^-45 Q of Q/2 may count as x - Q or x + Q: equal modulo Q, and as small to that part.
#[derive(Clone, Debug)]
pub(crate) struct Conversion<W> {
    vectors: Vectors,
    from: Vec<Modulus<W>>,
    /// (Q/q_i)^-1 modulo q_i with its Shoup quotient, and 1/q_i.
    parts: Vec<(W, W, f64)>,
    to: Vec<Target<W>>,
    /// Whether sums of products fit 64 bits.
    narrow: bool,
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
        let part = |(i, q): (usize, &Modulus<W>)| {
            let inverse = q.inverse(cofactor(q, i)).unwrap_or_default();
            (inverse, q.shoup(inverse), 1.0 / q.value().to_u64() as f64)
        };
        let target = |modulus: &Modulus<W>| Target {
            modulus: *modulus,
            factors: (0..from.len())
                .map(|i| cofactor(modulus, i))
                .chain([modulus.neg(product(modulus, from))])
                .collect(),
        };
        let longest = |moduli: &[Modulus<W>]| moduli.iter().map(|q| q.bits()).max().unwrap_or(0);
        let terms = from.len() as u32 + 1;
        Self {
            narrow: longest(from) + longest(to) + u32::BITS - terms.leading_zeros() < u64::BITS,
            parts: from.iter().enumerate().map(part).collect(),
            to: to.iter().map(target).collect(),
            from: from.to_vec(),
            vectors,
        }
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
        // A row of each y_i, and one of v.
        let mut rows = vec![W::default(); BLOCK.min(n) * (self.from.len() + 1)];
        for start in (0..n).step_by(BLOCK) {
            let block = start..n.min(start + BLOCK);
            let (length, sums) = (block.len(), &mut [0.5f64; BLOCK][..block.len()]);
            let (scaled, turns) = rows[..length * (self.from.len() + 1)].split_at_mut(length * self.from.len());
            let parts = scaled.chunks_exact_mut(length).zip(input.chunks_exact(n)).zip(&self.parts);
            for (q, ((scaled, input), part)) in self.from.iter().zip(parts) {
                self.vectors.scale_part(q, *part, &input[block.clone()], scaled, sums);
            }
            self.vectors.floors(sums, turns);
            let rows = &rows[..length * (self.from.len() + 1)];
            for (Target { modulus, factors }, out) in self.to.iter().zip(out.chunks_exact_mut(n)) {
                self.vectors.sum_multiples(modulus, (factors, self.narrow), rows, &mut out[block.clone()]);
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
fn product<W: Word>(modulus: &Modulus<W>, factors: &[Modulus<W>]) -> W {
    let residue = |q: &Modulus<W>| modulus.reduce_u64(q.value().to_u64());
    factors.iter().fold(W::from_u64(1), |product, q| modulus.mul(product, residue(q)))
}
