//! Pirouette's first phases: from one LWE encryption of the index to selectors of its bits.

use lattice::functional::{Bootstrapper, DigitLayout};
use lattice::lwe::Lwe;
use rayon::prelude::*;

use super::convert::{Converted, EncryptedIndex, Lattice, Selectors, convert};
use super::form::{Asked, Selecting};
use super::overlap;
use super::query::Index;
use super::trace::{Decision, Trace};
use crate::core::{Clock, Context, Error, Group, Result};
use crate::parts::ring_matrix::workspace;

impl Selecting for Index {
    fn selectors(
        &self,
        queries: Vec<Asked<Self>>,
        index_bits: u32,
        trace: Option<&mut Trace<Self>>,
        context: &Context,
    ) -> Result<Vec<Selectors>> {
        if index_bits == 0 {
            return Ok(vec![Vec::new(); queries.len()]);
        }
        let (log_modulus, low) = (self.modulus_log2, self.scale_log2(index_bits)?);
        let layout = DigitLayout::try_new(log_modulus, low, self.digit_bits, self.digits(index_bits));
        let layout = layout?;
        let mut indices: Vec<EncryptedIndex> = Vec::with_capacity(queries.len());
        for (session, ciphertexts) in queries {
            let (keys, bootstrapper) = (&session.keys, session.keys.bootstrapper()?);
            let query = ciphertexts.into_iter().next();
            indices.extend(query.map(|query| EncryptedIndex { keys, bootstrapper, layout, bits: index_bits, query }));
        }
        let converted = if context.threads > 1 {
            let convert = |index: &EncryptedIndex| overlap::convert(index, context.threads);
            context.clock.time("answer_conversion", Group::Online, || indices.par_iter().map(convert).collect())
        } else {
            convert_in_turn(&indices, &context.clock)
        };
        let converted: Vec<Converted> = converted?;
        if let (Some(trace), [index, ..], [converted, ..]) = (trace, &indices[..], &converted[..]) {
            let (keys, item) = (index.bootstrapper, trace.place.item);
            trace.decisions(self.decisions(keys, &layout, &index.query, item)?)?;
            trace.decisions(bit_decisions(keys, &converted.large, item))?;
            let bits: Vec<Lwe> = converted.small.iter().rev().cloned().collect();
            trace.bits(&bits, index.keys)?;
        }
        let highest_first = |mut converted: Converted| {
            converted.selectors.reverse();
            converted.selectors
        };
        Ok(converted.into_iter().map(highest_first).collect())
    }
}

/// Digits, bits and selectors in order, with all bits side by side.
fn convert_in_turn(indices: &[EncryptedIndex], clock: &Clock) -> Result<Vec<Converted>> {
    let digits: Vec<Vec<Lwe>> = clock.time("answer_digits", Group::Online, || {
        let digits = |index: &EncryptedIndex| index.bootstrapper.digits(&index.layout, &index.query, &mut workspace());
        indices.iter().map(digits).collect::<Lattice<_>>().map_err(Error::from)
    })?;
    let mut all: Vec<Converted> = clock.time("answer_bits", Group::Online, || {
        let bits = indices.iter().zip(&digits).map(|(index, digits)| index.bits_of(0, digits));
        bits.collect::<Lattice<_>>().map_err(Error::from)
    })?;
    clock.time("answer_rgsw", Group::Online, || {
        indices.iter().zip(&mut all).try_for_each(|(index, bits)| -> Result<()> {
            bits.selectors = convert(index.keys, &bits.small, 1)?;
            Ok(())
        })
    })?;
    Ok(all)
}

impl Index {
    /// The ciphertexts about which the rotations of digit decomposition decide.
    fn decisions(
        &self,
        keys: &Bootstrapper<u32>,
        layout: &DigitLayout,
        query: &Lwe,
        index: u64,
    ) -> Lattice<Vec<Decision>> {
        let (mut workspace, n) = (workspace(), keys.ring().n());
        let (tolerance, window) = (layout.tolerance(n), (2 * n as u64) >> layout.bits());
        let scale = self.modulus_log2 - layout.bits() * layout.digits();
        let of_query = Decision {
            stage: "query",
            ciphertext: query.clone(),
            small: false,
            expected: index << scale,
            threshold: (1u64 << scale) as f64 / 2.0,
        };
        let mut decisions = vec![of_query];
        let mut rest = query.clone();
        for number in 0..layout.digits() {
            let digit = index >> (number * layout.bits()) & ((1 << layout.bits()) - 1);
            let decision = |stage, ciphertext, digit: u64| {
                let expected = digit * window + window / 2;
                Decision { stage, ciphertext, small: true, expected, threshold: tolerance }
            };
            let input = rotation_input(keys, layout, &rest, number)?;
            if number + 1 < layout.digits() {
                decisions.push(decision("floor_msb", input.clone(), digit));
                if layout.bits() > 1 {
                    let half = keys.without_upper_bit(layout, &rest, number, &mut workspace)?;
                    let second = rotation_input(keys, layout, &half, number)?;
                    decisions.push(decision("floor_rest", second, digit & ((1 << (layout.bits() - 1)) - 1)));
                }
                rest = keys.floor(layout, &rest, number, &mut workspace)?;
            }
            decisions.push(decision("digit", input, digit));
        }
        Ok(decisions)
    }
}

/// The input of a rotation for a digit of `rest`.
fn rotation_input(keys: &Bootstrapper<u32>, layout: &DigitLayout, rest: &Lwe, number: u32) -> Lattice<Lwe> {
    Ok(keys.digits_to_small(layout, &[keys.digit(layout, rest, number)?], &mut workspace())?.swap_remove(0))
}

/// The bits, the lowest first, as results of the multi-value rotations: bit Q/2.
fn bit_decisions(keys: &Bootstrapper<u32>, bits: &[Lwe], index: u64) -> impl Iterator<Item = Decision> {
    let half = keys.modulus().value() / 2;
    bits.iter().cloned().enumerate().map(move |(i, ciphertext)| Decision {
        stage: "bit",
        ciphertext,
        small: false,
        expected: (index >> i & 1) * half,
        threshold: half as f64 / 2.0,
    })
}
