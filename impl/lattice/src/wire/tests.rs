use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn residues_survive_the_wire(modulus in 2u64..=1 << 62, values in prop::collection::vec(0u64.., 0..40)) {
        let values: Vec<u64> = values.into_iter().map(|v| v % modulus).collect();
        let bits = residue_bits(modulus);
        prop_assert!(u128::from(modulus) <= 1 << bits && (1u128 << (bits - 1)) < u128::from(modulus));
        let mut writer = Writer::with_capacity(0);
        writer.write_all(&values, bits);
        let bytes = writer.finish();
        prop_assert_eq!(bytes.len(), packed_bytes(values.len(), bits));
        let mut reader = Reader::new(&bytes, bytes.len()).unwrap();
        prop_assert_eq!(reader.residues::<u64>(values.len(), modulus).unwrap(), values);
        reader.finish().unwrap();
    }
}

proptest! {
    #[test]
    fn any_widths_follow_one_another(fields in prop::collection::vec((1u32..=64, 0u64..), 0..60)) {
        let mut writer = Writer::with_capacity(0);
        // Only the low bits of a number that is too large are written.
        fields.iter().for_each(|&(bits, value)| writer.write(value, bits));
        let bytes = writer.finish();
        prop_assert_eq!(bytes.len(), fields.iter().map(|field| field.0 as usize).sum::<usize>().div_ceil(8));
        let mut reader = Reader::new(&bytes, bytes.len()).unwrap();
        for &(bits, value) in &fields {
            prop_assert_eq!(reader.bits(bits), value & (u64::MAX >> (64 - bits)));
        }
        reader.finish().unwrap();
    }
}

#[test]
fn bits_lie_least_significant_first() {
    let mut writer = Writer::with_capacity(0);
    writer.write_all(&[1u32, 0, 2, 3, 1], 3);
    // 001 000 010 011 001 from the right: 0b_001_011_010_000_001.
    assert_eq!(writer.finish(), [0b1000_0001, 0b0001_0110]);
}

#[test]
fn bad_messages_are_refused() {
    assert_eq!(Reader::new(&[0; 3], 2).err(), Some(WireError::Length { expected: 2, found: 3 }));
    let mut reader = Reader::new(&[7], 1).unwrap();
    assert_eq!(reader.residues::<u32>(1, 7), Err(WireError::Residue { residue: 7, modulus: 7 }));
    let mut reader = Reader::new(&[0b1000], 1).unwrap();
    assert_eq!(reader.residues::<u32>(1, 7), Ok(vec![0]));
    assert_eq!(reader.finish(), Err(WireError::Padding));
}
