//! Plaintexts of BFV and GBFV at degree 64, and a switch of their answers.

pub const INTEGER: &str = "{ kind = \"integer\", modulus = 7681 }";
/// Eight slots of 127 bits.
pub const BINOMIAL: &str = "{ kind = \"binomial\", slots = 8, base = 65620 }";
/// Thirty-two slots of 8 bits.
pub const SHORT: &str = "{ kind = \"binomial\", slots = 32, base = 16 }";
pub const GOLDILOCKS: &str = "{ kind = \"goldilocks\" }";
pub const SWITCH: &str = "[switch]\nmask_modulus = 1073741824\nbody_modulus = 67108864\n";

/// Squared norms of t and of t^2, and the mean square of a product by a uniform short plaintext, of [`INTEGER`] and of [`BINOMIAL`].
pub const NORMS: [(f64, f64, f64); 2] = {
    let (t, b) = (7681.0 * 7681.0, 65_620.0 * 65_620.0);
    [(t, t * t, t / 12.0), (1.0 + b, 1.0 + 4.0 * b + b * b, (b + 2.0) / 12.0 + 0.25)]
};
