//! The squaring key: from RLWE(m) to RLWE(-s m).

use crate::decompose::{GadgetShape, RingGadget};
use crate::error::LatticeError;
use crate::product::Workspace;
use crate::rlwe::{Masks, Rlwe, RlweKey, RlwePrime, SeededRlwePrime};
use rand::RngCore;
use ring::{Coefficient, DiscreteGaussian, Ntt, Word, Work};

/// RLWE'(s^2).
pub fn squaring_key<W: Word>(
    key: &RlweKey<W>,
    gadget: &RingGadget<W>,
    error: &DiscreteGaussian,
    masks: &mut Masks,
    rng: &mut impl RngCore,
) -> Result<SeededRlwePrime<W>, LatticeError> {
    let mut square = key.ntt().clone();
    key.ring().mul_assign(&mut square, key.ntt());
    SeededRlwePrime::new(key, &square, gadget, error, masks, rng)
}

/// NTTs of size N modulo one prime that [`RingGadget::rgsw_rows`] takes, all of them forward.
pub fn mask_row_ntts(squaring_length: usize, primes: usize) -> usize {
    (squaring_length + 2) * primes
}

impl GadgetShape {
    /// The work of [`RingGadget::rgsw_rows`].
    pub fn rgsw_rows_work(self) -> Work {
        let ntts = mask_row_ntts(self.length, self.ring.primes) as u64;
        self.ring.ntts(ntts) + self.digits_work(1) + self.ring.products(2 * self.length as u64)
    }
}

impl<W: Word> RingGadget<W> {
    /// The two rows of RGSW that RLWE(m) = (a, b) gives, both in the NTT domain: itself, and RLWE(-s m) = (b, 0) + RLWE'(s^2) a.
    ///
    /// (b, 0) has the phase -s b, which is -s m - s e - s^2 a. `key`: from [`squaring_key`], with this gadget.
    pub fn rgsw_rows(
        &self,
        row: Rlwe<W, Coefficient>,
        key: &RlwePrime<W>,
        workspace: &mut Workspace<W>,
    ) -> Result<[Rlwe<W, Ntt>; 2], LatticeError> {
        let ring = self.ring();
        row.check(ring)?;
        let mut mask = Rlwe::zero(ring);
        self.product_ntt(&[(&row.a, key)], workspace, &mut mask)?;
        let body = row.forward(ring);
        ring.add_assign(&mut mask.a, &body.b);
        Ok([mask, body])
    }
}
