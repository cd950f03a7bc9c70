//! The protocols, one folder each.

pub mod doublepir;
pub mod simplepir;
#[cfg(test)]
mod tests_support;
