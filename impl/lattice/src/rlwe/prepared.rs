//! Gadget encryptions in the order in which products read them.

use super::{Rgsw, Rlwe};
use ring::{Ntt, Ring, Word};

/// Rows of NTT-domain ciphertexts, limb-major: limb i holds, row by row, the N residues of a, then those of b.
#[derive(Clone, Debug)]
pub struct PreparedRlwePrime<W> {
    data: Vec<W>,
    rows: usize,
    n: usize,
}

impl<W: Word> PreparedRlwePrime<W> {
    pub(super) fn new<'a>(ring: &Ring<W>, rows: impl ExactSizeIterator<Item = &'a Rlwe<W, Ntt>> + Clone) -> Self {
        let mut data = Vec::with_capacity(2 * rows.len() * ring.n() * ring.primes().len());
        for limb in 0..ring.primes().len() {
            for row in rows.clone() {
                data.extend_from_slice(row.a.limb(limb));
                data.extend_from_slice(row.b.limb(limb));
            }
        }
        Self { data, rows: rows.len(), n: ring.n() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The rows modulo prime number `limb`: row t is a at [2 t N, (2 t + 1) N), b at [(2 t + 1) N, (2 t + 2) N).
    pub fn limb(&self, limb: usize) -> &[W] {
        let size = 2 * self.rows * self.n;
        &self.data[limb * size..(limb + 1) * size]
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(self.data.as_slice())
    }
}

/// RGSW(m) as the external product reads it: the rows of RLWE'(-s m), then those of RLWE'(m), in one table.
#[derive(Clone, Debug)]
pub struct PreparedRgsw<W>(PreparedRlwePrime<W>);

impl<W: Word> PreparedRgsw<W> {
    pub(super) fn new(ring: &Ring<W>, rgsw: &Rgsw<W>) -> Self {
        let rows: Vec<_> = rgsw.mask.rows.iter().chain(&rgsw.body.rows).collect();
        Self(PreparedRlwePrime::new(ring, rows.into_iter()))
    }

    /// All rows.
    pub fn table(&self) -> &PreparedRlwePrime<W> {
        &self.0
    }
}
