//! The keys that switch.

use super::gadget::RnsGadget;
use crate::error::BfvError;
use lattice::wire::{self, Reader, Writer};
use lattice::{Masks, RlweKey, SeededRlwe};
use rand::RngCore;
use ring::{Automorphism, DiscreteGaussian, Ntt, Poly, Ring, Seed, Word};
use zeroize::Zeroizing;

/// A switching key as it travels: a seeded encryption a row, of the secret it switches from times the row's weight.
#[derive(Clone, Debug)]
pub struct SeededKey<W: Word> {
    exponent: u64,
    rows: Vec<SeededRlwe<W>>,
}

/// Bytes of the seed and of the number of the first stream.
const ORIGIN_BYTES: usize = wire::SEED_BYTES + 8;

impl<W: Word> SeededKey<W> {
    /// The key of X -> X^exponent: from s(X^exponent) back to s, the key of the gadget's keys' ring.
    ///
    /// # Errors
    /// An even exponent, a secret of another ring than the gadget's keys.
    pub fn automorphism(
        gadget: &RnsGadget<W>,
        secret: &RlweKey<W>,
        exponent: u64,
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> Result<Self, BfvError> {
        let map = Automorphism::new(secret.ring().n(), exponent)?;
        let mut message = Zeroizing::new(secret.automorphism(&map));
        secret.ring().neg_assign(&mut message);
        Self::new(gadget, secret, map.exponent(), &message, error, masks, rng)
    }

    /// The key from s^2 to s.
    ///
    /// # Errors
    /// A secret of another ring than the gadget's keys.
    pub fn relinearisation(
        gadget: &RnsGadget<W>,
        secret: &RlweKey<W>,
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> Result<Self, BfvError> {
        let mut square = Zeroizing::new(secret.ntt().clone());
        secret.ring().mul_assign(&mut square, secret.ntt());
        Self::new(gadget, secret, 1, &square, error, masks, rng)
    }

    fn new(
        gadget: &RnsGadget<W>,
        secret: &RlweKey<W>,
        exponent: u64,
        message: &Poly<W, Ntt>,
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> Result<Self, BfvError> {
        let ring = gadget.key_ring();
        if !ring.is_same(secret.ring()) {
            return Err(BfvError::Mismatch("a gadget and a secret of another ring than its keys"));
        }
        let row = |weights: Vec<W>| {
            let mut scaled: Zeroizing<Poly<W, Ntt>> = Zeroizing::new(ring.zero());
            for (i, weight) in weights.into_iter().enumerate() {
                scaled.limb_mut(i).copy_from_slice(message.limb(i));
                ring.vectors().mul_scalar(&ring.limbs()[i].0, scaled.limb_mut(i), weight);
            }
            secret.encrypt_ntt(&scaled, error, masks, rng)
        };
        Ok(Self { exponent, rows: gadget.weights().into_iter().map(row).collect() })
    }

    /// The masks, which the seed alone tells.
    ///
    /// # Errors
    /// A gadget of another ring or number of rows.
    pub fn masks(&self, gadget: &RnsGadget<W>) -> Result<KeyHalf<W>, BfvError> {
        let ring = gadget.key_ring();
        KeyHalf::new(
            gadget,
            self.exponent,
            self.rows.iter().map(|row| ring.expand(&row.seed.prg(), row.stream)).collect(),
        )
    }

    /// The bodies.
    ///
    /// # Errors
    /// A gadget of another ring or number of rows.
    pub fn bodies(&self, gadget: &RnsGadget<W>) -> Result<KeyHalf<W>, BfvError> {
        KeyHalf::new(gadget, self.exponent, self.rows.iter().map(|row| row.b.clone()).collect())
    }

    /// The key ready for use.
    ///
    /// # Errors
    /// A gadget of another ring or number of rows.
    pub fn expand(&self, gadget: &RnsGadget<W>) -> Result<SwitchingKey<W>, BfvError> {
        Ok(SwitchingKey { masks: self.masks(gadget)?, bodies: self.bodies(gadget)? })
    }

    /// Bytes of [`Self::to_bytes`]: seed, number of the first stream (8), a body a row.
    pub fn wire_bytes(gadget: &RnsGadget<W>) -> usize {
        ORIGIN_BYTES + (gadget.rows() * wire::poly_bits(gadget.key_ring())).div_ceil(8)
    }

    /// Seed, number of the first stream and bit-packed bodies.
    pub fn to_bytes(&self, gadget: &RnsGadget<W>) -> Vec<u8> {
        let mut out = Writer::with_capacity(Self::wire_bytes(gadget));
        if let Some(first) = self.rows.first() {
            out.write_seed(&first.seed);
            out.write_all(&[first.stream], u64::BITS);
        }
        self.write_bodies(gadget, &mut out);
        out.finish()
    }

    /// Writes the bodies alone, for a receiver that knows the seed: see [`KeyHalf::read_bodies`].
    pub fn write_bodies(&self, gadget: &RnsGadget<W>, out: &mut Writer) {
        self.rows.iter().for_each(|row| out.write_poly(gadget.key_ring(), &row.b));
    }

    /// Inverse of [`Self::to_bytes`] of a key of that gadget and exponent (1 for relinearisation): the bytes do not tell which.
    ///
    /// # Errors
    /// A wrong number of bytes, a residue not below its prime, padding that is not zero.
    pub fn from_bytes(gadget: &RnsGadget<W>, exponent: u64, bytes: &[u8]) -> Result<Self, BfvError> {
        let mut input = Reader::new(bytes, Self::wire_bytes(gadget))?;
        let (seed, first) = (input.seed(), input.word());
        let row = |t: u64| Ok(SeededRlwe { seed, stream: first.wrapping_add(t), b: input.poly(gadget.key_ring())? });
        let rows = (0..gadget.rows() as u64).map(row).collect::<Result<_, BfvError>>()?;
        input.finish()?;
        Ok(Self { exponent, rows })
    }
}

/// The masks or the bodies of a key's rows.
///
/// The digits of f(X^k) are those of f, mapped. So rows are kept mapped back, and the sum is mapped once: digits then serve keys of
/// any automorphism as they are.
#[derive(Clone, Debug)]
pub struct KeyHalf<W: Word> {
    pub(super) rows: Vec<Poly<W, Ntt>>,
    pub(super) map: Automorphism,
}

impl<W: Word> KeyHalf<W> {
    fn new(gadget: &RnsGadget<W>, exponent: u64, rows: Vec<Poly<W, Ntt>>) -> Result<Self, BfvError> {
        let ring = gadget.key_ring();
        if rows.len() != gadget.rows() || !rows.iter().all(|row| ring.owns(row)) {
            return Err(BfvError::Mismatch("a gadget and a key of another"));
        }
        let map = Automorphism::new(ring.n(), exponent)?;
        // The group of odd exponents modulo 2N has exponent N/2, so the inverse is a power.
        let order = 2 * ring.n() as u64;
        let inverse = (1..ring.n() / 2).fold(1, |power, _| power * map.exponent() % order);
        let back = Automorphism::new(ring.n(), inverse)?;
        let rows = rows.iter().map(|row| ring.automorphism_ntt(row, &back)).collect();
        Ok(Self { rows, map })
    }

    /// The masks that a seed gives from a stream on, for a key of that exponent: known before the key is made.
    ///
    /// # Errors
    /// An even exponent.
    pub fn of_seed(gadget: &RnsGadget<W>, exponent: u64, seed: Seed, first: u64) -> Result<Self, BfvError> {
        let (prg, ring) = (seed.prg(), gadget.key_ring());
        let rows = (0..gadget.rows() as u64).map(|t| ring.expand(&prg, first.wrapping_add(t)));
        Self::new(gadget, exponent, rows.collect())
    }

    /// The bodies that [`SeededKey::write_bodies`] wrote of a key of that gadget and exponent.
    ///
    /// # Errors
    /// An even exponent, a residue not below its prime.
    pub fn read_bodies(gadget: &RnsGadget<W>, exponent: u64, input: &mut Reader) -> Result<Self, BfvError> {
        let rows = (0..gadget.rows()).map(|_| Ok(input.poly(gadget.key_ring())?));
        Self::new(gadget, exponent, rows.collect::<Result<_, BfvError>>()?)
    }

    /// The rows, each mapped back by the automorphism.
    pub fn rows(&self) -> &[Poly<W, Ntt>] {
        &self.rows
    }

    /// The exponent of the key's automorphism.
    pub fn exponent(&self) -> u64 {
        self.map.exponent()
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.rows.iter().map(Poly::bytes).sum::<usize>() + self.map.bytes()
    }

    /// The polynomial under the automorphism.
    pub(super) fn permute(&self, ring: &Ring<W>, poly: Poly<W, Ntt>) -> Poly<W, Ntt> {
        if self.exponent() == 1 { poly } else { ring.automorphism_ntt(&poly, &self.map) }
    }
}

/// A switching key ready for use.
#[derive(Clone, Debug)]
pub struct SwitchingKey<W: Word> {
    masks: KeyHalf<W>,
    bodies: KeyHalf<W>,
}

impl<W: Word> SwitchingKey<W> {
    /// The exponent of its automorphism; 1 for relinearisation.
    pub fn exponent(&self) -> u64 {
        self.masks.exponent()
    }

    /// The masks of its rows.
    pub fn masks(&self) -> &KeyHalf<W> {
        &self.masks
    }

    /// The bodies of its rows.
    pub fn bodies(&self) -> &KeyHalf<W> {
        &self.bodies
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.masks.bytes() + self.bodies.bytes()
    }
}
