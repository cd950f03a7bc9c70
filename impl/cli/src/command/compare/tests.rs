use super::*;

#[test]
fn one_sample_and_zero_seconds_have_no_interval() {
    let five = [1.0, 1.1, 0.9, 1.05, 0.95];
    for (a, b) in
        [(&[2.0][..], &[1.9][..]), (&five, &[1.9]), (&[2.0], &five), (&[0.0, 0.0], &five), (&[0.0, 1.0], &five)]
    {
        assert_eq!(interval(a, b), None, "{a:?} {b:?}");
    }
    assert_eq!(interval(&five, &[0.0, 0.0]), Some((0.0, 0.0)));
}

#[test]
fn the_interval_holds_the_ratio_and_repeats() {
    let a = [1.0, 1.1, 0.9, 1.05, 0.95];
    let b = [2.0, 2.1, 1.9, 2.2, 1.8];
    let (low, high) = interval(&a, &b).unwrap();
    assert!(1.5 < low && low < 2.0 && 2.0 < high && high < 2.5, "{low} {high}");
    assert_eq!(interval(&a, &b), Some((low, high)));
}
