//! The ring operations: each makes its key material once per key, then runs until every stage has the wanted number of errors.

use lattice::{Extractor, RingGadget, Rlwe, RlweKey, SeededRlwePrime, SplitKey, embed_key, project, switching_key};
use ring::{Ring, Word};

use super::galois::{automorphism, expansion, trace};
use super::once::{Once, both, output};
use super::plan::Operation;
use crate::lab::{Lab, Tally};
use crate::primitive::Failed;
use crate::setting::Message;

impl Operation {
    /// Measures under one key until every stage has `wanted` errors.
    pub fn run<W: Word>(&self, lab: &mut Lab<W>, gadget: Option<&RingGadget<W>>, wanted: u64) -> Result<Tally, Failed> {
        let mut tally = Tally::default();
        let needed = || gadget.ok_or_else(|| Failed("this operation needs a gadget".to_string()));
        let mut once: Once<'_, W> = match *self {
            Self::Fresh {} => Box::new(|lab, tally| {
                let (message, fresh) = lab.input();
                output(lab, tally, &fresh, &message)
            }),
            Self::Add { terms } => Box::new(move |lab, tally| add(lab, tally, terms)),
            Self::PlaintextProduct { plain_modulus, plain_digits } => {
                let least = plain_digits.least(plain_modulus);
                Box::new(move |lab, tally| plaintext_product(lab, tally, least, plain_modulus as usize))
            }
            Self::MonomialProduct { exponent } => Box::new(move |lab, tally| {
                let message = lab.uniform();
                let product = lab.fresh(&message).mul_monomial(&lab.ring, exponent);
                let known = lab.ring.mul_monomial(&message, exponent);
                output(lab, tally, &product, &known)
            }),
            Self::SampleExtraction {} => Box::new(sample_extraction),
            Self::ModulusSwitch { .. } | Self::SplitModulusSwitch { .. } => {
                let (opener, moduli) = (SplitKey::new(&lab.key)?, self.switched()?.unwrap_or_default());
                Box::new(move |lab, tally| modulus_switch(lab, tally, &opener, moduli))
            }
            Self::GadgetProduct { message } => gadget_product(lab, needed()?, message)?,
            Self::ExternalProduct { message } => external_product(lab, needed()?, message)?,
            Self::Cmux { bit } => cmux(lab, needed()?, bit)?,
            Self::RlweKeySwitch {} => key_switch(lab, needed()?)?,
            Self::Automorphism { exponent } => automorphism(lab, needed()?, exponent as u64)?,
            Self::Trace { subring } => trace(lab, needed()?, subring)?,
            Self::RingSwitch { n_to } => ring_switch(lab, needed()?, n_to)?,
            Self::Expansion { depth } => expansion(lab, needed()?, depth)?,
        };
        while !tally.reached(wanted) {
            once(lab, &mut tally)?;
        }
        Ok(tally)
    }
}

fn add<W: Word>(lab: &mut Lab<W>, tally: &mut Tally, terms: u64) -> Result<(), Failed> {
    let mut known = lab.uniform();
    let mut sum = lab.fresh(&known);
    for _ in 1..terms {
        let (message, fresh) = lab.input();
        sum.add_assign(&lab.ring, &fresh);
        lab.ring.add_assign(&mut known, &message);
    }
    output(lab, tally, &sum, &known)
}

fn plaintext_product<W: Word>(lab: &mut Lab<W>, tally: &mut Tally, least: i64, p: usize) -> Result<(), Failed> {
    let plain: Vec<i64> = (0..lab.ring.n()).map(|_| least + lab.below(p) as i64).collect();
    let plain = lab.ring.forward(lab.ring.from_signed(&plain));
    let message = lab.uniform();
    let mut product = lab.fresh(&message).forward(&lab.ring);
    product.mul_plain_assign(&lab.ring, &plain);
    let known = lab.product(&message, &plain);
    output(lab, tally, &product.inverse(&lab.ring), &known)
}

fn sample_extraction<W: Word>(lab: &mut Lab<W>, tally: &mut Tally) -> Result<(), Failed> {
    let (message, fresh) = lab.input();
    let extractor = Extractor::new(&lab.ring, &fresh)?;
    let key = lab.key.to_lwe();
    let phases: Vec<u64> = (0..lab.ring.n())
        .map(|index| extractor.coefficient(index).and_then(|sample| key.phase(&sample)))
        .collect::<Result<_, _>>()?;
    tally.add("output", &lab.errors(&lab.ring.from_u64(&phases), &message)?);
    Ok(())
}

fn modulus_switch<W: Word>(
    lab: &mut Lab<W>,
    tally: &mut Tally,
    opener: &SplitKey,
    (to_a, to_b): (u64, u64),
) -> Result<(), Failed> {
    let (message, fresh) = lab.input();
    let switched = fresh.split_switch(&lab.ring, to_a, to_b)?;
    let phase = opener.phase(&switched)?;
    for (stage, known) in [("output", &message), ("added", &lab.key.phase_coefficient(&fresh))] {
        tally.add(stage, &lab.scaled_errors(&phase, known, to_b as f64)?);
    }
    Ok(())
}

fn gadget_product<'a, W: Word>(
    lab: &mut Lab<W>,
    gadget: &'a RingGadget<W>,
    message: Message,
) -> Result<Once<'a, W>, Failed> {
    let message = lab.message(message);
    let key = SeededRlwePrime::new(&lab.key, &message, gadget, &lab.error, &mut lab.masks, &mut lab.rng)?;
    let key = key.expand(&lab.ring);
    let mut out = Rlwe::zero(&lab.ring);
    Ok(Box::new(move |lab, tally| {
        let c = lab.uniform();
        tally.operate(|| gadget.gadget_product(&c, &key, &mut lab.workspace, &mut out))?;
        tally.add("added", &lab.errors(&lab.key.phase_coefficient(&out), &lab.product(&c, &message))?);
        Ok(())
    }))
}

fn external_product<'a, W: Word>(
    lab: &mut Lab<W>,
    gadget: &'a RingGadget<W>,
    message: Message,
) -> Result<Once<'a, W>, Failed> {
    let message = lab.message(message);
    let rgsw = lab.rgsw(&message, gadget)?;
    let mut out = Rlwe::zero(&lab.ring);
    Ok(Box::new(move |lab, tally| {
        let (plain, input) = lab.input();
        tally.operate(|| gadget.external_product(&input, &rgsw, &mut lab.workspace, &mut out))?;
        let phase = lab.key.phase_coefficient(&input);
        both(lab, tally, &out, &lab.product(&plain, &message), &lab.product(&phase, &message))
    }))
}

fn cmux<'a, W: Word>(lab: &mut Lab<W>, gadget: &'a RingGadget<W>, bit: Option<u8>) -> Result<Once<'a, W>, Failed> {
    let selectors = [lab.rgsw_bit(false, gadget)?, lab.rgsw_bit(true, gadget)?];
    let mut out = Rlwe::zero(&lab.ring);
    Ok(Box::new(move |lab, tally| {
        // Without a given bit, both branches give the same number of errors.
        for selected in (0..=1).filter(|selected| bit.is_none_or(|bit| usize::from(bit) == *selected)) {
            let messages = [lab.uniform(), lab.uniform()];
            let inputs = [lab.fresh(&messages[0]), lab.fresh(&messages[1])];
            let [zero, one] = &inputs;
            tally.operate(|| gadget.cmux(&selectors[selected], zero, one, &mut lab.workspace, &mut out))?;
            both(lab, tally, &out, &messages[selected], &lab.key.phase_coefficient(&inputs[selected]))?;
        }
        Ok(())
    }))
}

fn key_switch<'a, W: Word>(lab: &mut Lab<W>, gadget: &'a RingGadget<W>) -> Result<Once<'a, W>, Failed> {
    let old = RlweKey::sample(&lab.ring, &lab.secret, &mut lab.rng)?;
    let key = switching_key(old.ntt(), &lab.key, gadget, &lab.error, &mut lab.masks, &mut lab.rng)?;
    let key = key.expand(&lab.ring);
    let mut out = Rlwe::zero(&lab.ring);
    Ok(Box::new(move |lab, tally| {
        let message = lab.uniform();
        let input =
            old.encrypt(&message, &lab.error, &mut lab.masks, &mut lab.rng).expand(&lab.ring).inverse(&lab.ring);
        tally.operate(|| gadget.key_switch(&input, &key, &mut lab.workspace, &mut out))?;
        both(lab, tally, &out, &message, &old.phase_coefficient(&input))
    }))
}

fn ring_switch<'a, W: Word>(lab: &mut Lab<W>, gadget: &'a RingGadget<W>, n: usize) -> Result<Once<'a, W>, Failed> {
    let small = Ring::<W>::new(n, lab.ring.primes(), lab.ring.kernel())?;
    let target = RlweKey::sample(&small, &lab.secret, &mut lab.rng)?;
    let embedded = embed_key(&target, &lab.ring)?;
    let key = switching_key(lab.key.ntt(), &embedded, gadget, &lab.error, &mut lab.masks, &mut lab.rng)?;
    let key = key.expand(&lab.ring);
    let mut switched = Rlwe::zero(&lab.ring);
    Ok(Box::new(move |lab, tally| {
        let (message, input) = lab.input();
        gadget.key_switch(&input, &key, &mut lab.workspace, &mut switched)?;
        let out = project(&lab.ring, &small, &switched)?;
        let found = target.phase_coefficient(&out);
        let projected = |poly| project(&lab.ring, &small, &Rlwe::trivial(&lab.ring, poly)).map(|c| c.b);
        for (stage, known) in [("output", message), ("added", lab.key.phase_coefficient(&input))] {
            let errors = lattice::noise::errors(&small, &found, &projected(known)?)?;
            tally.add(stage, &errors);
        }
        Ok(())
    }))
}
