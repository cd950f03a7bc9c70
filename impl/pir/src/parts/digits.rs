//! Values of a first layer cut into digits, which are the database of a second layer. The values in order form one string of bits, least
//! significant first, which is cut into digits; digits are stored centred.

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
mod tests;
