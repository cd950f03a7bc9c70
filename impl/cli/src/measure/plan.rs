//! A row made ready: parameter file read, workload checked, described. Touches no database and allocates nothing.

use std::path::{Path, PathBuf};

use pir::core::database::{Database, database_file};
use pir::core::description::Description;
use pir::core::params::ParameterFile;
use pir::core::record::Status;
use pir::core::runner::Options;
use pir::core::workload::{Shape, Workload};
use pir::registry::{self, Protocol};
use ring::Kernel;

use super::row::Row;
use crate::failure::{Failure, Outcome};
use crate::machine::memory;
use crate::store::Input;
use crate::units;

/// Most seconds that noise is asked to be measured for.
const MOST_NOISE_SECONDS: f64 = 86400.0;
/// Most repetitions: the samples of all phases then take a few MiB, which no description counts.
pub const MOST_REPETITIONS: u64 = 1 << 16;

/// A row that can be measured.
pub struct Plan {
    /// The row as asked for.
    pub row: Row,
    /// Its parameter file.
    pub file: ParameterFile,
    /// The protocol that reads it.
    pub protocol: &'static Protocol,
    /// What is asked of the protocol.
    pub workload: Workload,
    /// What the protocol says of it.
    pub description: Description,
    /// Kernel path, threads, repetitions, seed, seconds of noise.
    pub options: Options,
}

/// The folder of the parameter sets where none is given.
pub const PARAMS_ROOT: &str = "params";

/// Finds the parameter file of a command line, on which a folder of sets may be given.
///
/// # Errors
/// There is none, or a folder was given although it does not matter.
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
///
/// # Errors
/// There is neither.
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
        "parameter file {}: there is no such file, nor {}. `pirlab list` names the sets there are; --params-root says where.",
        parameters.display(),
        below.display()
    )))
}

/// Reads a parameter file and finds the protocol it is for.
///
/// # Errors
/// The file cannot be read, or names a protocol that is unknown.
pub fn read_parameters(path: &Path) -> Outcome<(ParameterFile, &'static Protocol)> {
    find_protocol(ParameterFile::read(path)?)
}

/// Finds the protocol that a parameter file is for.
///
/// # Errors
/// It names a protocol that is unknown.
pub fn find_protocol(file: ParameterFile) -> Outcome<(ParameterFile, &'static Protocol)> {
    let protocol = registry::find(&file.protocol)
        .map_err(|e| Failure::Input(format!("parameter file {}: key `protocol`: {e}", file.path.display())))?;
    Ok((file, protocol))
}

/// The kernel path of that name; `auto` is the fastest one.
///
/// # Errors
/// The name is unknown, or this processor lacks the path.
pub fn find_kernel(name: &str) -> Outcome<Kernel> {
    if name == "auto" {
        return Ok(Kernel::best());
    }
    let kernel = name.parse::<Kernel>().and_then(Kernel::check);
    kernel.map_err(|e| {
        Failure::Input(format!("kernel `{name}`: {e}. Give --kernel auto for the fastest path of this machine."))
    })
}

/// A seed of up to 64 hexadecimal digits, padded with zeros in front.
///
/// # Errors
/// Something else.
pub fn parse_seed(text: &str) -> Outcome<[u8; 32]> {
    let refuse = || Failure::Input(format!("seed `{text}`: give 1 to 64 hexadecimal digits (--seed, key `seed`)."));
    if text.is_empty() || text.len() > 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(refuse());
    }
    let padded = format!("{text:0>64}");
    let mut seed = [0; 32];
    for (byte, at) in seed.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&padded[at..at + 2], 16).map_err(|_| refuse())?;
    }
    Ok(seed)
}

/// Checks how often a row is measured, and how long it may and will take.
///
/// # Errors
/// One of them is zero, below, or more than a run keeps.
pub fn check_limits(repetitions: u64, time_limit: Option<f64>, predicted: Option<f64>) -> Outcome<()> {
    let refuse = |text: &str| Err(Failure::Input(text.into()));
    if repetitions == 0 {
        return refuse("repetitions = 0: at least one is measured. Give --repetitions 5 or more for a median.");
    }
    if repetitions > MOST_REPETITIONS {
        return refuse(&format!(
            "repetitions = {repetitions}: at most {MOST_REPETITIONS}. Give --repetitions in that range, or run several times."
        ));
    }
    if time_limit.is_some_and(|limit| limit.is_nan() || limit <= 0.0) {
        return refuse("time_limit_seconds: it must be above zero. Leave it out for no limit.");
    }
    if predicted.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
        return refuse("predicted_seconds: it must be above zero. Leave it out where nothing is predicted.");
    }
    Ok(())
}

/// Why a row is not run, and with which status; `None` where it fits in memory and in its time.
pub fn too_much(
    needed: u64,
    free: Option<u64>,
    predicted: Option<f64>,
    limit: Option<f64>,
) -> Option<(Status, String)> {
    let memory = too_large(needed, free).map(|reason| (Status::SkippedMemory, reason));
    memory.or_else(|| too_slow(predicted, limit).map(|reason| (Status::SkippedTime, reason)))
}

/// Why `needed` bytes do not fit in `free` bytes of memory; `None` where they fit.
fn too_large(needed: u64, free: Option<u64>) -> Option<String> {
    let free = free.filter(|&free| needed > free)?;
    Some(format!("needs {}; {} free", units::bytes(needed), units::bytes(free)))
}

/// Why a row is not worth starting: it would take longer than it may.
fn too_slow(predicted: Option<f64>, limit: Option<f64>) -> Option<String> {
    let (seconds, limit) = (predicted?, limit?);
    // Whole seconds, but where they would hide that the limit is exceeded.
    let about = if seconds.round() > limit { seconds.round() } else { seconds };
    (seconds > limit).then(|| format!("would take about {about} s; the limit is {limit} s"))
}

impl Plan {
    /// Checks a row.
    ///
    /// # Errors
    /// Anything of it that cannot be used.
    pub fn new(row: Row) -> Outcome<Self> {
        let refuse = |text: String| Err(Failure::Input(text));
        check_limits(row.repetitions, row.time_limit_seconds, row.predicted_seconds)?;
        let cores = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
        if !(1..=cores).contains(&row.threads) {
            return refuse(format!(
                "threads = {}: this process may use 1 to {cores}. Give --threads in that range.",
                row.threads
            ));
        }
        let options = Options {
            kernel: find_kernel(&row.kernel)?,
            threads: row.threads as usize,
            repetitions: row.repetitions,
            seed: row.seed.as_deref().map(parse_seed).transpose()?,
            noise_seconds: row.noise_seconds,
        };
        if let Some(seconds) = row.noise_seconds.filter(|seconds| !(0.0..=MOST_NOISE_SECONDS).contains(seconds)) {
            return refuse(format!(
                "noise seconds = {seconds}: from 0 to {MOST_NOISE_SECONDS}. Give --noise-seconds in that range."
            ));
        }
        let (file, protocol) = read_parameters(&row.parameters)?;
        let shape = Shape::new(row.records, row.record_bits)?;
        let workload = Workload::new(shape, row.queries, row.updates)?.streamed(row.streamed)?;
        let description = (protocol.describe)(&file, &workload)?;
        Ok(Self { row, file, protocol, workload, description, options })
    }

    /// The same key as in the record.
    pub fn staleness_key(&self) -> String {
        self.row.staleness_key(self.file.sha256(), self.protocol.source_hash)
    }

    /// Refuses what does not fit in memory.
    ///
    /// # Errors
    /// It does not.
    pub fn check_memory(&self) -> Outcome<()> {
        match too_large(self.description.memory.peak_bytes, memory::free()) {
            None => Ok(()),
            Some(sizes) => Err(Failure::Input(format!(
                "database too large for memory: {} with --records {} --record-bits {} {sizes}. Give fewer records or bits, \
                 free memory, or take a machine with more.",
                self.row.parameters.display(),
                self.row.records,
                self.row.record_bits
            ))),
        }
    }

    /// The files that the row reads.
    pub fn inputs(&self) -> Vec<Input> {
        let database = database_file(&self.row.database).map(|path| Input::new("the database", path));
        [Input::new("the parameter file", &self.row.parameters)].into_iter().chain(database).collect()
    }

    /// Opens the database.
    ///
    /// # Errors
    /// A file that cannot be read or is too short.
    pub fn open_database(&self) -> Outcome<Database> {
        Ok(Database::open(&self.row.database, self.workload.shape)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_padded_in_front() {
        let mut expected = [0; 32];
        expected[31] = 0x2a;
        assert_eq!(parse_seed("2a").unwrap(), expected);
        assert_eq!(parse_seed(&"f".repeat(64)).unwrap(), [0xff; 32]);
        for bad in ["", "g", "é", "+1", &"0".repeat(65)] {
            assert!(parse_seed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn kernels_are_found_or_refused() {
        assert_eq!(find_kernel("auto").unwrap(), Kernel::best());
        assert_eq!(find_kernel("scalar").unwrap(), Kernel::Scalar);
        assert!(find_kernel("mmx").unwrap_err().text().contains("mmx"));
    }
}
