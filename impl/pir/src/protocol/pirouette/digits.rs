//! Pirouette's first phases: from one LWE encryption of the index to encryptions of its bits.

use lattice::LatticeError;
use lattice::functional::{Bootstrapper, DigitLayout};
use lattice::lwe::{Lwe, LweKey};
use rayon::prelude::*;

use super::form::Selecting;
use super::keys::{Secrets, ServerKeys};
use super::query::Index;
use super::trace::{Decision, Trace};
use crate::clock::Group;
use crate::error::Result;
use crate::folded::Place;
use crate::rlwe::{internal, workspace};
use crate::scheme::Context;

type Lattice<T> = std::result::Result<T, LatticeError>;

impl Selecting for Index {
    fn key(secrets: &Secrets) -> &LweKey {
        &secrets.large
    }

    fn dimension(degree: usize, _: usize) -> usize {
        degree
    }

    fn bits(
        &self,
        queries: Vec<(&ServerKeys, Vec<Lwe>)>,
        index_bits: u32,
        trace: Option<(&mut Trace, Place)>,
        context: &Context,
    ) -> Result<Vec<Vec<Lwe>>> {
        if index_bits == 0 {
            return Ok(vec![Vec::new(); queries.len()]);
        }
        let (log_modulus, low) = (self.encryption.modulus_log2, self.scale_log2(index_bits)?);
        let layout = DigitLayout::try_new(log_modulus, low, self.digit_bits, self.digits(index_bits));
        let layout = layout.map_err(internal)?;
        let bootstrappers: Result<Vec<_>> = queries.iter().map(|(keys, _)| keys.bootstrapper()).collect();
        let jobs: Vec<(&Bootstrapper<u32>, Lwe)> = bootstrappers?
            .into_iter()
            .zip(queries.into_iter().filter_map(|(_, query)| query.into_iter().next()))
            .collect();
        let digits = context.clock.time("answer_digits", Group::Online, || {
            let digits = |(keys, query): &(&Bootstrapper<u32>, Lwe)| keys.digits(&layout, query, &mut workspace());
            let all: Lattice<Vec<_>> = if context.threads > 1 {
                jobs.par_iter().map(digits).collect()
            } else {
                jobs.iter().map(digits).collect()
            };
            all.map_err(internal)
        })?;
        let bits = context.clock.time("answer_bits", Group::Online, || {
            let queries = jobs.iter().zip(&digits);
            let all: Lattice<Vec<_>> = queries
                .map(|((keys, _), digits)| bits_of(keys, &layout, digits, index_bits, context.threads))
                .collect();
            all.map_err(internal)
        })?;
        if let (Some((trace, place)), [(keys, query), ..]) = (trace, &jobs[..]) {
            trace.decisions = self.decisions(keys, &layout, query, place.item).map_err(internal)?;
            trace.decisions.extend(bit_decisions(keys, &bits[0].0, place.item));
        }
        Ok(bits.into_iter().map(|(_, small)| small).collect())
    }
}

/// The bits of an index modulo Q under the ring key, and modulo 2N under the small key: the most significant first.
fn bits_of(
    keys: &Bootstrapper<u32>,
    layout: &DigitLayout,
    digits: &[Lwe],
    index_bits: u32,
    threads: usize,
) -> Lattice<(Vec<Lwe>, Vec<Lwe>)> {
    let group = digits.len().div_ceil(threads.max(1)).max(1);
    let bits = |digits: &[Lwe]| keys.bits(layout, digits, &mut workspace());
    let bits: Lattice<Vec<_>> = if threads > 1 {
        digits.par_chunks(group).map(bits).collect()
    } else {
        digits.chunks(group).map(bits).collect()
    };
    // The last digit may have more bits than the index.
    let mut large: Vec<Lwe> = bits?.into_iter().flatten().flatten().take(index_bits as usize).collect();
    large.reverse();
    let small = keys.to_small(&large, &mut workspace())?;
    Ok((large, small))
}

impl Index {
    /// What the rotations of digit decomposition decide about.
    fn decisions(
        &self,
        keys: &Bootstrapper<u32>,
        layout: &DigitLayout,
        query: &Lwe,
        index: u64,
    ) -> Lattice<Vec<Decision>> {
        let (mut workspace, n) = (workspace(), keys.ring().n());
        let (tolerance, window) = (layout.tolerance(n), (2 * n as u64) >> layout.bits());
        let scale = self.encryption.modulus_log2 - layout.bits() * layout.digits();
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

/// What a rotation sees of a digit of `rest`.
fn rotation_input(keys: &Bootstrapper<u32>, layout: &DigitLayout, rest: &Lwe, number: u32) -> Lattice<Lwe> {
    Ok(keys.digits_to_small(layout, &[keys.digit(layout, rest, number)?], &mut workspace())?.swap_remove(0))
}

/// The bits as they leave the multi-value rotations: bit Q/2.
fn bit_decisions(keys: &Bootstrapper<u32>, bits: &[Lwe], index: u64) -> impl Iterator<Item = Decision> {
    let half = keys.modulus().value() / 2;
    let count = bits.len();
    bits.iter().cloned().enumerate().map(move |(i, ciphertext)| Decision {
        stage: "bit",
        ciphertext,
        small: false,
        expected: (index >> (count - 1 - i) & 1) * half,
        threshold: half as f64 / 2.0,
    })
}
