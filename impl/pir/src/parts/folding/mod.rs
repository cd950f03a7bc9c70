//! The part that protocols with folding (Respire, Spiral, Pirouette) share: a database of polynomials in rows and columns, the product of its
//! rows with encrypted unit vectors, CMUX trees over columns and over positions, and compressed responses.
//!
//! A polynomial of N coefficients carries N / N1 *slots* of N1 coefficients: slot g is the coefficients at g modulo N / N1, so that
//! slot 0 is what a switch to a ring of dimension N1 keeps, and a multiplication by X^-g brings slot g there.

mod encode;
mod expand;
mod fold;
mod keys;
mod layout;
mod matrix;
mod open;
mod pass;
mod response;
mod select;
mod selected;
#[cfg(test)]
mod tests;
mod work;

pub use encode::Encoder;
pub use expand::{LEAVES_AT_A_TIME, leaves, positions, rows, selectors};
pub use fold::Folding;
pub use keys::{next_prime, next_rgsw, next_traces};
pub use layout::{Dimensions, FoldingNumbers, Layout, Place};
pub use matrix::{BATCH, Columns, Matrix};
pub(crate) use open::{OPENED, cell_errors, constant, errors, selector_errors};
pub use pass::{Selects, first_columns, joined, select};
pub use response::{Responder, ResponseKey, ResponseParams};
pub use select::Selection;
pub use selected::{OneOf, Selected};
pub(crate) use work::{folding_work, matrix_shape, of_ciphertexts, product_work, small_pages};
