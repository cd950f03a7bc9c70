//! The linear first layer that SimplePIR, DoublePIR and their descendants share: a database as a matrix of small
//! entries, multiplied modulo 2^32 with the matrix A (the hint) and with queries (the answers).

mod code;
mod database;
mod layout;
mod negacyclic;
mod radix;
mod set;

pub use code::RecordCode;
pub use database::{
    EntryChange, LinearDatabase, check_seeds, hint_buffers_bytes, impossible_change, multiply_centred, read_changes,
};
pub use layout::{Layout, LinearNumbers, Tiling};
pub use negacyclic::{NegacyclicHint, NegacyclicMatrix};
pub use set::{Lwe, PlainModuli, PlainModulus};
