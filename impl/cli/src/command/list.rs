//! `pirlab list`: protocols and parameter sets.

use std::path::{Path, PathBuf};

use pir::core::set_file::With;
use pir::registry;
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::output::{Table, note, print, print_json};
use crate::protocol::find::{PARAMS_ROOT, read_parameters};

/// List the protocols and the parameter sets there are.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of the parameter sets.
    #[arg(long, value_name = "DIR", default_value = PARAMS_ROOT)]
    params_root: PathBuf,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

struct Set {
    path: PathBuf,
    name: String,
    protocol: String,
    title: String,
    kind: String,
    problem: Option<String>,
}

/// Runs the command.
pub fn main(args: &Args) -> Outcome<()> {
    let mut paths = Vec::new();
    collect(&args.params_root, &mut paths)?;
    paths.sort();
    let sets: Vec<Set> = paths.into_iter().map(inspect).collect();
    if args.json {
        let protocols: Vec<_> = registry::all()
            .iter()
            .map(|p| json!({"name": p.name, "summary": p.summary, "source_hash": p.source_hash}))
            .collect();
        let sets: Vec<_> = sets
            .iter()
            .map(|s| json!({"name": s.name, "path": s.path, "protocol": s.protocol, "title": s.title, "kind": s.kind, "problem": s.problem}))
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

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Outcome<()> {
    let unreadable = |e| Failure::io(folder, "listing the parameter sets (--params-root)", e);
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|end| end == "toml") {
            paths.push(path);
        }
    }
    Ok(())
}

fn inspect(path: PathBuf) -> Set {
    match read_parameters(&path, &With::new()) {
        Ok((file, protocol)) => Set {
            name: file.name(),
            protocol: file.protocol.clone(),
            title: file.title.clone(),
            kind: serde_json::to_value(file.source.kind)
                .ok()
                .and_then(|kind| Some(kind.as_str()?.into()))
                .unwrap_or_default(),
            problem: (protocol.check)(&file).err().map(|e| e.to_string()),
            path,
        },
        Err(failure) => Set {
            name: path.display().to_string(),
            protocol: String::new(),
            title: String::new(),
            kind: String::new(),
            problem: Some(failure.text()),
            path,
        },
    }
}
