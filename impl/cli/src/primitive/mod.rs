//! Rows of primitives, which are operations measured alone: the request (`row`), its check, measurement and record (`plan`, `record`), and its
//! summary (`summary`). For the measurement they are one kind of job.

pub mod plan;
pub mod record;
pub mod row;
pub mod summary;
