use super::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

#[test]
fn secrets_have_their_shape() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let weight = Secret::FixedWeight { plus: 3, minus: 5 }.sample(100, &mut rng).unwrap();
    assert_eq!(weight.iter().filter(|&&k| k == 1).count(), 3);
    assert_eq!(weight.iter().filter(|&&k| k == u32::MAX).count(), 5);
    assert!(Secret::FixedWeight { plus: 60, minus: 41 }.sample(100, &mut rng).is_err());
    assert!(Secret::Gaussian(StdDev(0.0)).sample(4, &mut rng).is_err());
    assert!(Secret::Uniform.sample_small(4, &mut rng).is_err());
    assert!(Secret::UniformRange { low: 1, high: 0 }.sample_small(4, &mut rng).is_err());
    let range = Secret::UniformRange { low: -7, high: 7 }.sample_small(15_000, &mut rng).unwrap();
    for value in -7..=7 {
        let count = range.iter().filter(|&&k| k == value).count();
        assert!((800..1200).contains(&count), "{value}: {count}");
    }
    assert!(range.iter().all(|k| (-7..=7).contains(k)));
    let small = Secret::Ternary.sample_small(3000, &mut rng).unwrap();
    for value in -1..=1 {
        let count = small.iter().filter(|&&k| k == value).count();
        assert!((850..1150).contains(&count), "{value}: {count}");
    }
}
