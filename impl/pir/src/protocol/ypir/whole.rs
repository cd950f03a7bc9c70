//! Answers if records are selected whole: for each entry of a record, the sum over the groups of the group's ciphertext times the
//! polynomial whose coefficients are the digits of that row's hint and answer. Hints are computed from the database for every batch of
//! queries, by a transform of n points for n entries, which takes less memory than any table and no work when records change.

use lattice::Rlwe;
use ring::Ntt;
use ring::matrix::packed::GROUP_ROWS;

use super::layout::Layers;
use super::public::Public;
use super::second::switched_digits;
use super::server::Server;
use crate::core::Result;
use crate::core::threads::side_by_side;
use crate::parts::ring_matrix::Selector;

/// Entries of a record whose sums are kept at a time: eight groups of eight rows, or parts of nine if they are not aligned.
const ENTRIES: usize = 8 * GROUP_ROWS;

impl Server {
    /// For each query the sums of all entries, in order; `products` are the first layer's answers.
    pub(super) fn selected_sums(
        &self,
        queries: &[Selector],
        products: &[Vec<u32>],
        threads: usize,
    ) -> Result<Vec<Vec<Vec<u8>>>> {
        let layers = &self.public.layers;
        let starts: Vec<usize> = (0..layers.copies).step_by(ENTRIES).collect();
        let parts = side_by_side(0..starts.len(), threads, |i| self.part(starts[i], queries, products))?;
        let mut answers: Vec<Vec<Vec<u8>>> = queries.iter().map(|_| Vec::with_capacity(layers.copies)).collect();
        for part in parts {
            answers.iter_mut().zip(part).for_each(|(answer, part)| answer.extend(part));
        }
        Ok(answers)
    }

    /// The switched ciphertexts of up to [`ENTRIES`] entries from `start` on.
    fn part(&self, start: usize, queries: &[Selector], products: &[Vec<u32>]) -> Result<Vec<Vec<Vec<u8>>>> {
        let Public { params, layers, ring, .. } = &self.public;
        let Layers { copies, groups, hint_digits, answer_digits, .. } = *layers;
        let entries = ENTRIES.min(copies - start);
        let mut sums: Vec<Vec<Rlwe<u32, Ntt>>> =
            queries.iter().map(|_| (0..entries).map(|_| Rlwe::zero(ring)).collect()).collect();
        let mut digits = vec![0i16; hint_digits + answer_digits];
        let (dimension, offset) = (params.lwe.dimension, layers.first.code.offset());
        for group in 0..groups {
            let rows = group * copies + start..group * copies + start + entries;
            let stored = rows.start / GROUP_ROWS..rows.end.div_ceil(GROUP_ROWS);
            self.hint.for_groups(self.first.matrix(), offset, stored, |first_row, words| {
                for (row, words) in (first_row..).zip(words.chunks_exact(dimension)) {
                    if !rows.contains(&row) {
                        continue;
                    }
                    switched_digits(params, words.iter().copied(), &mut digits[..hint_digits]);
                    for ((query, product), sums) in queries.iter().zip(products).zip(&mut sums) {
                        let answer = std::iter::once(product[row]);
                        switched_digits(params, answer, &mut digits[hint_digits..]);
                        query.add(ring, group, &digits, &mut sums[row - rows.start]);
                    }
                }
                Ok(())
            })?;
        }
        let (switch, degree) = (params.switch, layers.degree);
        let switched = |sum: Rlwe<u32, Ntt>| switch.write(ring, &sum.inverse(ring), degree);
        sums.into_iter().map(|sums| sums.into_iter().map(switched).collect()).collect()
    }
}
