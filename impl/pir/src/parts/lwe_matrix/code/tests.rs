use super::*;
use proptest::prelude::*;

#[test]
fn published_entry_counts() {
    // (record bits, p, records an entry, entries a record), reference implementation and the papers' tables.
    for (bits, p, packed, wide) in [
        (1, 701, 9, 1),
        (1, 552, 9, 1),
        (8, 701, 1, 1),
        (9, 701, 1, 1),
        (10, 701, 1, 2),
        (2048, 833, 1, 212),
        (2048, 701, 1, 217),
        (2048, 495, 1, 229),
        (256, 833, 1, 27),
        (256, 991, 1, 26),
        (512, 701, 1, 55),
    ] {
        let code = RecordCode::new(bits, p);
        assert_eq!((code.records_per_entry(), code.entries_per_record()), (packed, wide), "{bits} bits, p {p}");
    }
    assert_eq!(RecordCode::new(1, 701).offset(), 256);
    assert_eq!(RecordCode::new(2048, 701).offset(), 350);
    assert_eq!(RecordCode::new(2048, 701).entry_bits(), 10);
}

proptest! {
    #[test]
    fn wide_records_survive(p in 3u32..=4096, bytes in proptest::collection::vec(any::<u8>(), 2..700), cut in 0u64..8) {
        let bits = 8 * bytes.len() as u64 - cut;
        let mut record = bytes;
        if let Some(last) = record.last_mut() {
            *last &= 0xff >> cut;
        }
        let code = RecordCode::new(bits, p);
        prop_assume!(!code.is_packed());
        let mut digits = vec![0; code.entries_per_record() as usize];
        code.digits(&record, &mut digits);
        prop_assert!(digits.iter().all(|&d| u32::from(d) < p));
        prop_assert_eq!(code.record(&digits), record);
    }

    #[test]
    fn packed_records_survive(bits in 1u64..=12, entry in 0u16..4096, value: u16) {
        let code = RecordCode::new(bits, 4096);
        let mask = ((1u32 << bits) - 1) as u16;
        let entry = entry & ((1u32 << code.entry_bits()) - 1) as u16;
        for slot in 0..code.records_per_entry() {
            let record = (value & mask).to_le_bytes()[..bits.div_ceil(8) as usize].to_vec();
            let changed = code.repack(entry, slot, &record);
            prop_assert_eq!(code.unpack(changed, slot), record);
            for other in (0..code.records_per_entry()).filter(|&other| other != slot) {
                prop_assert_eq!(code.unpack(changed, other), code.unpack(entry, other));
            }
        }
    }
}
