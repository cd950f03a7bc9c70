//! `noise`: the errors of one lattice operation against known phases, under many fresh keys.

mod galois;
mod lwe;
mod once;
mod operations;
mod plan;
mod settings;

use std::sync::Arc;

use ring::{Kernel, Ring, Word};
use serde::Serialize;

use crate::in_ring::{InRing, Measure, by_keys, polynomial_bytes, seconds_per_polynomial};
use crate::primitive::{Context, Described, Failed, Primitive, Session};
use crate::setting::{GadgetSetting, Setting};
use crate::settings::{Refusal, Settings, complete};
use lwe::{LwePlan, SwitchPlan};
use plan::Plan;
use settings::{NoiseSettings, Operation};

/// The noise of one operation: of LWE ciphertexts, or in a ring.
pub enum Noise {
    /// A key switch of LWE ciphertexts.
    LweKeySwitch(NoiseSettings),
    /// A mean-compensated modulus switch of LWE ciphertexts.
    CompensatedSwitch(NoiseSettings, SwitchPlan),
    /// An operation in a ring.
    InRing(RingNoise),
}

impl Primitive for Noise {
    const NAME: &'static str = "noise";
    const SUMMARY: &'static str = "errors of a lattice operation against known phases, under many keys";

    fn read(settings: &Settings) -> Result<Self, Refusal> {
        let own = NoiseSettings::read(settings)?;
        Ok(match own.operation {
            Operation::LweKeySwitch => Self::LweKeySwitch(own),
            Operation::CompensatedModulusSwitch => {
                let plan = SwitchPlan::new(&own)?;
                Self::CompensatedSwitch(own, plan)
            }
            _ => Self::InRing(RingNoise::new(own)?),
        })
    }

    fn describe(&self) -> Result<Described, Refusal> {
        match self {
            Self::LweKeySwitch(own) => {
                let mut described = Described { settings: complete(own)?, ..Described::default() };
                let plan = LwePlan::new(own, Kernel::best())?;
                let gadget = plan.gadget();
                described.digits(gadget.length(), gadget.error_bound().into(), &gadget.moments());
                described.peak_bytes = 2 * plan.key_bytes();
                // Two nanoseconds a word of the key to use it, ten times that to make it.
                described.predicted_seconds = (own.samples_a_key() + 10.0) * plan.key_bytes() as f64 / 4e9;
                Ok(described)
            }
            Self::CompensatedSwitch(own, plan) => {
                let mut described = Described { settings: complete(own)?, ..Described::default() };
                // Ten nanoseconds a word: the mask is made, met with the key twice, switched and met again.
                described.predicted_seconds = own.samples_a_key() * plan.words() as f64 * 1e-8;
                described.peak_bytes = 64 * plan.words();
                Ok(described)
            }
            Self::InRing(noise) => Primitive::describe(noise),
        }
    }

    fn start(self, context: &Context) -> Result<Box<dyn Session>, Failed> {
        match self {
            Self::LweKeySwitch(own) => {
                let plan = LwePlan::new(&own, context.kernel)?;
                by_keys(own.keys, context, move |seed| plan.run(seed, own.wanted()))
            }
            Self::CompensatedSwitch(own, plan) => by_keys(own.keys, context, move |seed| plan.run(seed, own.wanted())),
            Self::InRing(noise) => noise.start(context),
        }
    }
}

/// The noise of an operation in a ring.
#[derive(Serialize)]
#[serde(transparent)]
pub struct RingNoise {
    own: NoiseSettings,
    #[serde(skip)]
    setting: Setting,
    #[serde(skip)]
    gadget: Option<GadgetSetting>,
    #[serde(skip)]
    plan: Plan,
}

impl RingNoise {
    fn new(own: NoiseSettings) -> Result<Self, Refusal> {
        let setting = own.setting()?;
        setting.primes()?;
        setting.check()?;
        let plan = Plan::new(&own, setting.n)?;
        let gadget = if own.operation.decomposes() { Some(own.gadget()?) } else { None };
        Ok(Self { own, setting, gadget, plan })
    }
}

impl InRing for RingNoise {
    const NAME: &'static str = Noise::NAME;
    const SUMMARY: &'static str = Noise::SUMMARY;

    fn read(settings: &Settings) -> Result<Self, Refusal> {
        Self::new(NoiseSettings::read(settings)?)
    }

    fn shared(&self) -> (&Setting, u64, Option<&GadgetSetting>) {
        (&self.setting, self.own.keys, self.gadget.as_ref())
    }

    fn describe<W: Word>(&self, ring: &Arc<Ring<W>>, length: usize, described: &mut Described) -> Result<(), Refusal> {
        let cost = self.plan.cost(ring.n(), length, self.own.samples_a_key());
        described.predicted_seconds = cost.polynomials * seconds_per_polynomial(ring);
        described.peak_bytes = polynomial_bytes(ring, cost.held);
        Ok(())
    }

    fn measure<W: Word>(self, ring: &Arc<Ring<W>>) -> Result<Measure<W>, Failed> {
        let gadget = self.gadget.as_ref().map(|gadget| gadget.build(ring, "base")).transpose()?;
        Ok(Box::new(move |lab| self.plan.run(lab, gadget.as_ref(), self.own.wanted())))
    }
}
