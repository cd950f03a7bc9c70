use super::*;
use rand::SeedableRng;
use ring::{DiscreteGaussian, StdDev};

/// The log of `keys` keys with 100 errors each, which are the sum of the key's part and their own.
fn log(keys: u64, common: f64, own: f64) -> NoiseLog {
    let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(7);
    let [common, own] = [common, own].map(|stddev| DiscreteGaussian::new(StdDev(stddev)).unwrap());
    let mut sample = |of: &DiscreteGaussian| {
        let mut sample = [0i32];
        of.fill(&mut rng, &mut sample);
        f64::from(sample[0])
    };
    let mut log = NoiseLog::default();
    for key in 0..keys {
        let of_key = sample(&common);
        // In two portions, as two queries under the same key bring them.
        for _ in 0..2 {
            let errors: Vec<f64> = (0..50).map(|_| of_key + sample(&own)).collect();
            log.add_under(Some(key), "stage", 1.0, errors);
        }
    }
    log
}

/// A normal mean square of K independent values has relative standard error sqrt(2 / K).
#[test]
fn uncertainty_is_that_of_what_is_independent() {
    for (common, own, independent) in [(0.6, 50.0, 100.0), (50.0, 0.6, 1.0), (50.0, 50.0, 4.0)] {
        let found = log(400, common, own).coverage().unwrap().uncertainty;
        let expected = f64::sqrt(2.0 / (400.0 * independent));
        assert!((found / expected - 1.0).abs() < 0.25, "{common} {own}: {found}, {expected}");
    }
    assert_eq!(log(1, 50.0, 50.0).coverage().unwrap().uncertainty, f64::INFINITY);
    // One key has most of the values, and the others hardly matter.
    let mut uneven = NoiseLog::default();
    uneven.add("stage", 1.0, vec![3.0; 1000]);
    uneven.add("stage", 1.0, [0.0]);
    assert!(uneven.coverage().unwrap().uncertainty < 0.01);
    uneven.add_under(Some(5), "stage", 1.0, vec![0.0; 1000]);
    uneven.add("stage", 1.0, [0.0]);
    uneven.add_under(Some(5), "stage", 1.0, [0.0]);
    assert_eq!(uneven.coverage().unwrap().keys, 4, "one key twice, another between");
    assert!(uneven.coverage().unwrap().uncertainty > 0.5);
    let mut of_query = NoiseLog::default();
    of_query.add("stage", 2.0, [4.0, -5.0]);
    of_query.add("stage", 2.0, [2.0]);
    let mut of_all = NoiseLog::default();
    of_all.add("stage", 2.0, [1.0]);
    of_all.add_of_one_key(of_query);
    let [stage] = &of_all.summary()[..] else { panic!("one stage") };
    assert_eq!((stage.keys, stage.samples, stage.mean, stage.max, stage.threshold), (2, 4, 0.5, 5.0, 2.0));
    assert_eq!(stage.stddev, f64::sqrt(46.0 / 4.0));
    let mut exact = NoiseLog::default();
    (0..3).for_each(|_| exact.add("stage", 1.0, [0.0; 4]));
    assert_eq!(exact.coverage().unwrap().uncertainty, 0.0);
}
