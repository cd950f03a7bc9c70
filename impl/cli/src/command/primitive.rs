//! `pirlab primitive`: lists, describes and measures operations on their own.

use std::io::{BufRead, BufWriter, Write};
use std::path::PathBuf;

use bench::primitive::{DESCRIPTION_SCHEMA, Described};
use bench::registry;
use bench::settings::Settings;
use clap::Subcommand;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome};
use crate::measure::group;
use crate::output::{Table, checked, print, print_json};
use crate::primitive::plan::{PrimitivePlan, describe as describe_settings, find};

/// Measure operations on their own (a decomposition, a product), beside whole protocols.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the primitives there are.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Describe settings without measuring: completed settings, counts, predicted seconds and memory.
    Describe {
        /// Answer JSON lines {"id", "primitive", "settings"} on standard input, a line each: a description with that id, or
        /// {"id", "error"}.
        #[arg(long, required = true)]
        batch: bool,
    },
    /// Measure the rows of a group file interleaved, a worker process each; each row writes its own record.
    Run {
        /// The group file.
        #[arg(long, value_name = "GROUP.json")]
        group: PathBuf,
        /// Do not probe the read bandwidth before and after; the record then has none.
        #[arg(long)]
        no_probe: bool,
    },
    /// Print, as JSON, the staleness key that a record of each row would carry.
    Key {
        /// The group file.
        #[arg(long, value_name = "GROUP.json")]
        group: PathBuf,
    },
}

/// Runs the command.
pub fn main(args: &Args) -> Outcome<()> {
    match &args.command {
        Command::List { json } => list(*json),
        Command::Describe { batch: _ } => describe(),
        Command::Run { group, no_probe } => group::measure::<PrimitivePlan>(group, !no_probe),
        Command::Key { group } => group::keys::<PrimitivePlan>(group),
    }
}

fn list(json: bool) -> Outcome<()> {
    if json {
        let all: Vec<_> = registry::all()
            .iter()
            .map(|entry| json!({"name": entry.name, "summary": entry.summary, "source_hash": entry.source_hash}))
            .collect();
        return print_json(&json!({"schema": "pirlab/primitives/1", "primitives": all}));
    }
    let mut table = Table::pairs();
    for entry in registry::all() {
        table.row([entry.name, entry.summary]);
    }
    print(&table.text())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    id: String,
    primitive: String,
    settings: Settings,
}

/// What a request means, as `pirlab primitive describe` answers it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct PrimitiveDescription {
    /// Always [`DESCRIPTION_SCHEMA`].
    schema: String,
    /// The request's identifier.
    id: String,
    /// The primitive.
    primitive: String,
    #[serde(flatten)]
    described: Described,
}

/// Answers every line of standard input with a line of standard output, in order.
fn describe() -> Outcome<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| Failure::Input(format!("standard input: {e}. Give JSON lines.")))?;
        if !line.trim().is_empty() {
            checked(writeln!(out, "{}", answer(&line)))?;
        }
    }
    checked(out.flush())
}

fn answer(line: &str) -> String {
    description(line)
        .and_then(|description| serde_json::to_string(&description).map_err(|e| e.to_string()))
        .unwrap_or_else(|problem| {
            let id = serde_json::from_str::<Value>(line).ok().and_then(|value| value.get("id").cloned());
            json!({"id": id, "error": problem}).to_string()
        })
}

fn description(line: &str) -> Result<PrimitiveDescription, String> {
    let Request { id, primitive, settings } = serde_json::from_str(line).map_err(|e| format!("not a request: {e}"))?;
    let described = find(&primitive).and_then(|entry| describe_settings(&entry, &settings)).map_err(|e| e.text())?;
    Ok(PrimitiveDescription { schema: DESCRIPTION_SCHEMA.into(), id, primitive, described })
}
