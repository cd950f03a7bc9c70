use super::*;

#[test]
fn seeds_are_padded_in_front() {
    let mut expected = [0; 32];
    expected[31] = 0x2a;
    assert_eq!(parse_seed("2a").unwrap(), expected);
    assert_eq!(parse_seed(&"f".repeat(64)).unwrap(), [0xff; 32]);
    for bad in ["", "g", "é", "+1", &"0".repeat(65)] {
        assert!(parse_seed(bad).is_err(), "{bad}");
    }
}

#[test]
fn kernels_are_found_or_refused() {
    assert_eq!(find_kernel("auto").unwrap(), Kernel::best());
    assert_eq!(find_kernel("scalar").unwrap(), Kernel::Scalar);
    assert!(find_kernel("mmx").unwrap_err().text().contains("mmx"));
}
