use super::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn assert_uniform(counts: &[u64]) {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    for &count in counts {
        assert!((count as f64 - expected).abs() < 5.0 * expected.sqrt(), "{counts:?}");
    }
}

#[test]
fn uniform_numbers_have_no_bias() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // 3 * 2^30 would show the bias of a remainder at once: the first third would be twice as likely.
    let bound = 3u32 << 30;
    let mut counts = [0; 3];
    for _ in 0..60_000 {
        counts[(uniform_below(&mut rng, u64::from(bound)) >> 30) as usize] += 1;
    }
    assert_uniform(&counts);
    assert!((0..100).all(|_| uniform_below(&mut rng, 1 << 40) < 1 << 40));
    assert!((0..100).all(|_| uniform_below(&mut rng, u64::MAX) < u64::MAX));
    assert_eq!(uniform_below(&mut rng, 1), 0);
}

#[test]
fn ternary_and_binary_are_uniform() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut ternaries, mut binaries) = ([0; 3], [0; 2]);
    let mut out = [0; 30_000];
    fill_ternary(&mut rng, &mut out);
    out.iter().for_each(|value| ternaries[(value + 1) as usize] += 1);
    assert_uniform(&ternaries);
    (0..out.len()).for_each(|_| binaries[binary(&mut rng) as usize] += 1);
    assert_uniform(&binaries);
}

#[test]
fn residues_of_negative_values() {
    assert_eq!(residue(-1), u32::MAX);
}
