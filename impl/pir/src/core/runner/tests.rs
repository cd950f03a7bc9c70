use super::*;
use crate::core::progress::Silent;
use crate::protocol::tests_support::committed;
use crate::protocol::{piano, simplepir};

/// What a session measures, and how many of its exchanges are neither repetitions nor of the first warm-up: with a warm-up before each
/// repetition, or before the first alone.
fn measured<P: Protocol>(params: &P::Set, repetitions: u64, turns: bool) -> (Measured, u64) {
    let workload = Workload::new(crate::core::Shape::new(1000, 13).unwrap(), 3, 0).unwrap();
    let database = Database::seeded([7; 16], workload.shape);
    let (kernel, seed) = (Kernel::best(), Some([5; 32]));
    let options = Options { kernel, threads: 1, repetitions, seed, noise_seconds: Some(0.0) };
    let mut run = Box::new(Run::<P>::new(Cow::Borrowed(params), database, workload, &options, &Silent).unwrap());
    run.prepare().unwrap();
    assert_eq!(run.correct.compared, 0);
    run.warm_up().unwrap();
    let first = run.correct.compared / 3;
    assert_eq!(first == 0, repetitions == 1, "one repetition has no warm-up, not even at first");
    for turn in 0..repetitions {
        if turns && turn > 0 {
            run.warm_up().unwrap();
        }
        run.repetition().unwrap();
    }
    let further = run.correct.compared / 3 - first - repetitions;
    (run.finish(), further)
}

/// Warm-ups between repetitions compare records, and change neither messages nor samples.
fn warm_ups_of<P: Protocol>(params: &P::Set, repetitions: u64) -> u64 {
    let [(alone, none), (warm, further)] = [false, true].map(|turns| measured::<P>(params, repetitions, turns));
    // How often preprocessing and updates are repeated depends on their seconds.
    let samples = |of: &Measured| -> Vec<_> {
        let online = of.phases.iter().filter(|phase| phase.group == Group::Online);
        online.map(|phase| (phase.name.clone(), phase.seconds.len())).collect()
    };
    assert!(!samples(&warm).is_empty());
    assert_eq!(samples(&alone), samples(&warm));
    assert_eq!(alone.payload_sha256, warm.payload_sha256);
    assert_eq!(warm.correct.compared, warm.correct.right);
    assert_eq!(none, 0);
    further
}

#[test]
fn each_repetition_follows_an_exchange_that_is_not_measured() {
    let params = committed::<simplepir::SimplePir>("simplepir/secure-n1088");
    assert_eq!(warm_ups_of::<simplepir::SimplePir>(&params, 3), 2);
    assert_eq!(warm_ups_of::<simplepir::SimplePir>(&params, 1), 0);
}

#[test]
fn a_client_with_a_limited_number_of_queries_warms_up_once() {
    assert_eq!(warm_ups_of::<piano::Piano>(&committed::<piano::Piano>("piano/packed"), 3), 0);
}
