//! The part that protocols with folding (Respire, Pirouette) share: a database of polynomials in rows and columns, the product of its
//! rows with encrypted unit vectors, CMUX trees over columns and over positions, and compressed responses.
//!
//! A polynomial of N coefficients carries N / N1 *slots* of N1 coefficients: slot g is the coefficients at g modulo N / N1, so that
//! slot 0 is what a switch to a ring of dimension N1 keeps, and a multiplication by X^-g brings slot g there.

mod encode;
mod fold;
mod layout;
mod matrix;
mod open;
mod response;
mod select;
#[cfg(test)]
mod tests;

pub use encode::Encoder;
pub use fold::Folding;
pub use layout::{Dimensions, Layout, Place};
pub use matrix::{Columns, Matrix};
pub(crate) use open::{cell_errors, constant, errors, selector_errors};
pub use response::{Responder, ResponseKey, ResponseParams};
pub use select::Selection;
