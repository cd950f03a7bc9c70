use super::*;
use crate::kernel::Kernel;
use crate::prg::Prg;
use crate::primes::primes_below;
use crate::rns::RnsError;
use num_bigint::BigInt;
use proptest::prelude::*;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

fn ring<W: Word>(n: usize, bits: u32, count: usize, kernel: Kernel) -> Arc<Ring<W>> {
    let primes: Vec<u64> = primes_below(bits, 2 * n as u64).take(count).collect();
    Ring::new(n, &primes, kernel).unwrap()
}

fn random<W: Word, D>(ring: &Ring<W>, seed: u64) -> Poly<W, D> {
    ring.uniform(&mut ChaCha8Rng::seed_from_u64(seed))
}

/// f(X^k) mod X^N + 1 and q, coefficient by coefficient.
fn substitute(f: &[u64], k: usize, q: u64) -> Vec<u64> {
    let n = f.len();
    let mut out = vec![0; n];
    for (i, f) in f.iter().enumerate() {
        let (place, turns) = (i * k % n, i * k / n);
        out[place] = if turns % 2 == 0 { *f } else { (q - f) % q };
    }
    out
}

/// f * g mod X^N + 1 and q, term by term.
fn schoolbook(f: &[u64], g: &[u64], q: u64) -> Vec<u64> {
    let n = f.len();
    let mut out = vec![0u128; n];
    let q = u128::from(q);
    for (i, f) in f.iter().enumerate() {
        for (j, g) in g.iter().enumerate() {
            let product = u128::from(*f) * u128::from(*g) % q;
            let signed = if i + j < n { product } else { q - product };
            out[(i + j) % n] = (out[(i + j) % n] + signed) % q;
        }
    }
    out.into_iter().map(|x| x as u64).collect()
}

fn limb<W: Word, D>(poly: &Poly<W, D>, i: usize) -> Vec<u64> {
    poly.limb(i).iter().map(|x| x.to_u64()).collect()
}

fn monomial(n: usize, exponent: usize, q: u64) -> Vec<u64> {
    let mut out = vec![0; n];
    out[exponent % n] = if (exponent / n).is_multiple_of(2) { 1 } else { q - 1 };
    out
}

fn check_products<W: Word>(n: usize, bits: u32, kernel: Kernel, seed: u64) {
    let ring = ring::<W>(n, bits, 2, kernel);
    let polys: Vec<Poly<W, Coefficient>> = (0..6).map(|i| random(&ring, seed + i)).collect();
    let transformed: Vec<Poly<W, Ntt>> = polys.iter().map(|poly| ring.forward(poly.clone())).collect();
    let mut product = transformed[0].clone();
    ring.mul_assign(&mut product, &transformed[1]);
    let mut sum = transformed[2].clone();
    ring.mul_add_assign(&mut sum, &transformed[0], &transformed[1]);
    let (mut c0, mut c1) = (random(&ring, 8), random(&ring, 9));
    let right = [&transformed[2], &transformed[3], &transformed[4], &transformed[5]];
    ring.sum_products(&[&transformed[0], &transformed[1]], &right, &mut [&mut c0, &mut c1]);
    let [product, sum, c0, c1] = [product, sum, c0, c1].map(|poly| ring.inverse(poly));
    for (i, q) in ring.primes().iter().enumerate() {
        let mul = |a: usize, b: usize| schoolbook(&limb(&polys[a], i), &limb(&polys[b], i), *q);
        let add = |a: &[u64], b: &[u64]| a.iter().zip(b).map(|(a, b)| (a + b) % q).collect::<Vec<_>>();
        assert_eq!(limb(&product, i), mul(0, 1));
        assert_eq!(limb(&sum, i), add(&mul(0, 1), &limb(&polys[2], i)));
        assert_eq!(limb(&c0, i), add(&mul(0, 2), &mul(1, 4)));
        assert_eq!(limb(&c1, i), add(&mul(0, 3), &mul(1, 5)));
    }
}

#[test]
fn products_equal_the_schoolbook() {
    for kernel in Kernel::available() {
        for n in [64, 256] {
            check_products::<u32>(n, 28, kernel, 1);
            check_products::<u32>(n, 31, kernel, 2);
            check_products::<u64>(n, 50, kernel, 3);
            check_products::<u64>(n, 62, kernel, 4);
        }
    }
}

/// Automorphisms and monomials in both domains.
fn check_substitutions<W: Word>(n: usize, bits: u32, k: usize, exponent: usize, kernel: Kernel) {
    let ring = ring::<W>(n, bits, 2, kernel);
    let f: Poly<W, Coefficient> = random(&ring, k as u64);
    let table = Automorphism::new(n, k as u64).unwrap();
    let image = ring.automorphism_coefficient(&f, &table);
    let shifted = ring.mul_monomial(&f, exponent);
    // What was there before does not matter.
    let mut over = f.clone();
    ring.automorphism_coefficient_into(&f, &table, &mut over);
    assert_eq!(over, image);
    ring.mul_monomial_into(&f, exponent, &mut over);
    assert_eq!(over, shifted);
    let x = ring.inverse(ring.monomial_ntt(exponent));
    for (i, q) in ring.primes().iter().enumerate() {
        let f = limb(&f, i);
        assert_eq!(limb(&image, i), substitute(&f, k, *q), "{kernel}, N = {n}, k = {k}");
        assert_eq!(limb(&x, i), monomial(n, exponent, *q), "{kernel}, N = {n}, X^{exponent}");
        let expected: Vec<u64> = (0..n)
            .map(|j| {
                let source = (j + 2 * n - exponent % (2 * n)) % (2 * n);
                if source < n { f[source] } else { (q - f[source - n]) % q }
            })
            .collect();
        assert_eq!(limb(&shifted, i), expected, "{kernel}, N = {n}, X^{exponent}");
    }
    assert_eq!(ring.automorphism_ntt(&ring.forward(f), &table), ring.forward(image), "{kernel}, N = {n}, k = {k}");
    for (slot, source) in table.slots().iter().enumerate() {
        let plan = &ring.limbs()[0].1;
        assert_eq!(*source as usize, plan.slot_of(plan.slot_exponent(slot) * k % (2 * n)));
    }
}

#[test]
fn all_automorphisms_and_monomials_of_a_small_ring() {
    for i in 0..128 {
        check_substitutions::<u32>(64, 28, 2 * i % 128 + 1, i, Kernel::best());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn automorphisms_and_monomials(log_n in 6u32..=13, k in 0usize..1 << 20, exponent in 0usize..1 << 20) {
        for kernel in Kernel::available() {
            check_substitutions::<u32>(1 << log_n, 31, 2 * k + 1, exponent, kernel);
            check_substitutions::<u64>(1 << log_n, 56, 2 * k + 1, exponent, kernel);
        }
    }
}

#[test]
fn conversions_round_trip() {
    let n = 64;
    for kernel in Kernel::available() {
        let ring = ring::<u32>(n, 28, 2, kernel);
        let q = ring.modulus_u128().unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let numbers: Vec<u64> = (0..n).map(|_| (u128::from(rng.next_u64()) % q) as u64).collect();
        let poly = ring.from_u64(&numbers);
        let (mut back, mut wide) = (vec![0; n], vec![0; n]);
        ring.compose_u64(&poly, &mut back);
        ring.compose_u128(&poly, &mut wide);
        assert_eq!(back, numbers);
        assert_eq!(ring.from_u128(&wide), poly);
        let signed: Vec<i32> = (0..n).map(|_| rng.next_u32() as i32).collect();
        let wide_signed: Vec<i64> = signed.iter().map(|x| i64::from(*x)).collect();
        assert_eq!(ring.from_signed_i32(&signed), ring.from_signed(&wide_signed));
        ring.compose_u64(&ring.from_signed(&wide_signed), &mut back);
        let expected: Vec<u64> = signed.iter().map(|x| i128::from(*x).rem_euclid(q as i128) as u64).collect();
        assert_eq!(back, expected);

        let mut scaled = poly.clone();
        ring.mul_scalar_assign(&mut scaled, q - 3);
        let mut negated = poly.clone();
        ring.mul_signed_assign(&mut negated, -3);
        assert_eq!(scaled, negated);
        ring.neg_assign(&mut negated);
        ring.sub_assign(&mut negated, &poly);
        ring.add_assign(&mut scaled, &poly);
        ring.add_assign(&mut scaled, &negated);
        assert_eq!(scaled, ring.zero());
        ring.compose_u64(&negated, &mut back);
        let doubled = |x: &u64| (2 * u128::from(*x) % q) as u64;
        assert_eq!(back, numbers.iter().map(doubled).collect::<Vec<_>>());
    }
}

#[test]
fn rescaling_drops_the_last_primes() {
    let full = ring::<u64>(64, 50, 3, Kernel::best());
    let f: Poly<u64, Coefficient> = random(&full, 1);
    let to = full.prefix(1).unwrap();
    let p = BigInt::from(full.primes()[1]) * full.primes()[2];
    let q = &p * full.primes()[0];
    // x is the sum over the primes of its residue times Q / p_i times the inverse of that modulo p_i.
    let basis: Vec<BigInt> = full
        .primes()
        .iter()
        .map(|&prime| {
            let cofactor = &q / prime;
            &cofactor * cofactor.modpow(&BigInt::from(prime - 2), &BigInt::from(prime))
        })
        .collect();
    let rounded = full.rescale(&f, &to).unwrap();
    for (j, out) in rounded.as_slice().iter().enumerate() {
        let residues = f.as_slice().chunks(64).zip(&basis);
        let x = residues.fold(BigInt::from(0), |sum, (limb, basis)| sum + basis * limb[j]) % &q;
        let expected: BigInt = ((x * 2 + &p) / (&p * 2)) % full.primes()[0];
        assert_eq!(BigInt::from(*out), expected);
    }
    let switched = full.switch_to(&f, full.primes()[0]);
    assert_eq!(switched, rounded.as_slice());
    assert!(matches!(to.rescale(&rounded, &full), Err(RnsError::NoPrefix { .. })));
}

#[test]
fn expansion_depends_on_seed_and_stream_alone() {
    let prg = Prg::new([1; 16]);
    let reference: Poly<u32, Ntt> = ring(64, 28, 2, Kernel::Scalar).expand(&prg, 7);
    for kernel in Kernel::available() {
        let ring = ring::<u32>(64, 28, 2, kernel);
        assert_eq!(ring.expand::<Ntt>(&prg, 7), reference);
        assert_ne!(ring.expand::<Ntt>(&prg, 8), reference);
        assert_ne!(ring.expand::<Ntt>(&Prg::new([2; 16]), 7), reference);
        for (i, q) in ring.primes().iter().enumerate() {
            assert!(reference.limb(i).iter().all(|x| u64::from(*x) < *q));
        }
    }
}

#[test]
fn impossible_rings_and_automorphisms_are_refused() {
    assert!(matches!(Ring::<u32>::new(64, &[], Kernel::Scalar), Err(RingError::Rns(_))));
    assert!(matches!(Ring::<u32>::new(64, &[257, 257], Kernel::Scalar), Err(RingError::Rns(_))));
    assert!(matches!(Ring::<u32>::new(64, &[263], Kernel::Scalar), Err(RingError::Ntt(_))));
    assert!(matches!(Ring::<u32>::new(48, &[257], Kernel::Scalar), Err(RingError::Ntt(_))));
    assert_eq!(Automorphism::new(64, 4), Err(AutomorphismError::Even(4)));
    assert_eq!(Automorphism::new(48, 3), Err(AutomorphismError::Size(48)));
    assert_eq!(Automorphism::new(64, 131).unwrap().exponent(), 3);
    assert!(ring::<u32>(64, 28, 2, Kernel::Scalar).prefix(3).is_none());
}
