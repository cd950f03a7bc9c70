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

/// The distinct prime divisors of `n`, ascending, by trial division.
fn prime_divisors(mut n: u64) -> Vec<u64> {
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
mod tests {
    use super::*;

    #[test]
    fn primality_agrees_with_trial_division() {
        for n in 0..20_000u64 {
            let expected = n >= 2 && (2..n).take_while(|d| d * d <= n).all(|d| n % d != 0);
            assert_eq!(is_prime(n), expected, "{n}");
        }
    }

    #[test]
    fn strong_pseudoprimes_and_large_numbers() {
        // Composites that pass for the first 4, 9 and 11 prime witnesses (OEIS A014233), and a Carmichael number.
        for composite in [3_215_031_751, 3_825_123_056_546_413_051, 341_550_071_728_321, 561, u64::MAX] {
            assert!(!is_prime(composite), "{composite}");
        }
        // 2^61 - 1 and the largest prime below 2^64.
        for prime in [(1 << 61) - 1, 18_446_744_073_709_551_557] {
            assert!(is_prime(prime), "{prime}");
        }
    }

    #[test]
    fn searches_return_the_nearest_primes_in_order() {
        // Known values: the largest primes below 2^31 and 2^28 that are 1 modulo 2^12 and 2^13, by independent search below.
        for (bits, two_n) in [(14, 128), (20, 4096), (31, 4096), (12, 256)] {
            let (found, limit) = (primes_below(bits, two_n).take(5).collect::<Vec<_>>(), 1u64 << bits);
            let expected: Vec<u64> = (2..limit).rev().filter(|n| n % two_n == 1 && is_prime(*n)).take(5).collect();
            assert_eq!(found, expected);
            let above = primes_above(bits, two_n).take(5).collect::<Vec<_>>();
            let expected: Vec<u64> = (limit + 1..).filter(|n| n % two_n == 1 && is_prime(*n)).take(5).collect();
            assert_eq!(above, expected);
        }
        assert_eq!(primes_below(5, 128).count(), 0);
        assert_eq!(primes_below(64, 128).count() + primes_below(0, 128).count() + primes_below(20, 0).count(), 0);
        assert_eq!(primes_above(62, 128).count() + primes_above(20, 0).count(), 0);
    }

    #[test]
    fn roots_have_exactly_their_order() {
        for (prime, order) in [(12289, 4096), (12289, 3 * 4096), (7, 6), (0x0fff_ffff_ffff_c001, 1 << 14), (257, 1)] {
            let root = root_of_unity(prime, order);
            if !(prime - 1).is_multiple_of(order) || !is_prime(prime) {
                assert_eq!(root, None);
                continue;
            }
            let root = root.unwrap();
            let mut power = 1;
            for exponent in 1..=order {
                power = mul(power, root, prime);
                assert_eq!(power == 1, exponent == order, "{prime} {order} {exponent}");
            }
        }
        assert_eq!(root_of_unity(12289, 5), None);
        assert_eq!(root_of_unity(15, 2), None);
        assert_eq!(root_of_unity(12289, 0), None);
        assert_eq!(root_of_unity(7, 6), Some(3));
    }
}
