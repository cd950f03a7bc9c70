//! Read bandwidth of one core, probed by a separate process, so that the probe's buffer does not count as the run's memory.

use std::process::{Command, Stdio};

use ring::Kernel;
use ring::bandwidth::Probe;
use serde::{Deserialize, Serialize};

use super::{memory, pin};
use crate::output::note;

pub const BEST_OF: usize = 5;

/// The output of `pirlab probe`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Probed {
    pub bytes_per_second: f64,
    pub buffer_bytes: u64,
    pub best_of: u64,
    /// Kernel whose loads were used.
    pub kernel: String,
}

/// Bytes of the largest cache of the first core, where the system reports it (Linux does).
pub fn largest_cache() -> Option<u64> {
    let caches = std::fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let sizes = caches.filter_map(|cache| std::fs::read_to_string(cache.ok()?.path().join("size")).ok());
    sizes.filter_map(|size| size.trim().strip_suffix('K')?.parse::<u64>().ok()).max().map(|kibibytes| kibibytes << 10)
}

/// Probes in this process, if the buffer fits in memory.
pub fn here(buffer_bytes: u64, best_of: usize) -> Result<Probed, String> {
    let buffer = usize::try_from(buffer_bytes).map_err(|_| "the buffer is longer than memory can be".to_string())?;
    if memory::free().is_some_and(|free| free < buffer_bytes.saturating_add(buffer_bytes / 16)) {
        return Err(format!("its buffer of {} does not fit in free memory", crate::units::bytes(buffer_bytes)));
    }
    pin::to_one_core();
    let probe = Probe::new(Kernel::best(), buffer).map_err(|e| e.to_string())?;
    let way = probe.fastest();
    let passes = (0..best_of).map(|_| probe.once(way.streams, way.ahead));
    let bytes_per_second = passes.fold(0.0, f64::max);
    Ok(Probed { bytes_per_second, buffer_bytes, best_of: best_of as u64, kernel: Kernel::best().to_string() })
}

/// Probes in a child process; a failure only prints a note.
pub fn in_child() -> Option<f64> {
    let probe = || -> Result<f64, String> {
        let program = std::env::current_exe().map_err(|e| e.to_string())?;
        let output = Command::new(program).arg("probe").stdin(Stdio::null()).output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_string());
        }
        let probed: Probed = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
        Ok(probed.bytes_per_second)
    };
    probe().map_err(|problem| note(&format!("read bandwidth not probed: {problem}"))).ok()
}
