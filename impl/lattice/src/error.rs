//! Errors of the lattice operations.

use crate::lwe::LweError;
use crate::wire::WireError;

/// Why a lattice operation was refused.
#[derive(Debug, thiserror::Error)]
pub enum LatticeError {
    /// A parameter out of its range; the message names it and its bound.
    #[error("{0}")]
    Parameter(String),
    /// Operands that do not belong together.
    #[error("{0} cannot be combined")]
    Mismatch(&'static str),
    /// The ring cannot be built.
    #[error(transparent)]
    Ring(#[from] ring::RingError),
    /// There is no such automorphism.
    #[error(transparent)]
    Automorphism(#[from] ring::poly::AutomorphismError),
    /// Rings that do not extend one another.
    #[error(transparent)]
    Rns(#[from] ring::RnsError),
    /// The gadget cannot be built.
    #[error(transparent)]
    Gadget(#[from] gadget::GadgetError),
    /// A secret or an error distribution cannot be sampled.
    #[error(transparent)]
    Lwe(#[from] LweError),
    /// No room for the table of a packing.
    #[error(transparent)]
    Table(#[from] ring::DiagonalError),
    /// Bytes that are not a ciphertext.
    #[error(transparent)]
    Wire(#[from] WireError),
}
