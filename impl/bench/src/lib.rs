//! Single operations (a kernel, a decomposition, a product), measured beside whole protocols: correctness, speed, noise.
//!
//! An operation is a file or folder below `operation` and a line in [`registry`]. Its settings are described
//! ([`primitive::Described`]) and measured repetition by repetition ([`primitive::Session`]). The program interleaves rows, gives each a
//! process, writes records and tracks staleness, in the same way as for protocols.

mod in_ring;
mod lab;
mod operation;
pub mod primitive;
pub mod registry;
mod setting;
pub mod settings;
mod switch_setting;
mod timing;
