//! What switching keys switch from is as secret as the key, and its memory is wiped before it is given back.

#![allow(clippy::unwrap_used)]

#[path = "../../lattice/tests/looking/mod.rs"]
mod looking;

use bfv::{RnsGadget, SeededKey};
use lattice::{Masks, RlweKey, Secret};
use looking::left_by;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{Automorphism, DiscreteGaussian, Kernel, Ntt, Poly, Ring, Seed, StdDev};

/// The first two residues of a limb.
fn start(poly: &Poly<u64, Ntt>, limb: usize) -> [u8; 16] {
    let bytes: Vec<u8> = poly.limb(limb)[..2].iter().flat_map(|residue| residue.to_ne_bytes()).collect();
    bytes.try_into().unwrap()
}

#[test]
fn images_and_squares_of_a_secret_are_wiped() {
    const N: usize = 64;
    let primes: Vec<u64> = ring::primes::primes_below(50, 2 * N as u64).take(2).collect();
    let ring = Ring::<u64>::new(N, &primes, Kernel::best()).unwrap();
    let gadget = RnsGadget::new(&ring, 0, 16).unwrap();
    let (mut rng, mut masks) = (ChaCha20Rng::seed_from_u64(1), Masks::new(Seed([2; 16])));
    let secret = RlweKey::sample(&ring, &Secret::Ternary, &mut rng).unwrap();
    let error = DiscreteGaussian::new(StdDev(3.2)).unwrap();
    let mut image = secret.automorphism(&Automorphism::new(N, 3).unwrap());
    ring.neg_assign(&mut image);
    let mut square = secret.ntt().clone();
    ring.mul_assign(&mut square, secret.ntt());
    for limb in 0..2 {
        let turn = || SeededKey::automorphism(&gadget, &secret, 3, &error, &mut masks, &mut rng).unwrap();
        assert_eq!(left_by(start(&image, limb), turn), 0, "the image, limb {limb}");
        let multiply = || SeededKey::relinearisation(&gadget, &secret, &error, &mut masks, &mut rng).unwrap();
        assert_eq!(left_by(start(&square, limb), multiply), 0, "the square, limb {limb}");
    }
}
