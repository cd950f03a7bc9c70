use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn digits_give_the_values_back(
        value_bits in 1u32..=31, digit_bits in 1u32..=16, values in prop::collection::vec(any::<u32>(), 1..40)
    ) {
        let digits = Digits { value_bits, digit_bits };
        let values: Vec<u32> = values.into_iter().map(|value| value & ((1 << value_bits) - 1)).collect();
        let mut out = vec![0; (values.len() * value_bits as usize).div_ceil(digit_bits as usize)];
        centred_digits(digits, values.iter().copied(), &mut out);
        let p = 1i64 << digit_bits;
        prop_assert!(out.iter().all(|&digit| (-p / 2..p / 2).contains(&digit.into())));
        let residues: Vec<u64> = out.iter().map(|&digit| i64::from(digit).rem_euclid(p) as u64).collect();
        prop_assert_eq!(values_of(digits, &residues, values.len()), values);
    }
}

#[test]
fn the_first_digit_is_the_lowest() {
    let mut out = [0; 4];
    // 28 bits: 0x12345_67 in digits of 8 bits, least significant first, centred.
    centred_digits(Digits { value_bits: 28, digit_bits: 8 }, [0x123_4567].into_iter(), &mut out);
    assert_eq!(out, [0x67 - 128, 0x45 - 128, 0x23 - 128, 0x1 - 128]);
}
