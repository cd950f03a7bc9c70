//! Encrypted databases (Remark 1 of the paper): the client owns the records, sends encryptions of their polynomials under its ring key
//! once, and later retrieves records of its own database, or lets others' queries be answered under its keys.
//!
//! There is no first dimension, because a product with a ciphertext is an external product: every bit of the index folds.

use lattice::{Masks, Rlwe, RlweKey, SeededRlwe};
use ring::{Coefficient, DiscreteGaussian, PolyMatrix, Ring};

use crate::core::threads::side_by_side;
use crate::core::{Context, Database, Error, Result};
use crate::parts::folding::{Encoder, Layout};

/// Name of the message.
pub(super) const DATABASE: &str = "encrypted_database";

/// Columns encoded at a time.
const COLUMNS: usize = 256;

/// Bytes of the encrypted polynomials on the wire.
pub(super) fn wire_bytes(layout: &Layout, ring: &Ring<u32>) -> u64 {
    (layout.matrix_columns() as u64).saturating_mul(SeededRlwe::wire_bytes(ring) as u64)
}

/// Encryptions of `scale` times every polynomial.
pub(super) fn encrypt(
    encoder: &Encoder,
    database: &Database,
    (key, scale): (&RlweKey<u32>, u64),
    error: &DiscreteGaussian,
    masks: &mut Masks,
    context: &mut Context,
) -> Result<Vec<u8>> {
    let (ring, all) = (key.ring(), encoder.layout().matrix_columns());
    let mut bytes = Vec::with_capacity(all * SeededRlwe::wire_bytes(ring));
    for first in (0..all).step_by(COLUMNS) {
        let columns = first..all.min(first + COLUMNS);
        let block: PolyMatrix = encoder.block(database, columns.clone(), context)?;
        for column in 0..columns.len() {
            let mut message = block.get(0, column)?;
            ring.mul_scalar_assign(&mut message, scale.into());
            bytes.extend(key.encrypt_ntt(&message, error, masks, &mut context.rng).to_bytes(ring));
        }
    }
    Ok(bytes)
}

/// The ciphertexts in full, in the order of the matrix's columns.
pub(super) fn expand(ring: &Ring<u32>, bytes: &[u8], threads: usize) -> Result<Vec<Rlwe<u32, Coefficient>>> {
    let cells: Vec<_> = bytes.chunks_exact(SeededRlwe::wire_bytes(ring)).collect();
    side_by_side(0..cells.len(), threads, |i| {
        let seeded = SeededRlwe::from_bytes(ring, cells[i]).map_err(Error::in_message(DATABASE))?;
        Ok(seeded.expand(ring).inverse(ring))
    })
}
