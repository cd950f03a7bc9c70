//! Rows measured, whatever they measure: what is asked (`row`, `run`), made ready and done (`job`, in a process of its own `child`, rows in
//! turn `group`), and what every record says (`record`). Protocols and operations alone are two kinds of [`job::Job`].

pub mod batches;
pub mod child;
pub mod group;
pub mod job;
pub mod record;
pub mod row;
pub mod run;
