use super::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[test]
fn every_kernel_counts_the_same() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for len in [0, 1, 7, 61, 128] {
        let mut thresholds: Vec<u64> = (0..len).map(|_| rng.random()).collect();
        thresholds.sort_unstable();
        // Draws beside thresholds and at both ends, and others.
        let near = |i: usize| thresholds.get(i * 7 % len.max(1)).copied().unwrap_or(0);
        let draws = std::array::from_fn(|i| match i % 8 {
            0 => near(i),
            1 => near(i).wrapping_sub(1),
            2 => near(i).wrapping_add(1),
            3 => [0, u64::MAX, 1 << 63, (1 << 63) - 1][i / 8],
            _ => rng.random(),
        });
        let expected = draws.map(|draw| thresholds.iter().filter(|threshold| **threshold <= draw).count() as u32);
        for kernel in Kernel::available() {
            let found = reached(Checked::new(kernel).unwrap(), &thresholds, &draws);
            assert_eq!(found, expected, "{kernel}, {len} thresholds");
        }
    }
}
