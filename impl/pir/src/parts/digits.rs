//! Values of a first layer cut into digits, the database of a second layer: the values one after the other are one string of
//! bits, least significant first, which is cut into digits; digits are stored centred.

/// Bits of a value and of a digit, at most 31 and 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits {
    /// Bits of a value.
    pub value_bits: u32,
    /// Bits of a digit.
    pub digit_bits: u32,
}

/// Writes the centred digits of `values`.
pub fn centred_digits(digits: Digits, values: impl Iterator<Item = u32>, out: &mut [i16]) {
    let Digits { value_bits, digit_bits } = digits;
    let (mask, half) = ((1u64 << digit_bits) - 1, 1i32 << (digit_bits - 1));
    let (mut pending, mut filled, mut out) = (0u64, 0, out.iter_mut());
    let mut emit = |pending: u64| {
        if let Some(out) = out.next() {
            *out = ((pending & mask) as i32 - half) as i16;
        }
    };
    for value in values {
        pending |= u64::from(value) << filled;
        filled += value_bits;
        while filled >= digit_bits {
            emit(pending);
            pending >>= digit_bits;
            filled -= digit_bits;
        }
    }
    if filled > 0 {
        emit(pending);
    }
}

/// The first `count` values whose centred digits these residues modulo 2^digit_bits are.
pub fn values_of(digits: Digits, residues: &[u64], count: usize) -> Vec<u32> {
    let Digits { value_bits, digit_bits } = digits;
    let (mask, half) = ((1u64 << digit_bits) - 1, 1u64 << (digit_bits - 1));
    let (mut pending, mut filled, mut residues) = (0u64, 0, residues.iter());
    let value = |_| {
        while filled < value_bits {
            let digit = residues.next().map_or(0, |residue| (residue + half) & mask);
            pending |= digit << filled;
            filled += digit_bits;
        }
        let value = (pending & ((1 << value_bits) - 1)) as u32;
        pending >>= value_bits;
        filled -= value_bits;
        value
    };
    (0..count).map(value).collect()
}

#[cfg(test)]
mod tests {
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
}
