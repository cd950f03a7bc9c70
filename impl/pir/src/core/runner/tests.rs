use super::*;
use crate::core::progress::Silent;
use crate::protocol::tests_support::committed;
use crate::protocol::{piano, simplepir};

/// What two repetitions measure, or one, and how many records are compared before them: with a warm-up before each, or without.
fn measured<P: Protocol>(params: &P::Set, repetitions: u64, warm: bool) -> (Measured, u64) {
    let workload = Workload::new(crate::core::Shape::new(1000, 13).unwrap(), 3, 0).unwrap();
    let database = Database::seeded([7; 16], workload.shape);
    let (kernel, seed) = (Kernel::best(), Some([5; 32]));
    let options = Options { kernel, threads: 1, repetitions, seed, noise_seconds: Some(0.0) };
    let mut run = Box::new(Run::<P>::new(Cow::Borrowed(params), database, workload, &options, &Silent).unwrap());
    run.prepare().unwrap();
    let before = run.correct.compared;
    for _ in 0..repetitions {
        if warm {
            run.warm_up().unwrap();
        }
        run.repetition().unwrap();
    }
    (run.finish(), before)
}

/// Warm-ups compare records, and change neither messages nor samples.
fn warm_ups_of<P: Protocol>(params: &P::Set, repetitions: u64) -> u64 {
    let [(alone, _), (warm, before)] = [false, true].map(|warm| measured::<P>(params, repetitions, warm));
    // How often preprocessing and updates are repeated depends on their seconds.
    let samples = |of: &Measured| -> Vec<_> {
        let online = of.phases.iter().filter(|phase| phase.group == Group::Online);
        online.map(|phase| (phase.name.clone(), phase.seconds.len())).collect()
    };
    assert!(!samples(&warm).is_empty());
    assert_eq!(samples(&alone), samples(&warm));
    assert_eq!(alone.payload_sha256, warm.payload_sha256);
    assert_eq!(warm.correct.compared, warm.correct.right);
    (warm.correct.compared - before) / 3 - repetitions
}

#[test]
fn each_repetition_follows_an_exchange_that_is_not_measured() {
    let params = committed::<simplepir::SimplePir>("simplepir/secure-n1088");
    assert_eq!(warm_ups_of::<simplepir::SimplePir>(&params, 2), 2);
    assert_eq!(warm_ups_of::<simplepir::SimplePir>(&params, 1), 0, "one repetition has no warm-up");
}

#[test]
fn a_client_with_a_limited_number_of_queries_makes_none_that_is_not_measured() {
    assert_eq!(warm_ups_of::<piano::Piano>(&committed::<piano::Piano>("piano/packed"), 2), 0);
}
