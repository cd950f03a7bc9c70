//! Sample extraction: one coefficient of an RLWE ciphertext as an LWE ciphertext under the key's coefficient vector.

use crate::error::LatticeError;
use crate::lwe::{Lwe, LweKey};
use crate::rlwe::{Rlwe, RlweKey};
use ring::{Coefficient, Modulus, Ring, Word};

/// Extracts single coefficients of one ciphertext modulo q < 2^62.
pub struct Extractor {
    modulus: Modulus<u64>,
    a: Vec<u64>,
    b: Vec<u64>,
}

impl Extractor {
    /// Composes both parts once.
    ///
    /// # Errors
    /// A ring whose modulus is 2^62 or more, a ciphertext of another ring.
    pub fn new<W: Word>(ring: &Ring<W>, input: &Rlwe<W, Coefficient>) -> Result<Self, LatticeError> {
        input.check(ring)?;
        let modulus = ring
            .modulus_u128()
            .and_then(|q| Modulus::new(u64::try_from(q).ok()?).ok())
            .ok_or_else(|| LatticeError::Parameter("sample extraction needs a modulus below 2^62".to_owned()))?;
        let (mut a, mut b) = (vec![0; ring.n()], vec![0; ring.n()]);
        ring.compose_u64(&input.a, &mut a);
        ring.compose_u64(&input.b, &mut b);
        Ok(Self { modulus, a, b })
    }

    /// Coefficient `index` (below N) as an LWE ciphertext of dimension N.
    ///
    /// # Errors
    /// An index not below N.
    pub fn coefficient(&self, index: usize) -> Result<Lwe, LatticeError> {
        let n = self.a.len();
        let b = *self
            .b
            .get(index)
            .ok_or_else(|| LatticeError::Parameter(format!("coefficient {index} of a ring of dimension {n}")))?;
        // Coefficient k of a s is the sum over j of s_j a_(k - j), where a_(i - N) stands for -a_i.
        let a = (0..n)
            .map(|j| if j <= index { self.a[index - j] } else { self.modulus.neg(self.a[n + index - j]) })
            .collect();
        Ok(Lwe { modulus: self.modulus, a, b })
    }
}

impl<W: Word> RlweKey<W> {
    /// The LWE key of extracted samples: the coefficients.
    pub fn to_lwe(&self) -> LweKey {
        LweKey::from_coefficients(self.coefficients().to_vec())
    }
}
