//! `ring-switch`: the switch to a small ring with moduli of its own for mask and body, as responses are compressed.

use std::sync::Arc;

use lattice::{Secret, SeededRlwePrime};
use pir::parts::folding::{Responder, ResponseParams};
use ring::{Coefficient, DiscreteGaussian, Kernel, Poly, Ring, Seed};
use serde::{Deserialize, Serialize};

use super::fixture::{Fixture, Tally};
use super::objects::{RingSettings, SecretName, gaussian, secret};
use super::settings::{bounded, modulus};
use super::{describe_digits, describe_ring, keys, seconds_per_polynomial};
use crate::primitive::settings::{Refusal, Settings, complete};
use crate::primitive::{Context, Described, Failed, Primitive, Session};

/// The switch to a small ring with split moduli.
pub struct RingSwitch;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    n: usize,
    prime_bits: Vec<u32>,
    #[serde(default)]
    secret: SecretName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_stddev: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_weight: Option<usize>,
    /// Standard deviation of the errors of the ciphertexts switched.
    stddev: f64,
    /// Dimension of the small ring.
    n_to: usize,
    /// Modulus of masks, decimal: a prime, 1 modulo 2 n. The key switch is modulo it.
    to_modulus_a: String,
    /// Modulus of bodies, decimal.
    to_modulus_b: String,
    /// The secret of the small ring.
    #[serde(default)]
    small_secret: SecretName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    small_secret_stddev: Option<f64>,
    /// Standard deviation of the errors of the key.
    switch_stddev: f64,
    /// Base of the key's gadget, of symmetric digits.
    switch_base: u64,
    /// Fresh pairs of keys.
    #[serde(default = "super::settings::keys")]
    keys: u64,
    /// Ciphertexts in all, at least.
    ciphertexts: u64,
}

impl Own {
    fn read(settings: &Settings) -> Result<Self, Refusal> {
        let own: Self = settings.parse()?;
        bounded(own.keys, "keys", 1..=1 << 20)?;
        bounded(own.ciphertexts, "ciphertexts", 1..=1 << 30)?;
        if !own.n_to.is_power_of_two() || !(64..own.n.max(65)).contains(&own.n_to) {
            return Err(Refusal::new("n_to", format!("{} is no power of two from 64 to n / 2.", own.n_to)));
        }
        for (stddev, key) in [(own.stddev, "stddev"), (own.switch_stddev, "switch_stddev")] {
            gaussian(stddev, key)?;
        }
        own.secrets()?;
        Ok(own)
    }

    fn ring(&self) -> Result<RingSettings, Refusal> {
        let ring = RingSettings::new(self.n, self.prime_bits.clone())?;
        if !ring.narrow() {
            return Err(Refusal::new("prime_bits", "responses are of primes below 2^31."));
        }
        Ok(ring)
    }

    /// Of the ring and of the small ring.
    fn secrets(&self) -> Result<[Secret; 2], Refusal> {
        if self.small_secret == SecretName::FixedWeight {
            return Err(Refusal::new("small_secret", "give `ternary`, `binary` or `gaussian`."));
        }
        let small = secret(self.small_secret, self.small_secret_stddev, None);
        let small = small.map_err(|refusal| Refusal::new("small_secret_stddev", refusal.problem))?;
        Ok([secret(self.secret, self.secret_stddev, self.secret_weight)?, small])
    }

    fn responder(&self, ring: &Arc<Ring<u32>>) -> Result<Responder, Refusal> {
        let read = |text: &String, key: &str| modulus(&Some(text.clone()), key, 4..=(1 << 31) - 1);
        let mask_modulus = read(&self.to_modulus_a, "to_modulus_a")?;
        if mask_modulus % (2 * self.n as u64) != 1 || !ring::primes::is_prime(mask_modulus) {
            let problem = format!("{mask_modulus} is no prime equal to 1 modulo 2 n = {}.", 2 * self.n);
            return Err(Refusal::new("to_modulus_a", problem));
        }
        let body_modulus = read(&self.to_modulus_b, "to_modulus_b")?;
        let params = ResponseParams { degree: self.n_to, mask_modulus, body_modulus, base: self.switch_base };
        Responder::new(params, ring).map_err(|error| Refusal::new("switch_base", error.to_string()))
    }

    /// Ciphertexts under each key.
    fn each(&self) -> u64 {
        self.ciphertexts.div_ceil(self.keys)
    }
}

impl Primitive for RingSwitch {
    fn name(&self) -> &'static str {
        "ring-switch"
    }

    fn summary(&self) -> &'static str {
        "switches to a small ring, mask and body to moduli of their own: seconds, bytes, noise under many keys"
    }

    fn describe(&self, settings: &Settings) -> Result<Described, Refusal> {
        let own = Own::read(settings)?;
        let ring = own.ring()?;
        let mut described = Described { settings: complete(&own)?, ..Described::default() };
        describe_ring(&mut described, &ring);
        let responder = own.responder(&ring.build(Kernel::best())?)?;
        let (gadget, length) = (responder.gadget(), responder.length());
        describe_digits(&mut described, length, gadget.error_bound(), &gadget.moments());
        let counts = [
            ("key_bytes", SeededRlwePrime::wire_bytes(gadget.ring(), length)),
            ("output_bytes", responder.response_bytes()),
            ("ntts", length + 2),
        ];
        described.counts.extend(counts.map(|(name, count)| (name.to_string(), count as f64)));
        // A row of the key at six polynomials; a switch's transforms, its timed calls, input and phases.
        let each = own.each() as usize;
        let polynomials = 6 * (length + 4) + each * (2 * length + 24) + 32 * (length + 2);
        described.predicted_seconds = polynomials as f64 * seconds_per_polynomial(&ring);
        described.peak_bytes = ((8 * length + 64) * own.n * ring.primes.len() * 8) as u64;
        Ok(described)
    }

    fn start(&self, settings: &Settings, context: &Context) -> Result<Box<dyn Session>, Failed> {
        let own = Own::read(settings)?;
        let ring: Arc<Ring<u32>> = own.ring()?.build(context.kernel)?;
        let responder = own.responder(&ring)?;
        let (errors, [large, small]) =
            ([gaussian(own.stddev, "stddev")?, gaussian(own.switch_stddev, "switch_stddev")?], own.secrets()?);
        keys(own.keys, context, move |seed: Seed| {
            let mut fixture = Fixture::new(&ring, large, &errors[0], seed)?;
            run(&own, &mut fixture, &responder, (&small, &errors[1]))
        })
    }
}

fn run(
    own: &Own,
    f: &mut Fixture<u32>,
    responder: &Responder,
    (secret, error): (&Secret, &DiscreteGaussian),
) -> Result<Tally, Failed> {
    let target = responder.sample(secret, &mut f.rng).map_err(Failed::from)?;
    let key = responder.switching_key(&f.key, &target, error, &mut f.masks, &mut f.rng).map_err(Failed::from)?;
    let key = key.expand(responder.gadget().ring());
    let q = f.ring.modulus_u128().ok_or_else(|| Failed("the modulus is too large".to_string()))? as f64;
    let to: f64 = own.to_modulus_b.parse().map_err(Failed::from)?;
    let mut tally = Tally::default();
    for _ in 0..own.each() {
        let message = f.uniform();
        let input = f.fresh(&message);
        let (mut out, workspace) = (None, &mut f.workspace);
        let mut refused = None;
        tally.operate(|| {
            match responder.compress(&input, &key, workspace) {
                Ok(response) => out = Some(response),
                Err(error) => refused = Some(error),
            }
            Ok(())
        })?;
        let phase = match (refused, out) {
            (Some(error), _) => return Err(Failed::from(error)),
            (None, Some(response)) => target.phase(&response).map_err(Failed::from)?,
            (None, None) => Vec::new(),
        };
        for (stage, known) in [("output", &message), ("added", &f.key.phase_coefficient(&input))] {
            tally.add(stage, &errors(f, &phase, known, (q, to)));
        }
    }
    Ok(tally)
}

/// The phases less the coefficients of `known` that the small ring keeps, in units of the body's modulus.
fn errors(f: &Fixture<u32>, phase: &[f64], known: &Poly<u32, Coefficient>, (q, to): (f64, f64)) -> Vec<f64> {
    let mut integers = vec![0u128; f.ring.n()];
    f.ring.compose_u128(known, &mut integers);
    let kept = integers.into_iter().step_by(f.ring.n() / phase.len().max(1));
    phase
        .iter()
        .zip(kept)
        .map(|(phase, known)| {
            let error = phase - known as f64 / q * to;
            error - (error / to).round() * to
        })
        .collect()
}
