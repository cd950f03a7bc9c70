//! One operation alone (a kernel, a decomposition, a product), measured beside whole protocols: right, fast, noisy.
//!
//! An operation is a file or folder below `operation` and a line in [`registry`]. Its settings say what they mean
//! ([`primitive::Described`]) and are measured repetition by repetition ([`primitive::Session`]). Interleaving, a process a row, records
//! and staleness are the program's and the same for protocols.

mod in_ring;
mod lab;
mod operation;
pub mod primitive;
pub mod registry;
mod setting;
pub mod settings;
mod switch_setting;
mod timing;
