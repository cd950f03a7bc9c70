//! `noise`: the errors of one lattice operation against known phases, under many fresh keys.

mod galois;
mod lwe;
mod once;
mod operations;
mod plan;
mod samples;

use ring::Word;
use serde::{Deserialize, Serialize, Serializer};

use crate::in_ring::{self, Bench, InRing, Shared, polynomial_bytes, seconds_per_polynomial};
use crate::lab::{Lab, Tally};
use crate::primitive::{About, Described, Failed, Read};
use crate::setting::number;
use crate::settings::{Refusal, Settings, tagged};
use lwe::{CompensatedSwitch, KeySwitch};
use plan::{DECOMPOSING, Operation};

pub const ABOUT: About = ("noise", "errors of a lattice operation against known phases, under many keys");

/// Reads and checks the settings of an operation on LWE ciphertexts, or in a ring.
pub fn read(settings: &Settings) -> Read {
    match settings.word("operation")? {
        KeySwitch::NAME => KeySwitch::read(settings),
        CompensatedSwitch::NAME => CompensatedSwitch::read(settings),
        _ => in_ring::read::<RingNoise>(settings),
    }
}

/// The noise of an operation in a ring.
#[derive(Serialize)]
struct RingNoise {
    /// Errors in all, at least.
    samples: u64,
    #[serde(flatten, serialize_with = "named")]
    operation: Operation,
}

#[derive(Deserialize)]
struct Errors {
    #[serde(default = "number::<16384, _>")]
    samples: u64,
}

fn named<S: Serializer>(operation: &Operation, serializer: S) -> Result<S::Ok, S::Error> {
    tagged("operation", operation, serializer)
}

impl InRing for RingNoise {
    fn decomposes(settings: &Settings) -> Result<bool, Refusal> {
        let name = settings.word("operation")?;
        match settings.variant::<Operation>("operation", &[KeySwitch::NAME, CompensatedSwitch::NAME]) {
            Err(refusal) if refusal.key == "operation" => Err(refusal),
            _ => Ok(DECOMPOSING.contains(&name)),
        }
    }

    fn read(rest: &Settings, shared: &Shared) -> Result<Self, Refusal> {
        let mut rest = rest.clone();
        let Errors { samples } = rest.take(&["samples"])?;
        samples::check(shared.keys, samples)?;
        let operation: Operation = rest.variant("operation", &[])?;
        operation.check(shared.setting.n)?;
        Ok(Self { samples, operation })
    }

    fn describe<W: Word>(&self, bench: &Bench<W>, described: &mut Described) -> Result<(), Refusal> {
        let each = samples::each(bench.shared.keys, self.samples);
        let cost = self.operation.cost(bench.ring.n(), bench.length(), each);
        described.predicted_seconds = cost.polynomials * seconds_per_polynomial(&bench.ring);
        described.peak_bytes = polynomial_bytes(&bench.ring, cost.held);
        Ok(())
    }

    fn run<W: Word>(&self, bench: &Bench<W>, lab: &mut Lab<W>) -> Result<Tally, Failed> {
        self.operation.run(lab, bench.gadget.as_ref(), bench.shared.for_each_key(self.samples))
    }
}
