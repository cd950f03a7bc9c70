use super::*;

#[test]
fn every_kernel_and_variant_reads_every_word_once() {
    let bytes: Vec<u8> = (0..3 * 8192).map(|i| (i * 7 + i / 256) as u8).collect();
    let words = bytes.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap()));
    let expected = words.fold(0u64, |sum, word| sum.wrapping_add(word));
    for name in Kernel::available() {
        for (streams, ahead) in VARIANTS {
            let kernel = Checked::new(name).unwrap();
            assert_eq!(read_sum(kernel, &bytes, streams, ahead), expected, "{name} {streams} {ahead}");
        }
    }
}

#[test]
fn a_small_probe_gives_a_positive_figure() {
    let probe = Probe::new(Kernel::best(), 1 << 20).unwrap();
    let way = probe.fastest();
    assert!(
        probe.once(way.streams, way.ahead) > 0.0
            && way.bytes_per_second > 0.0
            && VARIANTS.contains(&(way.streams, way.ahead))
    );
}
