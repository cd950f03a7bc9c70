//! A protocol under measurement, in this process.

use pir::core::clock::Phase;
use pir::core::noise::StageNoise;
use pir::core::progress::Progress;
use pir::core::record::{Correct, MemoryUse};
use pir::core::runner::{Measured, Session};
use pir::core::transcript::Entry;
use serde::{Deserialize, Serialize};

use super::plan::Plan;
use crate::failure::Outcome;
use crate::machine::{memory, pin};
use crate::measure::job::{Step, Steps};

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
pub struct ProtocolSteps<'a> {
    session: Box<dyn Session + 'a>,
    watch: memory::Watch,
}

impl<'a> ProtocolSteps<'a> {
    /// Pins the process where one thread is asked for, gives it as many as are asked for, opens the database and starts the protocol.
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
}

impl Steps<Report> for ProtocolSteps<'_> {
    fn take(&mut self, step: Step) -> Outcome<()> {
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

    fn finish(self: Box<Self>) -> Outcome<Report> {
        let Measured { phases, transcript, payload_sha256, noise, correct, held } = self.session.finish();
        let memory = MemoryUse { server: held, ..self.watch.finish() };
        Ok(Report { phases, transcript, payload_sha256, noise, correct, memory })
    }
}
