//! What a protocol is, and everything that happens to all of them alike: database, messages, clock, session, record.

pub mod clock;
pub mod database;
pub mod description;
pub(crate) mod enough;
pub mod error;
pub mod noise;
pub mod params;
pub(crate) mod plan;
pub mod progress;
pub mod protocol;
pub mod record;
pub mod record_check;
pub mod runner;
pub mod seed;
pub mod session;
pub mod set_file;
pub(crate) mod tables;
pub mod transcript;
pub mod wire;
pub mod workload;
