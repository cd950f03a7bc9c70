//! The commands, one file each.

pub mod batch;
pub mod calibrate;
pub mod check;
pub mod compare;
pub mod describe;
pub mod key;
pub mod list;
pub mod primitive;
pub mod probe;
pub mod resolve;
pub mod run;
pub mod schema;
pub mod worker;
