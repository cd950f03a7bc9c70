//! `pirlab calibrate`: unit costs of this machine, from which the estimator predicts seconds.

mod calibrator;
#[cfg(target_os = "linux")]
mod disk;
mod lattice;
mod linear;
mod lookups;
mod offline;

use std::path::{Path, PathBuf};

use pir::core::progress::Progress;
use pir::core::record::Machine;
use ring::Kernel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::calibrator::{Calibrator, Failed, UnitCost, UnitCosts};
use crate::bars::Bars;
use crate::failure::{Failure, Outcome};
use crate::machine::{self, bandwidth, pin};
use crate::measure::record::refuse_debug_build;
use crate::measure::run::{KERNEL, find_kernel};
use crate::output::{Table, note, print_beside, to_json};
use crate::store;
use crate::units::{UNKNOWN, bytes, now, seconds};

/// Measure the unit costs of this machine (seconds per multiply-add, byte, sample), in under a minute.
#[derive(clap::Args)]
pub struct Args {
    /// File of the costs (JSON); - is standard output.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Kernel path: auto, scalar, avx2 or avx512.
    #[arg(long, default_value = KERNEL)]
    kernel: String,
    /// Measure nothing: exit with 0 if the file was made by this machine, kernel and build, else print the reason and exit with 1.
    #[arg(long, conflicts_with = "quick")]
    check: bool,
    /// Use smaller tables and no bandwidth probe: takes seconds instead of a minute, and gives rougher figures.
    #[arg(long)]
    quick: bool,
}

/// Unit costs of a machine on one core.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Always `pirlab/calibration/2`.
    pub schema: String,
    /// The machine, with its read bandwidth before.
    pub machine: Machine,
    /// Kernel path taken.
    pub kernel: String,
    /// Hash of the sources that the costs depend on.
    pub source_hash: String,
    /// Build profile.
    pub profile: String,
    /// RFC 3339, UTC.
    pub measured: String,
    /// The costs.
    pub unit_seconds: UnitCosts,
}

const SCHEMA: &str = "pirlab/calibration/2";
const SOURCE_HASH: &str = env!("PIRLAB_CALIBRATION");

pub fn main(args: &Args) -> Outcome<()> {
    refuse_debug_build()?;
    let kernel = find_kernel(&args.kernel)?;
    let mut machine = machine::facts();
    if args.check {
        return match difference(&args.out, kernel, &machine) {
            None => Ok(()),
            Some(difference) => Err(Failure::Result(format!("{}: {difference}.", args.out.display()))),
        };
    }
    store::check(&args.out, &[])?;
    let bars = Bars::labelled("");
    bars.begin("calibrating", 1 + MEASUREMENTS.len() as u64);
    machine.read_bandwidth.extend((!args.quick).then(bandwidth::in_child).flatten());
    bars.advance(1);
    let failed = |e| Failure::Result(format!("calibrate: {e}."));
    let mut calibrator = Calibrator::new(kernel, args.quick).map_err(failed)?;
    for (place, measure) in MEASUREMENTS.iter().enumerate() {
        if place == 1 {
            // The previous group was measured by workers, which pin themselves.
            pin::to_one_core();
        }
        measure(&mut calibrator).map_err(failed)?;
        bars.advance(1);
    }
    #[cfg(target_os = "linux")]
    if !store::is_standard(&args.out)
        && let Err(error) = disk::reads(&mut calibrator, &args.out)
    {
        note(&format!("reads from a disk are not measured: {error}."));
    }
    bars.end();
    if let Some(rate) = machine.read_bandwidth.first() {
        calibrator.set("bytes_read", 1.0 / rate);
    }
    let calibration = Calibration {
        schema: SCHEMA.into(),
        machine,
        kernel: kernel.to_string(),
        source_hash: SOURCE_HASH.into(),
        profile: crate::measure::record::PROFILE.into(),
        measured: now(),
        unit_seconds: calibrator.costs,
    };
    let text = to_json(&calibration)?;
    store::write(&args.out, &text)?;
    let mut table = Table::new(&["one of", ">takes", ">a second"]);
    let mut row = |name: String, cost: f64| {
        let rate = if cost > 0.0 { format!("{:.3e}", 1.0 / cost) } else { UNKNOWN.into() };
        table.row([name, seconds(cost), rate]);
    };
    for (name, cost) in &calibration.unit_seconds.0 {
        let name = name.replace('_', " ");
        match cost {
            UnitCost::One(cost) => row(name, *cost),
            UnitCost::BySize(sizes) => {
                sizes.iter().for_each(|at| row(format!("{name} of {}", bytes(at.bytes)), at.seconds));
            }
        }
    }
    print_beside(&table.text(), store::is_standard(&args.out))
}

/// The first difference between a calibration and this machine, kernel and build.
fn difference(path: &Path, kernel: Kernel, machine: &Machine) -> Option<String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return Some(error.to_string()),
    };
    let Ok(there) = serde_json::from_str::<Calibration>(&text) else {
        return Some(format!("it is not of the schema {SCHEMA}"));
    };
    let named = |what: &str, there: &str, here: &str| {
        (there != here).then(|| format!("it was measured with {what} {there}, and this is {here}"))
    };
    named("processor", &there.machine.cpu, &machine.cpu)
        .or_else(|| named("this number of cores:", &there.machine.cores.to_string(), &machine.cores.to_string()))
        .or_else(|| named("kernel", &there.kernel, &kernel.to_string()))
        .or_else(|| (there.source_hash != SOURCE_HASH).then(|| "what it times has changed since".into()))
}

/// Measures one group of costs.
type Measurement = fn(&mut Calibrator) -> Result<(), Failed>;

/// The groups of costs, in order: some are the rest of a call after subtracting operations whose costs are already known.
const MEASUREMENTS: [Measurement; 18] = [
    linear::phase,
    linear::packed,
    linear::matrices,
    linear::codes,
    linear::messages,
    lattice::transforms,
    lattice::products,
    lattice::keys,
    lattice::poly_matrix,
    lattice::columns,
    lattice::digits,
    lattice::conversions,
    offline::columns,
    offline::entries,
    offline::interpolation,
    offline::tables,
    lookups::reads,
    lookups::making,
];
