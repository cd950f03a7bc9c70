//! Compressed responses (Respire, section 4): switched to a small modulus, then to a small ring, with different moduli for mask and body.

use std::sync::Arc;

use gadget::Family;
use lattice::{
    Masks, RingGadget, Rlwe, RlweKey, RlwePrime, SeededRlwePrime, SplitKey, SplitRlwe, Workspace, embed_key, project,
    switching_key,
};
use rand::RngCore;
use ring::{Coefficient, DiscreteGaussian, Kernel, Ring};

use crate::core::{Error, Result};
use crate::parts::ring_matrix::Switch;

/// Moduli and gadget of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseParams {
    /// N1.
    pub degree: usize,
    /// q2: prime modulus of the masks, 1 modulo 2 N.
    pub mask_modulus: u64,
    /// q3: modulus of the bodies.
    pub body_modulus: u64,
    /// Base of the digits of the switch to the small ring.
    pub base: u64,
}

/// Both rings of responses and the gadget of the switch between them.
#[derive(Clone, Debug)]
pub struct Responder {
    params: ResponseParams,
    ring: Arc<Ring<u32>>,
    /// Dimension N, modulus q2.
    large: Arc<Ring<u32>>,
    /// Dimension N1, modulus q2.
    small: Arc<Ring<u32>>,
    gadget: RingGadget<u32>,
}

/// A client's secret key of responses.
pub struct ResponseKey {
    key: RlweKey<u32>,
    opener: SplitKey,
}

impl ResponseKey {
    /// The phases of a response, in units of q3.
    pub fn phase(&self, response: &SplitRlwe) -> Result<Vec<f64>> {
        self.opener.phase(response).map_err(Error::from)
    }
}

impl Responder {
    /// The responder for ciphertexts over `ring`.
    pub fn new(params: ResponseParams, ring: &Arc<Ring<u32>>) -> Result<Self> {
        let value = |e: &dyn std::fmt::Display| Error::value("response", e.to_string());
        let ring_of = |n: usize| Ring::new(n, &[params.mask_modulus], ring.kernel()).map_err(|e| value(&e));
        if params.degree > ring.n() {
            return Err(value(&format!("degree {} exceeds the ring's, {}.", params.degree, ring.n())));
        }
        let (large, small) = (ring_of(ring.n())?, ring_of(params.degree)?);
        let gadget = RingGadget::new(&large, Family::Symmetric, params.base, 0).map_err(|e| value(&e))?;
        Ok(Self { params, ring: Arc::clone(ring), large, small, gadget })
    }

    /// Digits of the switch.
    pub fn length(&self) -> usize {
        self.gadget.length()
    }

    /// The gadget of the switch, over the ring of dimension N modulo q2.
    pub fn gadget(&self) -> &RingGadget<u32> {
        &self.gadget
    }

    /// Bytes of a response of one slot: N1 residues modulo q2 and N1 modulo q3.
    pub fn response_bytes(&self) -> usize {
        let ResponseParams { degree, mask_modulus, body_modulus, .. } = self.params;
        SplitRlwe::wire_bytes(degree, degree, mask_modulus, body_modulus)
    }

    /// A fresh secret key of responses.
    pub fn sample(&self, secret: &lattice::Secret, rng: &mut impl RngCore) -> Result<ResponseKey> {
        let key = RlweKey::sample(&self.small, secret, rng)?;
        let opener = SplitKey::new(&key)?;
        Ok(ResponseKey { key, opener })
    }

    /// The key that switches from `from` to a key of responses: RLWE'(-from) modulo q2 under that key, embedded.
    pub fn switching_key(
        &self,
        from: &RlweKey<u32>,
        to: &ResponseKey,
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> Result<SeededRlwePrime<u32>> {
        let from = RlweKey::from_coefficients(&self.large, from.coefficients().to_vec())?;
        let embedded;
        let to = if self.params.degree == self.large.n() {
            &to.key
        } else {
            embedded = embed_key(&to.key, &self.large)?;
            &embedded
        };
        switching_key(from.ntt(), to, &self.gadget, error, masks, rng).map_err(Error::from)
    }

    /// The coefficients of slot 0 of a ciphertext.
    pub fn compress(
        &self,
        ciphertext: &Rlwe<u32, Coefficient>,
        key: &RlwePrime<u32>,
        workspace: &mut Workspace<u32>,
    ) -> Result<SplitRlwe> {
        let ResponseParams { mask_modulus, body_modulus, .. } = self.params;
        let part = |poly| self.large.from_u64(&self.ring.switch_to(poly, mask_modulus));
        let switched = Rlwe { a: part(&ciphertext.a), b: part(&ciphertext.b) };
        let mut out = Rlwe::zero(&self.large);
        self.gadget.key_switch(&switched, key, workspace, &mut out)?;
        if self.params.degree == self.large.n() {
            return out.split_switch(&self.large, mask_modulus, body_modulus).map_err(Error::from);
        }
        let small = project(&self.large, &self.small, &out)?;
        small.split_switch(&self.small, mask_modulus, body_modulus).map_err(Error::from)
    }

    /// The coefficients modulo p of a response of one slot.
    pub fn open(&self, key: &ResponseKey, bytes: &[u8], plain_modulus: u64) -> Result<Vec<u64>> {
        key.opener.decode(&self.parse(bytes)?, plain_modulus).map_err(Error::from)
    }

    fn switch(&self) -> Switch {
        Switch { mask_modulus: self.params.mask_modulus, body_modulus: self.params.body_modulus }
    }

    fn parse(&self, bytes: &[u8]) -> Result<SplitRlwe> {
        self.switch().read(self.params.degree, self.params.degree, bytes)
    }

    /// The errors of a response's phases, in units of q2, and the size at which decryption fails.
    pub fn errors(
        &self,
        key: &ResponseKey,
        bytes: &[u8],
        plain_modulus: u64,
        messages: impl IntoIterator<Item = i64>,
    ) -> Result<(f64, Vec<i32>)> {
        self.switch().errors(&key.opener, &self.parse(bytes)?, plain_modulus, messages)
    }
}

impl ResponseParams {
    /// Refuses moduli and bases that do not fit a ring of dimension `n` and messages modulo `plain_modulus`.
    pub fn check(&self, ring: &Arc<Ring<u32>>, plain_modulus: u64) -> Result<()> {
        for (key, modulus) in
            [("response.mask_modulus", self.mask_modulus), ("response.body_modulus", self.body_modulus)]
        {
            if !(2 * plain_modulus..1 << 31).contains(&modulus) {
                let bound =
                    format!("{modulus} is not between twice the plaintext modulus, {}, and 2^31.", 2 * plain_modulus);
                return Err(Error::value(key, bound));
            }
        }
        let scalar = Ring::<u32>::new(ring.n(), &[self.mask_modulus], Kernel::Scalar);
        scalar.map_err(|e| Error::value("response.mask_modulus", e.to_string()))?;
        Responder::new(*self, ring).map(|_| ())
    }
}
