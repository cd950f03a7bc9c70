//! PIR protocols: [`core`] defines a protocol and runs it, [`parts`] has what protocols share, and [`protocol`] has a folder for each.
//! Arrows run down: a protocol uses parts, parts use the core.

pub mod core;
pub mod parts;
pub mod protocol;
pub mod registry;

pub use crate::core::error::{Error, Result};
