use lattice::{RlweKey, SplitKey, SplitRlwe};
use ring::{Kernel, Ring};

use super::*;

/// Under a key of zeros a phase is the body: messages 5 and -3 modulo 16 with errors below and beyond half a message.
#[test]
fn errors_are_those_of_the_known_message() {
    let (n, q) = (64, 1u64 << 20);
    let ring = Ring::<u32>::new(n, &[268_369_921], Kernel::Scalar).unwrap();
    let key = RlweKey::from_coefficients(&ring, vec![0; n]).unwrap();
    let opener = SplitKey::new(&key).unwrap();
    let scale = (q / 16) as i64;
    let expected = [100, -scale * 3 / 4, scale * 3 / 4, -7 * scale];
    let messages = [5, -3, 5, -3];
    let residue = |x: i64| x.rem_euclid(q as i64) as u64;
    let bodies: Vec<u64> = messages.iter().zip(expected).map(|(m, error)| residue(m * scale + error)).collect();
    let mut writer = lattice::wire::Writer::with_capacity(0);
    writer.write_all(&vec![0u64; n], 20);
    writer.write_all(&bodies, 20);
    let ciphertext = SplitRlwe::from_bytes((n, 4), (q, q), &writer.finish()).unwrap();
    let switch = Switch { mask_modulus: q, body_modulus: q };
    let (threshold, errors) = switch.errors(&opener, &ciphertext, 16, messages).unwrap();
    assert_eq!(threshold, scale as f64 / 2.0);
    assert_eq!(errors.iter().map(|&error| i64::from(error)).collect::<Vec<_>>(), expected);
}
