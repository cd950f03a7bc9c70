//! Digit decompositions of residues modulo q: given u, digits x_0 .. x_{k-1} with sum_t x_t b^(L+t) = u mod q.
//!
//! [`Gadget`] is the interface for the lattice layer; [`Decomposer`] implements it for every [`Family`], over `u64` (q up to
//! 2^62) and `u128` (q up to 2^126), in any base from 2 to 2^20. Sources: "Practical Randomized Lattice Gadget
//! Decomposition" (JLP24, Algorithms 1 to 3) and the three samplers it compares with.

mod balanced32;
mod coins;
mod decomposer;
mod digit;
mod draws;
mod family;
mod kernel;
mod moments;
mod plan;
mod residue;
pub mod stages;
mod tile;

pub use balanced32::Balanced32;
pub use coins::Coins;
pub use decomposer::{Decomposer, Gadget, new_gadget};
pub use digit::Digit;
pub use draws::Precomputed;
pub use family::Family;
pub use moments::Moments;
pub use plan::GadgetError;
pub use residue::Residue;

#[cfg(test)]
mod tests;
