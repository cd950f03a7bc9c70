use super::*;

#[test]
fn work_adds_and_scales() {
    let one = Work::from([(Kind::Transform(2048), 3), (Kind::Digits, 0)]);
    assert_eq!(one.clone() * 4, (0..4).map(|_| one.clone()).sum());
    let names: Vec<_> = (one.clone() + Work::of(Kind::Digits, &[2, 5])).counts().collect();
    assert_eq!(names, [("ntt_2048_28".into(), 3), ("digits".into(), 10)]);
    assert_eq!((one * u64::MAX).get(Kind::Transform(2048)), u64::MAX, "saturates");
    assert_eq!(count(&[1 << 40, 1 << 40]), u64::MAX);
    assert_eq!(Work::default().get(Kind::Queries), 0);
}
