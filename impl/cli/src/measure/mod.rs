//! The measurement of rows of any kind: the request (`row`, `run`), its preparation and steps (`job`), a worker process for each row (`child`),
//! rows that take turns (`group`), and the common part of records (`record`). Protocols and primitives are two kinds of [`job::Job`].

pub mod batches;
pub mod child;
pub mod group;
pub mod job;
pub mod record;
pub mod row;
pub mod run;
