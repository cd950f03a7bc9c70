//! `pirlab describe`: the layout and sizes of a parameter set for a database, without touching a database.

use std::path::{Path, PathBuf};

use pir::core::description::{Description, Direction, LweInstance};
use pir::core::params::SecretKind;
use pir::core::workload::{Shape, Workload};
use serde_json::{Map, Value};

use super::batch;
use crate::failure::{Failure, Outcome};
use crate::output::{Table, print, print_json};
use crate::protocol::best::find_set_for;
use crate::protocol::find::{PARAMS_ROOT, parse_with, read_parameters};
use crate::units::{bytes, grouped, parse_count, power};

/// Describe a parameter set at a database size: layout, exact message lengths, memory, operations, LWE instances.
///
/// No database is touched. Sizes may be written 1048576, 1_000_000 or 2^20.
#[derive(clap::Args)]
pub struct Args {
    /// A parameter file, the name of a set below --params-root, or the name of a protocol. A protocol takes its best set for the database.
    #[arg(value_name = "PARAMS", required_unless_present = "batch")]
    parameters: Option<PathBuf>,
    /// Replaces or adds a value of the set, by dotted key: folding.rows=8192. May be given for several keys.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_with)]
    with: Vec<(String, Value)>,
    /// Number of records.
    #[arg(long, value_name = "N", value_parser = parse_count, required_unless_present = "batch")]
    records: Option<u64>,
    /// Bits of one record.
    #[arg(long, value_name = "W", value_parser = parse_count, required_unless_present = "batch")]
    record_bits: Option<u64>,
    /// Queries answered together.
    #[arg(long, value_name = "K", value_parser = parse_count, default_value_t = 1)]
    queries: u64,
    /// Records changed by one update.
    #[arg(long, value_name = "U", value_parser = parse_count, default_value_t = 0)]
    updates: u64,
    /// Describe a server that streams the preprocessed database instead of keeping it.
    #[arg(long)]
    streamed: bool,
    /// As JSON.
    #[arg(long)]
    json: bool,
    /// Answer JSON lines {"id", "parameters", "with", "records", "record_bits", "queries", "updates", "streamed"} on standard input, a line
    /// each: a description with that id, or {"id", "error"}. With "toml", that text replaces the parameter file.
    #[arg(long, conflicts_with_all = [
        "parameters", "with", "records", "record_bits", "queries", "updates", "streamed", "json",
    ])]
    batch: bool,
    /// With --batch, file to which all answers are written after the last request; - is standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Folder of the parameter sets (params).
    #[arg(long, value_name = "DIR")]
    params_root: Option<PathBuf>,
}

pub fn main(args: &Args) -> Outcome<()> {
    // Clap would not require --batch beside the arguments that it conflicts with.
    if args.out.is_some() && !args.batch {
        let problem = "--out: only --batch writes a file. Leave --out out, and redirect standard output.";
        return Err(Failure::Input(problem.into()));
    }
    let (Some(parameters), Some(records), Some(bits)) = (&args.parameters, args.records, args.record_bits) else {
        return batch::main(args.params_root.as_deref().unwrap_or(Path::new(PARAMS_ROOT)), args.out.as_deref());
    };
    let with = args.with.iter().cloned().collect();
    let workload = Workload::new(Shape::new(records, bits)?, args.queries, args.updates)?.streamed(args.streamed)?;
    let path = find_set_for(parameters, args.params_root.as_deref(), &workload, &with)?;
    let (file, protocol) = read_parameters(&path, &with)?;
    let description = (protocol.describe)(&file, &workload)?;
    if args.json { print_json(&description) } else { print(&page(&description)) }
}

/// A description as text for a person.
fn page(d: &Description) -> String {
    let shape = &d.shape;
    let database = u64::try_from(shape.database_bits.div_ceil(8)).unwrap_or(u64::MAX);
    let mut text = format!(
        "{} of {}: {} records of {} bits ({}), {} a request\n",
        d.parameters.label(),
        d.protocol,
        power(shape.records),
        grouped(shape.record_bits),
        bytes(database),
        if d.queries == 1 { "1 query".into() } else { format!("{} queries", d.queries) },
    );
    let mut section = |title: &str, body: String| text.push_str(&format!("\n{title}\n{body}"));
    section("Layout", pairs(&d.layout));
    section("Messages", messages(d) + &beside_download(d, database));
    section("Memory", memory(d));
    section("Operations", operations(&d.operations));
    section("LWE instances an observer holds", instances(&d.instances));
    text
}

fn value(key: &str, value: &Value) -> String {
    match value {
        Value::Number(number) => match (key, number.as_u64(), number.as_f64()) {
            ("waste", _, Some(share)) => format!("{:.2} %", 100.0 * share),
            (_, Some(count), _) if key.ends_with("_bytes") => format!("{}  ({})", grouped(count), bytes(count)),
            (_, Some(count), _) => grouped(count),
            _ => number.to_string(),
        },
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn words(key: &str) -> String {
    key.replace('_', " ")
}

fn pairs(map: &Map<String, Value>) -> String {
    let mut table = Table::pairs();
    for (key, entry) in map {
        table.row([words(key), value(key, entry)]);
    }
    table.text()
}

fn messages(d: &Description) -> String {
    let mut table =
        Table::new(&["message", "way", "phase", ">payload bytes", ">", ">frame bytes", ">serves", "payload formula"]);
    for m in &d.messages {
        let way = match m.direction {
            Direction::Upload => "up",
            Direction::Download => "down",
        };
        table.row([
            m.name.clone(),
            way.into(),
            m.phase.clone(),
            grouped(m.payload_bytes),
            bytes(m.payload_bytes),
            grouped(m.frame_bytes),
            m.queries_served.map_or("any".into(), |count| count.to_string()),
            m.formula.clone(),
        ]);
    }
    table.text()
}

/// A remark where the traffic of a request, with what a client fetches before its first, exceeds the database.
fn beside_download(d: &Description, database: u64) -> String {
    let sent = d.messages.iter().filter(|message| !message.phase.starts_with("update"));
    let traffic: u64 = sent.map(|message| message.payload_bytes).sum();
    if traffic <= database {
        return String::new();
    }
    format!(
        "  These are {}, more than the database ({}): downloading it takes less.\n",
        bytes(traffic),
        bytes(database)
    )
}

fn memory(d: &Description) -> String {
    let mut table = Table::new(&["side", "table", ">bytes", ">"]);
    let sides = [("server", &d.memory.server), ("client", &d.memory.client)];
    for (side, entry) in sides.into_iter().flat_map(|(side, tables)| tables.iter().map(move |entry| (side, entry))) {
        table.row([side.to_string(), words(&entry.name), grouped(entry.bytes), bytes(entry.bytes)]);
    }
    let peak = d.memory.peak_bytes;
    table.row(["peak of a run".to_string(), String::new(), grouped(peak), bytes(peak)]);
    table.text()
}

fn operations(phases: &Map<String, Value>) -> String {
    let mut table = Table::new(&["phase", "step", "operation", ">count"]);
    for (phase, counts) in phases {
        for (name, count) in counts.as_object().into_iter().flatten() {
            let alone = [(name, count)];
            let (step, counts) = match count.as_object() {
                Some(step) => (words(name), step.iter().collect()),
                None => (String::new(), alone.to_vec()),
            };
            for (kind, count) in counts.into_iter().filter(|(_, count): &(_, &Value)| count.as_u64() != Some(0)) {
                table.row([words(phase), step.clone(), words(kind), value("", count)]);
            }
        }
    }
    table.text()
}

fn instances(all: &[LweInstance]) -> String {
    let mut text = String::new();
    for instance in all {
        let samples = instance.samples.map_or_else(|| "any number of".into(), grouped);
        text.push_str(&format!(
            "  {} ({}): protects {}; {samples} samples\n    {}\n",
            words(&instance.name),
            instance.kind,
            instance.protects,
            estimator_call(instance)
        ));
    }
    text
}

/// The input for Sage with the lattice estimator loaded.
fn estimator_call(instance: &LweInstance) -> String {
    let modulus = instance.modulus.replace('^', "**");
    let secret = match instance.secret {
        SecretKind::Uniform {} => format!("ND.UniformMod({modulus})"),
        SecretKind::Gaussian { stddev } => format!("ND.DiscreteGaussian({stddev})"),
        SecretKind::Ternary {} => "ND.Uniform(-1, 1)".into(),
        SecretKind::Binary {} => "ND.Uniform(0, 1)".into(),
        SecretKind::UniformRange { low, high } => format!("ND.Uniform({low}, {high})"),
        SecretKind::FixedWeight { plus, minus } => format!("ND.SparseTernary({plus}, {minus})"),
    };
    format!(
        "LWE.estimate(LWE.Parameters(n={}, q={modulus}, Xs={secret}, Xe=ND.DiscreteGaussian({})))",
        instance.dimension, instance.error_stddev
    )
}

#[cfg(test)]
mod tests;
