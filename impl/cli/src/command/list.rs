//! `pirlab list`: protocols and parameter sets.

use std::path::PathBuf;

use pir::core::set_file::With;
use pir::registry;
use serde::Serialize;
use serde_json::json;

use crate::failure::Outcome;
use crate::output::{Table, note, print, print_json, word};
use crate::protocol::find::{PARAMS_ROOT, read_parameters};
use crate::store;

/// List the protocols and the parameter sets.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of the parameter sets.
    #[arg(long, value_name = "DIR", default_value = PARAMS_ROOT)]
    params_root: PathBuf,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Default, Serialize)]
struct Set {
    name: String,
    path: PathBuf,
    protocol: String,
    title: String,
    kind: String,
    problem: Option<String>,
}

pub fn main(args: &Args) -> Outcome<()> {
    let paths = store::files_below(&args.params_root, "toml", "listing the parameter sets (--params-root)")?;
    let sets: Vec<Set> = paths.into_iter().map(inspect).collect();
    if args.json {
        let protocols: Vec<_> = registry::all()
            .iter()
            .map(|p| json!({"name": p.name, "summary": p.summary, "source_hash": p.source_hash}))
            .collect();
        return print_json(&json!({"schema": "pirlab/list/1", "protocols": protocols, "parameters": sets}));
    }
    let mut table = Table::pairs();
    for protocol in registry::all() {
        table.row([protocol.name, protocol.summary]);
    }
    let mut text = format!("Protocols\n{}\nParameter sets in {}\n", table.text(), args.params_root.display());
    let mut table = Table::pairs();
    for set in &sets {
        let mark = if set.problem.is_some() { "  (cannot be used)" } else { "" };
        let kind = if set.kind.is_empty() { String::new() } else { format!("  [{}]", set.kind) };
        table.row([set.path.display().to_string(), format!("{}{kind}{mark}", set.title)]);
    }
    text.push_str(&table.text());
    print(&text)?;
    sets.iter().filter_map(|set| set.problem.as_deref()).for_each(note);
    Ok(())
}

fn inspect(path: PathBuf) -> Set {
    match read_parameters(&path, &With::new()) {
        Ok((file, protocol)) => Set {
            name: file.name(),
            protocol: file.protocol.clone(),
            title: file.title.clone(),
            kind: word(file.source.kind),
            problem: (protocol.check)(&file).err().map(|e| e.to_string()),
            path,
        },
        Err(failure) => Set { name: path.display().to_string(), problem: Some(failure.text()), path, ..Set::default() },
    }
}
