//! Text files that people write.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::core::error::{Error, Result};

/// Most bytes of a text file; the longest that Pirlab writes has some kilobytes.
pub const MOST_BYTES: usize = 1 << 20;

/// Reads a file of UTF-8 text of at most [`MOST_BYTES`], with or without a byte-order mark; `action` is what is done, as a noun.
pub fn read(path: &Path, action: &'static str) -> Result<String> {
    let io = |error| Error::io(path, action, error);
    let mut bytes = Vec::new();
    File::open(path).map_err(io)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(io)?;
    let refuse = |problem: &str| Err(Error::Workload(format!("{}: {action} failed: {problem}", path.display())));
    if bytes.len() > MOST_BYTES {
        return refuse(TOO_LONG);
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text).into()),
        Err(error) => {
            let place = error.valid_up_to();
            refuse(&format!("byte {place} is not UTF-8 text. Save the file as UTF-8 (not as UTF-16 or Latin-1)."))
        }
    }
}

/// The problem of a text that is too long.
pub(crate) const TOO_LONG: &str = "it has more than 1 MiB. Give a file that a person would write.";
