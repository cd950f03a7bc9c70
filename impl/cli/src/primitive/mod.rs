//! Rows of primitives, operations measured alone: what is asked (`row`), checked, measured and recorded (`plan`, `record`), and said about it
//! (`summary`); to the measurement they are one kind of job.

pub mod plan;
pub mod record;
pub mod row;
pub mod summary;
