//! Unsigned integers of any length, as little-endian 64-bit limbs: the few operations that moduli of many primes need.

/// x * factor + summand, one limb longer where that is needed.
pub(super) fn mul_add_small(x: &mut Vec<u64>, factor: u64, summand: u64) {
    let mut carry = summand;
    for limb in x.iter_mut() {
        let product = u128::from(*limb) * u128::from(factor) + u128::from(carry);
        (*limb, carry) = (product as u64, (product >> 64) as u64);
    }
    if carry > 0 {
        x.push(carry);
    }
}

/// Divides x by `divisor` in place and returns the remainder.
pub(super) fn div_small(x: &mut [u64], divisor: u64) -> u64 {
    x.iter_mut().rev().fold(0, |rest, limb| {
        let part = u128::from(rest) << 64 | u128::from(*limb);
        *limb = (part / u128::from(divisor)) as u64;
        (part % u128::from(divisor)) as u64
    })
}

/// floor((x - 1) / 2), for x > 0.
pub(super) fn half_below(x: &[u64]) -> Vec<u64> {
    let mut half = x.to_vec();
    for limb in &mut half {
        let borrow = *limb == 0;
        *limb = limb.wrapping_sub(1);
        if !borrow {
            break;
        }
    }
    (0..half.len()).map(|i| half[i] >> 1 | half.get(i + 1).map_or(0, |next| next << 63)).collect()
}

/// The binary logarithm of x > 0, to the precision of a double.
pub(super) fn log2(x: &[u64]) -> f64 {
    let top = x.iter().rposition(|limb| *limb > 0).unwrap_or(0);
    let leading = x[top] as f64 + if top > 0 { x[top - 1] as f64 / 2f64.powi(64) } else { 0.0 };
    leading.log2() + 64.0 * top as f64
}

/// x as a 128-bit number, if it fits.
pub(super) fn to_u128(x: &[u64]) -> Option<u128> {
    let limb = |i: usize| u128::from(x.get(i).copied().unwrap_or(0));
    x.iter().skip(2).all(|limb| *limb == 0).then(|| limb(0) | limb(1) << 64)
}
