//! The operations, a file or folder each. The build script hashes each by its name.

pub mod cmux_chain;
pub mod decompose;
pub mod failure;
pub mod noise;
pub mod packing;
pub mod prg;
pub mod rgsw_conversion;
pub mod ring_switch;
pub mod rotation;
pub mod selector_tree;
#[cfg(test)]
mod tests;
