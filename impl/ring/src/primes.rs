//! Primes congruent to 1 modulo 2N, found and checked, and their roots of unity.

use crate::modulus::Modulus;

/// Witnesses that together expose every composite below 2^64 (Sorenson and Webster 2015 prove it below 3.3 * 10^24 for the first
/// 13 primes; the first 12 suffice for 64 bits).
const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

fn mul(a: u64, b: u64, q: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(q)) as u64
}

fn pow(mut base: u64, mut exponent: u64, q: u64) -> u64 {
    let mut power = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = mul(power, base, q);
        }
        base = mul(base, base, q);
        exponent >>= 1;
    }
    power
}

/// Whether `n` is prime, by the Miller-Rabin test, without error for every 64-bit number.
pub fn is_prime(n: u64) -> bool {
    if let Some(divisor) = WITNESSES.iter().find(|witness| n.is_multiple_of(**witness)) {
        return n == *divisor;
    }
    if n < 2 {
        return false;
    }
    let twos = (n - 1).trailing_zeros();
    WITNESSES.iter().all(|witness| {
        let mut x = pow(*witness, (n - 1) >> twos, n);
        if x == 1 || x == n - 1 {
            return true;
        }
        (1..twos).any(|_| {
            x = mul(x, x, n);
            x == n - 1
        })
    })
}

/// The primes below 2^`bits` that are 1 modulo `two_n`, from the largest down. None if `bits` is above 63 or `two_n` is 0.
pub fn primes_below(bits: u32, two_n: u64) -> impl Iterator<Item = u64> {
    let limit = if bits < 64 && two_n > 0 { 1u64 << bits } else { 0 };
    // The largest number below the limit that is 1 modulo two_n.
    let largest = limit.checked_sub(2).map(|room| room - room % two_n + 1);
    std::iter::successors(largest, move |candidate| candidate.checked_sub(two_n)).filter(|n| is_prime(*n))
}

/// The primes above 2^`bits` that are 1 modulo `two_n`, from the smallest up, as far as 2^62. None if `two_n` is 0.
pub fn primes_above(bits: u32, two_n: u64) -> impl Iterator<Item = u64> {
    const LIMIT: u64 = 1 << 62;
    let smallest = if bits < 62 && two_n > 0 { (1u64 << bits).div_ceil(two_n).checked_mul(two_n) } else { None };
    std::iter::successors(smallest.map(|multiple| multiple + 1), move |candidate| candidate.checked_add(two_n))
        .take_while(|candidate| *candidate < LIMIT)
        .filter(|n| is_prime(*n))
}

/// The distinct prime divisors of `n`, ascending, by trial division: quick for numbers to 2^32 and for smooth ones.
pub fn prime_divisors(mut n: u64) -> Vec<u64> {
    let mut divisors = Vec::new();
    let mut candidate = 2;
    while candidate * candidate <= n {
        if n.is_multiple_of(candidate) {
            divisors.push(candidate);
            while n.is_multiple_of(candidate) {
                n /= candidate;
            }
        }
        candidate += 1;
    }
    if n > 1 {
        divisors.push(n);
    }
    divisors
}

/// A primitive root of unity of that order modulo a prime below 2^62: g^((prime - 1) / order) for the smallest g >= 2 that gives
/// one, so the same on every machine. None if `prime` is not a prime or `order` does not divide `prime - 1`.
pub fn root_of_unity(prime: u64, order: u64) -> Option<u64> {
    let modulus = Modulus::new(prime).ok()?;
    if order == 0 || !(prime - 1).is_multiple_of(order) || !is_prime(prime) {
        return None;
    }
    let divisors = prime_divisors(order);
    (1..prime).map(|g| modulus.pow(g, (prime - 1) / order)).find(|root| {
        // Of that order exactly: no proper divisor of the order leads to 1.
        divisors.iter().all(|divisor| modulus.pow(*root, order / divisor) != 1)
    })
}

#[cfg(test)]
mod tests;
