//! `ring-switch`: the switch to a small ring with different moduli for mask and body, as in the compression of responses.

use std::sync::Arc;

use lattice::{Secret, SeededRlwePrime};
use pir::parts::folding::{Responder, ResponseParams};
use ring::{DiscreteGaussian, Kernel, Ring};
use serde::{Deserialize, Serialize};

use crate::in_ring::{Shared, by_keys, polynomial_bytes, seconds_per_polynomial};
use crate::lab::{CALLS, Lab, Tally};
use crate::primitive::{About, Context, Described, Failed, Primitive, Read, Started};
use crate::setting::{SecretName, bounded, gaussian, modulus, secret};
use crate::settings::{Refusal, Settings, complete};

/// The switch to a small ring with split moduli; the setting's errors are those of the ciphertexts switched.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RingSwitch {
    #[serde(flatten, skip_deserializing)]
    shared: Shared,
    /// Dimension of the small ring.
    n_to: usize,
    /// Modulus of masks, decimal: a prime, 1 modulo 2 n. The key switch is modulo it.
    to_modulus_a: String,
    /// Modulus of bodies, decimal.
    to_modulus_b: String,
    /// The secret of the small ring.
    #[serde(default)]
    small_secret: SecretName,
    small_secret_stddev: Option<f64>,
    /// Standard deviation of the errors of the key.
    switch_stddev: f64,
    /// Base of the key's gadget, of symmetric digits.
    switch_base: u64,
    /// Ciphertexts in all, at least.
    ciphertexts: u64,
}

impl RingSwitch {
    fn ring(&self, kernel: Kernel) -> Result<Arc<Ring<u32>>, Refusal> {
        if !self.shared.setting.narrow()? {
            return Err(Refusal::new("prime_bits", "responses are of primes below 2^31."));
        }
        self.shared.setting.ring(kernel)
    }

    /// The secret of the small ring.
    fn small_secret(&self) -> Result<Secret, Refusal> {
        if self.small_secret == SecretName::FixedWeight {
            return Err(Refusal::new("small_secret", "give `ternary`, `binary` or `gaussian`."));
        }
        let small = secret(self.small_secret, self.small_secret_stddev, None);
        small.map_err(|refusal| Refusal::new("small_secret_stddev", refusal.problem))
    }

    fn responder(&self, ring: &Arc<Ring<u32>>) -> Result<Responder, Refusal> {
        let read = |text: &str, key: &str| modulus(text, key, 4..=(1 << 31) - 1);
        let mask_modulus = read(&self.to_modulus_a, "to_modulus_a")?;
        if mask_modulus % (2 * self.shared.setting.n as u64) != 1 || !ring::primes::is_prime(mask_modulus) {
            let problem =
                format!("{mask_modulus} is not a prime equal to 1 modulo 2 n = {}.", 2 * self.shared.setting.n);
            return Err(Refusal::new("to_modulus_a", problem));
        }
        let body_modulus = read(&self.to_modulus_b, "to_modulus_b")?;
        let params = ResponseParams { degree: self.n_to, mask_modulus, body_modulus, base: self.switch_base };
        Responder::new(params, ring).map_err(Refusal::of("switch_base"))
    }
}

pub const ABOUT: About = (
    "ring-switch",
    "switches to a small ring, with different moduli for mask and body: seconds, bytes, noise under many keys",
);

pub fn read(settings: &Settings) -> Read {
    let mut rest = settings.clone();
    let shared = Shared::take(&mut rest, false)?;
    let own = RingSwitch { shared, ..rest.parse()? };
    bounded(own.ciphertexts, "ciphertexts", 1..=1 << 30)?;
    if !own.n_to.is_power_of_two() || !(64..own.shared.setting.n.max(65)).contains(&own.n_to) {
        return Err(Refusal::new("n_to", format!("{} is not a power of two from 64 to n / 2.", own.n_to)));
    }
    gaussian(own.switch_stddev, "switch_stddev")?;
    own.small_secret()?;
    Ok(Box::new(own))
}

impl Primitive for RingSwitch {
    fn describe(&self) -> Result<Described, Refusal> {
        let ring = self.ring(Kernel::best())?;
        let mut described = Described { settings: complete(self)?, ..Described::default() };
        described.ring(&ring);
        let responder = self.responder(&ring)?;
        let (gadget, length) = (responder.gadget(), responder.length());
        described.digits(length, gadget.error_bound(), &gadget.moments());
        described.counts([
            ("key_bytes", SeededRlwePrime::wire_bytes(gadget.ring(), length)),
            ("output_bytes", responder.response_bytes()),
            ("ntts", length + 2),
        ]);
        // A row of the key at six polynomials; a switch's transforms, its timed calls, input and phases.
        let polynomials = 6 * (length + 4)
            + self.shared.for_each_key(self.ciphertexts) as usize * (2 * length + 24)
            + CALLS as usize * (length + 2);
        described.predicted_seconds = polynomials as f64 * seconds_per_polynomial(&ring);
        described.peak_bytes = polynomial_bytes(&ring, 8 * length + 64);
        Ok(described)
    }

    fn start(self: Box<Self>, context: &Context) -> Started {
        let ring = self.ring(context.kernel)?;
        let responder = self.responder(&ring)?;
        let (small, switch) = (self.small_secret()?, gaussian(self.switch_stddev, "switch_stddev")?);
        by_keys(self.shared.keys, context, move |seed| {
            let mut lab = Lab::new(&ring, &self.shared.setting, seed)?;
            run(&self, &mut lab, &responder, (&small, &switch))
        })
    }
}

fn run(
    own: &RingSwitch,
    lab: &mut Lab<u32>,
    responder: &Responder,
    (secret, error): (&Secret, &DiscreteGaussian),
) -> Result<Tally, Failed> {
    let target = responder.sample(secret, &mut lab.rng)?;
    let key = responder.switching_key(&lab.key, &target, error, &mut lab.masks, &mut lab.rng)?;
    let key = key.expand(responder.gadget().ring());
    let to: f64 = own.to_modulus_b.parse()?;
    let mut tally = Tally::default();
    for _ in 0..own.shared.for_each_key(own.ciphertexts) {
        let (message, input) = lab.input();
        let response = tally.operate(|| responder.compress(&input, &key, &mut lab.workspace))?;
        let phase = target.phase(&response)?;
        for (stage, known) in [("output", &message), ("added", &lab.key.phase_coefficient(&input))] {
            tally.add(stage, &lab.scaled_errors(&phase, known, to)?);
        }
    }
    Ok(tally)
}
