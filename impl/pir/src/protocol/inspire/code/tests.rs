use super::*;
use proptest::prelude::*;

fn survives(p: u32, bytes: &[u8], coefficients: usize) {
    let code = Code::new(p);
    let bits = code.bits(coefficients).min(8 * bytes.len());
    let mut given = bytes[..bits.div_ceil(8)].to_vec();
    if !bits.is_multiple_of(8) {
        *given.last_mut().unwrap() &= (1 << (bits % 8)) - 1;
    }
    assert!(code.coefficients(bits) <= coefficients);
    let mut encoded = vec![0; code.coefficients(bits)];
    code.encode(&given, &mut encoded);
    assert!(encoded.iter().all(|coefficient| *coefficient < p), "{p}");
    let mut back = vec![1; given.len()];
    code.decode(&encoded, &mut back);
    assert_eq!(back, given, "{p}");
}

#[test]
fn extreme_strings_survive() {
    for p in [3, 5, 65, 12289, 65535, 65537] {
        for coefficients in [1, 2, 3, 64, 2048] {
            for byte in [0, 1, 0x7f, 0x80, 0xfe, 0xff] {
                survives(p, &[byte; 4100], coefficients);
            }
            for place in [0, 1, coefficients / 2, coefficients - 1] {
                let mut bytes = vec![0x55; 2 * coefficients];
                let start = bytes.len().min(2 * place);
                bytes[start..].fill(0xff);
                survives(p, &bytes, coefficients);
                let end = bytes.len().min(2 * place + 2);
                bytes[end..].fill(0);
                survives(p, &bytes, coefficients);
            }
        }
    }
}

#[test]
fn a_polynomial_modulo_65535_holds_one_bit_less_than_words_do() {
    assert_eq!(Code::new(65535).bits(2048), 32767);
    assert_eq!(Code::new(65537).bits(2048), 32768);
    assert_eq!((Code::new(65535).coefficients(15), Code::new(65535).coefficients(16)), (1, 2));
}

#[test]
fn residues_that_encode_nothing_end_too() {
    // A chain that turns back, one that leaves the polynomial, one of all places.
    for coefficients in [vec![LINK, LINK, LINK], vec![7, 8, 65534], (1..40).map(|i| LINK + i).collect()] {
        Code::new(65535).decode(&coefficients, &mut [0; 100]);
    }
}

proptest! {
    #[test]
    fn strings_survive(bytes in proptest::collection::vec(prop_oneof![Just(0xffu8), any::<u8>()], 1..300), p in 3u32..=65537) {
        for p in [p, 65535, 65537] {
            let code = Code::new(p);
            let coefficients = code.coefficients(8 * bytes.len());
            survives(p, &bytes, coefficients);
            survives(p, &bytes, coefficients / 2 + 1);
        }
    }
}
