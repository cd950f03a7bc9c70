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

/// -1, 0 or 1, each with probability 1/3.
pub fn ternary(rng: &mut impl RngCore) -> i32 {
    uniform_below(rng, 3) as i32 - 1
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

/// Fills `out` with 0 and 1, each with probability 1/2.
pub fn fill_binary(rng: &mut impl RngCore, out: &mut [i32]) {
    for values in out.chunks_mut(32) {
        let word = rng.next_u32();
        for (i, value) in values.iter_mut().enumerate() {
            *value = (word >> i & 1) as i32;
        }
    }
}

/// Fills `out` with exactly `weight` entries of -1 or 1 at uniform places with uniform signs, zeros elsewhere. Returns
/// whether that was possible, that is, whether `weight` is at most `out.len()`; if not, `out` is left as it was.
#[must_use]
pub fn fill_fixed_weight(rng: &mut impl RngCore, weight: usize, out: &mut [i32]) -> bool {
    if weight > out.len() {
        return false;
    }
    out.fill(0);
    // Floyd's selection: the i-th draw is below i + 1, and a place already taken gives way to place i itself.
    for i in out.len() - weight..out.len() {
        let place = uniform_below(rng, i as u64 + 1) as usize;
        let place = if out[place] == 0 { place } else { i };
        out[place] = 1 - 2 * binary(rng);
    }
    true
}

#[cfg(test)]
mod tests;
