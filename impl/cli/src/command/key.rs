//! `pirlab key`: the staleness keys of a group's rows.

use std::path::PathBuf;

use crate::failure::Outcome;
use crate::measure::group;
use crate::protocol::plan::Plan;

/// Print, as JSON, the staleness key that a record of each row would carry.
///
/// A key is a hash of the parameter file, the row and the sources of its protocol and of everything below it. A record with
/// the same key need not be measured again.
#[derive(clap::Args)]
pub struct Args {
    /// The group file.
    #[arg(long, value_name = "GROUP.json")]
    group: PathBuf,
}

pub fn main(args: &Args) -> Outcome<()> {
    group::keys::<Plan>(&args.group)
}
