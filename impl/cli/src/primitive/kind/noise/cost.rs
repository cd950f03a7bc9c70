//! What measuring takes, before it is measured.

use super::operations::Plan;

/// A rough cost.
pub struct Cost {
    /// Polynomials transformed, or as good as.
    pub polynomials: f64,
    /// Polynomials in memory.
    pub held: usize,
}

impl Plan {
    /// What one key takes, roughly, for so many errors.
    pub fn cost(&self, n: usize, length: usize, samples: f64) -> Cost {
        let levels = |kept: usize| (n / kept).ilog2() as usize;
        // Rows made a key; products, outputs and errors of the rarest stage a run.
        let (rows, products, outputs, errors) = match *self {
            Self::Fresh | Self::PlaintextProduct(..) | Self::MonomialProduct(_) => (0, 0, 1, n),
            Self::SampleExtraction => (0, 0, n / 8, n),
            Self::Switch(..) => (0, 0, 4, n),
            Self::Add(terms) => (0, 0, terms as usize, n),
            Self::GadgetProduct(_) | Self::RlweKeySwitch | Self::Automorphism(_) => (length, 1, 1, n),
            Self::ExternalProduct(_) => (2 * length, 2, 1, n),
            Self::Cmux(_) => (4 * length, 2, 1, n),
            Self::Trace(kept) => (levels(kept) * length, levels(kept), 1, kept),
            Self::RingSwitch(to) => (length, 1, 1, to),
            Self::Expansion(depth) => (depth as usize * length, 1 << depth, 1 << depth, n),
        };
        let runs = (samples / errors as f64).ceil();
        Cost {
            polynomials: 6.0 * rows as f64 + runs * (products * (length + 2) + 16 * outputs) as f64,
            held: 8 * rows + 4 * outputs + 64,
        }
    }
}
