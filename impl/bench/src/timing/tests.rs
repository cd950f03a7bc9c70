use super::*;

#[test]
fn samples_are_long_enough_and_not_much_longer() {
    let nap = || std::thread::sleep(Duration::from_micros(200));
    // A nap takes no less than it says; how much more depends on what else runs.
    let calls = calls_per_sample(nap);
    assert!((1..=12).contains(&calls), "{calls}");
    assert!(calls_per_sample(|| ()) > 100);
    assert_eq!(calls_per_sample(|| std::thread::sleep(2 * SAMPLE)), 1);
}
