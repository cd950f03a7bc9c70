//! `pirlab run`: one row in this process, or a group of rows in a worker process each.

use std::path::PathBuf;

use pir::core::database::database_file;
use pir::core::progress::Progress;
use pir::core::record::Status;
use pir::core::set_file::With;
use pir::core::workload::{Shape, Workload};
use serde_json::Value;

use crate::bars::Bars;
use crate::failure::{Failure, Outcome};
use crate::machine::{self, bandwidth};
use crate::measure::group;
use crate::measure::job::{Ending, Job, Setting, Step};
use crate::measure::record::refuse_debug_build;
use crate::measure::run::{KERNEL, REPETITIONS};
use crate::output::{print_beside, to_json};
use crate::protocol::best::find_set_for;
use crate::protocol::find::parse_with;
use crate::protocol::plan::{Plan, Report};
use crate::protocol::row::{DATABASE, KEYS, Row};
use crate::protocol::summary;
use crate::store;
use crate::units::{self, parse_count};

/// Run a protocol for real, and write a record of every byte and second to --out.
///
/// Every retrieved record is compared with the database; a wrong one fails the run (exit code 1; the record is still
/// written). Sizes may be written 1048576, 1_000_000 or 2^20.
#[derive(clap::Args)]
pub struct Args {
    /// A parameter file, the name of a set below --params-root, or the name of a protocol. A protocol takes its best set for the database.
    #[arg(value_name = "PARAMS", required_unless_present = "group")]
    parameters: Option<PathBuf>,
    /// Replaces or adds a value of the set, by dotted key: folding.rows=8192. May be given for several keys.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_with)]
    with: Vec<(String, Value)>,
    /// Number of records; by default all of the database's file, which must then hold whole records.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    records: Option<u64>,
    /// Bits of one record.
    #[arg(long, value_name = "W", value_parser = parse_count, required_unless_present = "group")]
    record_bits: Option<u64>,
    /// File to which the record is written (JSON); - is standard output. Without it no record is written. A link is followed; a device or a
    /// pipe is written into.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The database: seeded:HEX (record i is the output of a generator), constant:HEX (every byte is that one), file:PATH (records of W bits
    /// back to back), or mmap:PATH (the same, mapped; do not shorten the file meanwhile).
    #[arg(long, value_name = "SOURCE", default_value = DATABASE)]
    database: String,
    /// A key of 64 bits for each record, a line each, decimal or hexadecimal after 0x: records are asked for by key, and every other key that is
    /// asked for is one that no record has. Sets of CwPIR with keyword_bits take keys.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Queries answered together.
    #[arg(long, value_name = "K", value_parser = parse_count, default_value_t = 1)]
    queries: u64,
    /// Repetitions of the online phases, up to 65536; all samples are kept. One alone has no warm-up.
    #[arg(long, value_name = "R", value_parser = parse_count, default_value_t = REPETITIONS)]
    repetitions: u64,
    /// Threads of the server; with one, the process is pinned to a core.
    #[arg(long, value_name = "T", value_parser = parse_count, default_value_t = 1)]
    threads: u64,
    /// Do not keep the preprocessed database (InsPIRe: the packing tables): build it block by block while answering, outside the
    /// clock, as is necessary if it exceeds memory. The record states it. Not every protocol can stream.
    #[arg(long)]
    streamed: bool,
    /// Kernel path: auto, scalar, avx2 or avx512.
    #[arg(long, default_value = KERNEL)]
    kernel: String,
    /// Records changed by one update; 0 measures no update.
    #[arg(long, value_name = "U", value_parser = parse_count, default_value_t = 0)]
    updates: u64,
    /// Seed of all randomness (up to 64 hexadecimal digits): reproducible, and marked in the record. Without it, keys come
    /// from the operating system.
    #[arg(long, value_name = "HEX")]
    seed: Option<String>,
    /// Seconds for which stages with few values are diagnosed after the repetitions; by default 20, or the time of the repetitions if that is longer.
    #[arg(long, value_name = "S")]
    noise_seconds: Option<f64>,
    /// Folder of the parameter sets (params).
    #[arg(long, value_name = "DIR")]
    params_root: Option<PathBuf>,
    /// Run the rows of a group file interleaved, a worker process each; each row writes its own record.
    #[arg(long, value_name = "GROUP.json", conflicts_with_all = [
        "parameters", "with", "records", "record_bits", "out", "database", "keys", "queries", "repetitions", "threads", "streamed", "kernel", "updates",
        "seed", "noise_seconds", "params_root", "no_probe",
    ])]
    group: Option<PathBuf>,
    /// Do not probe the read bandwidth before and after; the record then has none.
    #[arg(long)]
    no_probe: bool,
}

pub fn main(args: Args) -> Outcome<()> {
    refuse_debug_build()?;
    if let Some(group) = &args.group {
        return group::measure::<Plan>(group);
    }
    let (probe, out) = (!args.no_probe, args.out.clone());
    let plan = plan(args)?;
    if let Some(out) = &out {
        store::check(out, &plan.inputs())?;
    }
    plan.check_memory()?;
    plan.open_database()?;

    let started = units::now();
    let mut machine = machine::facts();
    machine.read_bandwidth.extend(probe.then(bandwidth::in_child).flatten());
    let bars = Bars::labelled("");
    let report = measure(&plan, &bars)?;
    machine.read_bandwidth.extend(probe.then(bandwidth::in_child).flatten());

    let setting = Setting { experiment: None, group: None, machine };
    let record = plan.record(&setting, &started, Ending::Measured(Box::new(report)))?;
    let place = match &out {
        Some(out) => {
            store::write(out, &to_json(&record)?)?;
            format!("The record is in {}.", out.display())
        }
        None => "No record was written: --out FILE writes one.".into(),
    };
    print_beside(&summary::page(&record, &place), out.as_deref().is_some_and(store::is_standard))?;
    match record.status {
        Status::Ok => Ok(()),
        _ => Err(Failure::Result(format!(
            "{}: {}. {place}",
            plan.row.parameters.display(),
            record.reason.unwrap_or_default()
        ))),
    }
}

/// The number of records in a database's file.
fn records_in_file(database: &str, record_bits: u64) -> Outcome<u64> {
    let path = database_file(database).ok_or_else(|| {
        Failure::Input(format!("--records is missing: database `{database}` is not a file. Give --records N."))
    })?;
    Ok(pir::core::database::records_in_file(path, record_bits)?)
}

/// The prepared row of the command line.
fn plan(args: Args) -> Outcome<Plan> {
    let (Some(parameters), Some(record_bits)) = (&args.parameters, args.record_bits) else {
        // Clap requires them.
        return Err(Failure::Input("run: give PARAMS and --record-bits, or --group.".into()));
    };
    let records = args.records.map_or_else(|| records_in_file(&args.database, record_bits), Ok)?;
    let with: With = args.with.into_iter().collect();
    let shape = Shape::new(records, record_bits)?;
    let workload = Workload::new(shape, args.queries, args.updates)?.streamed(args.streamed)?;
    Plan::new(Row {
        id: String::new(),
        parameters: find_set_for(parameters, args.params_root.as_deref(), &workload, &with)?,
        with,
        records,
        record_bits,
        queries: args.queries,
        updates: args.updates,
        repetitions: args.repetitions,
        threads: args.threads,
        streamed: args.streamed,
        database: match args.keys {
            Some(path) => format!("{}{KEYS}{}", args.database, path.display()),
            None => args.database,
        },
        kernel: args.kernel,
        seed: args.seed,
        noise_seconds: args.noise_seconds,
        time_limit_seconds: None,
        predicted_seconds: None,
        columns: Vec::new(),
        out: args.out.unwrap_or_default(),
    })
}

fn measure(plan: &Plan, bars: &Bars) -> Outcome<Report> {
    let mut steps = plan.start(bars)?;
    steps.take(Step::Prepare)?;
    steps.take(Step::WarmUp)?;
    let last = plan.last_steps();
    bars.begin("online", plan.row.repetitions + last.len() as u64);
    for step in (0..plan.row.repetitions).map(|_| Step::Repetition).chain(last) {
        steps.take(step)?;
        bars.advance(1);
    }
    bars.end();
    steps.finish()
}
