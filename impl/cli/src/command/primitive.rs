//! `pirlab primitive`: lists, describes and measures single operations.

use std::path::PathBuf;

use bench::primitive::{DESCRIPTION_SCHEMA, Described};
use bench::registry;
use bench::settings::Settings;
use clap::Subcommand;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::failure::Outcome;
use crate::lines::answer_each;
use crate::measure::group;
use crate::output::{Table, print, print_json};
use crate::primitive::plan::{PrimitivePlan, describe, find};

/// Measure single operations (a decomposition, a product), beside whole protocols.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the primitives.
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
        /// File to which all answers are written after the last request; - is standard output.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Measure the rows of a group file interleaved, a worker process each; each row writes its own record.
    Run {
        /// The group file.
        #[arg(long, value_name = "GROUP.json")]
        group: PathBuf,
    },
    /// Print, as JSON, the staleness key that a record of each row would carry.
    Key {
        /// The group file.
        #[arg(long, value_name = "GROUP.json")]
        group: PathBuf,
    },
}

pub fn main(args: &Args) -> Outcome<()> {
    match &args.command {
        Command::List { json } => list(*json),
        Command::Describe { batch: _, out } => answer_each(out.as_deref(), description),
        Command::Run { group } => group::measure::<PrimitivePlan>(group),
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

/// The answer of `pirlab primitive describe` to a request.
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

fn description(request: Request) -> Result<PrimitiveDescription, String> {
    let Request { id, primitive, settings } = request;
    let described = find(&primitive).and_then(|entry| describe(&entry, &settings)).map_err(|e| e.text())?;
    Ok(PrimitiveDescription { schema: DESCRIPTION_SCHEMA.into(), id, primitive, described })
}
