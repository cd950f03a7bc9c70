//! `pirlab schema`: JSON Schemas, generated from the types that read and write the files.

use std::path::{Path, PathBuf};

use pir::core::description::Description;
use pir::core::record::RunRecord;
use pir::registry;
use schemars::schema_for;
use serde_json::Value;

use super::calibrate::Calibration;
use super::primitive::PrimitiveDescription;
use crate::failure::{Failure, Outcome};
use crate::measure::row::GroupFile;
use crate::output::{print, to_json};
use crate::primitive::record::PrimitiveRecord;
use crate::primitive::row::PrimitiveRow;
use crate::protocol::row::Row;
use crate::store;

/// Print a JSON Schema, or write all of them to a folder.
///
/// NAME is description, run, group, primitive-description, primitive, primitive-group, calibration, or a protocol (the schema of its parameter files).
#[derive(clap::Args)]
pub struct Args {
    /// Name of the schema.
    #[arg(value_name = "NAME", required_unless_present_any = ["all", "parameters"])]
    name: Option<String>,
    /// Write all schemas as <name>.schema.json to the folder --out.
    #[arg(long, requires = "out", conflicts_with = "name")]
    all: bool,
    /// Write the schemas of the protocols' parameter files to the folder --out.
    #[arg(long, requires = "out", conflicts_with_all = ["name", "all"])]
    parameters: bool,
    /// Folder, or with NAME a file (- is standard output, as without --out).
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

pub fn main(args: &Args) -> Outcome<()> {
    let schemas = if args.parameters { of_parameters() } else { all() };
    let Some(name) = &args.name else {
        // Clap requires it.
        let folder = args.out.as_deref().unwrap_or(Path::new("."));
        let outputs: Vec<PathBuf> =
            schemas.iter().map(|(name, _)| folder.join(format!("{name}.schema.json"))).collect();
        let places: Vec<&Path> = outputs.iter().map(PathBuf::as_path).collect();
        store::check_all(&places, &[]).map_err(|(_, failure)| failure)?;
        return outputs.iter().zip(&schemas).try_for_each(|(out, (_, schema))| store::write(out, &to_json(schema)?));
    };
    let Some((_, schema)) = schemas.iter().find(|(known, _)| known == name) else {
        let known: Vec<&str> = schemas.iter().map(|(known, _)| known.as_str()).collect();
        return Err(Failure::Input(format!("schema `{name}` is unknown; give {}.", known.join(", "))));
    };
    match &args.out {
        Some(out) => store::write(out, &to_json(schema)?),
        None => print(&to_json(schema)?),
    }
}

/// The parameter files of each protocol.
fn of_parameters() -> Vec<(String, Value)> {
    registry::all().iter().map(|protocol| (protocol.name.to_string(), (protocol.schema)())).collect()
}

/// Everything this program reads or writes.
fn all() -> Vec<(String, Value)> {
    let mut schemas = vec![
        ("description".to_string(), schema_for!(Description).to_value()),
        ("run".to_string(), schema_for!(RunRecord).to_value()),
        ("group".to_string(), schema_for!(GroupFile<Row>).to_value()),
        ("primitive-description".to_string(), schema_for!(PrimitiveDescription).to_value()),
        ("primitive".to_string(), schema_for!(PrimitiveRecord).to_value()),
        ("primitive-group".to_string(), schema_for!(GroupFile<PrimitiveRow>).to_value()),
        ("calibration".to_string(), schema_for!(Calibration).to_value()),
    ];
    schemas.extend(of_parameters());
    schemas
}
