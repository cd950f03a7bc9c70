//! The operations of BFV and GBFV at the sizes of protocols: HintlessPIR's rotations, PIRANA's products.

use bfv::{ChainKeys, Family, Multiplier, PlainModulus, RnsGadget, RotationChain, Scheme, SeededKey, sum_products};
use criterion::Criterion;
use lattice::{Masks, RlweKey, Secret};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::primes::primes_below;
use ring::{DiscreteGaussian, Kernel, Kind, Ring, Seed, StdDev};
use std::time::Duration;

struct Setting {
    name: &'static str,
    n: usize,
    bits: u32,
    primes: usize,
    special: usize,
    base_log2: u32,
    family: Family,
}

const SETTINGS: [Setting; 4] = [
    Setting {
        name: "hintless_4096_90",
        n: 4096,
        bits: 45,
        primes: 2,
        special: 0,
        base_log2: 16,
        family: Family::Integer { t: 2_056_193 },
    },
    Setting {
        name: "gbfv_4096_74_b65620",
        n: 4096,
        bits: 37,
        primes: 2,
        special: 1,
        base_log2: 61,
        family: Family::Binomial { k: 512, b: 65620 },
    },
    Setting {
        name: "gbfv_4096_50_b288",
        n: 4096,
        bits: 50,
        primes: 1,
        special: 1,
        base_log2: 61,
        family: Family::Binomial { k: 256, b: 288 },
    },
    Setting {
        name: "bfv_8192_147",
        n: 8192,
        bits: 49,
        primes: 3,
        special: 1,
        base_log2: 61,
        family: Family::Integer { t: 65537 },
    },
];

type Failure = Box<dyn std::error::Error>;

fn operations(c: &mut Criterion, setting: &Setting) -> Result<(), Failure> {
    let &Setting { name, n, bits, primes, special, base_log2, family } = setting;
    let primes: Vec<u64> = primes_below(bits, 2 * n as u64).take(primes + special).collect();
    let key_ring = Ring::<u64>::new(n, &primes, Kernel::best())?;
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
    let chain = RotationChain::new(&gadget, ciphertext.a.clone(), rotation.masks(), 64)?;
    let (keys, bodies) = (ChainKeys::new(&gadget, vec![rotation.bodies().clone()])?, [ciphertext.b.clone()]);
    group.bench_function("body_of_a_turn", |b| b.iter(|| chain.turn(&gadget, 32, &bodies, &keys)));

    let multiplier = Multiplier::new(&scheme, 1)?;
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
