//! `noise`: the errors of one lattice operation against known phases, under many fresh keys.

mod galois;
mod lwe;
mod once;
mod operations;
mod plan;
mod samples;

use std::sync::Arc;

use ring::{Ring, Word};
use serde::{Serialize, Serializer};

use crate::in_ring::{InRing, Measure, polynomial_bytes, seconds_per_polynomial};
use crate::primitive::{Context, Described, Failed, Primitive, Session};
use crate::setting::{GadgetSetting, Setting};
use crate::settings::{Refusal, Settings, tagged};
use lwe::{CompensatedSwitch, KeySwitch};
use plan::{DECOMPOSING, Operation};
use samples::Samples;

/// The noise of one operation: of LWE ciphertexts, or in a ring.
pub enum Noise {
    /// A key switch of LWE ciphertexts.
    KeySwitch(KeySwitch),
    /// A mean-compensated modulus switch of LWE ciphertexts.
    CompensatedSwitch(CompensatedSwitch),
    /// An operation in a ring.
    InRing(RingNoise),
}

impl Primitive for Noise {
    const NAME: &'static str = "noise";
    const SUMMARY: &'static str = "errors of a lattice operation against known phases, under many keys";

    fn read(settings: &Settings) -> Result<Self, Refusal> {
        Ok(match settings.word("operation")? {
            KeySwitch::NAME => Self::KeySwitch(KeySwitch::read(settings)?),
            CompensatedSwitch::NAME => Self::CompensatedSwitch(CompensatedSwitch::read(settings)?),
            _ => Self::InRing(InRing::read(settings)?),
        })
    }

    fn describe(&self) -> Result<Described, Refusal> {
        match self {
            Self::KeySwitch(own) => own.describe(),
            Self::CompensatedSwitch(own) => own.describe(),
            Self::InRing(own) => Primitive::describe(own),
        }
    }

    fn start(self, context: &Context) -> Result<Box<dyn Session>, Failed> {
        match self {
            Self::KeySwitch(own) => own.start(context),
            Self::CompensatedSwitch(own) => own.start(context),
            Self::InRing(own) => own.start(context),
        }
    }
}

/// The noise of an operation in a ring.
#[derive(Serialize)]
pub struct RingNoise {
    #[serde(flatten)]
    samples: Samples,
    #[serde(flatten)]
    setting: Setting,
    #[serde(flatten)]
    gadget: Option<GadgetSetting>,
    #[serde(flatten, serialize_with = "named")]
    operation: Operation,
}

fn named<S: Serializer>(operation: &Operation, serializer: S) -> Result<S::Ok, S::Error> {
    tagged("operation", operation, serializer)
}

impl InRing for RingNoise {
    const NAME: &'static str = Noise::NAME;
    const SUMMARY: &'static str = Noise::SUMMARY;

    fn read(settings: &Settings) -> Result<Self, Refusal> {
        let mut rest = settings.clone();
        let decomposes = DECOMPOSING.contains(&settings.word("operation")?);
        let gadget = decomposes.then(|| rest.take(&GadgetSetting::KEYS)).transpose()?;
        let (samples, setting) = (Samples::take(&mut rest)?, rest.take::<Setting>(&Setting::KEYS)?);
        let operation: Operation = rest.variant("operation", &[KeySwitch::NAME, CompensatedSwitch::NAME])?;
        setting.primes()?;
        operation.check(setting.n)?;
        Ok(Self { samples, setting, gadget, operation })
    }

    fn shared(&self) -> (&Setting, u64, Option<&GadgetSetting>) {
        (&self.setting, self.samples.keys, self.gadget.as_ref())
    }

    fn describe<W: Word>(&self, ring: &Arc<Ring<W>>, length: usize, described: &mut Described) -> Result<(), Refusal> {
        let cost = self.operation.cost(ring.n(), length, self.samples.a_key());
        described.predicted_seconds = cost.polynomials * seconds_per_polynomial(ring);
        described.peak_bytes = polynomial_bytes(ring, cost.held);
        Ok(())
    }

    fn measure<W: Word>(self, ring: &Arc<Ring<W>>) -> Result<Measure<W>, Failed> {
        let gadget = self.gadget.as_ref().map(|gadget| gadget.build(ring, "base")).transpose()?;
        Ok(Box::new(move |lab| self.operation.run(lab, gadget.as_ref(), self.samples.wanted())))
    }
}
