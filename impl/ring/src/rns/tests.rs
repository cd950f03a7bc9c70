use super::*;
use crate::kernel::Kernel;
use crate::primes::primes_below;
use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn big(limbs: &[u64]) -> BigUint {
    limbs.iter().rev().fold(BigUint::from(0u32), |sum, limb| (sum << 64) + limb)
}

fn vectors() -> Vectors {
    Vectors::new(Kernel::best()).unwrap()
}

/// Random numbers below `q`, with 0, q - 1 and the two around q/2 among them.
fn numbers(rng: &mut impl RngCore, q: &BigUint, count: usize) -> Vec<BigUint> {
    let half = q / 2u32;
    let edges = [BigUint::from(0u32), q - 1u32, half.clone(), (half + 1u32) % q];
    let bytes = q.to_bytes_le().len() + 8;
    let random = (0..count).map(|_| {
        let mut raw = vec![0; bytes];
        rng.fill_bytes(&mut raw);
        BigUint::from_bytes_le(&raw) % q
    });
    edges.into_iter().chain(random).collect()
}

fn residues<W: Word>(numbers: &[BigUint], moduli: &[u64]) -> Vec<W> {
    let residue = |x: &BigUint, q: &u64| W::from_u64((x % q).to_u64_digits().first().copied().unwrap_or(0));
    moduli.iter().flat_map(|q| numbers.iter().map(move |x| residue(x, q))).collect()
}

fn limbs_of(x: &BigUint, length: usize) -> Vec<u64> {
    let mut limbs = x.to_u64_digits();
    limbs.resize(length, 0);
    limbs
}

/// floor(x / d + 1/2) for the centred representative of x modulo q.
fn rounded(x: &BigUint, q: &BigUint, numerator: u64, denominator: &BigUint) -> BigInt {
    let (x, q) = (BigInt::from(x.clone()), BigInt::from(q.clone()));
    let centred = if &x * 2 >= q { x - q } else { x };
    let denominator = BigInt::from(denominator.clone());
    let doubled: BigInt = centred * numerator * 2 + &denominator;
    let divisor = denominator * 2;
    let quotient = &doubled / &divisor;
    if &quotient * &divisor > doubled { quotient - 1 } else { quotient }
}

fn modulo(x: BigInt, q: &BigUint) -> BigUint {
    let q = BigInt::from(q.clone());
    (((x % &q) + &q) % &q).to_biguint().unwrap()
}

fn check<W: Word>(moduli: &[u64], switched: u64, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rns = Rns::<W>::new(moduli).unwrap();
    let q: BigUint = moduli.iter().product();
    assert_eq!(big(rns.product()), q);
    assert_eq!(rns.product_u128().map(BigUint::from), (q.bits() <= 128).then(|| q.clone()));
    let digits = q.to_string();
    let log10 = digits[..digits.len().min(15)].parse::<f64>().unwrap().log10() + digits.len().saturating_sub(15) as f64;
    assert!((rns.product_log2() - log10 / 2f64.log10()).abs() < 1e-9);

    let numbers = numbers(&mut rng, &q, 40);
    let (n, length) = (numbers.len(), rns.product().len());
    let input: Vec<W> = residues(&numbers, moduli);
    let flat: Vec<u64> = numbers.iter().flat_map(|x| limbs_of(x, length)).collect();
    let mut composed = vec![0; n * length];
    rns.compose_limbs(&input, &mut composed);
    assert_eq!(composed, flat);
    let mut back = vec![W::default(); input.len()];
    if length == 1 {
        rns.compose_u64(vectors(), &input, &mut composed);
        assert_eq!(composed, flat);
        back.fill(W::default());
        rns.decompose_u64(vectors(), &flat, &mut back);
        assert_eq!(back, input);
    }
    if length <= 2 {
        let expected: Vec<u128> = numbers.iter().map(|x| u128::try_from(x).unwrap()).collect();
        let mut wide = vec![0; n];
        rns.compose_u128(&input, &mut wide);
        assert_eq!(wide, expected);
        back.fill(W::default());
        rns.decompose_u128(&wide, &mut back);
        assert_eq!(back, input);
    }
    let mut wrapped = vec![0; n];
    rns.compose_centred_wrapping(&input, &mut wrapped);
    let word = BigUint::from(1u32) << 64;
    for (x, wrapped) in numbers.iter().zip(wrapped) {
        let centred = rounded(x, &q, 1, &BigUint::from(1u32));
        assert_eq!(BigUint::from(wrapped), modulo(centred, &word));
    }

    for kept in 1..moduli.len() {
        let to = rns.prefix(kept).unwrap();
        let dropped: BigUint = moduli[kept..].iter().product();
        let mut out = vec![W::default(); n * kept];
        rns.rescale(vectors(), &input, &to, &mut out).unwrap();
        let rest = big(to.product());
        let expected: Vec<BigUint> = numbers.iter().map(|x| modulo(rounded(x, &q, 1, &dropped), &rest)).collect();
        assert_eq!(out, residues::<W>(&expected, &moduli[..kept]), "{moduli:?} to {kept}");
    }
    let mut out = vec![0; n];
    rns.switch_modulus(&input, switched, &mut out);
    for (x, out) in numbers.iter().zip(out) {
        let expected = modulo(rounded(x, &q, switched, &q), &BigUint::from(switched));
        assert_eq!(BigUint::from(out), expected, "{x} of {q} to {switched}");
    }
}

#[test]
fn composition_rescaling_and_switching_agree_with_big_integers() {
    let primes = |bits, count| primes_below(bits, 1 << 12).take(count).collect::<Vec<_>>();
    for switched in [1, 2, 3, 257, 1 << 32, (1 << 53) - 111, u64::MAX] {
        for count in 1..=5 {
            check::<u32>(&primes(28, count), switched, count as u64);
            check::<u32>(&primes(31, count), switched, 10 + count as u64);
            check::<u64>(&primes(50, count), switched, 20 + count as u64);
            check::<u64>(&primes(62, count), switched, 30 + count as u64);
        }
        // Ascending order, unequal lengths, and even moduli, where ties exist.
        let mut mixed = [primes(14, 1), primes(31, 1), primes(20, 2)].concat();
        check::<u32>(&mixed, switched, 40);
        mixed.reverse();
        check::<u32>(&mixed, switched, 41);
        check::<u32>(&[1 << 20, 12289, 9], switched, 42);
        check::<u32>(&[12289, 1 << 20], switched, 43);
        check::<u64>(&[35, 1 << 6, 27], switched, 44);
        check::<u64>(&[2], switched, 45);
    }
}

proptest! {
    #[test]
    fn any_coprime_moduli(candidates in prop::collection::vec(2u64..1 << 31, 1..5), switched in 1u64.., seed: u64) {
        let mut moduli: Vec<u64> = Vec::new();
        for candidate in candidates {
            if Rns::<u32>::new(&[&moduli[..], &[candidate]].concat()).is_ok() {
                moduli.push(candidate);
            }
        }
        check::<u32>(&moduli, switched, seed);
        check::<u64>(&moduli, switched, seed);
    }
}

#[test]
fn impossible_systems_are_refused() {
    assert_eq!(Rns::<u32>::new(&[]).err(), Some(RnsError::Empty));
    assert_eq!(Rns::<u32>::new(&[15, 7, 21]).err(), Some(RnsError::NotCoprime(15, 21)));
    assert!(matches!(Rns::<u32>::new(&[1 << 32]), Err(RnsError::Modulus(_))));
    let rns = Rns::<u64>::new(&[15, 7, 11]).unwrap();
    for to in [Rns::new(&[7]).unwrap(), rns.clone()] {
        let mut out = vec![0; to.len()];
        assert!(matches!(rns.rescale(vectors(), &[0; 3], &to, &mut out), Err(RnsError::NoPrefix { .. })));
    }
    assert!(rns.prefix(0).is_none() && rns.prefix(4).is_none());
}
