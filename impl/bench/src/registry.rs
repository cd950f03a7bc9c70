//! The operations that this program measures on their own.

use crate::in_ring::Keyed;
use crate::operation::{
    cmux_chain, decompose, failure, noise, packing, prg, rgsw_conversion, ring_switch, rotation, selector_tree,
};
use crate::primitive::{Context, Described, Primitive, Started};
use crate::settings::{Refusal, Settings};

/// An operation and the hash of the sources its numbers depend on, taken when this program was built.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name in experiment files.
    pub name: &'static str,
    /// One line that says what is measured.
    pub summary: &'static str,
    /// What settings mean.
    pub describe: fn(&Settings) -> Result<Described, Refusal>,
    /// Makes everything ready that is not measured.
    pub start: fn(&Settings, &Context) -> Started,
    /// Hash of its own file, or folder, and of what it imports.
    pub source_hash: &'static str,
}

impl Entry {
    const fn of<P: Primitive>(source_hash: &'static str) -> Self {
        Self {
            name: P::NAME,
            summary: P::SUMMARY,
            describe: |settings| P::read(settings)?.describe(),
            start: |settings, context| P::read(settings)?.start(context),
            source_hash,
        }
    }
}

static ENTRIES: &[Entry] = &[
    Entry::of::<prg::Generator>(env!("PIRLAB_OPERATION_PRG")),
    Entry::of::<noise::Noise>(env!("PIRLAB_OPERATION_NOISE")),
    Entry::of::<Keyed<cmux_chain::Chain>>(env!("PIRLAB_OPERATION_CMUX_CHAIN")),
    Entry::of::<Keyed<rotation::Rotation>>(env!("PIRLAB_OPERATION_ROTATION")),
    Entry::of::<Keyed<rgsw_conversion::Conversion>>(env!("PIRLAB_OPERATION_RGSW_CONVERSION")),
    Entry::of::<Keyed<selector_tree::Tree>>(env!("PIRLAB_OPERATION_SELECTOR_TREE")),
    Entry::of::<ring_switch::RingSwitch>(env!("PIRLAB_OPERATION_RING_SWITCH")),
    Entry::of::<failure::Failure>(env!("PIRLAB_OPERATION_FAILURE")),
    Entry::of::<packing::Packings>(env!("PIRLAB_OPERATION_PACKING")),
    Entry::of::<decompose::Vectors>(env!("PIRLAB_OPERATION_DECOMPOSE")),
    Entry::of::<decompose::Scalars>(env!("PIRLAB_OPERATION_DECOMPOSE")),
    Entry::of::<decompose::Operations>(env!("PIRLAB_OPERATION_DECOMPOSE")),
    Entry::of::<decompose::Magnitude>(env!("PIRLAB_OPERATION_DECOMPOSE")),
];

/// All operations.
pub fn all() -> &'static [Entry] {
    ENTRIES
}

/// Finds the operation `name`; fails where no operation has it.
pub fn find(name: &str) -> Result<Entry, String> {
    ENTRIES.iter().find(|entry| entry.name == name).copied().ok_or_else(|| {
        let known: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        format!(
            "key `primitive`: `{name}` is unknown; this program has {}. See `pirlab primitive list`.",
            known.join(", ")
        )
    })
}
