use super::*;
use proptest::prelude::{prop_assert_eq, proptest};

/// NIST SP 800-38A, F.5.1: the key stream of CTR-AES128.
#[test]
fn keystream_equals_the_standard_vector() {
    let prg = Prg::new(0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes());
    let mut out = [0; 64];
    prg.blocks(0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff, Block::slice_as_chunks_mut(&mut out).0);
    let expected: [u128; 4] = [
        0xec8c_df73_9860_7cb0_f2d2_1675_ea9e_a1e4,
        0x362b_7c3c_6773_5163_18a0_77d7_fc50_73ae,
        0x6a2c_c378_7889_374f_beb4_c81b_17ba_6c44,
        0xe89c_399f_f0f1_98c6_d40a_31db_156c_abfe,
    ];
    for (block, expected) in out.chunks_exact(16).zip(expected) {
        assert_eq!(block, expected.to_be_bytes());
    }
}

/// The stream, its wide steps included, is the library's cipher applied to the counters one by one.
#[test]
fn keystream_is_the_encryption_of_counters() {
    for first in [0u128, 5, (1 << 32) - 3, u128::from(u64::MAX) - 100] {
        let mut prg = Prg::new([0x5a; 16]);
        let mut out = vec![0; 16 * 333 + 5];
        prg.keystream(first * 16, &mut out);
        for (i, block) in out.chunks(16).enumerate() {
            let mut expected = Block::from((first + i as u128).to_be_bytes());
            prg.cipher.encrypt_block(&mut expected);
            assert_eq!(block, &expected[..block.len()], "block {i} from {first}");
        }
        #[cfg(target_arch = "x86_64")]
        for wide in [prg.wide.map(Vaes::narrow), None] {
            prg.wide = wide;
            for len in [out.len(), 16 * 9, 16 * 16 + 3] {
                let mut again = vec![0; len];
                prg.keystream(first * 16, &mut again);
                assert_eq!(again, out[..len], "{len} bytes from {first}");
            }
        }
    }
}

#[test]
fn derived_seeds_differ_by_label_and_seed() {
    let seed = Seed([7; 16]);
    assert_eq!(seed.derive("a"), seed.derive("a"));
    assert_ne!(seed.derive("a"), seed.derive("b"));
    assert_ne!(seed.derive("a"), Seed([8; 16]).derive("a"));
}

#[test]
fn streams_are_parts_of_the_counter_mode_stream() {
    let (prg, mut out, mut block) = (Prg::new([5; 16]), [0; 20], [Block::default(); 2]);
    prg.fill_stream_at(3, 8, &mut out);
    prg.blocks(3 << 60, &mut block);
    assert_eq!((&out[..8], &out[8..]), (&block[0][8..], &block[1][..12]));
    let (mut first, mut zeroth) = ([0; 40], [0; 40]);
    prg.fill_at(7, &mut first);
    prg.fill_stream_at(0, 7, &mut zeroth);
    assert_eq!(first, zeroth);
}

#[test]
fn the_last_bytes_of_the_stream_are_reachable() {
    let mut out = [0; 3];
    Seed([1; 16]).prg().fill_at(u64::MAX - 3, &mut out);
}

proptest! {
    #[test]
    fn random_access_equals_the_sequential_stream(offset in 0usize..3000, len in 0usize..2000) {
        let prg = Prg::new([3; 16]);
        let mut all = vec![0; 5000];
        prg.rng().fill_bytes(&mut all);
        let mut part = vec![0; len];
        prg.fill_at(offset as u64, &mut part);
        prop_assert_eq!(&part, &all[offset..offset + len]);
        let mut words = vec![0; len / 4];
        prg.fill_u32_at((offset / 4) as u64, &mut words);
        let start = offset / 4 * 4;
        for (word, four) in words.iter().zip(all[start..].chunks_exact(4)) {
            prop_assert_eq!(&word.to_le_bytes(), four);
        }
    }
}

#[test]
fn permuted_counters_are_the_stream() {
    let prg = Prg::new([3; 16]);
    let mut blocks: Vec<[u8; 16]> = (5..42u128).map(u128::to_be_bytes).collect();
    let mut stream = vec![0; 16 * blocks.len()];
    prg.permute(&mut blocks);
    prg.fill_at(16 * 5, &mut stream);
    assert_eq!(blocks.concat(), stream);
}
