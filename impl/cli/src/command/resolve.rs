//! `pirlab resolve`: parameter sets with everything that they inherit.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::failure::Outcome;
use crate::output::print;
use crate::protocol::find::{find_set, parse_with, read_parameters};

/// Print resolved parameter sets as JSON, a line each: their own tables, those of the sets they extend, and --with. Values are not checked.
#[derive(clap::Args)]
pub struct Args {
    /// Parameter files, or names of sets below --params-root.
    #[arg(value_name = "PARAMS", required = true)]
    parameters: Vec<PathBuf>,
    /// Replaces or adds a value of each set, by dotted key: folding.rows=8192. May be given for several keys.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_with)]
    with: Vec<(String, Value)>,
    /// Folder of the parameter sets (params).
    #[arg(long, value_name = "DIR")]
    params_root: Option<PathBuf>,
}

/// Runs the command.
pub fn main(args: &Args) -> Outcome<()> {
    let with = args.with.iter().cloned().collect();
    for parameters in &args.parameters {
        let (file, _) = read_parameters(&find_set(parameters, args.params_root.as_deref())?, &with)?;
        let mut set = json!({"protocol": file.protocol, "title": file.title, "source": file.source});
        set.as_object_mut().into_iter().for_each(|set| set.extend(file.body().clone()));
        print(&format!("{set}\n"))?;
    }
    Ok(())
}
