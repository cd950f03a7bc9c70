//! The primitives, one file or folder each. The build script hashes it by its name.

pub mod bandwidth;
pub mod decompose;
pub mod noise;
pub mod packing;
pub mod prg;
