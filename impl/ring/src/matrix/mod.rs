//! Matrices, by the order in which a product streams them: packed entries modulo 2^32, columns of 16-bit entries, polynomials in the
//! transform's slots, diagonals of packing tables, and plain words row by row.

pub mod column;
pub mod dense;
pub mod diagonal;
pub(crate) mod lanes;
pub(crate) mod operands;
pub mod packed;
pub mod poly;
#[cfg(test)]
mod tests;
