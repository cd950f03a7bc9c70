use super::*;
use crate::Secret;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::StdDev;

#[test]
fn phases_carry_error_of_the_stated_size() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let matrix = PublicMatrix::new(Seed([7; 16]), 64);
    let stddev = 6.4;
    let error = DiscreteGaussian::new(StdDev(stddev)).unwrap();
    let all = [
        Secret::Uniform,
        Secret::Gaussian(StdDev(3.2)),
        Secret::Ternary,
        Secret::Binary,
        Secret::FixedWeight { plus: 10, minus: 7 },
    ];
    for kind in all {
        let (keys, samples) = (20, 1000);
        let keys: Vec<_> = (0..keys).map(|_| kind.sample(64, &mut rng).unwrap()).collect();
        let bodies = encrypt_zero(&matrix, samples, &keys, &error, Kernel::best(), &mut rng).unwrap();
        let mut squares = 0.0;
        for (key, body) in keys.iter().zip(&bodies) {
            for (i, b) in body.iter().enumerate() {
                // Independent reference: the inner product in 64-bit integers.
                let mask = matrix
                    .row(i)
                    .iter()
                    .zip(key.iter())
                    .fold(0u64, |sum, (&a, &s)| sum.wrapping_add(u64::from(a).wrapping_mul(u64::from(s))));
                squares += f64::from(b.wrapping_sub(mask as u32) as i32).powi(2);
            }
        }
        let variance = squares / (keys.len() * samples) as f64;
        assert!((variance / (stddev * stddev) - 1.0).abs() < 1.0 / 16.0, "{kind:?}: {variance}");
    }
}

/// Also where the lowest message and a negative error are at the top of Z_q; there the 2^32 - p scale between the multiples of both
/// representatives is taken from what the error may be.
#[test]
fn rounding_inverts_scaling_up_to_half_the_scale() {
    for p in [3u32, 231, 552, 701, 991, 1024] {
        let scale = (1u64 << 32).div_euclid(u64::from(p)) as u32;
        let gap = ((1u64 << 32) - u64::from(p) * u64::from(scale)) as i32;
        let (lowest, highest, half) = (-(p as i32) / 2, (p as i32 - 1) / 2, scale as i32 / 2);
        for message in [lowest, -1, 0, 1, highest] {
            let (below, above) = (if message == lowest { gap } else { 0 }, if message == highest { gap } else { 0 });
            for error in [-half + 1 + below, -1, 0, 1, half - 1 - above] {
                let phase = (message as u32).wrapping_mul(scale).wrapping_add(error as u32);
                assert_eq!(round(phase, scale, p), (message, error), "p {p} message {message} error {error}");
            }
        }
    }
}
