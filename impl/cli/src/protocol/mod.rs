//! Rows of protocols: what is asked (`row`), found (`find`) and checked (`plan`), done (`steps`), written (`record`) and said about it
//! (`summary`); to the measurement they are one kind of job (`job`).

pub mod find;
pub mod job;
pub mod plan;
pub mod record;
pub mod row;
pub mod steps;
pub mod summary;
