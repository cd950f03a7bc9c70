use super::*;
use proptest::prelude::*;

/// Independent reference: bit-serial long division.
fn naive_digits(limbs: &[u64], base: u32, count: usize) -> Vec<u16> {
    let mut bits: Vec<u8> = limbs.iter().flat_map(|l| (0..64).map(move |b| (l >> b & 1) as u8)).collect();
    (0..count)
        .map(|_| {
            let mut remainder = 0u32;
            for bit in bits.iter_mut().rev() {
                remainder = 2 * remainder + u32::from(*bit);
                *bit = u8::from(remainder >= base);
                remainder %= base;
            }
            remainder as u16
        })
        .collect()
}

fn check(base: u32, limbs: &[u64]) {
    let radix = Radix::new(base);
    let count = radix.digits(64 * limbs.len() as u64) as usize;
    let mut digits = vec![0; count];
    radix.to_digits(&mut limbs.to_vec(), &mut digits);
    assert_eq!(digits, naive_digits(limbs, base, count), "base {base}");
    let mut back = vec![1; limbs.len()];
    radix.compose(&digits, &mut back);
    assert_eq!(back, limbs);
}

#[test]
fn extremes_convert() {
    for base in [2, 3, 16, 231, 256, 552, 701, 833, 991, 1024, 4096] {
        for limbs in [[0, 0, 0], [u64::MAX; 3], [1, 0, 0], [0, 0, 1 << 63], [u64::MAX, 0, u64::MAX]] {
            check(base, &limbs);
        }
    }
}

proptest! {
    #[test]
    fn random_numbers_convert(
        base in prop_oneof![2u32..=4096, (1u32..=12).prop_map(|bits| 1 << bits)],
        limbs in proptest::collection::vec(any::<u64>(), 1..8),
    ) {
        check(base, &limbs);
    }
}
