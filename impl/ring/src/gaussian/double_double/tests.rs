use super::*;

/// floor(2^64 * exp(-x)) for dyadic x, from 60-digit arithmetic.
#[test]
fn exponentials_are_right_to_64_bits() {
    for (x, expected) in [
        (0.5, 11_188_515_852_577_165_299_u64),
        (1.0, 6_786_177_901_268_885_274),
        (3.25, 715_257_888_532_600_469),
        (20.75, 17_960_119_542),
    ] {
        assert_eq!(DoubleDouble::from(x).exp_of_negative().scaled_to_u64(), expected, "{x}");
    }
}

#[test]
fn division_undoes_multiplication() {
    let third = DoubleDouble::from(1.0).divided_by(DoubleDouble::from(3.0));
    let one = third.times(3.0).plus(DoubleDouble::from(-1.0));
    assert!(one.high.abs() < 1e-31);
}
