//! Sums of block-diagonal matrices modulo one prime, times vectors: the server's part of ring packing, bound by the bandwidth at
//! which memory streams the matrices.
//!
//! Band i is an n x n matrix whose only non-zero entries lie in the blocks of side s_i on its diagonal; the product is the sum over
//! the bands of band times vector. Entries are words of 32 bits in *lines* of 16, one line for a column of a *strip* of 16 rows.
//! Strip after strip is stored: first the s_0 columns of band 0 that the strip meets, then those of band 1, and so on; so a
//! product reads the whole memory once, from the first byte to the last. Each path has one file with the same functions and results.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;
#[cfg(test)]
mod tests;

use crate::kernel::{Checked, dispatch};
use crate::modulus::Modulus;
use crate::region::Region;
use crate::residues::Vectors;
use crate::work::{Kind, Work, count};

/// Rows of a strip, entries of a line.
pub const LINE: usize = 16;

/// Entries of one column of one strip.
pub type Line = [u32; LINE];

/// Most vectors that one pass over the matrix multiplies; more take more passes.
pub const MAX_BATCH: usize = 8;

/// Reasons to refuse a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiagonalError {
    /// n is not a multiple of the lines' length, or a block does not tile the diagonal.
    #[error(
        "blocks of side {side} do not tile the diagonal of {n} rows: both must be multiples of {LINE}, n of the side"
    )]
    Side {
        /// Side of the blocks.
        side: usize,
        /// Rows.
        n: usize,
    },
    /// The system refused the memory.
    #[error("no memory for a matrix of {0} bytes")]
    Memory(usize),
}

/// A sum of block-diagonal matrices; see the module.
pub struct BlockDiagonal {
    modulus: Modulus<u32>,
    n: usize,
    /// Each band's side and its first line within a strip.
    bands: Vec<(usize, usize)>,
    /// Lines of a strip.
    lines: usize,
    region: Region,
}

impl std::fmt::Debug for BlockDiagonal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockDiagonal").field("n", &self.n).field("bands", &self.bands).finish_non_exhaustive()
    }
}

impl BlockDiagonal {
    /// The zero matrix of n rows with bands of those sides.
    ///
    /// # Errors
    /// Sides that do not tile the diagonal, memory that the system refuses.
    pub fn zero(modulus: &Modulus<u32>, n: usize, sides: &[usize]) -> Result<Self, DiagonalError> {
        let mut lines = 0;
        let mut bands = Vec::with_capacity(sides.len());
        for &side in sides {
            if side == 0 || !side.is_multiple_of(LINE) || !n.is_multiple_of(side) {
                return Err(DiagonalError::Side { side, n });
            }
            bands.push((side, lines));
            lines += side;
        }
        let bytes = n.saturating_mul(lines).saturating_mul(size_of::<u32>());
        let region = Region::zeroed_among_others(bytes).ok_or(DiagonalError::Memory(bytes))?;
        Ok(Self { modulus: *modulus, n, bands, lines, region })
    }

    /// Rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of bands.
    pub fn bands(&self) -> usize {
        self.bands.len()
    }

    /// Bytes of the entries: what a product reads.
    pub fn bytes(&self) -> usize {
        self.region.bytes().len()
    }

    fn lines(&self) -> &[Line] {
        bytemuck::cast_slice(self.region.bytes())
    }

    /// First line of the columns of `band` that the strip meets, and their number.
    fn place(&self, strip: usize, band: usize) -> (usize, usize) {
        let (side, first) = self.bands[band];
        (strip * self.lines + first, side)
    }

    /// The columns of a band that a strip (rows 16 `strip` to 16 `strip` + 15) meets: those of the block around it, in order.
    pub fn columns(&self, strip: usize, band: usize) -> &[Line] {
        let (first, side) = self.place(strip, band);
        &self.lines()[first..first + side]
    }

    /// Like [`Self::columns`]; written values must be below the modulus.
    pub fn columns_mut(&mut self, strip: usize, band: usize) -> &mut [Line] {
        let (first, side) = self.place(strip, band);
        let lines: &mut [Line] = bytemuck::cast_slice_mut(self.region.bytes_mut());
        &mut lines[first..first + side]
    }

    /// The work of [`Self::multiply`] with matrices of `bytes` bytes in all. Every [`MAX_BATCH`] inputs share a pass, which multiplies each
    /// entry for 1, 2, 4 or 8 of them.
    pub fn multiply_work(bytes: u64, inputs: u64) -> Work {
        let batch = MAX_BATCH as u64;
        let rest = inputs % batch;
        let multiplied = inputs - rest + if rest == 0 { 0 } else { rest.next_power_of_two() };
        Work::from([
            (Kind::TableBytes, count(&[bytes, inputs.div_ceil(batch)])),
            (Kind::TableMultiplyAdds, count(&[bytes / size_of::<u32>() as u64, multiplied])),
        ])
    }

    /// `out[c]` = the sum over the bands of band times `inputs[c][band]`, for every c: n residues each. Up to [`MAX_BATCH`] of them
    /// share one pass over the memory.
    ///
    /// # Panics
    /// If an input has not one vector of n for each band, or an output not n elements, or their numbers differ.
    pub fn multiply(&self, vectors: Vectors, inputs: &[Vec<&[u32]>], out: &mut [&mut [u32]]) {
        assert_eq!(inputs.len(), out.len());
        for (inputs, out) in inputs.chunks(MAX_BATCH).zip(out.chunks_mut(MAX_BATCH)) {
            assert!(inputs.iter().all(|x| x.len() == self.bands.len() && x.iter().all(|band| band.len() == self.n)));
            assert!(out.iter().all(|out| out.len() == self.n));
            match (inputs, out) {
                ([], _) => {}
                ([a], [x]) => self.pass(vectors, [a], [x]),
                ([a, b], [x, y]) => self.pass(vectors, [a, b], [x, y]),
                (inputs, out) => {
                    // Three or more: the pass for four or eight, completed by repetitions whose results are dropped.
                    let mut spare = vec![0; self.n * MAX_BATCH];
                    let mut out = out.iter_mut().map(|out| &mut **out).chain(spare.chunks_exact_mut(self.n));
                    let input = |i: usize| &inputs[i.min(inputs.len() - 1)][..];
                    let mut next = || out.next().unwrap_or_default();
                    if inputs.len() <= 4 {
                        self.pass::<4>(vectors, std::array::from_fn(input), std::array::from_fn(|_| next()));
                    } else {
                        self.pass::<8>(vectors, std::array::from_fn(input), std::array::from_fn(|_| next()));
                    }
                }
            }
        }
    }

    /// One pass over the memory.
    fn pass<const C: usize>(&self, vectors: Vectors, inputs: [&[&[u32]]; C], mut out: [&mut [u32]; C]) {
        let largest = u64::from(self.modulus.value()) - 1;
        // A sum below 2^32 and this number of products stay below 2^64.
        let terms = (u64::MAX - u64::from(u32::MAX)) / (largest * largest);
        let plan = Plan { terms: usize::try_from(terms).unwrap_or(usize::MAX) };
        for strip in 0..self.n / LINE {
            let mut sums = [Sums::ZERO; C];
            for (band, &(side, first)) in self.bands.iter().enumerate() {
                let row = strip * LINE;
                let start = row - row % side;
                let from = strip * self.lines + first;
                let lines = &self.lines()[from..];
                let inputs = inputs.map(|input| &input[band][start..start + side]);
                add_products(vectors.checked(), plan, &lines[..side], inputs, &mut sums);
            }
            for (out, sums) in out.iter_mut().zip(&sums) {
                sums.reduce(vectors, &self.modulus, &mut out[strip * LINE..][..LINE]);
            }
        }
    }
}

/// The bounds of the sums.
#[derive(Clone, Copy)]
struct Plan {
    /// Products below (q - 1)^2 that may be added to a number below 2^32 in 64 bits.
    terms: usize,
}

/// Sixteen sums in two words each: low + 2^32 high, low below 2^32 between calls. Even lanes first, as the multipliers of the vector
/// paths deliver them.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Sums {
    low: [u64; LINE],
    high: [u64; LINE],
}

impl Sums {
    const ZERO: Self = Self { low: [0; LINE], high: [0; LINE] };

    /// Where the sum of lane `lane` of a line is kept.
    fn place(lane: usize) -> usize {
        lane / 2 + lane % 2 * (LINE / 2)
    }

    /// The residues of all sums, in the order of the lanes. Small blocks have a sum for every few dozen products, so
    /// that the vectors' reduction is worth its two calls.
    fn reduce(&self, vectors: Vectors, modulus: &Modulus<u32>, out: &mut [u32]) {
        let radix = u64::from(modulus.reduce_u64(1 << 32));
        let (mut high, mut sums, mut residues) = ([0u32; LINE], [0u64; LINE], [0u32; LINE]);
        vectors.reduce(modulus, &self.high, &mut high);
        for ((sum, low), high) in sums.iter_mut().zip(&self.low).zip(high) {
            // Below 2^32 + 2^62.
            *sum = low + radix * u64::from(high);
        }
        vectors.reduce(modulus, &sums, &mut residues);
        for (lane, out) in out.iter_mut().enumerate() {
            *out = residues[Self::place(lane)];
        }
    }
}

/// Adds the products of the lines with the entries of each input to that input's sums.
fn add_products<const C: usize>(
    kernel: Checked,
    plan: Plan,
    lines: &[Line],
    inputs: [&[u32]; C],
    sums: &mut [Sums; C],
) {
    assert!(inputs.iter().all(|input| input.len() == lines.len()));
    dispatch!(kernel, add_products(plan, lines, inputs, sums));
}
