//! The protocols, one folder each.

pub mod cwpir;
pub mod depir;
pub mod doublepir;
pub mod hintlesspir;
pub mod inspire;
pub mod inspire2;
pub mod kspir;
pub mod onehot;
pub mod onionpir;
pub mod piano;
pub mod pirana;
pub mod pirouette;
pub mod respire;
pub mod simplepir;
pub mod simpleypir;
pub mod spiral;
#[cfg(test)]
pub(crate) mod tests_support;
pub mod ypir;
