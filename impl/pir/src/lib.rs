//! PIR protocols: [`core`] says what a protocol is and runs it, [`parts`] are what protocols share, below [`protocol`] is one folder each.
//! Arrows run down: a protocol uses parts, parts use the core.

pub mod core;
pub mod parts;
pub mod protocol;
pub mod registry;

pub use crate::core::error::{Error, Result};
