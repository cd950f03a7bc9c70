//! PIR protocols and what they share: the database, the wire format, the phase clock, the runner and the run record.
//!
//! One folder below `protocol/` is one protocol: an implementation of [`scheme::Scheme`].

pub mod buckets;
pub mod clock;
pub mod database;
pub mod description;
pub mod digits;
pub mod error;
pub mod folded;
pub mod hintless;
pub mod layered;
pub mod linear;
pub mod noise;
pub mod numbers;
pub mod params;
pub mod progress;
pub mod protocol;
pub mod record;
pub mod record_check;
pub mod registry;
pub mod rlwe;
pub mod runner;
pub mod scheme;
mod tables;
pub mod transcript;
pub mod wire;
pub mod workload;

pub use error::{Error, Result};
