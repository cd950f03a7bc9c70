//! Primality and roots of unity for word-sized moduli.

pub(super) fn mul_mod(a: u64, b: u64, m: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(m)) as u64
}

pub(super) fn pow_mod(mut base: u64, mut exponent: u64, m: u64) -> u64 {
    let mut power = 1 % m;
    base %= m;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = mul_mod(power, base, m);
        }
        base = mul_mod(base, base, m);
        exponent >>= 1;
    }
    power
}

/// Miller-Rabin with the first twelve primes as bases: exact for every 64-bit integer (Sorenson and Webster, 2015).
pub(super) fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 || BASES.iter().any(|base| n.is_multiple_of(*base)) {
        return BASES.contains(&n);
    }
    let twos = (n - 1).trailing_zeros();
    BASES.iter().all(|base| {
        let mut x = pow_mod(*base, (n - 1) >> twos, n);
        if x == 1 || x == n - 1 {
            return true;
        }
        (1..twos).any(|_| {
            x = mul_mod(x, x, n);
            x == n - 1
        })
    })
}

/// An element of order exactly `order`, a power of two at least 2 that divides `prime - 1`: the power of the smallest
/// quadratic non-residue.
pub(super) fn root_of_unity(prime: u64, order: u64) -> Option<u64> {
    let non_residue = (2..prime).find(|x| pow_mod(*x, (prime - 1) / 2, prime) == prime - 1)?;
    Some(pow_mod(non_residue, (prime - 1) / order, prime))
}
