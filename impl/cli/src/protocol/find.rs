//! Finds parameter sets and the protocols that read them.

use std::path::{Path, PathBuf};

use pir::core::set_file::{ParameterFile, With};
use pir::registry::{self, Protocol};
use serde_json::Value;

use crate::failure::{Failure, Outcome};

/// The default folder of the parameter sets.
pub const PARAMS_ROOT: &str = "params";

/// Finds the parameter file of a command line, on which a folder of sets may be given.
pub fn find_set(parameters: &Path, root: Option<&Path>) -> Outcome<PathBuf> {
    let found = find_parameters(parameters, root.unwrap_or(Path::new(PARAMS_ROOT)))?;
    match root {
        Some(root) if found == parameters => Err(Failure::Input(format!(
            "--params-root {}: parameter file {} is a file by itself, so the folder would not be looked at. Leave --params-root out, or name a \
             set below it.",
            root.display(),
            parameters.display()
        ))),
        _ => Ok(found),
    }
}

/// Finds a parameter file: the path as given, or the name of a set below `root`.
pub fn find_parameters(parameters: &Path, root: &Path) -> Outcome<PathBuf> {
    let mut below = root.join(parameters);
    if parameters.is_file() {
        return Ok(parameters.to_path_buf());
    }
    if below.extension().is_none_or(|end| end != "toml") {
        below.as_mut_os_string().push(".toml");
    }
    if below.is_file() {
        return Ok(below);
    }
    Err(Failure::Input(format!(
        "parameter file {}: there is no such file, nor {}. `pirlab list` names the existing sets; --params-root is their folder.",
        parameters.display(),
        below.display()
    )))
}

/// A value of `--with KEY=VALUE`: JSON, or a text that needs no quotes.
pub fn parse_with(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("give KEY=VALUE, such as folding.rows=8192")?;
    Ok((key.into(), serde_json::from_str(value).unwrap_or_else(|_| value.into())))
}

/// Reads a parameter set, replaces values of it, and finds its protocol.
pub fn read_parameters(path: &Path, with: &With) -> Outcome<(ParameterFile, &'static Protocol)> {
    find_protocol(ParameterFile::read(path)?.with(with)?)
}

/// Finds the protocol of a parameter file.
pub fn find_protocol(file: ParameterFile) -> Outcome<(ParameterFile, &'static Protocol)> {
    let protocol = registry::find(&file.protocol)
        .map_err(|e| Failure::Input(format!("parameter file {}: key `protocol`: {e}", file.path.display())))?;
    Ok((file, protocol))
}
