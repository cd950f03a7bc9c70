//! The ring operations: each makes its key material once per key, then runs until every stage has the errors wanted.

use lattice::{
    Extractor, RingGadget, Rlwe, RlweKey, SeededRgsw, SeededRlwePrime, SplitKey, embed_key, project, switching_key,
};
use ring::{Coefficient, Poly, Ring, Word};

use super::fixture::{Fixture, Tally};
use super::galois::{automorphism, expansion, trace};
use super::settings::{Message, NoiseSettings, Operation, PlainDigits, bounded, modulus, required};
use crate::primitive::Failed;
use crate::primitive::settings::Refusal;

/// An operation's own settings, read and checked.
#[derive(Clone, Debug)]
pub enum Plan {
    Fresh,
    Add(u64),
    /// Least and number of plaintext values.
    PlaintextProduct(i64, usize),
    MonomialProduct(usize),
    GadgetProduct(Message),
    ExternalProduct(Message),
    Cmux(Option<u8>),
    RlweKeySwitch,
    Automorphism(u64),
    Trace(usize),
    SampleExtraction,
    /// Moduli of mask and body.
    Switch(u64, u64),
    RingSwitch(usize),
    Expansion(u32),
}

/// Moduli switched to: phases are measured in double precision.
const SWITCHED: std::ops::RangeInclusive<u64> = 2..=1 << 40;

impl Plan {
    /// Reads the settings of a ring operation.
    ///
    /// # Errors
    /// A setting missing or out of range.
    pub fn new(settings: &NoiseSettings, n: usize) -> Result<Self, Refusal> {
        let exponent = |odd: bool| {
            let exponent = bounded(required(&settings.exponent, "exponent")?, "exponent", 0..=2 * n - 1)?;
            if odd && exponent % 2 == 0 {
                return Err(Refusal::new("exponent", format!("{exponent} is even: automorphisms are odd.")));
            }
            Ok(exponent)
        };
        let power = |value: usize, key: &str, largest: usize| {
            if !value.is_power_of_two() || value > largest {
                return Err(Refusal::new(key, format!("{value} is not a power of two up to {largest}.")));
            }
            Ok(value)
        };
        let message = || required(&settings.message, "message");
        Ok(match settings.operation {
            Operation::Fresh => Self::Fresh,
            Operation::Add => Self::Add(bounded(settings.terms.unwrap_or(2), "terms", 1..=1 << 20)?),
            Operation::PlaintextProduct => {
                let p = bounded(required(&settings.plain_modulus, "plain_modulus")?, "plain_modulus", 2..=1 << 30)?;
                let least = match required(&settings.plain_digits, "plain_digits")? {
                    PlainDigits::Unsigned => 0,
                    PlainDigits::Balanced => -((p / 2) as i64),
                };
                Self::PlaintextProduct(least, p as usize)
            }
            Operation::MonomialProduct => Self::MonomialProduct(exponent(false)?),
            Operation::GadgetProduct => Self::GadgetProduct(message()?),
            Operation::ExternalProduct => Self::ExternalProduct(message()?),
            Operation::Cmux => Self::Cmux(settings.bit.map(|bit| bounded(bit, "bit", 0..=1)).transpose()?),
            Operation::LweKeySwitch | Operation::CompensatedModulusSwitch => {
                return Err(Refusal::new("operation", "an LWE ciphertext has no ring."));
            }
            Operation::RlweKeySwitch => Self::RlweKeySwitch,
            Operation::Automorphism => Self::Automorphism(exponent(true)? as u64),
            Operation::Trace => Self::Trace(power(settings.subring.unwrap_or(1), "subring", n / 2)?),
            Operation::SampleExtraction => Self::SampleExtraction,
            Operation::ModulusSwitch => {
                let to = modulus(&settings.to_modulus, "to_modulus", SWITCHED)?;
                Self::Switch(to, to)
            }
            Operation::SplitModulusSwitch => Self::Switch(
                modulus(&settings.to_modulus_a, "to_modulus_a", SWITCHED)?,
                modulus(&settings.to_modulus_b, "to_modulus_b", SWITCHED)?,
            ),
            Operation::RingSwitch => {
                let to = required(&settings.n_to, "n_to")?;
                if to < 64 {
                    return Err(Refusal::new("n_to", format!("{to} is below 64.")));
                }
                Self::RingSwitch(power(to, "n_to", n / 2)?)
            }
            Operation::Expansion => {
                Self::Expansion(bounded(required(&settings.depth, "depth")?, "depth", 1..=n.ilog2())?)
            }
        })
    }

    /// Measures under one key until every stage has `wanted` errors.
    ///
    /// # Errors
    /// Settings that the operation refuses.
    pub fn run<W: Word>(
        &self,
        f: &mut Fixture<W>,
        gadget: Option<&RingGadget<W>>,
        wanted: u64,
    ) -> Result<Tally, Failed> {
        let mut tally = Tally::default();
        let needed = || gadget.ok_or_else(|| Failed("this operation needs a gadget".to_string()));
        let mut once: Once<'_, W> = match *self {
            Self::Fresh => Box::new(|f, tally| {
                let message = f.uniform();
                let fresh = f.fresh(&message);
                output(f, tally, &fresh, &message)
            }),
            Self::Add(terms) => Box::new(move |f, tally| add(f, tally, terms)),
            Self::PlaintextProduct(least, p) => Box::new(move |f, tally| plaintext_product(f, tally, least, p)),
            Self::MonomialProduct(exponent) => Box::new(move |f, tally| {
                let message = f.uniform();
                let product = f.fresh(&message).mul_monomial(&f.ring, exponent);
                let known = f.ring.mul_monomial(&message, exponent);
                output(f, tally, &product, &known)
            }),
            Self::SampleExtraction => Box::new(sample_extraction),
            Self::Switch(a, b) => {
                let opener = SplitKey::new(&f.key).map_err(Failed::from)?;
                Box::new(move |f, tally| modulus_switch(f, tally, &opener, (a, b)))
            }
            Self::GadgetProduct(message) => gadget_product(f, needed()?, message)?,
            Self::ExternalProduct(message) => external_product(f, needed()?, message)?,
            Self::Cmux(bit) => cmux(f, needed()?, bit)?,
            Self::RlweKeySwitch => key_switch(f, needed()?)?,
            Self::Automorphism(exponent) => automorphism(f, needed()?, exponent)?,
            Self::Trace(kept) => trace(f, needed()?, kept)?,
            Self::RingSwitch(n) => ring_switch(f, needed()?, n)?,
            Self::Expansion(depth) => expansion(f, needed()?, depth)?,
        };
        while !tally.reached(wanted) {
            once(f, &mut tally)?;
        }
        Ok(tally)
    }
}

/// One run of an operation.
pub type Once<'a, W> = Box<dyn FnMut(&mut Fixture<W>, &mut Tally) -> Result<(), Failed> + 'a>;

/// The errors of a ciphertext against its exact message.
fn output<W: Word>(
    f: &Fixture<W>,
    tally: &mut Tally,
    ciphertext: &Rlwe<W, Coefficient>,
    known: &Poly<W, Coefficient>,
) -> Result<(), Failed> {
    tally.add("output", &f.errors(&f.key.phase_coefficient(ciphertext), known)?);
    Ok(())
}

/// The errors against the exact result on messages, and on the phases of the inputs.
pub fn both<W: Word>(
    f: &Fixture<W>,
    tally: &mut Tally,
    ciphertext: &Rlwe<W, Coefficient>,
    on_messages: &Poly<W, Coefficient>,
    on_phases: &Poly<W, Coefficient>,
) -> Result<(), Failed> {
    output(f, tally, ciphertext, on_messages)?;
    tally.add("added", &f.errors(&f.key.phase_coefficient(ciphertext), on_phases)?);
    Ok(())
}

fn add<W: Word>(f: &mut Fixture<W>, tally: &mut Tally, terms: u64) -> Result<(), Failed> {
    let mut known = f.uniform();
    let mut sum = f.fresh(&known);
    for _ in 1..terms {
        let message = f.uniform();
        let fresh = f.fresh(&message);
        sum.add_assign(&f.ring, &fresh);
        f.ring.add_assign(&mut known, &message);
    }
    output(f, tally, &sum, &known)
}

fn plaintext_product<W: Word>(f: &mut Fixture<W>, tally: &mut Tally, least: i64, p: usize) -> Result<(), Failed> {
    let plain: Vec<i64> = (0..f.ring.n()).map(|_| least + f.below(p) as i64).collect();
    let plain = f.ring.forward(f.ring.from_signed(&plain));
    let message = f.uniform();
    let mut product = f.fresh(&message).forward(&f.ring);
    product.mul_plain_assign(&f.ring, &plain);
    let known = f.product(&message, &plain);
    output(f, tally, &product.inverse(&f.ring), &known)
}

fn sample_extraction<W: Word>(f: &mut Fixture<W>, tally: &mut Tally) -> Result<(), Failed> {
    let message = f.uniform();
    let fresh = f.fresh(&message);
    let extractor = Extractor::new(&f.ring, &fresh).map_err(Failed::from)?;
    let key = f.key.to_lwe();
    let phases: Vec<u64> = (0..f.ring.n())
        .map(|index| extractor.coefficient(index).and_then(|sample| key.phase(&sample)))
        .collect::<Result<_, _>>()
        .map_err(Failed::from)?;
    tally.add("output", &f.errors(&f.ring.from_u64(&phases), &message)?);
    Ok(())
}

fn modulus_switch<W: Word>(
    f: &mut Fixture<W>,
    tally: &mut Tally,
    opener: &SplitKey,
    (to_a, to_b): (u64, u64),
) -> Result<(), Failed> {
    let message = f.uniform();
    let fresh = f.fresh(&message);
    let switched = fresh.split_switch(&f.ring, to_a, to_b).map_err(Failed::from)?;
    let phase = opener.phase(&switched).map_err(Failed::from)?;
    let q = f.ring.modulus_u128().ok_or_else(|| Failed("the modulus is too large".to_string()))? as f64;
    let to = to_b as f64;
    let mut errors = |stage: &str, known: &Poly<W, Coefficient>| {
        let mut integers = vec![0u128; f.ring.n()];
        f.ring.compose_u128(known, &mut integers);
        let errors: Vec<f64> = phase
            .iter()
            .zip(integers)
            .map(|(phase, known)| {
                let error = phase - known as f64 / q * to;
                error - (error / to).round() * to
            })
            .collect();
        tally.add(stage, &errors);
    };
    errors("output", &message);
    errors("added", &f.key.phase_coefficient(&fresh));
    Ok(())
}

fn gadget_product<'a, W: Word>(
    f: &mut Fixture<W>,
    gadget: &'a RingGadget<W>,
    message: Message,
) -> Result<Once<'a, W>, Failed> {
    let message = f.message(message);
    let key =
        SeededRlwePrime::new(&f.key, &message, gadget, &f.error, &mut f.masks, &mut f.rng).map_err(Failed::from)?;
    let key = key.expand(&f.ring);
    let mut out = Rlwe::zero(&f.ring);
    Ok(Box::new(move |f, tally| {
        let c = f.uniform();
        tally.operate(|| gadget.gadget_product(&c, &key, &mut f.workspace, &mut out))?;
        tally.add("added", &f.errors(&f.key.phase_coefficient(&out), &f.product(&c, &message))?);
        Ok(())
    }))
}

fn external_product<'a, W: Word>(
    f: &mut Fixture<W>,
    gadget: &'a RingGadget<W>,
    message: Message,
) -> Result<Once<'a, W>, Failed> {
    let message = f.message(message);
    let rgsw = SeededRgsw::new(&f.key, &message, gadget, &f.error, &mut f.masks, &mut f.rng).map_err(Failed::from)?;
    let rgsw = rgsw.expand(&f.ring);
    let mut out = Rlwe::zero(&f.ring);
    Ok(Box::new(move |f, tally| {
        let plain = f.uniform();
        let input = f.fresh(&plain);
        tally.operate(|| gadget.external_product(&input, &rgsw, &mut f.workspace, &mut out))?;
        let phase = f.key.phase_coefficient(&input);
        both(f, tally, &out, &f.product(&plain, &message), &f.product(&phase, &message))
    }))
}

fn cmux<'a, W: Word>(f: &mut Fixture<W>, gadget: &'a RingGadget<W>, bit: Option<u8>) -> Result<Once<'a, W>, Failed> {
    let mut selector = |message| {
        let message = f.message(message);
        let rgsw = SeededRgsw::new(&f.key, &message, gadget, &f.error, &mut f.masks, &mut f.rng);
        rgsw.map(|rgsw| rgsw.expand(&f.ring)).map_err(Failed::from)
    };
    let selectors = [selector(Message::Zero)?, selector(Message::One)?];
    let mut out = Rlwe::zero(&f.ring);
    Ok(Box::new(move |f, tally| {
        // Without a given bit, both branches: as many errors of each.
        for selected in (0..=1).filter(|selected| bit.is_none_or(|bit| usize::from(bit) == *selected)) {
            let messages = [f.uniform(), f.uniform()];
            let inputs = [f.fresh(&messages[0]), f.fresh(&messages[1])];
            let [zero, one] = &inputs;
            tally.operate(|| gadget.cmux(&selectors[selected], zero, one, &mut f.workspace, &mut out))?;
            both(f, tally, &out, &messages[selected], &f.key.phase_coefficient(&inputs[selected]))?;
        }
        Ok(())
    }))
}

fn key_switch<'a, W: Word>(f: &mut Fixture<W>, gadget: &'a RingGadget<W>) -> Result<Once<'a, W>, Failed> {
    let old = RlweKey::sample(&f.ring, &f.secret, &mut f.rng).map_err(Failed::from)?;
    let key = switching_key(old.ntt(), &f.key, gadget, &f.error, &mut f.masks, &mut f.rng).map_err(Failed::from)?;
    let key = key.expand(&f.ring);
    let mut out = Rlwe::zero(&f.ring);
    Ok(Box::new(move |f, tally| {
        let message = f.uniform();
        let input = old.encrypt(&message, &f.error, &mut f.masks, &mut f.rng).expand(&f.ring).inverse(&f.ring);
        tally.operate(|| gadget.key_switch(&input, &key, &mut f.workspace, &mut out))?;
        both(f, tally, &out, &message, &old.phase_coefficient(&input))
    }))
}

fn ring_switch<'a, W: Word>(f: &mut Fixture<W>, gadget: &'a RingGadget<W>, n: usize) -> Result<Once<'a, W>, Failed> {
    let small = Ring::<W>::new(n, f.ring.primes(), f.ring.kernel()).map_err(Failed::from)?;
    let target = RlweKey::sample(&small, &f.secret, &mut f.rng).map_err(Failed::from)?;
    let embedded = embed_key(&target, &f.ring).map_err(Failed::from)?;
    let key =
        switching_key(f.key.ntt(), &embedded, gadget, &f.error, &mut f.masks, &mut f.rng).map_err(Failed::from)?;
    let key = key.expand(&f.ring);
    let mut switched = Rlwe::zero(&f.ring);
    Ok(Box::new(move |f, tally| {
        let message = f.uniform();
        let input = f.fresh(&message);
        gadget.key_switch(&input, &key, &mut f.workspace, &mut switched).map_err(Failed::from)?;
        let out = project(&f.ring, &small, &switched).map_err(Failed::from)?;
        let found = target.phase_coefficient(&out);
        let projected = |poly: Poly<W, Coefficient>| {
            project(&f.ring, &small, &Rlwe::trivial(&f.ring, poly)).map(|c| c.b).map_err(Failed::from)
        };
        for (stage, known) in [("output", message), ("added", f.key.phase_coefficient(&input))] {
            let errors = lattice::noise::errors(&small, &found, &projected(known)?).map_err(Failed::from)?;
            tally.add(stage, &errors);
        }
        Ok(())
    }))
}
