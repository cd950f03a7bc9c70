//! One measured row: what is asked (`row`), checked (`plan`), done (`steps`, or in a process of its own `child`), written
//! (`record`) and said about it (`summary`).

pub mod child;
pub mod plan;
pub mod record;
pub mod row;
pub mod steps;
pub mod summary;
