//! The portable path, and the plain loops that the other paths compile again with their own vectors.

use super::TILE;
use super::combination::{Combination, Target};
use crate::modulus::Modulus;
use crate::word::{Barrett, Residue};

#[inline(always)]
pub(super) fn add<W: Residue>(modulus: &Modulus<W>, a: &mut [W], b: &[W]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = modulus.add(*a, *b));
}

#[inline(always)]
pub(super) fn sub<W: Residue>(modulus: &Modulus<W>, a: &mut [W], b: &[W]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = modulus.sub(*a, *b));
}

#[inline(always)]
pub(super) fn neg<W: Residue>(modulus: &Modulus<W>, a: &mut [W]) {
    a.iter_mut().for_each(|a| *a = modulus.neg(*a));
}

#[inline(always)]
pub(super) fn mul<W: Residue>(modulus: &Modulus<W>, a: &mut [W], b: &[W]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = modulus.mul(*a, *b));
}

#[inline(always)]
pub(super) fn mul_add<W: Residue>(modulus: &Modulus<W>, acc: &mut [W], a: &[W], b: &[W]) {
    for ((acc, a), b) in acc.iter_mut().zip(a).zip(b) {
        *acc = modulus.add(*acc, modulus.mul(*a, *b));
    }
}

#[inline(always)]
pub(super) fn mul_scalar<W: Residue>(modulus: &Modulus<W>, a: &mut [W], scalar: W) {
    let quotient = modulus.shoup(scalar);
    a.iter_mut().for_each(|a| *a = modulus.mul_shoup(*a, scalar, quotient));
}

#[inline(always)]
pub(super) fn reduce_signed<W: Residue>(modulus: &Modulus<W>, x: &[i32], out: &mut [W]) {
    let q = modulus.value();
    let largest = x.iter().fold(0, |largest: u32, x| largest.max(x.unsigned_abs()));
    if u64::from(largest) < q.to_u64() {
        // The smaller of x and x + q modulo the word is the residue.
        let zero = W::default();
        for (x, out) in x.iter().zip(out) {
            *out = W::sub_mod(W::from_u64(i64::from(*x) as u64), zero, q);
        }
    } else {
        let one = modulus.reduce_u64(1);
        let quotient = modulus.shoup(one);
        for (x, out) in x.iter().zip(out) {
            let magnitude = modulus.mul_shoup(W::from_u64(x.unsigned_abs().into()), one, quotient);
            *out = if *x < 0 { modulus.neg(magnitude) } else { magnitude };
        }
    }
}

#[inline(always)]
pub(super) fn centred_residues<W: Residue>(p: &Modulus<W>, x: &[W], modulus: &Modulus<W>, out: &mut [W]) {
    let p = p.value().to_u64();
    let (positive, period) = (W::from_u64(p.div_ceil(2)), modulus.reduce_u64(p));
    let one = modulus.reduce_u64(1);
    let quotient = modulus.shoup(one);
    for (x, out) in x.iter().zip(out) {
        let excess = if *x < positive { W::default() } else { period };
        *out = modulus.sub(modulus.mul_shoup(*x, one, quotient), excess);
    }
}

#[inline(always)]
pub(super) fn balanced_digits<W: Residue>(modulus: &Modulus<W>, x: &[W], base_log2: u32, digits: &mut [i32]) {
    let n = x.len();
    let Some(last) = digits.len().checked_sub(n) else { return };
    let (digits, rest) = digits.split_at_mut(last);
    let p = modulus.value().to_u64();
    let negative = p - p / 2;
    for (rest, x) in rest.iter_mut().zip(x) {
        let x = x.to_u64();
        *rest = (if x >= negative { x.wrapping_sub(p) } else { x }) as i32;
    }
    for digits in digits.chunks_exact_mut(n.max(1)) {
        // Of several digits none but the last has more than 30 bits.
        let (half, mask) = (1i32 << (base_log2 - 1), (1i32 << base_log2) - 1);
        for (digit, rest) in digits.iter_mut().zip(rest.iter_mut()) {
            *digit = ((*rest + half) & mask) - half;
            *rest = (*rest - *digit) >> base_log2;
        }
    }
}

/// How a 64-bit number is reduced modulo a q of at least [`Reduction::MIN_BITS`] bits with 32-bit factors only.
#[derive(Clone, Copy)]
pub(super) struct Reduction {
    pub(super) q: u64,
    pub(super) bits: u32,
    /// floor(2^(k + 31) / q), below 2^32.
    pub(super) ratio: u64,
}

impl Reduction {
    /// Shortest q - 1 for which the estimates are close enough.
    const MIN_BITS: u32 = 8;

    #[inline(always)]
    pub(super) fn new(modulus: &Modulus<u32>) -> Option<Self> {
        let (q, bits) = (u64::from(modulus.value()), modulus.bits());
        (bits >= Self::MIN_BITS).then(|| Self { q, bits, ratio: (1 << (bits + 31)) / q })
    }

    /// x mod q for any x.
    #[inline(always)]
    pub(super) fn apply(self, x: u64) -> u32 {
        // The quotient estimated from the high word falls short by less than 2^(34 - k) + 1, which leaves less than 2^35; that
        // estimated from the remainder's upper 32 bits falls short by less than 2.
        let rest = x.wrapping_sub((((x >> 32) * self.ratio) >> (self.bits - 1)).wrapping_mul(self.q));
        self.apply_short(rest)
    }

    /// x mod q for x < 2^35.
    #[inline(always)]
    pub(super) fn apply_short(self, x: u64) -> u32 {
        let estimate = (((x >> 3) & 0xffff_ffff) * self.ratio) >> (self.bits + 28);
        let rest = x.wrapping_sub((estimate & 0xffff_ffff) * self.q) as u32;
        rest.min(rest.wrapping_sub(self.q as u32))
    }
}

#[inline(always)]
pub(super) fn reduce_u32(modulus: &Modulus<u32>, x: &[u64], out: &mut [u32]) {
    match Reduction::new(modulus) {
        Some(reduction) => x.iter().zip(out).for_each(|(x, out)| *out = reduction.apply(*x)),
        None => x.iter().zip(out).for_each(|(x, out)| *out = modulus.reduce_u64(*x)),
    }
}

/// See [`super::Vectors::tensor`].
pub(super) fn tensor<W: Residue>(
    modulus: &Modulus<W>,
    left: [&[W]; 2],
    right: [&[W]; 2],
    factor: &[W],
    out: [&mut [W]; 3],
) {
    let (q, inverse) = (modulus.value(), modulus.negative_inverse());
    let product = |a: W, b: W| u128::from(a.to_u64()) * u128::from(b.to_u64());
    let [first, middle, last] = out;
    for (j, factor) in factor.iter().enumerate() {
        let ([a, b], [c, d]) = (left.map(|part| part[j]), right.map(|part| part[j]));
        let part = |sum| W::montgomery(product(W::montgomery(sum, q, inverse), *factor), q, inverse);
        first[j] = part(product(a, c));
        middle[j] = part(product(a, d) + product(b, c));
        last[j] = part(product(b, d));
    }
}

/// See [`super::Vectors::combine`].
pub(super) fn combine<W: Residue>(combination: &Combination<W>, n: usize, rows: &[W], out: &mut [W], add: bool) {
    let Combination { reciprocals, shift, targets, short } = combination;
    let sum = |j: usize, factors: &[W], first: u128| {
        rows.iter()
            .skip(j)
            .step_by(n)
            .zip(factors)
            .fold(first, |sum, (row, factor)| sum + u128::from(row.to_u64()) * u128::from(factor.to_u64()))
    };
    for j in 0..n {
        let quotient = sum(j, reciprocals, 1 << (shift - 1)) >> shift;
        for (Target { modulus, factors, inverse }, out) in targets.iter().zip(out.chunks_exact_mut(n)) {
            let last = factors.last().copied().unwrap_or_default();
            let sum = sum(j, factors, quotient * u128::from(last.to_u64()));
            let sum = if *short { sum } else { modulus.reduce_u128(sum).to_u64().into() };
            let residue = match inverse {
                Some(inverse) => W::montgomery(sum, modulus.value(), *inverse),
                None => modulus.reduce_u128(sum),
            };
            out[j] = if add { modulus.add(out[j], residue) } else { residue };
        }
    }
}

/// Terms that a sum of products below (q - 1)^2 may take in 64 bits beside one residue.
#[inline(always)]
pub(super) fn terms_u32(modulus: &Modulus<u32>) -> usize {
    let largest = u64::from(modulus.value()) - 1;
    ((u64::MAX - largest) / (largest * largest)) as usize
}

/// Terms that a sum of products below (q - 1)^2 may take in 128 bits beside one residue.
fn terms_u64(modulus: &Modulus<u64>) -> usize {
    let largest = u128::from(modulus.value()) - 1;
    usize::try_from((u128::MAX - largest) / (largest * largest)).unwrap_or(usize::MAX)
}

#[inline(always)]
pub(super) fn sum_products_u32(modulus: &Modulus<u32>, left: &[&[u32]], right: &[&[u32]], out: &mut [&mut [u32]]) {
    /// Elements whose sums are held at a time.
    const BLOCK: usize = 32;
    let (terms, columns) = (terms_u32(modulus), out.len());
    for (column, out) in out.iter_mut().enumerate() {
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            let (mut sums, mut room) = ([0u64; BLOCK], terms);
            let at = block * BLOCK..block * BLOCK + out.len();
            for (left, right) in left.iter().zip(right.chunks_exact(columns)) {
                if room == 0 {
                    sums.iter_mut().for_each(|sum| *sum = modulus.reduce_u64(*sum).into());
                    room = terms;
                }
                room -= 1;
                for ((sum, a), b) in sums.iter_mut().zip(&left[at.clone()]).zip(&right[column][at.clone()]) {
                    *sum += u64::from(*a) * u64::from(*b);
                }
            }
            out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = modulus.reduce_u64(*sum));
        }
    }
}

/// Sums for elements from `from` on, `B` at a time, as many as registers hold; `out` has a multiple of `B`.
fn blocks_u64<const B: usize>(
    modulus: &Modulus<u64>,
    left: &[&[u64]],
    right: &[&[u64]],
    (column, columns): (usize, usize),
    from: usize,
    out: &mut [u64],
) {
    let terms = terms_u64(modulus);
    for (block, out) in out.as_chunks_mut::<B>().0.iter_mut().enumerate() {
        let (mut sums, mut room) = ([0u128; B], terms);
        for (left, right) in left.iter().zip(right.chunks_exact(columns)) {
            if room == 0 {
                sums.iter_mut().for_each(|sum| *sum = modulus.reduce_u128(*sum).into());
                room = terms;
            }
            room -= 1;
            let a = &left[from..].as_chunks::<B>().0[block];
            let b = &right[column][from..].as_chunks::<B>().0[block];
            for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
                *sum += u128::from(*a) * u128::from(*b);
            }
        }
        out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = modulus.reduce_u128(*sum));
    }
}

pub(super) fn sum_products_u64(modulus: &Modulus<u64>, left: &[&[u64]], right: &[&[u64]], out: &mut [&mut [u64]]) {
    const BLOCK: usize = 4;
    let columns = out.len();
    for (column, out) in out.iter_mut().enumerate() {
        let (whole, rest) = out.split_at_mut(out.len() / BLOCK * BLOCK);
        let from = whole.len();
        blocks_u64::<BLOCK>(modulus, left, right, (column, columns), 0, whole);
        blocks_u64::<1>(modulus, left, right, (column, columns), from, rest);
    }
}

/// The number below p0 * p1 with residues a modulo p0 and b modulo p1, where p0 < p1 and `inverse` = 1 / p0 modulo p1.
#[inline(always)]
pub(super) fn compose_pair((p0, p1): (u32, u32), inverse: u32, a: &[u32], b: &[u32], out: &mut [u64]) {
    let quotient = u32::shoup_quotient(inverse, p1);
    for ((a, b), out) in a.iter().zip(b).zip(out) {
        let digit = u32::mul_shoup_lazy(u32::sub_mod(*b, *a, p1), inverse, quotient, p1);
        *out = u64::from(*a) + u64::from(p0) * u64::from(u32::reduce_once(digit, p1));
    }
}

/// Sums over tiles by sums of slices: see [`super::Vectors::sum_tiles`].
pub(super) fn sum_tiles<W: Residue>(
    n: usize,
    left: &[W],
    right: &[&[W]],
    out: &mut [W],
    sum: impl Fn(&[&[W]], &[&[W]], &mut [&mut [W]]),
) {
    let (pitch, terms) = (n + TILE, right[0].len() / n);
    let (mut of_left, mut of_column) = (Vec::with_capacity(terms), Vec::with_capacity(terms));
    for (group, out) in out.chunks_exact_mut(right.len() * pitch).enumerate() {
        let left = &left[group * terms * pitch..][..terms * pitch];
        for at in (0..n).step_by(TILE) {
            of_left.clear();
            of_left.extend(left.chunks_exact(pitch).map(|left| &left[at..at + TILE]));
            for (column, out) in right.iter().zip(out.chunks_exact_mut(pitch)) {
                of_column.clear();
                of_column.extend(column[at * terms..][..terms * TILE].chunks_exact(TILE));
                sum(&of_left, &of_column, &mut [&mut out[at..at + TILE]]);
            }
        }
    }
}

#[inline(always)]
pub(super) fn permute<W: Residue>(slots: &[u32], a: &[W], out: &mut [W]) {
    slots.iter().zip(out).for_each(|(slot, out)| *out = a[*slot as usize]);
}

/// Rows that are added in one pass over the sums.
const ROWS_TOGETHER: usize = 4;

/// Calls with each sum, the digits and the elements they multiply, [`ROWS_TOGETHER`] rows at a time; missing digits are 0.
#[inline(always)]
fn for_rows<S>(
    digits: &[i32],
    rows: &[u32],
    sums: &mut [S],
    add: impl Fn(&mut S, [i32; ROWS_TOGETHER], [u32; ROWS_TOGETHER]),
) {
    let width = sums.len();
    for (digits, rows) in digits.chunks(ROWS_TOGETHER).zip(rows.chunks(ROWS_TOGETHER * width)) {
        // A missing row is the first one, times 0.
        let digits_of = std::array::from_fn(|t| digits.get(t).copied().unwrap_or(0));
        let row = |t: usize| if t < digits.len() { &rows[t * width..(t + 1) * width] } else { &rows[..width] };
        let of_four = row(0).iter().zip(row(1)).zip(row(2)).zip(row(3));
        for (sum, (((a, b), c), d)) in sums.iter_mut().zip(of_four) {
            add(sum, digits_of, [*a, *b, *c, *d]);
        }
    }
}

#[inline(always)]
pub(super) fn add_multiples(digits: &[i32], rows: &[u32], sums: &mut [u32]) {
    for_rows(digits, rows, sums, |sum, digits, elements| {
        *sum = digits.iter().zip(elements).fold(*sum, |sum, (d, x)| sum.wrapping_add(x.wrapping_mul(*d as u32)));
    });
}

#[inline(always)]
pub(super) fn add_wide_multiples(digits: &[i32], rows: &[u32], sums: &mut [i64]) {
    for_rows(digits, rows, sums, |sum, digits, elements| {
        *sum += digits.iter().zip(elements).fold(0, |sum, (d, x)| sum + i64::from(*d) * i64::from(x as i32));
    });
}

/// The plain loops compiled with the features of a path: those of these signatures, or all that both paths take as they are.
#[cfg(target_arch = "x86_64")]
macro_rules! recompile {
    ($features:literal: $($name:ident $(<$word:ident>)? ($($argument:ident: $type:ty),*);)*) => {$(
        #[target_feature(enable = $features)]
        pub(super) fn $name $(<$word: Residue>)? ($($argument: $type),*) {
            scalar::$name($($argument),*);
        }
    )*};
    ($features:literal) => {
        recompile! { $features:
            add<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
            sub<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
            neg<W>(modulus: &Modulus<W>, a: &mut [W]);
            mul<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
            mul_add<W>(modulus: &Modulus<W>, acc: &mut [W], a: &[W], b: &[W]);
            mul_scalar<W>(modulus: &Modulus<W>, a: &mut [W], scalar: W);
            reduce_signed<W>(modulus: &Modulus<W>, x: &[i32], out: &mut [W]);
            centred_residues<W>(p: &Modulus<W>, x: &[W], modulus: &Modulus<W>, out: &mut [W]);
            balanced_digits<W>(modulus: &Modulus<W>, x: &[W], base_log2: u32, digits: &mut [i32]);
            reduce_u32(modulus: &Modulus<u32>, x: &[u64], out: &mut [u32]);
            compose_pair(primes: (u32, u32), inverse: u32, a: &[u32], b: &[u32], out: &mut [u64]);
            add_multiples(digits: &[i32], rows: &[u32], sums: &mut [u32]);
            add_wide_multiples(digits: &[i32], rows: &[u32], sums: &mut [i64]);
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use recompile;
