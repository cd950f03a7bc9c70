//! Functions as polynomials.
//!
//! The constant coefficient of X^(-phi) P is P_phi for a phase phi < N modulo 2N, and -P_(phi - N) for others: functions are *negacyclic*,
//! f(phi + N) = -f(phi), and given by their values below N.

use crate::error::LatticeError;
use ring::{Ntt, Poly, Ring, Word};

/// A function of phases modulo 2N that is constant on windows, as the multiple of a polynomial that all functions share (multi-value
/// bootstrapping: Carpov, Izabachene, Mollimard, CT-RSA 2019).
///
/// With J = 1 + X + ... + X^(N - 1), (1 - X) J = 2 modulo X^N + 1, so that P = J (1 - X) P / 2; and (1 - X) P holds the steps of P, which are
/// few. One rotation of J serves every function; noise is multiplied by the steps only.
#[derive(Clone, Debug)]
pub struct Table<W: Word> {
    steps: Poly<W, Ntt>,
}

impl<W: Word> Table<W> {
    /// The function with the value h_i on the i-th window below N; their number is a power of two up to N. Evaluated with base A
    /// ([`super::Bootstrapper::evaluate_tables`]) it gives A h_i.
    ///
    /// # Errors
    /// Another number of values; values of different parity, whose steps would be half integers.
    pub fn new(ring: &Ring<W>, values: &[i32]) -> Result<Self, LatticeError> {
        if !values.len().is_power_of_two() || values.len() > ring.n() {
            return Err(LatticeError::Parameter(format!(
                "a table has a power of two of values up to N = {}, not {}",
                ring.n(),
                values.len()
            )));
        }
        if values.iter().any(|value| (value ^ values[0]) & 1 == 1) {
            return Err(LatticeError::Parameter(
                "a table's values are all even or all odd: double them and halve the base".to_owned(),
            ));
        }
        let window = ring.n() / values.len();
        let mut coefficients = vec![0; ring.n()];
        // The value before the first window is the negated last one.
        let mut before = -i64::from(values[values.len() - 1]);
        for (step, &value) in coefficients.iter_mut().step_by(window).zip(values) {
            *step = (i64::from(value) - before) / 2;
            before = value.into();
        }
        Ok(Self { steps: ring.forward(ring.from_signed(&coefficients)) })
    }

    /// The polynomial (1 - X) P / A.
    pub(super) fn steps(&self) -> &Poly<W, Ntt> {
        &self.steps
    }
}
