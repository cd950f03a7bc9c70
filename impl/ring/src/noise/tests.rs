use super::*;

#[test]
fn simplepir_uses_stddev_6_4_which_is_width_16_04() {
    let Width(width) = StdDev(6.4).into();
    assert!((width - 16.042_42).abs() < 1e-4);
    let StdDev(back) = Width(width).into();
    assert!((back - 6.4).abs() < 1e-12);
}
