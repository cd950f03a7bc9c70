//! The part of every record about the program that measured and about how its row ended.

use pir::core::record::{Build, Status};
use ring::{Kernel, Seed};

use super::job::Ending;
use crate::failure::{Failure, Outcome};

/// The profile this program was built with.
pub const PROFILE: &str = if cfg!(debug_assertions) { "debug" } else { "release" };
/// Commit this program was built from.
pub const COMMIT: &str = env!("PIRLAB_COMMIT");
/// Why the commit or the changes since it are unknown; empty if both are known.
const COMMIT_REMARK: &str = env!("PIRLAB_COMMIT_REMARK");
/// Whether the work tree differed from it.
pub const DIRTY: &str = env!("PIRLAB_DIRTY");
pub const RUSTC: &str = env!("PIRLAB_RUSTC");
/// Tests set this to let a debug build measure.
const ALLOW_DEBUG: &str = "PIRLAB_ALLOW_DEBUG";

/// Debug builds do not measure.
pub fn refuse_debug_build() -> Outcome<()> {
    if PROFILE == "release" || std::env::var_os(ALLOW_DEBUG).is_some_and(|value| value == "1") {
        return Ok(());
    }
    Err(Failure::Input(
        "this is a debug build, whose times mean nothing: build with `cargo build --release` and run target/release/pirlab."
            .into(),
    ))
}

/// Why this program's commit, or the changes since it, are unknown.
pub fn commit_remark() -> Option<&'static str> {
    Some(COMMIT_REMARK).filter(|remark| !remark.is_empty())
}

/// The program in the form of a record.
pub fn build(kernel: Kernel, source_hash: &str) -> Build {
    Build {
        commit: COMMIT.into(),
        commit_remark: commit_remark().map(Into::into),
        dirty: DIRTY == "true",
        version: env!("CARGO_PKG_VERSION").into(),
        rustc: RUSTC.into(),
        profile: PROFILE.into(),
        kernel: kernel.to_string(),
        source_hash: source_hash.into(),
    }
}

/// The status of a row's record, and its report; `wrong` returns why a report is wrong, if it is.
pub fn judged<R: Default>(ending: Ending<R>, wrong: impl Fn(&R) -> Option<String>) -> (Status, Option<String>, R) {
    match ending {
        Ending::Not(status, reason) => (status, Some(reason), R::default()),
        Ending::Measured(report) => match wrong(&report) {
            None => (Status::Ok, None, *report),
            reason => (Status::Wrong, reason, *report),
        },
    }
}

/// A random identifier in the form of a UUID, version 4.
pub fn random_id() -> Outcome<String> {
    let Seed(mut bytes) = Seed::from_os().map_err(|e| Failure::Result(e.to_string()))?;
    bytes[6] = 0x40 | bytes[6] & 0x0f;
    bytes[8] = 0x80 | bytes[8] & 0x3f;
    let hex = pir::core::set_file::hex(&bytes);
    Ok([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

#[cfg(test)]
mod tests;
