//! The steps of a measurement, in this process.

use pir::core::clock::Phase;
use pir::core::noise::StageNoise;
use pir::core::progress::Progress;
use pir::core::record::{Correct, MemoryUse};
use pir::core::runner::{Measured, Session};
use pir::core::transcript::Entry;
use serde::{Deserialize, Serialize};

use super::group::Job;
use super::plan::Plan;
use crate::failure::Outcome;
use crate::machine::{memory, pin};

/// One step; every one is timed and counted by the runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Encode, hint, offline exchange, warm-up.
    Prepare,
    /// One repetition of the online phases.
    Repetition,
    /// Further exchanges outside the clock, until the noise is measured over enough keys.
    Noise,
    /// The updates, all repetitions of them.
    Update,
    /// Nothing more: hand over what was measured.
    Finish,
}

/// What a row measured; travels from a worker to its parent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Seconds of every phase and repetition.
    pub phases: Vec<Phase>,
    /// Every message.
    pub transcript: Vec<Entry>,
    /// Digest of its payloads, of runs with a seed.
    pub payload_sha256: Option<String>,
    /// Errors at each decryption.
    pub noise: Vec<StageNoise>,
    /// Records compared.
    pub correct: Correct,
    /// Memory the process took.
    pub memory: MemoryUse,
}

/// A row under measurement.
pub struct Steps<'a> {
    session: Box<dyn Session + 'a>,
    watch: memory::Watch,
}

impl<'a> Steps<'a> {
    /// Pins the process where one thread is asked for, gives it as many as are asked for, opens the database and starts the protocol.
    ///
    /// # Errors
    /// A database that cannot be opened, a set that does not serve it.
    pub fn start(plan: &Plan, progress: &'a dyn Progress) -> Outcome<Self> {
        let database = plan.open_database()?;
        if plan.row.threads == 1 {
            pin::to_one_core();
        }
        pin::to_threads(plan.options.threads)?;
        let mut watch = memory::Watch::start(plan.description.memory.peak_bytes);
        let session = (plan.protocol.session)(&plan.file, database, plan.workload, &plan.options, progress)?;
        watch.sample();
        Ok(Self { session, watch })
    }

    /// Takes a step.
    ///
    /// # Errors
    /// The protocol failed.
    pub fn take(&mut self, step: Step) -> Outcome<()> {
        let done = match step {
            Step::Prepare => self.session.prepare(),
            Step::Repetition => self.watch.online(|| self.session.repetition()),
            Step::Noise => self.session.measure_noise(),
            Step::Update => self.session.update(),
            Step::Finish => Ok(()),
        };
        self.watch.sample();
        Ok(done?)
    }

    /// What was measured.
    pub fn finish(self) -> Report {
        let Measured { phases, transcript, payload_sha256, noise, correct, held } = self.session.finish();
        let memory = MemoryUse { server: held, ..self.watch.finish() };
        Report { phases, transcript, payload_sha256, noise, correct, memory }
    }
}

/// The steps between preparing and finishing a row: all repetitions, the noise, then the updates (one step measures them all).
pub fn online_steps(plan: &Plan) -> impl Iterator<Item = Step> {
    (0..plan.row.repetitions).map(|_| Step::Repetition).chain(plan.last_steps())
}
