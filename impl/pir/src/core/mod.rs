//! What a protocol is, and everything that happens to all of them alike: database, messages, clock, session, record.

pub mod clock;
pub mod database;
pub mod description;
pub mod enough;
pub mod error;
pub mod noise;
pub mod params;
pub mod plan;
pub mod progress;
pub mod protocol;
pub mod record;
pub mod runner;
pub mod seed;
pub mod session;
pub mod set_file;
mod streams;
pub mod tables;
pub mod text;
pub mod threads;
pub mod transcript;
pub mod wire;
pub mod workload;

// Every protocol uses these names. Any other module is imported by path, because imports decide which records a change makes stale.
pub use clock::{Clock, Group, Turns};
pub use database::{Database, Record, check_change, copy_bits, put_bits};
pub use description::{Direction, LweInstance, MemoryMap, Sizes, TableBytes};
pub use error::{Error, Result};
pub use noise::NoiseLog;
pub use params::{ErrorSize, MAX_LWE_STDDEV, ParameterSet, SecretKind, in_range, power_of_two};
pub(crate) use params::{FINGERPRINT_BYTES, fingerprint};
pub use protocol::{BLOCK_BYTES, Change, Client, Context, Messages, Protocol, Request};
pub(crate) use protocol::{answers, check_queries, client_of, for_each_query, only, update_of};
pub use wire::{Frame, FrameBuilder};
pub use workload::{MAX_QUERIES, Shape, Workload};
