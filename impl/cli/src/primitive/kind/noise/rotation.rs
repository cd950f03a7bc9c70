//! `rotation`: times and noise of blind rotations, of switches to the small key, and of the floors and bits made of them.

use std::sync::Arc;

use lattice::lwe::{Lwe, LweKey};
use lattice::{BlindRotationKey, Form, Rlwe, RotationShape, Secret, SeededBlindRotationKey, SmallSecret};
use ring::{Kernel, Modulus, Ring, Seed, Word};
use serde::{Deserialize, Serialize};

use super::fixture::{Fixture, Tally};
use super::functional::{self, Functional};
use super::objects::{GadgetSettings, RingSettings, SecretName, family, gaussian, secret};
use super::settings::bounded;
use super::{describe_gadget, describe_ring, keys, seconds_per_polynomial};
use crate::primitive::settings::{Refusal, Settings, complete};
use crate::primitive::{Context, Described, Failed, Primitive, Session};

/// Blind rotations and what is made of them.
pub struct Rotation;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A rotation of a uniform accumulator by a uniform ciphertext.
    BlindRotation,
    /// The switch from the ring key to the small key and to modulus 2N.
    ToSmall,
    /// The homomorphic floor of the lowest digit.
    Floor,
    /// The bits of a digit by one rotation.
    Bits,
}

/// Names of small keys' distributions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmallName {
    /// Uniform on {0, 1}.
    #[default]
    Binary,
    /// Uniform on {-1, 0, 1}.
    Ternary,
}

/// Names of forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormName {
    /// One bit a step.
    Cmux,
    /// Two bits a step.
    Joint,
}

/// Settings of `rotation`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Own {
    pub operation: Operation,
    pub n: usize,
    pub prime_bits: Vec<u32>,
    #[serde(default)]
    pub secret: SecretName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_stddev: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_weight: Option<usize>,
    /// Standard deviation of the errors of blind-rotation keys.
    pub stddev: f64,
    /// Gadget of the blind-rotation keys.
    pub family: String,
    pub base: u64,
    #[serde(default)]
    pub dropped: usize,
    /// Dimension of the small key.
    pub dimension: usize,
    #[serde(default)]
    pub small_secret: SmallName,
    pub form: FormName,
    /// Ciphertexts side by side.
    #[serde(default = "one")]
    pub together: usize,
    /// Fresh keys.
    #[serde(default = "super::settings::keys")]
    pub keys: u64,
    /// Ciphertexts in all, at least.
    pub ciphertexts: u64,
    /// Modulus of the LWE key switch, decimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_modulus: Option<String>,
    /// Base of its gadget, of the same family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_base: Option<u64>,
    /// Low digits that it drops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_dropped: Option<usize>,
    /// Standard deviation of its errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_stddev: Option<f64>,
    /// Bits of the modulus of ciphertexts with digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_modulus: Option<u32>,
    /// Bit at which digits begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<u32>,
    /// Bits of a digit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digit_bits: Option<u32>,
    /// Number of digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digits: Option<u32>,
}

fn one() -> usize {
    1
}

/// Most ciphertexts side by side.
const MOST_TOGETHER: usize = 256;
/// Largest dimension of a small key.
const LARGEST_DIMENSION: usize = 1 << 14;

impl Own {
    fn read(settings: &Settings) -> Result<Self, Refusal> {
        let mut own: Self = settings.parse()?;
        bounded(own.keys, "keys", 1..=1 << 20)?;
        bounded(own.ciphertexts, "ciphertexts", 1..=1 << 30)?;
        bounded(own.together, "together", 1..=MOST_TOGETHER)?;
        bounded(own.dimension, "dimension", 1..=LARGEST_DIMENSION)?;
        gaussian(own.stddev, "stddev")?;
        own.secret()?;
        functional::check(&mut own)?;
        Ok(own)
    }

    pub fn secret(&self) -> Result<Secret, Refusal> {
        secret(self.secret, self.secret_stddev, self.secret_weight)
    }

    fn ring(&self) -> Result<RingSettings, Refusal> {
        RingSettings::new(self.n, self.prime_bits.clone())
    }

    fn gadget(&self) -> Result<GadgetSettings, Refusal> {
        Ok(GadgetSettings { family: family(&self.family)?, base: self.base, dropped: self.dropped })
    }

    fn shape(&self) -> RotationShape {
        let secret = match self.small_secret {
            SmallName::Binary => SmallSecret::Binary,
            SmallName::Ternary => SmallSecret::Ternary,
        };
        let form = match self.form {
            FormName::Cmux => Form::Cmux,
            FormName::Joint => Form::Joint,
        };
        RotationShape { dimension: self.dimension, secret, form }
    }

    /// Groups of ciphertexts side by side for each key.
    pub fn groups(&self) -> u64 {
        self.ciphertexts.div_ceil(self.keys).div_ceil(self.together as u64)
    }

    /// A small key.
    ///
    /// # Errors
    /// None for these distributions.
    pub fn small_key(&self, rng: &mut impl rand::RngCore) -> Result<LweKey, Failed> {
        let distribution = match self.small_secret {
            SmallName::Binary => Secret::Binary,
            SmallName::Ternary => Secret::Ternary,
        };
        LweKey::sample(&distribution, self.dimension, rng).map_err(Failed::from)
    }
}

impl Primitive for Rotation {
    fn name(&self) -> &'static str {
        "rotation"
    }

    fn summary(&self) -> &'static str {
        "blind rotations, switches to the small key, floors and bits: seconds, transforms, key bytes, noise"
    }

    fn describe(&self, settings: &Settings) -> Result<Described, Refusal> {
        let own = Own::read(settings)?;
        let ring = own.ring()?;
        let mut described = Described { settings: complete(&own)?, ..Described::default() };
        describe_ring(&mut described, &ring);
        let length = describe_gadget(&mut described, &ring, own.gadget()?)?;
        if ring.narrow() {
            describe::<u32>(&own, &mut described, &ring, length)?;
        } else {
            describe::<u64>(&own, &mut described, &ring, length)?;
        }
        Ok(described)
    }

    fn start(&self, settings: &Settings, context: &Context) -> Result<Box<dyn Session>, Failed> {
        let own = Own::read(settings)?;
        if own.ring()?.narrow() { start::<u32>(own, context) } else { start::<u64>(own, context) }
    }
}

/// Counts of one ciphertext and bytes of the keys.
fn describe<W: Word>(
    own: &Own,
    described: &mut Described,
    settings: &RingSettings,
    length: usize,
) -> Result<(), Refusal> {
    let ring: Arc<Ring<W>> = settings.build(Kernel::best())?;
    let (shape, primes) = (own.shape(), settings.primes.len());
    let rotations = functional::rotations(own)?;
    let (forward, inverse) = shape.ntts(length, primes);
    let wire = SeededBlindRotationKey::wire_bytes(&ring, shape, length);
    let expanded = BlindRotationKey::expanded_bytes(&ring, shape, length);
    let counts = [
        ("rotations", rotations),
        ("forward_ntts", rotations * forward),
        ("inverse_ntts", rotations * inverse),
        ("key_bytes", wire),
        ("expanded_key_bytes", expanded),
    ];
    described.counts.extend(counts.map(|(name, count)| (name.to_string(), count as f64)));
    let switch_bytes = functional::describe(own, described)?;
    // A row of a key is made at six polynomials a prime; a rotation's transforms, and as much again for the rest.
    let made = 6 * shape.selectors() * 2 * length * primes;
    let used = 2 * rotations * (forward + inverse) * own.groups() as usize * own.together;
    let polynomials = (made + used) as f64 / primes as f64;
    described.predicted_seconds = polynomials * seconds_per_polynomial(settings) + switch_bytes as f64 * 3e-9;
    // The seeded key's bodies beside the expanded key.
    described.peak_bytes = (expanded + expanded / 2 + 2 * switch_bytes + 64 * own.n * primes * own.together * 8) as u64;
    Ok(())
}

fn start<W: Word>(own: Own, context: &Context) -> Result<Box<dyn Session>, Failed> {
    let ring: Arc<Ring<W>> = own.ring()?.build(context.kernel)?;
    let gadget = own.gadget()?.build(&ring)?;
    let (error, distribution, shape) = (gaussian(own.stddev, "stddev")?, own.secret()?, own.shape());
    let functional = Functional::new(&own, context.kernel)?;
    keys(own.keys, context, move |seed: Seed| {
        let mut f = Fixture::new(&ring, distribution, &error, seed)?;
        let small = own.small_key(&mut f.rng)?;
        let seeded = SeededBlindRotationKey::new(shape, &small, &f.key, &gadget, &f.error, &mut f.masks, &mut f.rng);
        let key = BlindRotationKey::new(&gadget, &seeded.map_err(Failed::from)?).map_err(Failed::from)?;
        match &functional {
            None => rotate(&own, &mut f, &small, &key),
            Some(functional) => functional.run(&own, &mut f, &small, key, seed),
        }
    })
}

/// Rotates uniform pairs by uniform ciphertexts; the phases before are known.
fn rotate<W: Word>(own: &Own, f: &mut Fixture<W>, small: &LweKey, key: &BlindRotationKey<W>) -> Result<Tally, Failed> {
    let order = 2 * own.n;
    let modulus = Modulus::new(order as u64).map_err(Failed::from)?;
    let mut tally = Tally::default();
    for _ in 0..own.groups() {
        let mut inputs = vec![Lwe::trivial(modulus, own.dimension, 0); own.together];
        for input in &mut inputs {
            input.a.fill_with(|| f.below(order) as u64);
            input.b = f.below(order) as u64;
        }
        let before: Vec<_> = inputs.iter().map(|_| Rlwe { a: f.uniform(), b: f.uniform() }).collect();
        let mut after = before.clone();
        let workspace = &mut f.workspace;
        tally.operate_calls(1, || {
            after.clone_from(&before);
            key.rotate_all(&mut after, &inputs, workspace)
        })?;
        for ((input, before), after) in inputs.iter().zip(&before).zip(&after) {
            let phase = small.phase(input).map_err(Failed::from)? as usize;
            let known = f.ring.mul_monomial(&f.key.phase_coefficient(before), order - phase);
            tally.add("added", &f.errors(&f.key.phase_coefficient(after), &known)?);
        }
    }
    Ok(tally)
}
