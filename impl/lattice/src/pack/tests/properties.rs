//! Packings decrypt, batches are their members, keys travel, masks differ.

use crate::pack::DIRECT_TERMS;
use crate::tests::{assert_close, integers, schoolbook_phase};
use crate::{
    LatticeError, Method, Packing, PackingKeys, PackingMasks, RingGadget, RlweKey, Secret, Workspace, ring_mask,
};
use gadget::{Coins, Family};
use rand::RngCore;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::primes::primes_below;
use ring::{Coefficient, DiscreteGaussian, Kernel, Ntt, Poly, Ring, Seed, StdDev};
use std::collections::HashSet;

const N: usize = 64;
const SIGMA: f64 = 3.2;

/// A packing of dimension 64 with keys.
pub(super) struct Fixture {
    pub packing: Packing,
    pub key: RlweKey<u32>,
    pub masks: PackingMasks,
    pub keys: PackingKeys,
    pub workspace: Workspace<u32>,
    pub rng: ChaCha20Rng,
}

impl Fixture {
    pub fn new(method: Method, gamma: usize, family: Family, base: u64, dropped: usize, limbs: usize) -> Self {
        let primes: Vec<u64> = primes_below(28, 2 * N as u64).take(limbs).collect();
        let ring = Ring::new(N, &primes, Kernel::best()).unwrap();
        let gadget = RingGadget::new(&ring, family, base, dropped).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(gamma as u64);
        let key = RlweKey::sample(&ring, &Secret::Ternary, &mut rng).unwrap();
        let packing = Packing::new(method, &gadget, gamma).unwrap();
        let masks = packing.masks(Seed([7; 16]));
        let error = DiscreteGaussian::new(StdDev(SIGMA)).unwrap();
        let keys = packing.keys(&key, &masks, &error, &mut rng).unwrap();
        let workspace = Workspace::new(Coins::from_seed(Seed([8; 16])));
        Self { packing, key, masks, keys, workspace, rng }
    }

    /// Keys of another client.
    fn other_keys(&mut self) -> (RlweKey<u32>, PackingKeys) {
        let key = RlweKey::sample(self.packing.gadget().ring(), &Secret::Ternary, &mut self.rng).unwrap();
        let error = DiscreteGaussian::new(StdDev(SIGMA)).unwrap();
        let keys = self.packing.keys(&key, &self.masks, &error, &mut self.rng).unwrap();
        (key, keys)
    }

    /// `count` uniform ring masks, and uniform bodies.
    pub fn uniform_inputs(&mut self, count: usize) -> (Vec<Poly<u32, Ntt>>, Poly<u32, Coefficient>) {
        let ring = self.packing.gadget().ring().clone();
        ((0..count).map(|_| ring.uniform(&mut self.rng)).collect(), ring.uniform(&mut self.rng))
    }

    /// Noiseless LWE ciphertexts of those messages: ring masks and bodies.
    fn encrypt(&mut self, messages: &[u128], key: &RlweKey<u32>) -> (Vec<Poly<u32, Ntt>>, Poly<u32, Coefficient>) {
        let ring = self.packing.gadget().ring().clone();
        let q = ring.modulus_u128().unwrap();
        let mut bodies = vec![0; N];
        let mut masks = Vec::new();
        for (message, body) in messages.iter().zip(&mut bodies) {
            let a: Vec<u64> = (0..N).map(|_| (u128::from(self.rng.next_u64()) % q) as u64).collect();
            let product: i128 = a.iter().zip(key.coefficients()).map(|(&a, &s)| i128::from(a) * i128::from(s)).sum();
            *body = (product.rem_euclid(q as i128) as u128 + message) % q;
            masks.push(ring_mask(&ring, &a).unwrap());
        }
        (masks, ring.from_u128(&bodies))
    }

    /// Eight standard deviations of the sum of N - 1 key switches (CDKS: of their number weighted by the doublings above them).
    fn bound(&self) -> f64 {
        let gadget = self.packing.gadget();
        let n = N as f64;
        let switch =
            8.0 * (gadget.length() as f64 * n).sqrt() * gadget.bound() as f64 * SIGMA + gadget.error_bound() as f64 * n;
        switch * n * if self.packing.method() == Method::Cdks { n } else { 1.0 }
    }
}

const GADGETS: [(Family, u64, usize); 5] = [
    (Family::Unsigned, 1 << 10, 0),
    (Family::Balanced, 1 << 10, 0),
    (Family::Unsigned, 1 << 8, 1),
    (Family::Balanced, 1 << 8, 1),
    (Family::Zy22, 1 << 8, 0),
];

#[test]
fn phases_survive_every_method_and_gadget() {
    for method in [Method::Inspiring, Method::Cdks] {
        for (family, base, dropped) in GADGETS {
            for gamma in [64, 32, 16, 8, 4, 2, 1] {
                let mut t = Fixture::new(method, gamma, family, base, dropped, 2);
                let ring = t.packing.gadget().ring().clone();
                let q = ring.modulus_u128().unwrap();
                // One ciphertext fewer than fit, where there are several: missing ones count as zero.
                let count = (gamma - 1).max(1);
                let messages: Vec<u128> = (0..count).map(|j| q / (j as u128 + 2)).collect();
                let key = t.key.clone();
                let (masks, bodies) = t.encrypt(&messages, &key);
                let table = t.packing.preprocess(&t.masks, &masks, &mut t.workspace).unwrap();
                assert_eq!(table.bytes(), t.packing.table_bytes());
                let online = t.packing.pack(&t.masks, &t.keys, &masks, &bodies, &mut t.workspace).unwrap();
                for packed in [table.pack(&t.keys, &bodies).unwrap(), online] {
                    let phase = schoolbook_phase(&ring, &packed, t.key.coefficients());
                    let found: Vec<u128> = (0..count).map(|j| phase[t.packing.position(j)]).collect();
                    assert!(t.bound() < q as f64 / 16.0);
                    assert_close(&found, &messages, q, t.bound());
                }
            }
        }
    }
}

/// A handful of ciphertexts is summed by the definition, more of them by transforms: zero ciphertexts make the difference. And the
/// keys of a full packing serve half a one.
#[test]
fn few_ciphertexts_are_packed_as_many_and_by_half() {
    let mut t = Fixture::new(Method::Inspiring, N, Family::Balanced, 1 << 8, 1, 2);
    let ring = t.packing.gadget().ring().clone();
    let q = ring.modulus_u128().unwrap();
    let half = Packing::new(Method::Inspiring, t.packing.gadget(), N / 2).unwrap();
    let quarter = Packing::new(Method::Inspiring, t.packing.gadget(), N / 4).unwrap();
    for count in [1, 2, DIRECT_TERMS] {
        let messages: Vec<u128> = (0..count).map(|j| q / (j as u128 + 2)).collect();
        let key = t.key.clone();
        let (masks, bodies) = t.encrypt(&messages, &key);
        for packing in [t.packing.clone(), half.clone()] {
            let few = packing.pack(&t.masks, &t.keys, &masks, &bodies, &mut t.workspace).unwrap();
            let mut padded = masks.clone();
            padded.resize_with(N / 2, || ring.zero());
            let many = packing.pack(&t.masks, &t.keys, &padded, &bodies, &mut t.workspace).unwrap();
            assert_eq!(integers(&ring, &few.a), integers(&ring, &many.a));
            assert_eq!(integers(&ring, &few.b), integers(&ring, &many.b));
            let phase = schoolbook_phase(&ring, &few, t.key.coefficients());
            assert_close(&phase[..count], &messages, q, t.bound());
        }
        assert!(quarter.pack(&t.masks, &t.keys, &masks, &bodies, &mut t.workspace).is_err());
    }
}

#[test]
fn a_batch_is_its_members() {
    for method in [Method::Inspiring, Method::Cdks] {
        let mut t = Fixture::new(method, N, Family::Unsigned, 1 << 19, 0, 2);
        let (ring_masks, _) = t.uniform_inputs(N);
        let table = t.packing.preprocess(&t.masks, &ring_masks, &mut t.workspace).unwrap();
        let clients: Vec<_> = (0..11).map(|_| (t.other_keys().1, t.uniform_inputs(0).1)).collect();
        for count in [0, 1, 2, 3, 11] {
            let batch: Vec<_> = clients[..count].iter().map(|(keys, bodies)| (keys, bodies)).collect();
            let packed = table.pack_batch(&batch).unwrap();
            assert_eq!(packed.len(), count);
            for ((keys, bodies), packed) in clients.iter().zip(packed) {
                let alone = table.pack(keys, bodies).unwrap();
                assert!(alone.a == packed.a && alone.b == packed.b);
            }
        }
    }
}

#[test]
fn every_kernel_gives_the_same_table_and_output() {
    for method in [Method::Inspiring, Method::Cdks] {
        let mut outputs = Vec::new();
        for kernel in Kernel::available() {
            let primes: Vec<u64> = primes_below(28, 2 * N as u64).take(2).collect();
            let ring = Ring::<u32>::new(N, &primes, kernel).unwrap();
            let gadget = RingGadget::new(&ring, Family::Balanced, 1 << 19, 0).unwrap();
            let mut rng = ChaCha20Rng::seed_from_u64(3);
            let key = RlweKey::sample(&ring, &Secret::Ternary, &mut rng).unwrap();
            let packing = Packing::new(method, &gadget, N).unwrap();
            let masks = packing.masks(Seed([7; 16]));
            let error = DiscreteGaussian::new(StdDev(SIGMA)).unwrap();
            let keys = packing.keys(&key, &masks, &error, &mut rng).unwrap();
            let ring_masks: Vec<_> = (0..N).map(|_| ring.uniform(&mut rng)).collect();
            let mut workspace = Workspace::new(Coins::from_seed(Seed([8; 16])));
            let table = packing.preprocess(&masks, &ring_masks, &mut workspace).unwrap();
            let packed = table.pack(&keys, &ring.uniform(&mut rng)).unwrap();
            outputs.push((integers(&ring, &packed.a), integers(&ring, &packed.b)));
        }
        assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn no_two_rows_share_a_mask() {
    let primes: Vec<u64> = primes_below(28, 2 * N as u64).take(2).collect();
    let ring = Ring::<u32>::new(N, &primes, Kernel::best()).unwrap();
    let mut seen = HashSet::new();
    // Whatever keys a client may make under one secret: both methods, every gamma, exact and approximate gadgets of two bases.
    for (base, dropped) in [(1 << 19, 0), (1 << 19, 1), (1 << 16, 0), (1 << 16, 1)] {
        let gadget = RingGadget::new(&ring, Family::Unsigned, base, dropped).unwrap();
        let inspiring = (0..=N.ilog2()).map(|log| (Method::Inspiring, 1 << log));
        // One set of CDKS keys serves every gamma.
        for (method, gamma) in inspiring.chain([(Method::Cdks, N)]) {
            let packing = Packing::new(method, &gadget, gamma).unwrap();
            let masks = packing.masks(Seed([1; 16]));
            for role in 0..packing.exponents().len() {
                for row in 0..gadget.length() {
                    assert!(seen.insert(masks.row(role, row).as_slice().to_vec()), "{method} {gamma} {role} {row}");
                }
            }
        }
    }
    assert_eq!(seen.len(), (3 + 2 + 4 + 3) * (2 + 5 + 6));
}

#[test]
fn keys_are_encryptions_with_the_public_masks() {
    let t = Fixture::new(Method::Inspiring, N, Family::Unsigned, 1 << 19, 0, 2);
    let ring = t.packing.gadget().ring();
    let q = ring.modulus_u128().unwrap();
    for (role, exponent) in t.packing.exponents().into_iter().enumerate() {
        let image = t.key.automorphism(&ring::Automorphism::new(N, exponent).unwrap());
        for (row, &weight) in t.packing.gadget().weights().iter().enumerate() {
            // b - a s + weight s(X^k) is the error.
            let mut message = image.clone();
            ring.mul_scalar_assign(&mut message, weight);
            let mut sum = t.key.ntt().clone();
            ring.mul_assign(&mut sum, t.masks.row(role, row));
            ring.neg_assign(&mut sum);
            ring.add_assign(&mut sum, t.keys.row(role, row));
            ring.add_assign(&mut sum, &message);
            let error = integers(ring, &ring.inverse(sum));
            assert_close(&error, &vec![0; N], q, 10.0 * SIGMA);
            assert!(error.iter().any(|&e| e != 0));
        }
    }
}

#[test]
fn keys_travel_as_bodies() {
    for (method, roles) in [(Method::Inspiring, 2), (Method::Cdks, 6)] {
        let t = Fixture::new(method, N, Family::Unsigned, 1 << 19, 0, 2);
        let bytes = t.keys.to_bytes(&t.packing);
        assert_eq!(bytes.len(), roles * 3 * N * 56 / 8);
        assert_eq!(bytes.len(), t.packing.key_bytes());
        let back = PackingKeys::from_bytes(&t.packing, &bytes).unwrap();
        for (role, row) in (0..roles).flat_map(|role| (0..3).map(move |row| (role, row))) {
            assert!(back.row(role, row) == t.keys.row(role, row));
        }
        assert!(PackingKeys::from_bytes(&t.packing, &bytes[1..]).is_err());
        let mut bad = bytes;
        bad[..4].fill(0xff);
        assert!(matches!(PackingKeys::from_bytes(&t.packing, &bad), Err(LatticeError::Wire(_))));
    }
}

#[test]
fn published_keys_have_their_size() {
    let ring = Ring::<u32>::new(2048, &[268_369_921, 249_561_089], Kernel::best()).unwrap();
    let bytes = |method, gamma, dropped| {
        let gadget = RingGadget::new(&ring, Family::Unsigned, 1 << 19, dropped).unwrap();
        Packing::new(method, &gadget, gamma).unwrap().key_bytes()
    };
    assert_eq!(bytes(Method::Inspiring, 2048, 0), 84 << 10);
    assert_eq!(bytes(Method::Inspiring, 2048, 1), 56 << 10);
    assert_eq!(bytes(Method::Inspiring, 1024, 0), 42 << 10);
    assert_eq!(bytes(Method::Cdks, 2048, 0), 462 << 10);
    let gadget = RingGadget::new(&ring, Family::Unsigned, 1 << 19, 0).unwrap();
    let table = |gamma| Packing::new(Method::Inspiring, &gadget, gamma).unwrap().table_bytes();
    assert_eq!((table(2048), table(1024), table(16)), (96 << 20, 48 << 20, 768 << 10));
}

#[test]
fn strangers_are_refused() {
    let mut t = Fixture::new(Method::Inspiring, 16, Family::Unsigned, 1 << 19, 0, 2);
    let (ring_masks, bodies) = t.uniform_inputs(17);
    assert!(t.packing.preprocess(&t.masks, &ring_masks, &mut t.workspace).is_err());
    let table = t.packing.preprocess(&t.masks, &ring_masks[..16], &mut t.workspace).unwrap();
    for (method, gamma, base, dropped) in [
        (Method::Cdks, 16, 1 << 19, 0),
        (Method::Inspiring, 32, 1 << 19, 0),
        (Method::Inspiring, 16, 1 << 18, 0),
        (Method::Inspiring, 16, 1 << 19, 1),
    ] {
        let mut other = Fixture::new(method, gamma, Family::Unsigned, base, dropped, 2);
        assert!(table.pack(&other.keys, &bodies).is_err());
        assert!(t.packing.preprocess(&other.masks, &[], &mut t.workspace).is_err());
        assert!(t.packing.pack(&t.masks, &other.keys, &[], &bodies, &mut other.workspace).is_err());
        assert!(
            t.packing.keys(&t.key, &other.masks, &DiscreteGaussian::new(StdDev(SIGMA)).unwrap(), &mut t.rng).is_err()
        );
    }
    let other = Fixture::new(Method::Inspiring, 16, Family::Unsigned, 1 << 19, 0, 3);
    assert!(table.pack(&t.keys, &other.packing.ring().zero()).is_err());
    let gadget = t.packing.gadget();
    assert!(Packing::new(Method::Inspiring, gadget, 3).is_err());
    assert!(Packing::new(Method::Cdks, gadget, 128).is_err());
    assert!(ring_mask(t.packing.ring(), &[0; 63]).is_err());
}
