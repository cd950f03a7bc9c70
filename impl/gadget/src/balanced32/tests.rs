use super::*;
use proptest::prelude::*;

fn check(base: u32, residue: u32) {
    let gadget = Balanced32::new(base).unwrap();
    let mut digits = vec![0i16; gadget.length()];
    gadget.decompose(residue, &mut digits);
    let (low, high) = (-(base as i32 / 2), (base as i32 + 1) / 2 - 1);
    assert!(digits.iter().all(|&d| (low..=high).contains(&i32::from(d))));
    // Independent reference: the integer sum itself, not modular arithmetic.
    let sum: i128 = digits.iter().rev().fold(0, |v, &d| v * i128::from(base) + i128::from(d));
    assert_eq!(sum, i128::from(residue as i32));
    assert_eq!(gadget.recompose(digits.iter().map(|&d| i32::from(d))), residue);
}

#[test]
fn edge_values_recompose() {
    for base in [3, 4, 231, 256, 512, 552, 929, 1024, 1 << 15] {
        for residue in [0, 1, u32::MAX, i32::MAX as u32, i32::MIN as u32, base, base / 2] {
            check(base, residue);
        }
    }
}

#[test]
fn published_bases_take_as_many_digits_as_unsigned_ones() {
    for base in [231u32, 276, 328, 390, 464, 552, 657, 781, 929] {
        let unsigned = (32.0 / f64::from(base).log2()).ceil() as usize;
        assert_eq!(Balanced32::new(base).unwrap().length(), unsigned);
    }
    assert!(Balanced32::new(1).is_none());
    assert!(Balanced32::new((1 << 15) + 1).is_none());
}

proptest! {
    #[test]
    fn every_residue_recomposes(base in 3u32..=1 << 15, residue: u32) {
        check(base, residue);
    }
}
