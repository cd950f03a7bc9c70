use super::*;
use crate::noise::Width;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn exact(stddev: f64, x: i32) -> f64 {
    let density = |x: f64| (-x * x / (2.0 * stddev * stddev)).exp();
    let reach = (12.0 * stddev).ceil() as i32 + 1;
    density(f64::from(x)) / (-reach..=reach).map(|x| density(f64::from(x))).sum::<f64>()
}

fn samples(stddev: f64, count: usize, seed: u64) -> Vec<i32> {
    let mut out = vec![0; count];
    DiscreteGaussian::new(StdDev(stddev)).unwrap().fill(&mut ChaCha8Rng::seed_from_u64(seed), &mut out);
    out
}

/// Chi-square over cells of at least 50 expected samples, within 5 standard deviations of its mean.
fn assert_distribution(stddev: f64, samples: &[i32]) {
    let last = (5.0 * stddev).ceil() as i32 + 1;
    let step = ((stddev / 16.0).floor() as i32).max(1);
    let mut counts = std::collections::HashMap::new();
    for sample in samples {
        *counts.entry(sample.div_euclid(step)).or_insert(0u64) += 1;
    }
    let total: f64 = (-12 * last / 5..=12 * last / 5).map(|x| exact_unscaled(stddev, x)).sum();
    let (mut chi, mut cells) = (0.0, 0);
    for cell in (-last).div_euclid(step)..=last.div_euclid(step) {
        let probability: f64 = (0..step).map(|i| exact_unscaled(stddev, cell * step + i)).sum::<f64>() / total;
        let expected = probability * samples.len() as f64;
        if expected >= 50.0 {
            let seen = counts.get(&cell).copied().unwrap_or(0) as f64;
            chi += (seen - expected).powi(2) / expected;
            cells += 1;
        }
    }
    let degrees = f64::from(cells - 1);
    assert!(chi < degrees + 5.0 * (2.0 * degrees).sqrt(), "stddev {stddev}: chi^2 {chi} with {degrees} degrees");
}

fn exact_unscaled(stddev: f64, x: i32) -> f64 {
    (-f64::from(x) * f64::from(x) / (2.0 * stddev * stddev)).exp()
}

#[test]
fn samples_follow_the_exact_probabilities() {
    for (stddev, seed) in [(0.3, 1), (1.0, 2), (3.2, 3), (6.4, 4), (13.0, 5), (13.8, 6), (81.4, 7)] {
        assert_distribution(stddev, &samples(stddev, 1 << 20, seed));
    }
}

#[test]
fn mean_variance_and_symmetry_of_every_size() {
    for (stddev, seed) in [(0.8, 11), (3.2, 12), (6.4, 13), (100.0, 14), (16384.0, 15)] {
        let samples = samples(stddev, 1 << 20, seed);
        let n = samples.len() as f64;
        let mean = samples.iter().map(|x| f64::from(*x)).sum::<f64>() / n;
        assert!(mean.abs() < 5.0 * stddev / n.sqrt(), "mean {mean} at {stddev}");
        let variance = samples.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / n;
        assert!((variance / (stddev * stddev) - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "variance {variance} at {stddev}");
        let positive = samples.iter().filter(|x| **x > 0).count() as f64;
        let negative = samples.iter().filter(|x| **x < 0).count() as f64;
        assert!((positive - negative).abs() < 5.0 * n.sqrt(), "{positive} positive, {negative} negative at {stddev}");
    }
}

#[test]
fn thresholds_match_and_the_tail_is_within_bounds() {
    for stddev in [0.3, 1.0, 3.2, 6.4, 20.0] {
        let gaussian = DiscreteGaussian::new(StdDev(stddev)).unwrap();
        let mut cumulative = exact(stddev, 0);
        for (k, threshold) in gaussian.thresholds.iter().enumerate() {
            assert!((*threshold as f64 / 2f64.powi(64) - cumulative).abs() < 1e-12, "{stddev} at {k}");
            cumulative += 2.0 * exact(stddev, k as i32 + 1);
        }
        assert!(gaussian.thresholds.len() as f64 >= 9.4 * stddev);
        assert_eq!(gaussian.magnitude(0), 0);
        assert!(gaussian.magnitude(u64::MAX) <= gaussian.thresholds.len() as u32);
        assert!(gaussian.thresholds.is_sorted());
    }
}

#[test]
fn search_and_scan_agree() {
    for stddev in [13.7, 50.0, 3000.0] {
        let gaussian = DiscreteGaussian::new(StdDev(stddev)).unwrap();
        assert!(!gaussian.guide.is_empty());
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let borders =
            gaussian.thresholds.iter().step_by(37).flat_map(|t| [t.saturating_sub(1), *t, t.saturating_add(1)]);
        let draws: Vec<u64> = borders.chain((0..1000).map(|_| rng.next_u64())).chain([0, u64::MAX]).collect();
        for draw in draws {
            let scanned = gaussian.thresholds.partition_point(|t| *t <= draw) as u32;
            assert_eq!(gaussian.magnitude(draw), scanned);
        }
    }
}

#[test]
fn one_sample_at_a_time_and_in_place() {
    let gaussian = DiscreteGaussian::new(Width(16.0)).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let singles: Vec<i32> = (0..1 << 17).map(|_| gaussian.sample(&mut rng)).collect();
    let StdDev(stddev) = Width(16.0).into();
    assert_distribution(stddev, &singles);
    let mut residues = vec![5u32; 1000];
    gaussian.add_to(&mut rng, &mut residues);
    assert!(residues.iter().all(|r| (r.wrapping_sub(5) as i32).abs() <= gaussian.thresholds.len() as i32));
}

#[test]
fn sizes_out_of_range_are_errors() {
    for bad in [0.0, 0.29, 16385.0, f64::NAN, f64::INFINITY, -1.0] {
        assert!(DiscreteGaussian::new(StdDev(bad)).is_err());
    }
}

#[test]
fn ternary_errors_are_uniform() {
    let (mut counts, mut out) = ([0u32; 3], vec![0; 90_000]);
    DiscreteGaussian::ternary().fill(&mut ChaCha8Rng::seed_from_u64(3), &mut out);
    out.iter().for_each(|&x| counts[(x + 1) as usize] += 1);
    // Five standard deviations of a binomial count.
    assert!(counts.iter().all(|&count| (f64::from(count) - 30_000.0).abs() < 5.0 * 141.5), "{counts:?}");
}
