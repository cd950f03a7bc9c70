//! The operations of BFV and GBFV at the sizes of protocols: HintlessPIR's rotations, PIRANA's products.

use bfv::{ChainKeys, Family, Multiplier, PlainModulus, RnsGadget, RotationChain, Scheme, SeededKey, sum_products};
use criterion::Criterion;
use lattice::{Masks, RlweKey, Secret};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::{DiscreteGaussian, Kernel, Kind, Ring, Seed, StdDev};
use std::time::Duration;

/// A protocol's set. The last prime is the special one, if there is one.
struct Setting {
    name: &'static str,
    n: usize,
    primes: &'static [u64],
    special: usize,
    base_log2: u32,
    family: Family,
}

const Q_4096: &[u64] = &[268_369_921, 268_361_729, 268_271_617, 4_169_729];

const SETTINGS: [Setting; 4] = [
    Setting {
        name: "hintless_4096",
        n: 4096,
        primes: &[1_073_692_673, 1_073_668_097, 1_073_651_713],
        special: 0,
        base_log2: 15,
        family: Family::Integer { t: 2_056_193 },
    },
    Setting {
        name: "pirana_bfv_4096",
        n: 4096,
        primes: Q_4096,
        special: 1,
        base_log2: 28,
        family: Family::Integer { t: 65537 },
    },
    Setting {
        name: "pirana_gbfv_4096_63",
        n: 4096,
        primes: Q_4096,
        special: 1,
        base_log2: 28,
        family: Family::Binomial { k: 1024, b: 65280 },
    },
    Setting {
        name: "pirana_bfv_8192",
        n: 8192,
        primes: &[268_369_921, 268_271_617, 268_238_849, 268_189_697, 268_091_393],
        special: 1,
        base_log2: 28,
        family: Family::Integer { t: 67_239_937 },
    },
];

type Failure = Box<dyn std::error::Error>;

fn operations(c: &mut Criterion, setting: &Setting) -> Result<(), Failure> {
    let &Setting { name, n, primes, special, base_log2, family } = setting;
    let key_ring = Ring::<u32>::new(n, primes, Kernel::best())?;
    let (gadget, modulus) = (RnsGadget::new(&key_ring, special, base_log2)?, PlainModulus::new(family, n)?);
    let (ring, mut rng) = (gadget.ring().clone(), ChaCha20Rng::seed_from_u64(1));
    let (scheme, error) = (Scheme::new(&ring, &modulus)?, DiscreteGaussian::new(StdDev(3.2))?);
    let wide = RlweKey::sample(&key_ring, &Secret::Ternary, &mut rng)?;
    let key = RlweKey::from_coefficients(&ring, wide.coefficients().to_vec())?;
    let mut masks = Masks::new(Seed([1; 16]));
    let words = modulus.words();
    let values: Vec<u64> =
        (0..modulus.slots() * words).map(|i| if i % words == 0 { i as u64 % 60_000 } else { 0 }).collect();
    let mut group = c.benchmark_group(name);
    group.bench_function("encode", |b| b.iter(|| modulus.encode(&values)));
    let z = modulus.encode(&values)?;
    group.bench_function("decode", |b| b.iter(|| modulus.decode(&z)));
    group.bench_function("prepare", |b| b.iter(|| scheme.prepare(&z)));
    group.bench_function("encrypt", |b| b.iter(|| scheme.encrypt(&key, &z, &error, &mut masks, &mut rng)));
    let ciphertext = scheme.encrypt(&key, &z, &error, &mut masks, &mut rng)?.expand(&ring);
    group.bench_function("decrypt", |b| b.iter(|| scheme.decrypt(&key, &ciphertext)));
    // Sixteen terms, each in memory of its own.
    let (plains, ciphertexts) = (vec![scheme.prepare(&z)?; 16], vec![ciphertext.clone(); 16]);
    let (plains, ciphertexts): (Vec<_>, Vec<_>) = (plains.iter().collect(), ciphertexts.iter().collect());
    group.bench_function("sum_of_16_products", |b| b.iter(|| sum_products(&ring, &plains, &ciphertexts)));

    let exponent = modulus.id().rotation(1);
    let rotation = SeededKey::automorphism(&gadget, &wide, exponent, &error, &mut masks, &mut rng)?.expand(&gadget)?;
    group.bench_function("rotation", |b| b.iter(|| gadget.automorphism(&ciphertext, &rotation)));
    group.bench_function("digits", |b| b.iter(|| gadget.digits(&ciphertext.a)));
    let digits = gadget.digits(&ciphertext.a);
    group.bench_function("hoisted_rotation", |b| b.iter(|| gadget.switch(&digits, &ciphertext.b, &rotation)));
    if setting.special == 0 {
        let (chain, _) = RotationChain::new(&gadget, ciphertext.a.clone(), rotation.masks(), 64)?;
        let (keys, bodies) = (ChainKeys::new(&gadget, vec![rotation.bodies().clone()])?, [ciphertext.b.clone()]);
        group.bench_function("bodies_of_four_turns", |b| b.iter(|| chain.turns(&gadget, 32, &bodies, &keys)));
    }

    let multiplier = Multiplier::new(&scheme)?;
    let key = SeededKey::relinearisation(&gadget, &wide, &error, &mut masks, &mut rng)?.expand(&gadget)?;
    group.bench_function("lift", |b| b.iter(|| multiplier.lift(ciphertext.clone())));
    let lifted = multiplier.lift(ciphertext.clone())?;
    group.bench_function("ciphertext_product", |b| b.iter(|| multiplier.multiply(&lifted, &lifted, &gadget, &key)));
    // The bound of the product: its transforms alone.
    let ntts = multiplier.shape().multiply_work(gadget.shape()).get(Kind::Transform(n));
    let (plan, mut data) = (&ring.limbs()[0].1, vec![1; n]);
    group.bench_function(format!("{ntts}_transforms_of_the_product"), |b| {
        b.iter(|| (0..ntts).for_each(|_| plan.forward(&mut data)));
    });
    group.finish();
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(20)
        .configure_from_args();
    SETTINGS.iter().try_for_each(|setting| operations(&mut criterion, setting))?;
    criterion.final_summary();
    Ok(())
}
