//! Samplers of secrets and of uniform residues. Signed values are returned as `i32`; [`residue`] takes them modulo 2^32.

use rand::RngCore;

/// A signed value modulo 2^32.
pub fn residue(value: i32) -> u32 {
    value as u32
}

/// A signed value modulo `q` (above its absolute value).
pub fn residue_mod(value: i32, q: u32) -> u32 {
    i64::from(value).rem_euclid(i64::from(q.max(1))) as u32
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

/// A uniform residue modulo `q`; 0 if `q` is 0.
pub fn uniform_mod(rng: &mut impl RngCore, q: u32) -> u32 {
    uniform_below(rng, u64::from(q)) as u32
}

/// A uniform residue modulo 2^32.
pub fn uniform_u32(rng: &mut impl RngCore) -> u32 {
    rng.next_u32()
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
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn assert_uniform(counts: &[u64]) {
        let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        for &count in counts {
            assert!((count as f64 - expected).abs() < 5.0 * expected.sqrt(), "{counts:?}");
        }
    }

    #[test]
    fn uniform_numbers_have_no_bias() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        // 3 * 2^30 would show the bias of a remainder at once: the first third would be twice as likely.
        let bound = 3u32 << 30;
        let mut counts = [0; 3];
        for _ in 0..60_000 {
            counts[(uniform_mod(&mut rng, bound) >> 30) as usize] += 1;
        }
        assert_uniform(&counts);
        assert!((0..100).all(|_| uniform_below(&mut rng, 1 << 40) < 1 << 40));
        assert!((0..100).all(|_| uniform_below(&mut rng, u64::MAX) < u64::MAX));
        assert_eq!(uniform_below(&mut rng, 1), 0);
    }

    #[test]
    fn ternary_and_binary_are_uniform() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let (mut ternaries, mut binaries) = ([0; 3], [0; 2]);
        let mut out = [0; 30_000];
        fill_ternary(&mut rng, &mut out);
        out.iter().for_each(|value| ternaries[(value + 1) as usize] += 1);
        assert_uniform(&ternaries);
        fill_binary(&mut rng, &mut out);
        out.iter().for_each(|value| binaries[*value as usize] += 1);
        assert_uniform(&binaries);
        assert!((0..100).all(|_| (-1..=1).contains(&ternary(&mut rng))));
    }

    #[test]
    fn fixed_weight_is_exact_and_spread_evenly() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut counts = [0; 10];
        for _ in 0..5_000 {
            let mut out = [9; 10];
            assert!(fill_fixed_weight(&mut rng, 4, &mut out));
            assert_eq!(out.iter().filter(|value| value.abs() == 1).count(), 4);
            assert_eq!(out.iter().filter(|value| **value == 0).count(), 6);
            out.iter().zip(&mut counts).for_each(|(value, count)| *count += u64::from(*value != 0));
        }
        assert_uniform(&counts);
        assert!(!fill_fixed_weight(&mut rng, 2, &mut [0]));
        assert!(fill_fixed_weight(&mut rng, 0, &mut []));
    }

    #[test]
    fn residues_of_negative_values() {
        assert_eq!(residue(-1), u32::MAX);
        assert_eq!(residue_mod(-1, 7), 6);
    }
}
