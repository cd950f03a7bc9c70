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
