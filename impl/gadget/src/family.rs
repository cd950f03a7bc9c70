//! The families of decompositions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The choice among all digits that recompose to the same residue.
///
/// The randomised families share one shape. With B = b^(k-1), they pick v in {u, u - q}, split it into a = floor(v / B) and the
/// digits v_i of v mod B, and move random carries r_i: x_0 = v_0 - b r_0, x_i = v_i - b r_i + r_{i-1}, x_{k-1} = a + r_{k-2}.
/// They differ in the laws of v and r.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Exact unsigned digits in [0, b), or rounded ones if low digits are dropped.
    Unsigned,
    /// Balanced digits in [-floor(b/2), ceil(b/2)) of the centred representative; the top digit may reach floor(b/2).
    Balanced,
    /// Balanced digits of min(u, q - u), negated if that is q - u: the digits of -u are the negated digits of u. Mean zero over
    /// uniform u in every base, whereas balanced digits in an even base have mean -1/2, which products of polynomials collect at the
    /// roots of unity nearest to 1. In [-floor(b/2), floor(b/2)].
    Symmetric,
    /// Genise, Micciancio, Polyakov (EUROCRYPT 2019): v = u - q with probability u/q, carries independent with
    /// P(r_i = 1) = (v mod b^(i+1)) / b^(i+1). Mean zero.
    Gmp19,
    /// Zhang, Yu (2022) as subtractive dithering: v as in GMP19, x = digits(v + rho) - digits(rho), rho uniform below B. Mean zero.
    Zy22,
    /// Jeon, Lee, Park (IEEE Access 2021): x = S_q y + digits(u), y uniform in {-1, 0}^k.
    Jlp21,
    /// Algorithm 3 of the paper: v and all carries by fair coins. Mean -1/2 of x_0 over uniform u, zero of the others, up to the
    /// top digit's rounding.
    Jlp24,
    /// Dithering modulo q (not in the paper): x = digits(u + rho mod q) - digits(rho), rho uniform modulo q. Mean zero.
    DitherQ,
}

impl Family {
    /// All families, the deterministic ones first.
    pub const ALL: [Self; 8] = [
        Self::Unsigned,
        Self::Balanced,
        Self::Symmetric,
        Self::Gmp19,
        Self::Zy22,
        Self::Jlp21,
        Self::Jlp24,
        Self::DitherQ,
    ];

    /// Whether the digits depend on coins.
    pub fn randomised(self) -> bool {
        !matches!(self, Self::Unsigned | Self::Balanced | Self::Symmetric)
    }

    /// Whether every digit has mean exactly zero over the coins, for every input.
    pub fn centred(self) -> bool {
        matches!(self, Self::Gmp19 | Self::Zy22 | Self::DitherQ)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsigned => "unsigned",
            Self::Balanced => "balanced",
            Self::Symmetric => "symmetric",
            Self::Gmp19 => "gmp19",
            Self::Zy22 => "zy22",
            Self::Jlp21 => "jlp21",
            Self::Jlp24 => "jlp24",
            Self::DitherQ => "dither-q",
        })
    }
}
