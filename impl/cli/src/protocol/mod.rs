//! Rows of protocols: what is asked (`row`), found (`find`), checked, measured and recorded (`plan`), and said about it (`summary`); to the
//! measurement they are one kind of job.

pub mod find;
pub mod plan;
pub mod row;
pub mod summary;
