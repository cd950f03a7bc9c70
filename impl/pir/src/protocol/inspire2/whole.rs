//! The second layer of long records: the digits of a cell's ciphertext, first of its mask and then of its body, are the coefficients of
//! polynomials of d digits, which the second query selects whole. Only the bodies' digits depend on the query.

use lattice::Rlwe;

use super::first::First;
use super::public::Public;
use super::second::{digits_of, mask_digits};
use crate::core::Result;
use crate::core::threads::side_by_side;
use crate::parts::digits::centred_digits;
use crate::parts::ring_matrix::Selector;

/// The digits of every mask of the first layer.
pub(super) struct Whole {
    /// For each group of the first layer, the digits of its mask.
    digits: Vec<i16>,
}

impl Whole {
    /// Bytes of the digits.
    pub fn held(&self) -> usize {
        size_of_val::<[i16]>(&self.digits)
    }

    /// The digits of every mask.
    pub fn build(public: &Public, first: &First) -> Result<Self> {
        let layout = &public.layout;
        let mut whole = Self { digits: vec![0; layout.groups() * layout.mask_digits] };
        (0..layout.groups()).try_for_each(|group| whole.set_mask(public, first, group))?;
        Ok(whole)
    }

    /// Writes the digits of one mask.
    pub fn set_mask(&mut self, public: &Public, first: &First, group: usize) -> Result<()> {
        let layout = &public.layout;
        let digits = mask_digits(public, first, group)?;
        self.digits[group * layout.mask_digits..][..layout.mask_digits].copy_from_slice(&digits);
        Ok(())
    }

    /// The answer to one query: its ciphertexts of each copy; `values` are the packed bodies of the first layer, group after group.
    pub fn answer(&self, public: &Public, query: &Selector, values: &[u32], threads: usize) -> Result<Vec<u8>> {
        let Public { params, layout, .. } = public;
        // Written directly into the message: separate parts would be many small blocks, whose memory the allocator keeps.
        let mut answer = vec![0; layout.answer_bytes(params)];
        let each = layout.copy_bytes(params);
        let copy = |(copy, out): (usize, &mut [u8])| self.copy(public, (query, values), copy, out);
        side_by_side(answer.chunks_exact_mut(each).enumerate(), threads, copy)?;
        Ok(answer)
    }

    fn copy(&self, public: &Public, (query, values): (&Selector, &[u32]), copy: usize, out: &mut [u8]) -> Result<()> {
        let Public { params, layout, ring, .. } = public;
        let ciphertexts = layout.ciphertexts(params);
        let mut sums: Vec<_> = ciphertexts.iter().map(|_| Rlwe::zero(ring)).collect();
        let mut digits = vec![0i16; layout.mask_digits + layout.body_digits];
        for column in 0..layout.cell_columns {
            let group = column * layout.copies + copy;
            let (masks, bodies) = digits.split_at_mut(layout.mask_digits);
            masks.copy_from_slice(&self.digits[group * layout.mask_digits..][..layout.mask_digits]);
            let values = values[group * layout.gamma..][..layout.gamma].iter().copied();
            centred_digits(digits_of(params), values, bodies);
            for (digits, sum) in digits.chunks(layout.ring_degree).zip(&mut sums) {
                query.add(ring, column, digits, sum);
            }
        }
        let mut rest = out;
        for (sum, (kept, _)) in sums.into_iter().zip(ciphertexts) {
            let bytes = params.switch.write(ring, &sum.inverse(ring), kept)?;
            let (part, others) = rest.split_at_mut(bytes.len());
            part.copy_from_slice(&bytes);
            rest = others;
        }
        Ok(())
    }
}
