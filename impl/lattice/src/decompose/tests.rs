use super::mul_mod;

#[test]
fn products_are_reduced() {
    let q = (1u128 << 126) - 137;
    assert_eq!(mul_mod(q - 1, 12345, q), q - 12345);
    assert_eq!(mul_mod(7, 9, 10), 3);
}
