//! Rules for run records that their types do not express; estimator/records.py has the same ones.
//!
//! No protocol imports this module, so that a new rule makes no record stale.

use std::collections::BTreeSet;
use std::fmt::Display;

use serde_json::Value;

use crate::core::clock::{Group, Phase};
use crate::core::description::{Description, Direction};
use crate::core::error::{Error, Result};
use crate::core::noise::StageNoise;
use crate::core::params::SecretKind;
use crate::core::record::{Correct, Machine, RUN_SCHEMA, RecordKind, RunRecord, Status};

/// The square of every float must be finite.
const LARGEST: f64 = 1e150;
/// The least seconds of a sample: below any clock's tick divided by the number of calls.
const SHORTEST: f64 = 1e-12;
/// The most seconds of a sample: about a human life.
const LONGEST: f64 = 1e9;
/// The phases in which a server answers.
const ANSWERING: [&str; 2] = ["answer", "online"];

impl RunRecord {
    /// Checks that a run can have written the record; the error names the first key that breaks a rule.
    pub fn check(&self) -> Result<()> {
        hold(self.schema == RUN_SCHEMA, "schema", || format!("`{}` is not `{RUN_SCHEMA}`", self.schema))?;
        let protocol = self.kind == RecordKind::Protocol;
        hold(protocol, "kind", || format!("is not `protocol`, which a record of {RUN_SCHEMA} is"))?;
        for (key, text) in [("id", &self.id), ("protocol", &self.protocol)] {
            hold(!text.is_empty(), key, || "is empty".into())?;
        }
        for (key, time) in [("started", &self.started), ("finished", &self.finished)] {
            hold(is_time(time), key, || format!("`{time}` is not a time such as 2026-11-20T10:00:00Z"))?;
        }
        let database = &self.database;
        for (key, count) in [
            ("queries", self.queries),
            ("threads", self.threads),
            ("repetitions", self.repetitions),
            ("database.records", database.records),
            ("database.record_bits", database.record_bits),
        ] {
            hold(count > 0, key, || "is 0; it is 1 or more".into())?;
        }
        let shape = &self.description.shape;
        for (key, found, described) in [
            ("database.records", database.records, shape.records),
            ("database.record_bits", database.record_bits, shape.record_bits),
        ] {
            hold(found == described, key, || format!("{found}, but {described} in description.shape"))?;
        }
        self.machine.check()?;
        self.description.check()?;
        self.correct.check(self.status)?;
        once("phases", self.phases.iter().map(|phase| &phase.name))?;
        once("transcript", self.transcript.iter().map(|sent| format!("{} {}", sent.phase, sent.name)))?;
        once("noise", self.noise.iter().map(|stage| &stage.stage))?;
        self.noise.iter().enumerate().try_for_each(|(place, stage)| stage.check(&format!("noise.{place}")))?;
        for (place, phase) in self.phases.iter().enumerate() {
            phase.check(&format!("phases.{place}.seconds"), self.status)?;
        }
        if self.status == Status::Ok { self.check_answer() } else { Ok(()) }
    }

    /// A run that ended well has an answer and its times.
    fn check_answer(&self) -> Result<()> {
        let timed = self.phases.iter().any(|phase| phase.name == "answer" && !phase.seconds.is_empty());
        hold(timed, "phases.answer", || "a record with status ok has no answer times".into())?;
        let answered = self
            .transcript
            .iter()
            .any(|sent| sent.direction == Direction::Download && ANSWERING.contains(&sent.phase.as_str()));
        hold(answered, "transcript", || "a record with status ok has no answer".into())
    }
}

impl Machine {
    fn check(&self) -> Result<()> {
        bounded("machine.load_at_start", self.load_at_start)?;
        for (key, speed) in [
            ("machine.read_bandwidth_before", self.read_bandwidth_before),
            ("machine.read_bandwidth_after", self.read_bandwidth_after),
        ] {
            let Some(speed) = speed else { continue };
            bounded(key, speed)?;
            hold(speed > 0.0, key, || {
                format!("{} bytes per second; it is positive, or null where none was probed", short(speed))
            })?;
        }
        Ok(())
    }
}

impl Description {
    /// Checks the counts that the schema leaves open, and the instances' floats.
    fn check(&self) -> Result<()> {
        for (phase, counts) in &self.operations {
            let key = format!("description.operations.{phase}");
            hold(counts.is_object(), &key, || "is no object of counts".into())?;
            counted(&key, counts)?;
        }
        if let Some(counts) = self.layout.get("stored_bytes") {
            counted("description.layout.stored_bytes", counts)?;
        }
        for (place, instance) in self.instances.iter().enumerate() {
            let key = |name: &str| format!("description.instances.{place}.{name}");
            bounded(&key("log2_modulus"), instance.log2_modulus)?;
            bounded(&key("error_stddev"), instance.error_stddev)?;
            if let SecretKind::Gaussian { stddev } = instance.secret {
                bounded(&key("secret.stddev"), stddev)?;
            }
        }
        Ok(())
    }
}

impl Correct {
    /// Checks that the status fits the comparison.
    fn check(&self, status: Status) -> Result<()> {
        let Self { compared, right } = *self;
        hold(right <= compared, "correct", || format!("{right} right of {compared} compared"))?;
        hold(status != Status::Ok || right == compared, "correct", || {
            format!("status ok although a record came back wrong ({right} of {compared} right)")
        })?;
        hold(status != Status::Wrong || right < compared || compared == 0, "correct", || {
            format!("status wrong although no record came back wrong ({right} of {compared} right)")
        })?;
        hold(status != Status::Ok || compared > 0, "correct.compared", || {
            "status ok although nothing was compared".into()
        })
    }
}

impl StageNoise {
    fn check(&self, key: &str) -> Result<()> {
        let named = |name: &str| format!("{key}.{name}");
        for (name, count) in [("samples", self.samples), ("keys", self.keys)] {
            hold(count > 0, &named(name), || "is 0: nothing was measured".into())?;
        }
        for (name, value) in
            [("mean", self.mean), ("stddev", self.stddev), ("max", self.max), ("threshold", self.threshold)]
        {
            bounded(&named(name), value)?;
        }
        // A margin over errors of exactly zero is the largest float.
        hold(self.margin >= -LARGEST && self.margin.is_finite(), &named("margin"), || beyond(self.margin))?;
        for (name, value) in [("stddev", self.stddev), ("max", self.max)] {
            hold(value >= 0.0, &named(name), || format!("{} is negative", short(value)))?;
        }
        hold(self.threshold > 0.0, &named("threshold"), || format!("{} is not positive", short(self.threshold)))
    }
}

impl Phase {
    /// The samples of a clock, where the run ended well.
    fn check(&self, key: &str, status: Status) -> Result<()> {
        // A client that holds nothing of the database has no work in an update, hence samples of zero.
        let least = if self.group == Group::Update { 0.0 } else { SHORTEST };
        for (place, &sample) in self.seconds.iter().enumerate() {
            let key = format!("{key}.{place}");
            bounded(&key, sample)?;
            hold(status != Status::Ok || (least..=LONGEST).contains(&sample), &key, || {
                let [sample, least, most] = [sample, least, LONGEST].map(short);
                format!("{sample} s was not measured: a sample is from {least} to {most} s")
            })?;
        }
        Ok(())
    }
}

fn hold(holds: bool, key: &str, problem: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::value(key, problem())) }
}

fn bounded(key: &str, value: f64) -> Result<()> {
    hold(value.abs() <= LARGEST, key, || beyond(value))
}

fn beyond(value: f64) -> String {
    format!("{} lies beyond what is measured, {} in absolute value", short(value), short(LARGEST))
}

/// Refuses a name that occurs twice.
fn once(key: &str, names: impl Iterator<Item = impl Ord + Display>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for (place, name) in names.enumerate() {
        hold(!seen.contains(&name), &format!("{key}.{place}"), || format!("`{name}` is there twice"))?;
        seen.insert(name);
    }
    Ok(())
}

/// Counts of a description, at any depth.
fn counted(key: &str, counts: &Value) -> Result<()> {
    if let Value::Object(parts) = counts {
        return parts.iter().try_for_each(|(name, part)| counted(&format!("{key}.{name}"), part));
    }
    let holds = counts.as_f64().is_some_and(|count| (0.0..=LARGEST).contains(&count));
    hold(holds, key, || {
        let text: String = counts.to_string().chars().take(80).collect();
        format!("{text} is not a count")
    })
}

/// Whether a text starts like 2026-11-20T10:00:00.
fn is_time(text: &str) -> bool {
    let form = b"dddd-dd-ddTdd:dd:dd";
    text.len() >= form.len()
        && form.iter().zip(text.bytes()).all(|(form, byte)| match form {
            b'd' => byte.is_ascii_digit(),
            other => *other == byte,
        })
}

/// A number in a few characters.
fn short(value: f64) -> String {
    if value == 0.0 || (1e-4..1e6).contains(&value.abs()) { format!("{value}") } else { format!("{value:e}") }
}
