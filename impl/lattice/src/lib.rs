//! LWE and ring-LWE ciphertexts, their gadget encryptions, and the operations on them.
//!
//! Phases are b - <a, s> (LWE) and b - a s (RLWE). A [`RingGadget`] is a digit decomposition for a ring; every product with a
//! gadget encryption is a method of it and works for every family of gadgets. Secret keys make *seeded* encryptions, which
//! are sent as seed and bodies; `expand` gives the full ciphertexts in the NTT domain, in the form that products read.
//!
//! Operations refuse operands of another ring, dimension, modulus or packing than the others', keys made with another gadget, keys that
//! are missing, and bytes that are too many or too few, hold a residue not below its modulus, or padding that is not zero. Where an
//! operation refuses more, it says so under *Errors*.

pub mod convert;
mod decompose;
mod error;
mod extract;
pub mod functional;
mod join;
mod keyswitch;
pub mod lwe;
mod modswitch;
pub mod noise;
pub mod pack;
mod product;
mod ringswitch;
mod rlwe;
pub mod rotate;
mod secret;
#[cfg(test)]
mod tests;
mod trace;
mod vector;
pub mod wire;

pub use decompose::{GadgetShape, RingGadget};
pub use error::LatticeError;
pub use extract::Extractor;
pub use functional::{Bootstrapper, DigitLayout, Table};
pub use keyswitch::{AutomorphismKey, automorphism_key, switching_key};
pub use modswitch::{SplitKey, SplitRing, SplitRlwe};
pub use pack::{Method, Packing, PackingKeys, PackingMasks, PackingTable, ring_mask};
pub use product::{Workspace, product_ntts};
pub use ringswitch::{embed_key, project};
pub use rlwe::{Masks, Rgsw, Rlwe, RlweKey, RlwePrime, SeededRgsw, SeededRlwe, SeededRlwePrime};
pub use rotate::{BlindRotationKey, Form, RotationShape, SeededBlindRotationKey, SmallSecret};
pub use secret::Secret;
pub use trace::{TraceKeys, trace_keys};
pub use vector::{VectorPrime, VectorRgsw, VectorRlwe, seeded_vector};
