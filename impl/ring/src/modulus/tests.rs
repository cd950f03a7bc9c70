use super::*;
use proptest::prelude::*;

/// Moduli of every length, powers of two and their neighbours among them.
fn moduli(bits: u32) -> impl Strategy<Value = u64> {
    (1..=bits, any::<u64>(), 0..4).prop_map(move |(length, random, kind)| {
        let power = 1u64 << (length - 1);
        match kind {
            0 => power,
            1 => 2 * power - 1,
            2 => power + 1,
            _ => power | random & (power - 1),
        }
        .clamp(2, (1 << bits) - 1)
    })
}

/// Every operation against the remainders of 128-bit integers.
fn check<W: Residue>(q: u64, a: u64, b: u64, x: u64, wide: u128) {
    let modulus = Modulus::new(W::from_u64(q)).unwrap();
    let (a, b) = (a % q, b % q);
    let (wa, wb) = (W::from_u64(a), W::from_u64(b));
    let (q128, a128, b128) = (u128::from(q), u128::from(a), u128::from(b));
    assert_eq!(u128::from(modulus.add(wa, wb).to_u64()), (a128 + b128) % q128);
    assert_eq!(u128::from(modulus.sub(wa, wb).to_u64()), (a128 + q128 - b128) % q128);
    assert_eq!(modulus.neg(wa).to_u64(), (q - a) % q);
    assert_eq!(u128::from(modulus.mul(wa, wb).to_u64()), a128 * b128 % q128);
    assert_eq!(modulus.reduce_u64(x).to_u64(), x % q);
    assert_eq!(u128::from(modulus.reduce_u128(wide).to_u64()), wide % q128);
    let signed = x as i64;
    assert_eq!(i128::from(modulus.from_signed(signed).to_u64()), i128::from(signed).rem_euclid(q.into()));
    let centred = modulus.centred(wa);
    assert_eq!(modulus.from_signed(centred), wa);
    assert!(2 * i128::from(centred) >= -i128::from(q) && 2 * i128::from(centred) < i128::from(q));
    let any = W::from_u64(x);
    let product = u128::from(any.to_u64()) * b128 % q128;
    assert_eq!(u128::from(modulus.mul_shoup(any, wb, modulus.shoup(wb)).to_u64()), product);
    let largest = W::from_u64(q - 1);
    assert_eq!(u128::from(modulus.mul(largest, largest).to_u64()), (q128 - 1) * (q128 - 1) % q128);
    let power = (0..x % 7).fold(1 % q128, |power, _| power * a128 % q128);
    assert_eq!(u128::from(modulus.pow(wa, x % 7).to_u64()), power);
    match modulus.inverse(wa) {
        Some(inverse) => assert_eq!(modulus.mul(wa, inverse).to_u64(), 1),
        None => assert!((2..=q).any(|d| q.is_multiple_of(d) && a.is_multiple_of(d)) || a == 0),
    }
}

proptest! {
    #[test]
    fn words_of_32_bits_agree_with_wide_integers(
        q in moduli(31), a: u64, b: u64, x: u64, wide: u128
    ) {
        // The search for a common divisor would be long for a large modulus: test inverses of small ones here.
        if q < 1 << 12 || q % 2 == 1 && Modulus::new(q as u32).unwrap().inverse((a % q) as u32).is_some() {
            check::<u32>(q, a, b, x, wide);
        } else {
            check::<u32>(q, if a % q == 0 { 0 } else { 1 }, b, x, wide);
        }
    }

    #[test]
    fn words_of_64_bits_agree_with_wide_integers(q in moduli(62), a: u64, b: u64, x: u64, wide: u128) {
        let a = if Modulus::new(q).unwrap().inverse(a % q).is_some() { a } else { 0 };
        check::<u64>(q, a, b, x, wide);
    }
}

#[test]
fn moduli_outside_their_word_are_refused() {
    for q in [0, 1, 1 << 31, u32::MAX] {
        assert_eq!(Modulus::new(q), Err(ModulusError { modulus: q.into(), bits: 31 }));
    }
    assert!(Modulus::new((1u32 << 31) - 1).is_ok());
    assert!(Modulus::new(1u64 << 62).is_err() && Modulus::new((1u64 << 62) - 1).is_ok());
}
