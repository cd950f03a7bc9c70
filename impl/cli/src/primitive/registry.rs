//! The primitives of this program.

use super::kind;
use super::{Described, Primitive};
use crate::failure::{Failure, Outcome};
use crate::primitive::settings::Settings;

/// A primitive and the hash of the sources its numbers depend on, taken when this program was built.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The primitive.
    pub primitive: &'static dyn Primitive,
    /// Hash of its own file, or folder, and of what it measures.
    pub source_hash: &'static str,
}

static PRIMITIVES: &[Entry] = &[
    Entry { primitive: &kind::prg::Generator, source_hash: env!("PIRLAB_PRIMITIVE_PRG") },
    Entry { primitive: &kind::bandwidth::Reader, source_hash: env!("PIRLAB_PRIMITIVE_BANDWIDTH") },
    Entry { primitive: &kind::noise::Noise, source_hash: env!("PIRLAB_PRIMITIVE_NOISE") },
    Entry { primitive: &kind::noise::Chain, source_hash: env!("PIRLAB_PRIMITIVE_NOISE") },
    Entry { primitive: &kind::noise::Rotation, source_hash: env!("PIRLAB_PRIMITIVE_NOISE") },
    Entry { primitive: &kind::noise::Conversion, source_hash: env!("PIRLAB_PRIMITIVE_NOISE") },
    Entry { primitive: &kind::noise::Selector, source_hash: env!("PIRLAB_PRIMITIVE_NOISE") },
    Entry { primitive: &kind::noise::RingSwitch, source_hash: env!("PIRLAB_PRIMITIVE_NOISE") },
    Entry { primitive: &kind::noise::Failure, source_hash: env!("PIRLAB_PRIMITIVE_NOISE") },
    Entry { primitive: &kind::packing::Packings, source_hash: env!("PIRLAB_PRIMITIVE_PACKING") },
    Entry { primitive: &kind::decompose::Vectors, source_hash: env!("PIRLAB_PRIMITIVE_DECOMPOSE") },
    Entry { primitive: &kind::decompose::Scalars, source_hash: env!("PIRLAB_PRIMITIVE_DECOMPOSE") },
    Entry { primitive: &kind::decompose::Operations, source_hash: env!("PIRLAB_PRIMITIVE_DECOMPOSE") },
    Entry { primitive: &kind::decompose::Magnitude, source_hash: env!("PIRLAB_PRIMITIVE_DECOMPOSE") },
];

/// All primitives.
pub fn all() -> &'static [Entry] {
    PRIMITIVES
}

/// The primitive `name`.
///
/// # Errors
/// An unknown name.
pub fn find(name: &str) -> Outcome<Entry> {
    PRIMITIVES.iter().find(|entry| entry.primitive.name() == name).copied().ok_or_else(|| {
        let known: Vec<&str> = PRIMITIVES.iter().map(|entry| entry.primitive.name()).collect();
        Failure::Input(format!(
            "key `primitive`: `{name}` is unknown; this program has {}. See `pirlab primitive list`.",
            known.join(", ")
        ))
    })
}

impl Entry {
    /// What the settings mean.
    ///
    /// # Errors
    /// A setting that cannot be used.
    pub fn describe(&self, settings: &Settings) -> Outcome<Described> {
        self.primitive
            .describe(settings)
            .map_err(|refusal| Failure::Input(format!("primitive {}: {refusal}", self.primitive.name())))
    }
}
