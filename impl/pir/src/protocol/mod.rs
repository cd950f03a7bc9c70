//! The protocols, one folder each.

pub mod doublepir;
pub mod inspire0;
pub mod simplepir;
#[cfg(test)]
mod tests_support;
pub mod ypir;
