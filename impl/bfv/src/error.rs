//! Errors of BFV operations.

/// Why a BFV operation was refused.
#[derive(Debug, thiserror::Error)]
pub enum BfvError {
    /// A parameter out of its range; the message names it and its bound.
    #[error("{0}")]
    Parameter(String),
    /// Operands that do not belong together.
    #[error("{0} cannot be combined")]
    Mismatch(&'static str),
    /// A lattice operation was refused.
    #[error(transparent)]
    Lattice(#[from] lattice::LatticeError),
    /// The ring cannot be built.
    #[error(transparent)]
    Ring(#[from] ring::RingError),
    /// There is no such automorphism.
    #[error(transparent)]
    Automorphism(#[from] ring::poly::AutomorphismError),
    /// Bytes that are not a key.
    #[error(transparent)]
    Wire(#[from] lattice::wire::WireError),
}

/// A refused parameter.
pub(crate) fn parameter(message: impl Into<String>) -> BfvError {
    BfvError::Parameter(message.into())
}
