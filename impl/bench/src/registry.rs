//! The operations that this program measures alone.

use crate::in_ring;
use crate::operation::{
    cmux_chain, decompose, failure, noise, packing, prg, rgsw_conversion, ring_switch, rotation, selector_tree,
};
use crate::primitive::{About, Read};
use crate::settings::Settings;

/// An operation and the hash of the sources its numbers depend on, taken when this program was built.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name in experiment files.
    pub name: &'static str,
    /// One line that says what is measured.
    pub summary: &'static str,
    /// Reads and checks its settings.
    pub read: fn(&Settings) -> Read,
    /// Hash of its own file, or folder, and of what it imports.
    pub source_hash: &'static str,
}

const fn entry((name, summary): About, read: fn(&Settings) -> Read, source_hash: &'static str) -> Entry {
    Entry { name, summary, read, source_hash }
}

static ENTRIES: &[Entry] = &[
    entry(prg::ABOUT, prg::read, env!("PIRLAB_OPERATION_PRG")),
    entry(noise::ABOUT, noise::read, env!("PIRLAB_OPERATION_NOISE")),
    entry(cmux_chain::ABOUT, in_ring::read::<cmux_chain::Chain>, env!("PIRLAB_OPERATION_CMUX_CHAIN")),
    entry(rotation::ABOUT, in_ring::read::<rotation::Rotation>, env!("PIRLAB_OPERATION_ROTATION")),
    entry(
        rgsw_conversion::ABOUT,
        in_ring::read::<rgsw_conversion::Conversion>,
        env!("PIRLAB_OPERATION_RGSW_CONVERSION"),
    ),
    entry(selector_tree::ABOUT, in_ring::read::<selector_tree::Tree>, env!("PIRLAB_OPERATION_SELECTOR_TREE")),
    entry(ring_switch::ABOUT, ring_switch::read, env!("PIRLAB_OPERATION_RING_SWITCH")),
    entry(failure::ABOUT, failure::read, env!("PIRLAB_OPERATION_FAILURE")),
    entry(packing::ABOUT, packing::read, env!("PIRLAB_OPERATION_PACKING")),
    entry(decompose::vector::ABOUT, decompose::vector::read, env!("PIRLAB_OPERATION_DECOMPOSE")),
    entry(decompose::scalar::ABOUT, decompose::scalar::read, env!("PIRLAB_OPERATION_DECOMPOSE")),
    entry(decompose::operations::ABOUT, decompose::operations::read, env!("PIRLAB_OPERATION_DECOMPOSE")),
    entry(decompose::magnitude::ABOUT, decompose::magnitude::read, env!("PIRLAB_OPERATION_DECOMPOSE")),
];

/// All operations.
pub fn all() -> &'static [Entry] {
    ENTRIES
}

/// Finds the operation `name`; fails if there is no such operation.
pub fn find(name: &str) -> Result<Entry, String> {
    ENTRIES.iter().find(|entry| entry.name == name).copied().ok_or_else(|| {
        let known: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        format!(
            "key `primitive`: `{name}` is unknown; this program has {}. See `pirlab primitive list`.",
            known.join(", ")
        )
    })
}
