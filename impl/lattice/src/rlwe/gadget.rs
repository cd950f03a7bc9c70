//! Gadget encryptions: RLWE'(m) holds RLWE(m g_t) for every weight g_t of a gadget, RGSW(m) = [RLWE'(-s m), RLWE'(m)].

use super::{Masks, Rlwe, RlweKey, SeededRlwe, seeded::ORIGIN_BYTES};
use crate::decompose::RingGadget;
use crate::error::LatticeError;
use crate::wire;
use rand::RngCore;
use ring::{DiscreteGaussian, Ntt, Poly, Ring, Word};

/// RLWE'(m) as it travels: row t is a seeded encryption of m base^(dropped + t).
#[derive(Clone, Debug)]
pub struct SeededRlwePrime<W: Word> {
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
    ) -> Self {
        let rows = gadget
            .weights()
            .iter()
            .map(|&weight| {
                let mut scaled = message.clone();
                key.ring().mul_scalar_assign(&mut scaled, weight);
                key.encrypt_ntt(&scaled, error, masks, rng)
            })
            .collect();
        Self { rows }
    }

    /// The rows in full.
    pub fn expand(&self, ring: &Ring<W>) -> RlwePrime<W> {
        RlwePrime { rows: self.rows.iter().map(|row| row.expand(ring)).collect() }
    }

    /// Bytes of [`Self::to_bytes`]: seed, first stream index (8), then `length` bodies.
    pub fn wire_bytes(ring: &Ring<W>, length: usize) -> usize {
        ORIGIN_BYTES + (length * wire::poly_bits(ring)).div_ceil(8)
    }

    /// Seed, first stream index and bit-packed bodies.
    pub fn to_bytes(&self, ring: &Ring<W>) -> Vec<u8> {
        write_rows(ring, &self.rows)
    }

    /// Inverse of [`Self::to_bytes`].
    ///
    /// # Errors
    /// A wrong number of bytes, a residue not below its prime, padding that is not zero.
    pub fn from_bytes(ring: &Ring<W>, length: usize, bytes: &[u8]) -> Result<Self, LatticeError> {
        Ok(Self { rows: read_rows(ring, length, bytes)? })
    }
}

/// Rows made one after the other by one [`Masks`]: their streams follow each other.
fn write_rows<W: Word>(ring: &Ring<W>, rows: &[SeededRlwe<W>]) -> Vec<u8> {
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

fn read_rows<W: Word>(ring: &Ring<W>, length: usize, bytes: &[u8]) -> Result<Vec<SeededRlwe<W>>, LatticeError> {
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
    /// The rows, by digit.
    pub rows: Vec<Rlwe<W, Ntt>>,
}

/// RGSW(m) as it travels: the 2 `length` seeded rows of RLWE'(-s m), then of RLWE'(m).
#[derive(Clone, Debug)]
pub struct SeededRgsw<W: Word> {
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
    ) -> Self {
        let mut masked = message.clone();
        key.ring().mul_assign(&mut masked, key.ntt());
        key.ring().neg_assign(&mut masked);
        let mut rows = SeededRlwePrime::new(key, &masked, gadget, error, masks, rng).rows;
        rows.extend(SeededRlwePrime::new(key, message, gadget, error, masks, rng).rows);
        Self { rows }
    }

    /// The rows in full.
    pub fn expand(&self, ring: &Ring<W>) -> Rgsw<W> {
        let expand = |rows: &[SeededRlwe<W>]| RlwePrime { rows: rows.iter().map(|row| row.expand(ring)).collect() };
        let (mask, body) = self.rows.split_at(self.rows.len() / 2);
        Rgsw { mask: expand(mask), body: expand(body) }
    }

    /// Bytes of [`Self::to_bytes`]: seed, first stream index (8), then 2 `length` bodies.
    pub fn wire_bytes(ring: &Ring<W>, length: usize) -> usize {
        SeededRlwePrime::wire_bytes(ring, 2 * length)
    }

    /// Seed, first stream index and bit-packed bodies.
    pub fn to_bytes(&self, ring: &Ring<W>) -> Vec<u8> {
        write_rows(ring, &self.rows)
    }

    /// Inverse of [`Self::to_bytes`].
    ///
    /// # Errors
    /// A wrong number of bytes, a residue not below its prime, padding that is not zero.
    pub fn from_bytes(ring: &Ring<W>, length: usize, bytes: &[u8]) -> Result<Self, LatticeError> {
        Ok(Self { rows: read_rows(ring, 2 * length, bytes)? })
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
