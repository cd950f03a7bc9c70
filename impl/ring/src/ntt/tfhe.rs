//! The transforms of `tfhe-ntt` 0.7 behind the functions of our plan: an alternative, an oracle and an opponent.

use super::NttError;
use crate::primes::is_prime;
use crate::residues::Word;
use std::marker::PhantomData;

/// A plan of `tfhe-ntt`. Same order of slots as [`super::NttPlan`], but its own psi: see [`Self::root`].
#[derive(Debug)]
pub struct TfhePlan<W> {
    plan: Plan,
    word: PhantomData<W>,
}

#[derive(Debug)]
enum Plan {
    Word32(tfhe_ntt::prime32::Plan),
    Word64(tfhe_ntt::prime64::Plan),
}

/// Applies a function of the library to words of its kind.
macro_rules! apply {
    ($plan:expr, $data:expr, $function:ident) => {
        match &$plan {
            Plan::Word32(plan) => plan.$function(bytemuck::cast_slice_mut($data)),
            Plan::Word64(plan) => plan.$function(bytemuck::cast_slice_mut($data)),
        }
    };
}

impl<W: Word> TfhePlan<W> {
    /// The plan for `n` points, a power of two from 32 on, modulo `prime` = 1 mod 2n.
    ///
    /// # Errors
    /// A composite modulus; a size or a prime that the library refuses.
    pub fn new(n: usize, prime: W) -> Result<Self, NttError> {
        let p = prime.to_u64();
        if !is_prime(p) {
            return Err(NttError::Composite(p));
        }
        let plan = if W::BITS == 32 {
            tfhe_ntt::prime32::Plan::try_new(n, p as u32).map(Plan::Word32)
        } else {
            tfhe_ntt::prime64::Plan::try_new(n, p).map(Plan::Word64)
        };
        Ok(Self { plan: plan.ok_or(NttError::NoRoot { prime: p, n })?, word: PhantomData })
    }

    /// Number of points N.
    pub fn n(&self) -> usize {
        match &self.plan {
            Plan::Word32(plan) => plan.ntt_size(),
            Plan::Word64(plan) => plan.ntt_size(),
        }
    }

    /// psi: the value of X in slot 0.
    pub fn root(&self) -> W {
        let mut data = vec![W::default(); self.n()];
        data[1] = W::from_u64(1);
        self.forward(&mut data);
        data[0]
    }

    /// Coefficients in [0, p) to values in [0, p).
    pub fn forward(&self, data: &mut [W]) {
        apply!(self.plan, data, fwd);
    }

    /// The exact inverse of [`Self::forward`].
    pub fn inverse(&self, data: &mut [W]) {
        apply!(self.plan, data, inv);
        apply!(self.plan, data, normalize);
    }

    /// N times [`Self::inverse`].
    pub fn inverse_unscaled(&self, data: &mut [W]) {
        apply!(self.plan, data, inv);
    }
}
