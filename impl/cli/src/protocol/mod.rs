//! Rows of protocols: the request (`row`), its parameter set (`find`; `best` where none is named), its check, measurement and record (`plan`), and its summary (`summary`).
//! For the measurement they are one kind of job.

pub mod best;
pub mod find;
pub mod plan;
pub mod row;
pub mod summary;
