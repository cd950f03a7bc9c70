//! Checks that the operands of a product fit together.

use crate::kernel::KernelError;

/// Reasons to refuse a product.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProductError {
    /// The kernel cannot run here.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// An operand whose length does not fit the others.
    #[error("{what}: {given} given, {needed} needed")]
    Length {
        /// The operand and its dimension.
        what: &'static str,
        /// Its length.
        given: usize,
        /// The length that fits.
        needed: usize,
    },
    /// A column range that starts or ends where a chunk does not.
    #[error("columns from {0}: not a multiple of 32")]
    Alignment(usize),
    /// Vectors of one product modulo different numbers.
    #[error("vectors of one product must be modulo the same primes")]
    Moduli,
}

/// `Ok` if an operand has the length it needs.
pub(crate) fn check_length(what: &'static str, given: usize, needed: usize) -> Result<(), ProductError> {
    if given == needed { Ok(()) } else { Err(ProductError::Length { what, given, needed }) }
}
