//! Functional bootstrapping: functions of the phases of LWE ciphertexts by blind rotation, the homomorphic floor, digits and bits.
//!
//! All ciphertexts that functions are taken of, and all that come out, are LWE ciphertexts under the coefficient vector of *one* ring key s, of
//! dimension N. Only what a rotation reads is switched to the small key z and to modulus 2N ([`Bootstrapper::to_small`]): subtractions of
//! digits happen under s at high precision, and the noise of the switch decides, but does not stay.

mod bits;
mod bootstrapper;
mod digits;
mod table;
#[cfg(test)]
mod tests;

pub use bootstrapper::Bootstrapper;
pub use digits::DigitLayout;
pub use table::Table;
