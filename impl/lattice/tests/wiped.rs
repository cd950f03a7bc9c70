//! Memory that held a secret key is zero when it is given back.

#![allow(clippy::unwrap_used)]

mod looking;

use lattice::lwe::LweKey;
use lattice::{RlweKey, Secret, SplitRing};
use looking::dropped;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::prg::Prg;
use ring::{Kernel, Ring};

#[test]
fn keys_are_wiped_when_dropped() {
    const N: usize = 512;
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    assert_eq!(dropped(LweKey::sample(&Secret::Ternary, N, &mut rng).unwrap()), (4 * N, 0));
    assert_eq!(dropped(Secret::Uniform.sample(N, &mut rng).unwrap()), (4 * N, 0));
    let ring = Ring::<u32>::new(N, &[268_369_921], Kernel::best()).unwrap();
    assert_eq!(dropped(RlweKey::sample(&ring, &Secret::Ternary, &mut rng).unwrap()), (8 * N, 0));
    let ring = Ring::<u64>::new(N, &[268_369_921, 249_561_089], Kernel::best()).unwrap();
    let key = RlweKey::sample(&ring, &Secret::Ternary, &mut rng).unwrap();
    let rings = SplitRing::new(N).unwrap();
    let (bytes, left) = dropped(rings.key(&key).unwrap());
    assert!(bytes >= 2 * 12 * N && left == 0, "the key that opens answers: {left} of {bytes} bytes are left");
    assert_eq!(dropped(key), (20 * N, 0));
    // A flag beside the round keys says how wide the registers are.
    let (bytes, left) = dropped(Box::new(Prg::new([7; 16])));
    assert!(bytes >= 11 * 16 && left <= 16, "a generator's round keys: {left} of {bytes} bytes are left");
}
