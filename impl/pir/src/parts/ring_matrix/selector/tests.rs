use super::*;
use lattice::RlweKey;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{DiscreteGaussian, Kernel, Seed, StdDev};

/// Against the definition: phases are Delta times the polynomial asked for and a small error.
#[test]
fn selects_the_polynomial_asked_for() {
    let ring = Ring::new(64, &[268_369_921, 249_561_089], Kernel::best()).unwrap();
    let queries = RingQueries::new(&ring, Seed([3; 16]), 5 * 64);
    let error = DiscreteGaussian::new(StdDev(6.4)).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let candidates: Vec<Vec<i16>> =
        (0..5).map(|i: i32| (0..60 + i).map(|j| ((j * 509 + i * 77) % 32768 - 16384) as i16).collect()).collect();
    let scale = 1u64 << 40;
    for index in 0..5 {
        let secret = lattice::Secret::Gaussian(StdDev(6.4));
        let key = RlweKey::sample(&ring, &secret, &mut rng).unwrap();
        let residues = queries.residues(&key, (index * 64, scale), &error, &mut rng);
        let selector = Selector::new(&ring, &queries, &residues);
        let mut sum = Rlwe::zero(&ring);
        candidates.iter().enumerate().for_each(|(i, x)| selector.add(&ring, i, x, &mut sum));
        let mut mask = sum.a.clone();
        ring.mul_assign(&mut mask, key.ntt());
        ring.sub_assign(&mut sum.b, &mask);
        let mut phases = vec![0u128; 64];
        ring.compose_u128(&ring.inverse(sum.b), &mut phases);
        let q = ring.modulus_u128().unwrap() as i128;
        for (j, phase) in phases.into_iter().enumerate() {
            let expected = i128::from(scale) * i128::from(candidates[index].get(j).copied().unwrap_or(0));
            let difference = (phase as i128 - expected).rem_euclid(q);
            let error = difference.min(q - difference);
            // 5 x 64 products of errors of 6.4 with numbers up to 2^14.
            assert!(error < 1 << 25, "candidate {index}, coefficient {j}: {error}");
        }
    }
}
