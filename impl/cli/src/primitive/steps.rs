//! A row of a primitive: made ready, and measured step by step in its worker.

use ring::Kernel;
use serde::{Deserialize, Serialize};

use super::registry::{self, Entry};
use super::row::PrimitiveRow;
use super::{Context, Described, Measured, Session};
use crate::failure::{Failure, Outcome};
use crate::machine::pin;
use crate::measure::plan::{check_limits, find_kernel, parse_seed};
use crate::measure::steps::Step;

/// A row that can be measured.
pub struct PrimitivePlan {
    /// The row as asked for.
    pub row: PrimitiveRow,
    /// The primitive.
    pub entry: Entry,
    /// What the primitive says of its settings.
    pub described: Described,
    /// Kernel path.
    pub kernel: Kernel,
    /// Seed of all randomness, where one was given.
    pub seed: Option<[u8; 32]>,
}

impl PrimitivePlan {
    /// Checks a row.
    ///
    /// # Errors
    /// Anything of it that cannot be used.
    pub fn new(row: PrimitiveRow) -> Outcome<Self> {
        check_limits(row.repetitions, row.time_limit_seconds, row.predicted_seconds)?;
        let kernel = find_kernel(&row.kernel)?;
        let seed = row.seed.as_deref().map(parse_seed).transpose()?;
        let entry = registry::find(&row.primitive)?;
        let described = entry.describe(&row.settings())?;
        Ok(Self { row, entry, described, kernel, seed })
    }
}

/// What a row measured; travels from a worker to its parent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PrimitiveReport {
    /// Everything the primitive measured.
    pub measured: Measured,
}

/// A row under measurement.
pub struct PrimitiveSteps {
    session: Box<dyn Session>,
    measured: Measured,
}

impl PrimitiveSteps {
    /// Pins the process and makes the primitive ready.
    ///
    /// # Errors
    /// The primitive cannot be made ready.
    pub fn start(plan: &PrimitivePlan) -> Outcome<Self> {
        pin::to_one_core();
        let context = Context { kernel: plan.kernel, seed: plan.seed };
        let session = plan.entry.primitive.start(&plan.row.settings(), &context).map_err(failed)?;
        Ok(Self { session, measured: Measured::default() })
    }

    /// Takes a step. To prepare is to measure once and to keep nothing of it but whether it was right.
    ///
    /// # Errors
    /// The primitive failed.
    pub fn take(&mut self, step: Step) -> Outcome<()> {
        match step {
            Step::Prepare => {
                let mut warm_up = Measured::default();
                self.session.repetition(&mut warm_up).map_err(failed)?;
                self.measured.compared(warm_up.correct.compared, warm_up.correct.right);
                Ok(())
            }
            Step::Repetition => self.session.repetition(&mut self.measured).map_err(failed),
            Step::Noise | Step::Update | Step::Finish => Ok(()),
        }
    }

    /// What was measured.
    ///
    /// # Errors
    /// The primitive failed at the end.
    pub fn finish(mut self) -> Outcome<PrimitiveReport> {
        self.session.finish(&mut self.measured).map_err(failed)?;
        Ok(PrimitiveReport { measured: self.measured })
    }
}

fn failed(problem: super::Failed) -> Failure {
    Failure::Result(problem.0)
}
