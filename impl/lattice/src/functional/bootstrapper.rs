//! The keys of functional bootstrapping, and one rotation with one or several functions.

use super::Table;
use crate::error::LatticeError;
use crate::extract::Extractor;
use crate::lwe::{Lwe, LweSwitcher};
use crate::product::Workspace;
use crate::rlwe::Rlwe;
use crate::rotate::{BlindRotationKey, SmallSecret};
use ring::{Coefficient, Modulus, Poly, Ring, Word};

/// A key switch from the ring key's coefficients s to a small key z, and a blind rotation by phases under z.
pub struct Bootstrapper<W: Word> {
    rotation: BlindRotationKey<W>,
    switcher: LweSwitcher,
    /// 2N, and the ring's modulus Q.
    order: Modulus<u64>,
    modulus: Modulus<u64>,
}

impl<W: Word> Bootstrapper<W> {
    /// Bytes in memory of the blind rotation's key and of the key switch's.
    pub fn key_bytes(&self) -> [usize; 2] {
        [self.rotation.bytes(), self.switcher.key_bytes()]
    }

    /// A bootstrapper with keys that belong together.
    ///
    /// # Errors
    /// A switch that does not lead from dimension N to that of the rotation's small key, a ring whose modulus is 2^62 or more.
    pub fn new(rotation: BlindRotationKey<W>, switcher: LweSwitcher) -> Result<Self, LatticeError> {
        let ring = rotation.ring();
        if switcher.dimensions() != (ring.n(), rotation.shape().dimension) {
            return Err(LatticeError::Mismatch("a blind rotation and a key switch to or from another dimension"));
        }
        let modulus = ring.modulus_u128().and_then(|q| Modulus::new(u64::try_from(q).ok()?).ok()).ok_or_else(|| {
            LatticeError::Parameter("functional bootstrapping needs a ring modulus below 2^62".to_owned())
        })?;
        let order = Modulus::new(2 * ring.n() as u64).map_err(|error| LatticeError::Parameter(error.to_string()))?;
        Ok(Self { rotation, switcher, order, modulus })
    }

    /// The blind rotation.
    pub fn rotation(&self) -> &BlindRotationKey<W> {
        &self.rotation
    }

    /// The key switch.
    pub fn switcher(&self) -> &LweSwitcher {
        &self.switcher
    }

    /// The ring.
    pub fn ring(&self) -> &Ring<W> {
        self.rotation.ring()
    }

    /// The ring's modulus Q, that of all results.
    pub fn modulus(&self) -> Modulus<u64> {
        self.modulus
    }

    /// Ciphertexts under s of any modulus q as ciphertexts under z modulo 2N: phases times 2N / q, with the noise of the switches. Each is
    /// switched to the modulus of the key switch, then to z, then to 2N (mean-compensated if z is binary).
    ///
    /// # Errors
    /// A ciphertext of another dimension than N.
    pub fn to_small(&self, inputs: &[Lwe], workspace: &mut Workspace<W>) -> Result<Vec<Lwe>, LatticeError> {
        let inputs: Vec<Lwe> = inputs.iter().map(|input| input.switch_modulus(self.switcher.modulus())).collect();
        let switched = self.switcher.switch_all(&inputs, workspace.coins())?;
        let small = |lwe: &Lwe| match self.rotation.shape().secret {
            SmallSecret::Binary => lwe.switch_modulus_compensated(self.order),
            SmallSecret::Ternary => lwe.switch_modulus(self.order),
        };
        Ok(switched.iter().map(small).collect())
    }

    /// The value at each phase of the function with those N values (residues modulo Q) below N, and their negatives from N on. Inputs are
    /// modulo 2N under z, results modulo Q under s.
    ///
    /// # Errors
    /// A `test` of another ring, an input of another modulus or dimension.
    pub fn evaluate(
        &self,
        test: &Poly<W, Coefficient>,
        inputs: &[Lwe],
        workspace: &mut Workspace<W>,
    ) -> Result<Vec<Lwe>, LatticeError> {
        let rotated = self.rotate(test, inputs, workspace)?;
        rotated.iter().map(|rotated| Extractor::new(self.ring(), rotated)?.coefficient(0)).collect()
    }

    /// The values of several functions at each phase, with one rotation for each input: for every input, the values of all tables times
    /// `base` (a residue modulo Q).
    ///
    /// # Errors
    /// A table of another ring, an input of another modulus or dimension.
    pub fn evaluate_tables(
        &self,
        base: u64,
        tables: &[Table<W>],
        inputs: &[Lwe],
        workspace: &mut Workspace<W>,
    ) -> Result<Vec<Vec<Lwe>>, LatticeError> {
        let ring = self.ring();
        tables.iter().try_for_each(|table| crate::rlwe::check(ring, table.steps()))?;
        let test = ring.from_u64(&vec![self.modulus.reduce_u64(base); ring.n()]);
        let rotated = self.rotate(&test, inputs, workspace)?;
        let values = |rotated: Rlwe<W, Coefficient>| {
            let rotated = rotated.forward(ring);
            let value = |table: &Table<W>| {
                let mut product = rotated.clone();
                product.mul_plain_assign(ring, table.steps());
                Extractor::new(ring, &product.inverse(ring))?.coefficient(0)
            };
            tables.iter().map(value).collect()
        };
        rotated.into_iter().map(values).collect()
    }

    fn rotate(
        &self,
        test: &Poly<W, Coefficient>,
        inputs: &[Lwe],
        workspace: &mut Workspace<W>,
    ) -> Result<Vec<Rlwe<W, Coefficient>>, LatticeError> {
        let mut accumulators = vec![Rlwe::trivial(self.ring(), test.clone()); inputs.len()];
        self.rotation.rotate_all(&mut accumulators, inputs, workspace)?;
        Ok(accumulators)
    }
}
