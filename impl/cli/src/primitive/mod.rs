//! Rows of primitives, operations measured alone: what is asked (`row`) and checked (`plan`), written (`record`) and said about it
//! (`summary`); to the measurement they are one kind of job (`job`).

pub mod job;
pub mod plan;
pub mod record;
pub mod row;
pub mod summary;
