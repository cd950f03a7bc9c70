//! Functional bootstrapping: functions of the phases of LWE ciphertexts by blind rotation, the homomorphic floor, digits and bits.
//!
//! All inputs and results of functions are LWE ciphertexts under the coefficient vector of *one* ring key s, of
//! dimension N. Only the input of a rotation is switched to the small key z and to modulus 2N ([`Bootstrapper::to_small`]): subtractions of
//! digits happen under s at high precision; the noise of the switch affects the decision but not the result.

mod bits;
mod bootstrapper;
mod digits;
mod table;
#[cfg(test)]
mod tests;

pub use bootstrapper::Bootstrapper;
pub use digits::DigitLayout;
pub use table::Table;
