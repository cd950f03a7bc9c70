//! Gadget encryptions: RLWE'(m) holds RLWE(m g_t) for every weight g_t of a gadget, RGSW(m) = [RLWE'(-s m), RLWE'(m)].

use super::{Masks, Rlwe, RlweKey, SeededRlwe, check, seeded::ORIGIN_BYTES};
use crate::decompose::{RingGadget, Scale};
use crate::error::LatticeError;
use crate::wire;
use rand::RngCore;
use ring::{DiscreteGaussian, Ntt, Poly, Ring, Word};

/// RLWE'(m) on the wire: row t is a seeded encryption of m base^(dropped + t).
#[derive(Clone, Debug)]
pub struct SeededRlwePrime<W: Word> {
    scale: Scale,
    rows: Vec<SeededRlwe<W>>,
}

impl<W: Word> SeededRlwePrime<W> {
    /// A fresh RLWE'(message), the message in the NTT domain.
    pub fn new(
        key: &RlweKey<W>,
        message: &Poly<W, Ntt>,
        gadget: &RingGadget<W>,
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> Result<Self, LatticeError> {
        check_made_for(key, message, gadget)?;
        Ok(Self { scale: gadget.scale(), rows: fresh_rows(key, message, gadget, error, masks, rng) })
    }

    /// The rows in full.
    pub fn expand(&self, ring: &Ring<W>) -> RlwePrime<W> {
        expand_rows(ring, self.scale, &self.rows)
    }

    /// Whether the rows have the same masks as those of another, and as many.
    pub(crate) fn shares_masks(&self, other: &Self) -> bool {
        let masks = |rows: &[SeededRlwe<W>]| rows.iter().map(|row| (row.seed, row.stream)).collect::<Vec<_>>();
        self.scale == other.scale && masks(&self.rows) == masks(&other.rows)
    }

    /// The body of a digit.
    pub(crate) fn body(&self, digit: usize) -> Poly<W, Ntt> {
        self.rows[digit].b.clone()
    }

    /// The bodies, by digit.
    pub(crate) fn into_bodies(self) -> Vec<Poly<W, Ntt>> {
        self.rows.into_iter().map(|row| row.b).collect()
    }

    /// Refuses a ring that is not the key's.
    pub(crate) fn check(&self, ring: &Ring<W>) -> Result<(), LatticeError> {
        self.rows.iter().try_for_each(|row| check(ring, &row.b))
    }

    /// Bytes of [`Self::to_bytes`]: seed, first stream index (8), then `length` bodies.
    pub fn wire_bytes(ring: &Ring<W>, length: usize) -> usize {
        ORIGIN_BYTES + (length * wire::poly_bits(ring)).div_ceil(8)
    }

    /// Seed, first stream index and bit-packed bodies.
    pub fn to_bytes(&self, ring: &Ring<W>) -> Vec<u8> {
        write_rows(ring, &self.rows)
    }

    /// Inverse of [`Self::to_bytes`], for a key made with that gadget, which the bytes do not state.
    pub fn from_bytes(gadget: &RingGadget<W>, bytes: &[u8]) -> Result<Self, LatticeError> {
        Ok(Self { scale: gadget.scale(), rows: read_rows(gadget.ring(), gadget.length(), bytes)? })
    }
}

/// Refuses a message or a gadget of another ring than the key's.
fn check_made_for<W: Word>(
    key: &RlweKey<W>,
    message: &Poly<W, Ntt>,
    gadget: &RingGadget<W>,
) -> Result<(), LatticeError> {
    if !key.ring().is_same(gadget.ring()) {
        return Err(LatticeError::Mismatch("a key and a gadget of different rings"));
    }
    check(key.ring(), message)
}

/// Encryptions of the message times each weight of the gadget.
fn fresh_rows<W: Word>(
    key: &RlweKey<W>,
    message: &Poly<W, Ntt>,
    gadget: &RingGadget<W>,
    error: &DiscreteGaussian,
    masks: &mut Masks,
    rng: &mut impl RngCore,
) -> Vec<SeededRlwe<W>> {
    let row = |&weight: &u128| {
        let mut scaled = message.clone();
        key.ring().mul_scalar_assign(&mut scaled, weight);
        key.encrypt_ntt(&scaled, error, masks, rng)
    };
    gadget.weights().iter().map(row).collect()
}

fn expand_rows<W: Word>(ring: &Ring<W>, scale: Scale, rows: &[SeededRlwe<W>]) -> RlwePrime<W> {
    RlwePrime { scale, rows: rows.iter().map(|row| row.expand(ring)).collect() }
}

/// Bytes of rows made one after the other by one [`Masks`]: their streams follow each other.
pub(crate) fn write_rows<W: Word>(ring: &Ring<W>, rows: &[SeededRlwe<W>]) -> Vec<u8> {
    let mut out = wire::Writer::with_capacity(SeededRlwePrime::wire_bytes(ring, rows.len()));
    if let Some(first) = rows.first() {
        out.write_seed(&first.seed);
        out.write_all(&[first.stream], u64::BITS);
    }
    for row in rows {
        out.write_poly(ring, &row.b);
    }
    out.finish()
}

/// Inverse of [`write_rows`] for `length` rows.
pub(crate) fn read_rows<W: Word>(
    ring: &Ring<W>,
    length: usize,
    bytes: &[u8],
) -> Result<Vec<SeededRlwe<W>>, LatticeError> {
    let mut input = wire::Reader::new(bytes, SeededRlwePrime::wire_bytes(ring, length))?;
    let (seed, first) = (input.seed(), input.word());
    let rows = (0..length as u64)
        .map(|t| Ok(SeededRlwe { seed, stream: first.wrapping_add(t), b: input.poly(ring)? }))
        .collect::<Result<_, LatticeError>>()?;
    input.finish()?;
    Ok(rows)
}

/// RLWE'(m) in full, in the form that products read: row t encrypts m base^(dropped + t), in the NTT domain.
#[derive(Clone, Debug)]
pub struct RlwePrime<W: Word> {
    /// The scale of its gadget.
    pub(crate) scale: Scale,
    /// The rows, by digit.
    pub(crate) rows: Vec<Rlwe<W, Ntt>>,
}

impl<W: Word> RlwePrime<W> {
    /// The rows, by digit.
    pub fn rows(&self) -> &[Rlwe<W, Ntt>] {
        &self.rows
    }

    /// Bytes in memory: masks and bodies.
    pub fn bytes(&self) -> usize {
        self.rows.iter().map(|row| row.a.bytes() + row.b.bytes()).sum()
    }
}

/// RGSW(m) on the wire: the 2 `length` seeded rows of RLWE'(-s m), then of RLWE'(m).
#[derive(Clone, Debug)]
pub struct SeededRgsw<W: Word> {
    scale: Scale,
    rows: Vec<SeededRlwe<W>>,
}

impl<W: Word> SeededRgsw<W> {
    /// A fresh RGSW(message), the message in the NTT domain.
    pub fn new(
        key: &RlweKey<W>,
        message: &Poly<W, Ntt>,
        gadget: &RingGadget<W>,
        error: &DiscreteGaussian,
        masks: &mut Masks,
        rng: &mut impl RngCore,
    ) -> Result<Self, LatticeError> {
        check_made_for(key, message, gadget)?;
        let mut masked = message.clone();
        key.ring().mul_assign(&mut masked, key.ntt());
        key.ring().neg_assign(&mut masked);
        let mut rows = fresh_rows(key, &masked, gadget, error, masks, rng);
        rows.extend(fresh_rows(key, message, gadget, error, masks, rng));
        Ok(Self { scale: gadget.scale(), rows })
    }

    /// The rows of RLWE'(-s m), then of RLWE'(m).
    pub(crate) fn into_rows(self) -> Vec<SeededRlwe<W>> {
        self.rows
    }

    /// The rows in full.
    pub fn expand(&self, ring: &Ring<W>) -> Rgsw<W> {
        let (mask, body) = self.rows.split_at(self.rows.len() / 2);
        Rgsw { mask: expand_rows(ring, self.scale, mask), body: expand_rows(ring, self.scale, body) }
    }

    /// Bytes of [`Self::to_bytes`]: seed, first stream index (8), then 2 `length` bodies.
    pub fn wire_bytes(ring: &Ring<W>, length: usize) -> usize {
        SeededRlwePrime::wire_bytes(ring, 2 * length)
    }

    /// Seed, first stream index and bit-packed bodies.
    pub fn to_bytes(&self, ring: &Ring<W>) -> Vec<u8> {
        write_rows(ring, &self.rows)
    }

    /// Inverse of [`Self::to_bytes`], for a key made with that gadget, which the bytes do not state.
    pub fn from_bytes(gadget: &RingGadget<W>, bytes: &[u8]) -> Result<Self, LatticeError> {
        Ok(Self { scale: gadget.scale(), rows: read_rows(gadget.ring(), 2 * gadget.length(), bytes)? })
    }
}

/// RGSW(m) in full, in the form that products read.
#[derive(Clone, Debug)]
pub struct Rgsw<W: Word> {
    /// RLWE'(-s m): multiplied by the digits of a ciphertext's mask.
    pub mask: RlwePrime<W>,
    /// RLWE'(m): multiplied by the digits of its body.
    pub body: RlwePrime<W>,
}

impl<W: Word> Rgsw<W> {
    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.mask.bytes() + self.body.bytes()
    }

    /// An RGSW of rows that were made by homomorphic operations: encryptions of -s m and of m times the weights of the gadget.
    ///
    /// # Errors
    /// A number of rows other than that of the digits, a row of another ring.
    pub fn from_rows(
        gadget: &RingGadget<W>,
        mask: Vec<Rlwe<W, Ntt>>,
        body: Vec<Rlwe<W, Ntt>>,
    ) -> Result<Self, LatticeError> {
        let whole = |rows: Vec<Rlwe<W, Ntt>>| {
            let key = RlwePrime { scale: gadget.scale(), rows };
            gadget.check_key(&key).map(|()| key)
        };
        Ok(Self { mask: whole(mask)?, body: whole(body)? })
    }
}
