//! Samplers of secrets and of uniform residues. Signed values are returned as `i32`; [`residue`] takes them modulo 2^32.

use rand::RngCore;

/// A signed value modulo 2^32.
pub fn residue(value: i32) -> u32 {
    value as u32
}

/// A uniform number below `bound`, without bias: candidates of the bound's length are drawn until one is below it. Zero if
/// `bound` is 0 or 1.
pub fn uniform_below(rng: &mut impl RngCore, bound: u64) -> u64 {
    if bound <= 1 {
        return 0;
    }
    let shift = (bound - 1).leading_zeros();
    loop {
        // The top bits of a word; short bounds take short words.
        let candidate = if shift >= 32 { u64::from(rng.next_u32() >> (shift - 32)) } else { rng.next_u64() >> shift };
        if candidate < bound {
            return candidate;
        }
    }
}

/// Fills `out` with uniform residues modulo 2^32.
pub fn fill_uniform_u32(rng: &mut impl RngCore, out: &mut [u32]) {
    out.fill_with(|| rng.next_u32());
}

/// Fills `out` with -1, 0 and 1, each with probability 1/3: sixteen candidates of two bits from each word.
pub fn fill_ternary(rng: &mut impl RngCore, out: &mut [i32]) {
    let (mut word, mut left) = (0, 0);
    for value in out {
        *value = loop {
            if left == 0 {
                (word, left) = (rng.next_u32(), 16);
            }
            let candidate = (word & 3) as i32;
            word >>= 2;
            left -= 1;
            if candidate < 3 {
                break candidate - 1;
            }
        };
    }
}

/// 0 or 1, each with probability 1/2.
pub fn binary(rng: &mut impl RngCore) -> i32 {
    (rng.next_u32() & 1) as i32
}

#[cfg(test)]
mod tests;
