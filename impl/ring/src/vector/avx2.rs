//! The AVX2 path: the plain loops of [`super::scalar`] compiled with its vectors. Every function enables
//! the features of that kernel and is called only through [`super::Vectors`], which exist only where they were found.

use super::scalar::{self, Reduction};
use crate::modulus::Modulus;
use crate::word::Word;
use std::arch::x86_64::*;

/// The loop of that name with this file's features.
macro_rules! recompile {
    ($($name:ident $(<$word:ident>)? ($($argument:ident: $type:ty),*);)*) => {
        $(
            #[target_feature(enable = "avx2")]
            pub(super) fn $name $(<$word: Word>)? ($($argument: $type),*) {
                scalar::$name($($argument),*);
            }
        )*
    };
}

recompile! {
    add<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
    sub<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
    neg<W>(modulus: &Modulus<W>, a: &mut [W]);
    mul<W>(modulus: &Modulus<W>, a: &mut [W], b: &[W]);
    mul_add<W>(modulus: &Modulus<W>, acc: &mut [W], a: &[W], b: &[W]);
    mul_scalar<W>(modulus: &Modulus<W>, a: &mut [W], scalar: W);
    reduce_signed<W>(modulus: &Modulus<W>, x: &[i32], out: &mut [W]);
    centred_residues<W>(p: &Modulus<W>, x: &[W], modulus: &Modulus<W>, out: &mut [W]);
    reduce_u32(modulus: &Modulus<u32>, x: &[u64], out: &mut [u32]);
    compose_pair(primes: (u32, u32), inverse: u32, a: &[u32], b: &[u32], out: &mut [u64]);
    add_multiples(digits: &[i32], rows: &[u32], sums: &mut [u32]);
    add_wide_multiples(digits: &[i32], rows: &[u32], sums: &mut [i64]);
    permute<W>(slots: &[u32], a: &[W], out: &mut [W]);
}

/// Residues in a register, and registers of them that are summed side by side.
const LANES: usize = 8;
const REGISTERS: usize = 4;

/// Sums of products for one column of `right`. The even and the odd elements of a register are multiplied apart: the multiplier
/// takes the lower half of each 64-bit lane, so the odd ones are shifted down.
///
/// # Safety
/// Every vector of `left` and `right` holds `at + LANES * REGISTERS` elements; `right` holds `columns` vectors for each term,
/// of which `column` is one.
#[target_feature(enable = "avx2")]
#[allow(clippy::needless_range_loop, reason = "loops over constants unroll, and the sums stay in registers")]
unsafe fn block(
    reduction: Reduction,
    terms: usize,
    left: &[&[u32]],
    right: &[&[u32]],
    (column, columns): (usize, usize),
    at: usize,
    out: &mut [u32; LANES * REGISTERS],
) {
    let mut residues = [0u64; LANES * REGISTERS];
    let mut rows = right.chunks_exact(columns);
    for left in left.chunks(terms) {
        let mut sums = [[_mm256_setzero_si256(); 2]; REGISTERS];
        for (left, row) in left.iter().zip(&mut rows) {
            for register in 0..REGISTERS {
                let offset = at + register * LANES;
                // SAFETY: the caller's promise.
                let (left, right) = unsafe {
                    let right = row[column].as_ptr().add(offset);
                    (_mm256_loadu_si256(left.as_ptr().add(offset).cast()), _mm256_loadu_si256(right.cast()))
                };
                let [even, odd] = sums[register];
                let (left_odd, right_odd) = (_mm256_srli_epi64::<32>(left), _mm256_srli_epi64::<32>(right));
                sums[register] = [
                    _mm256_add_epi64(even, _mm256_mul_epu32(left, right)),
                    _mm256_add_epi64(odd, _mm256_mul_epu32(left_odd, right_odd)),
                ];
            }
        }
        // Four even sums, then four odd ones, of each register.
        let sums: [u64; LANES * REGISTERS] = bytemuck::cast(sums);
        residues.iter_mut().zip(sums).for_each(|(residue, sum)| *residue = reduction.apply(*residue + sum).into());
    }
    for (out, residues) in out.as_chunks_mut::<LANES>().0.iter_mut().zip(residues.as_chunks::<LANES>().0) {
        *out = std::array::from_fn(|i| residues[i / 2 + i % 2 * (LANES / 2)] as u32);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn sum_products_u32(modulus: &Modulus<u32>, left: &[&[u32]], right: &[&[u32]], out: &mut [&mut [u32]]) {
    let (columns, n) = (out.len(), out.first().map_or(0, |column| column.len()));
    let Some(reduction) = Reduction::new(modulus).filter(|_| n.is_multiple_of(LANES * REGISTERS)) else {
        return scalar::sum_products_u32(modulus, left, right, out);
    };
    let terms = scalar::terms_u32(modulus);
    for (column, out) in out.iter_mut().enumerate() {
        for (i, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
            // SAFETY: `Vectors::sum_products` asserts that all vectors hold n elements, and as many columns for each term.
            unsafe { block(reduction, terms, left, right, (column, columns), i * LANES * REGISTERS, out) };
        }
    }
}
