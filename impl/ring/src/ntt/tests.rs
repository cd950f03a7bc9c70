use super::*;
use crate::primes::{primes_above, primes_below};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn mul_mod(a: u64, b: u64, p: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(p)) as u64
}

fn pow_mod(x: u64, exponent: u64, p: u64) -> u64 {
    let bits = (0..exponent.checked_ilog2().map_or(0, |log| log + 1)).rev();
    bits.fold(1, |power, bit| {
        let square = mul_mod(power, power, p);
        if exponent >> bit & 1 == 1 { mul_mod(square, x, p) } else { square }
    })
}

/// The largest prime = 1 mod 2n below 2^bits.
fn prime_below(bits: u32, n: usize) -> u64 {
    primes_below(bits, 2 * n as u64).next().unwrap()
}

fn sizes() -> impl Iterator<Item = usize> {
    (MIN_LOG_N..=MAX_LOG_N).map(|log| 1 << log)
}

fn evaluate(f: &[u64], x: u64, p: u64) -> u64 {
    f.iter().rev().fold(0, |value, c| (mul_mod(value, x, p) + c) % p)
}

/// The plans of all paths this processor has for the prime.
fn plans<W: Word>(n: usize, p: u64) -> Vec<NttPlan<W>> {
    let plans = Path::ALL.into_iter().filter_map(|path| NttPlan::with_path(n, W::from_u64(p), path).ok());
    let plans: Vec<_> = plans.collect();
    assert!(plans.len() >= Kernel::available().len());
    plans
}

/// Residues of all sorts for a transform: none, random, and those that drive lazy ranges furthest.
fn inputs(n: usize, p: u64, rng: &mut impl Rng) -> Vec<Vec<u64>> {
    let extreme =
        |rng: &mut dyn rand::RngCore| (0..n).map(|_| if rng.next_u32() & 1 == 0 { p - 1 } else { 0 }).collect();
    let alternating = (0..n).map(|i| if i % 2 == 0 { p - 1 } else { 0 }).collect();
    let halves = (0..n).map(|i| if i < n / 2 { p - 1 } else { 0 }).collect();
    let random = (0..n).map(|_| rng.random_range(0..p)).collect();
    vec![random, vec![p - 1; n], alternating, halves, extreme(rng), extreme(rng), vec![0; n]]
}

fn check<W: Word>(n: usize, p: u64) {
    for plan in plans::<W>(n, p) {
        check_plan(&plan);
    }
}

fn check_plan<W: Word>(plan: &NttPlan<W>) {
    let (n, p) = (plan.n(), plan.prime().to_u64());
    let psi = plan.root().to_u64();
    assert_eq!(pow_mod(psi, n as u64, p), p - 1, "psi has order 2N");
    let mut rng = ChaCha8Rng::seed_from_u64(p ^ n as u64);
    // Digits, also where residues are too long for 32 bits.
    let digits: Vec<i32> = (0..n).map(|_| rng.random_range(-(1 << 18)..1 << 18)).collect();
    if p > 1 << 18 {
        let residue = |x: &i32| W::from_u64(i64::from(*x).rem_euclid(p as i64) as u64);
        let mut expected: Vec<W> = digits.iter().map(residue).collect();
        plan.forward(&mut expected);
        let mut values = vec![W::default(); n];
        plan.forward_signed(&digits, &mut values);
        assert!(values == expected, "digits, {p} {n} {}", plan.path());
    }
    for f in inputs(n, p, &mut rng) {
        let input: Vec<W> = f.iter().map(|c| W::from_u64(*c)).collect();
        let mut data = input.clone();
        plan.forward(&mut data);
        for slot in [0, 1, 2, n / 2, n - 1, rng.random_range(0..n)] {
            let exponent = plan.slot_exponent(slot);
            assert_eq!(plan.slot_of(exponent), slot);
            assert_eq!(
                data[slot].to_u64(),
                evaluate(&f, pow_mod(psi, exponent as u64, p), p),
                "{p} {n} slot {slot} {}",
                plan.path()
            );
        }
        // The residues centred, where they fit: the smaller of both representatives, and the other.
        let centred = |c: &u64| if *c > p / 2 { *c as i64 - p as i64 } else { *c as i64 };
        let other = |c: &u64| if *c > 0 { *c as i64 - p as i64 } else { 0 };
        for signed in [f.iter().map(centred).collect::<Vec<_>>(), f.iter().map(other).collect()] {
            let signed: Result<Vec<i32>, _> = signed.into_iter().map(i32::try_from).collect();
            if let Ok(signed) = signed {
                let mut values = vec![W::default(); n];
                plan.forward_signed(&signed, &mut values);
                assert!(values == data, "signed inputs, {p} {n} {}", plan.path());
            }
        }
        let mut unscaled = data.clone();
        plan.inverse(&mut data);
        assert!(data == input, "inverse of forward, {p} {n} {}", plan.path());
        plan.inverse_unscaled(&mut unscaled);
        assert!(
            unscaled.iter().zip(&f).all(|(u, c)| u.to_u64() == mul_mod(*c, n as u64, p)),
            "{p} {n} {}",
            plan.path()
        );
        // Inputs below 2p are allowed.
        let (mut late, mut early) = (f.iter().map(|c| W::from_u64(c + p)).collect::<Vec<_>>(), input);
        plan.forward(&mut late);
        plan.forward(&mut early);
        assert!(late == early, "inputs below 2p, {p} {n} {}", plan.path());
    }
}

const BITS_32: [u32; 4] = [20, 28, 30, 31];
const BITS_64: [u32; 12] = [20, 28, 31, 36, 49, 50, 51, 56, 58, 60, 61, 62];

#[test]
fn values_at_odd_powers_and_back() {
    for n in sizes() {
        BITS_32.into_iter().for_each(|bits| check::<u32>(n, prime_below(bits, n)));
        BITS_64.into_iter().for_each(|bits| check::<u64>(n, prime_below(bits, n)));
    }
}

/// Small and large primes of every range of the lazy reductions.
#[test]
fn primes_at_the_bounds_of_ranges() {
    let n = 256;
    let prime_above = |bits| primes_above(bits, 512).next().unwrap();
    check::<u32>(n, 7681);
    check::<u64>(n, 7681);
    (18..31).for_each(|bits| check::<u32>(n, prime_above(bits)));
    (18..61).for_each(|bits| check::<u64>(n, prime_above(bits)));
    (14..=31).for_each(|bits| check::<u32>(n, prime_below(bits, n)));
    (14..=62).for_each(|bits| check::<u64>(n, prime_below(bits, n)));
}

/// All paths at every slot, which [`check`] samples.
#[test]
fn paths_agree() {
    fn agree<W: Word>(n: usize, p: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(p + n as u64);
        let plans = plans::<W>(n, p);
        type Transform<W> = fn(&NttPlan<W>, &mut [W]);
        let transforms: [(Transform<W>, u64); 3] =
            [(NttPlan::forward, 2 * p), (NttPlan::inverse, p), (NttPlan::inverse_unscaled, p)];
        for (transform, bound) in transforms {
            for f in inputs(n, bound, &mut rng) {
                let outputs: Vec<_> = plans
                    .iter()
                    .map(|plan| {
                        let mut data: Vec<_> = f.iter().map(|c| W::from_u64(*c)).collect();
                        transform(plan, &mut data);
                        assert!(data.iter().all(|value| *value < plan.prime()));
                        data
                    })
                    .collect();
                assert!(outputs.iter().all(|output| *output == outputs[0]), "{p} {n}");
            }
        }
    }
    for n in sizes() {
        BITS_32.into_iter().for_each(|bits| agree::<u32>(n, prime_below(bits, n)));
        BITS_64.into_iter().for_each(|bits| agree::<u64>(n, prime_below(bits, n)));
    }
}

#[test]
fn product_of_values_is_the_negacyclic_product() {
    let n = 64;
    for p in BITS_64.map(|bits| prime_below(bits, n)) {
        for plan in plans::<u64>(n, p) {
            let mut rng = ChaCha8Rng::seed_from_u64(p);
            let mut draw = || (0..n).map(|_| rng.random_range(0..p)).collect::<Vec<_>>();
            let (mut a, mut b, mut schoolbook) = (draw(), draw(), vec![0; n]);
            for i in 0..n {
                for j in 0..n {
                    let product = mul_mod(a[i], b[j], p);
                    let signed = if i + j < n { product } else { (p - product) % p };
                    schoolbook[(i + j) % n] = (schoolbook[(i + j) % n] + signed) % p;
                }
            }
            plan.forward(&mut a);
            plan.forward(&mut b);
            a.iter_mut().zip(&b).for_each(|(x, y)| *x = mul_mod(*x, *y, p));
            plan.inverse(&mut a);
            assert_eq!(a, schoolbook);
        }
    }
}

#[test]
fn linear() {
    let (n, p) = (256, prime_below(61, 256));
    let plan = NttPlan::new(n, p, Kernel::best()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (factor, a): (u64, Vec<u64>) = (rng.random_range(0..p), (0..n).map(|_| rng.random_range(0..p)).collect());
    let b: Vec<u64> = (0..n).map(|_| rng.random_range(0..p)).collect();
    let combine =
        |a: &[u64], b: &[u64]| -> Vec<u64> { a.iter().zip(b).map(|(a, b)| (mul_mod(*a, factor, p) + b) % p).collect() };
    let (mut left, mut x, mut y) = (combine(&a, &b), a, b);
    [&mut left, &mut x, &mut y].into_iter().for_each(|data| plan.forward(data));
    assert_eq!(left, combine(&x, &y));
}

#[test]
fn refusals() {
    let kernel = Kernel::Scalar;
    for n in [0, 1, 32, 65, 96, 1 << 17] {
        assert_eq!(NttPlan::<u32>::new(n, 7681, kernel).unwrap_err(), NttError::Size(n));
    }
    assert_eq!(NttPlan::<u32>::new(512, 7681, kernel).unwrap_err(), NttError::NoRoot { prime: 7681, n: 512 });
    assert_eq!(NttPlan::<u64>::new(64, 129 * 257, kernel).unwrap_err(), NttError::Composite(129 * 257));
    for p in [0u64, 1, 2] {
        assert!(NttPlan::new(64, p, kernel).is_err());
    }
    // The paths of multiply-add are for 64-bit words and primes below 2^50.
    for path in [Path::Fma, Path::Ifma] {
        assert!(NttPlan::with_path(64, prime_below(51, 64), path).is_err());
        assert!(NttPlan::with_path(64, 7681u32, path).is_err());
    }
    let large = (1..).map(|k| (1u64 << 62) + (k << 7) + 1).find(|p| is_prime(*p)).unwrap();
    assert_eq!(NttPlan::new(64, large, kernel).unwrap_err(), NttError::TooLarge { prime: large, bits: 62 });
    let large = (1..).map(|k| (1u64 << 31) + (k << 7) + 1).find(|p| is_prime(*p)).unwrap();
    assert_eq!(NttPlan::new(64, large as u32, kernel).unwrap_err(), NttError::TooLarge { prime: large, bits: 31 });
}

/// The library's transforms, whose slots are those of another root of unity.
#[cfg(feature = "tfhe-ntt")]
#[test]
fn agrees_with_tfhe_ntt() {
    fn check<W: Word>(n: usize, p: u64) {
        let theirs = TfhePlan::<W>::new(n, W::from_u64(p)).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(p ^ n as u64);
        for plan in plans::<W>(n, p) {
            let (psi, root) = (plan.root().to_u64(), theirs.root().to_u64());
            // Their root is an odd power of ours.
            let exponent = (1..2 * n).step_by(2).find(|e| pow_mod(psi, *e as u64, p) == root).unwrap();
            for f in inputs(n, p, &mut rng) {
                let f: Vec<W> = f.into_iter().map(W::from_u64).collect();
                let (mut a, mut b) = (f.clone(), f.clone());
                plan.forward(&mut a);
                theirs.forward(&mut b);
                for slot in 0..n {
                    assert_eq!(a[plan.slot_of(plan.slot_exponent(slot) * exponent)], b[slot], "{p} {n} slot {slot}");
                }
                theirs.inverse(&mut b);
                assert!(b == f);
            }
        }
    }
    for n in [64, 256, 2048] {
        BITS_32.into_iter().for_each(|bits| check::<u32>(n, prime_below(bits, n)));
        BITS_64.into_iter().for_each(|bits| check::<u64>(n, prime_below(bits, n)));
    }
}

#[test]
fn no_path_has_longer_tables_than_are_counted() {
    fn check<W: Word>(bits: u32, longest: Path) {
        for n in [64, 256, 4096] {
            let prime = W::from_u64(crate::primes::primes_below(bits, 2 * n as u64).next().unwrap());
            for path in Path::ALL {
                let Ok(plan) = NttPlan::<W>::with_path(n, prime, path) else { continue };
                let (found, counted) = (plan.bytes() as u64, NttPlan::<W>::bytes_for(n));
                assert!(found <= counted, "{path}, {n} points of {bits} bits: {found} of {counted}");
                assert!(path != longest || found + 512 >= counted, "{path}, {n} points: {found} of {counted}");
            }
        }
    }
    check::<u32>(28, Path::Avx512);
    check::<u64>(58, Path::Avx512);
}
