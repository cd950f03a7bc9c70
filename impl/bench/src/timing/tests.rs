use super::*;

#[test]
fn samples_are_long_enough_and_not_much_longer() {
    let nap = || std::thread::sleep(Duration::from_micros(200));
    let calls = calls_per_sample(nap);
    assert!((2..=12).contains(&calls), "{calls}");
    assert_eq!(calls_per_sample(|| std::thread::sleep(2 * SAMPLE)), 1);
}
