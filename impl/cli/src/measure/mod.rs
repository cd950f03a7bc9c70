//! One measured row: what is asked (`row`), checked (`plan`), done (`steps`, in a process of its own `child`, rows in turn `group`), written
//! (`record`) and said about it (`summary`).

pub mod batches;
pub mod child;
pub mod group;
pub mod plan;
pub mod record;
pub mod row;
pub mod steps;
pub mod summary;
