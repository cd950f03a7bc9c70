//! T-Respire: the index travels under AES-128 in counter mode, and the server deciphers it homomorphically.
//!
//! docs/trespire.md has the symbols, the steps and what of the paper's form is costed.

pub mod aes;
mod carrier;
mod evaluate;
mod observed;
mod set;
#[cfg(test)]
mod tests;

pub use carrier::{COUNTER, COUNTER_BYTES, OF_FIRST, OF_OTHERS, round_key_rows, wire_bytes};
pub use evaluate::{converted_bytes, keystream_work, round_bytes};
pub use set::Cipher;

use lattice::lwe::Lwe;

use super::convert::{Selectors, convert};
use super::form::{Asked, Selecting};
use super::trace::Trace;
use crate::core::{Context, Group, Result};
use evaluate::{Evaluation, Substituted, to_small};
use set::Masked;

impl Selecting for Cipher {
    fn selectors(
        &self,
        queries: Vec<Asked<Self>>,
        index_bits: u32,
        mut trace: Option<&mut Trace<Self>>,
        context: &Context,
    ) -> Result<Vec<Selectors>> {
        if index_bits == 0 {
            return Ok(vec![Vec::new(); queries.len()]);
        }
        let mut all = Vec::with_capacity(queries.len());
        for (session, masked) in &queries {
            let (keys, cipher) = (&session.keys, &session.reader);
            let evaluation = Evaluation { keys, cipher, bootstrapper: keys.bootstrapper()?, threads: context.threads };
            // What is observed is that of the first query.
            let mut observed = trace.take();
            let small = context.clock.time("answer_cipher", Group::Online, || {
                let mut seen = |round: usize, bytes: &[Substituted]| match &mut observed {
                    Some(trace) => observed::round(trace, &evaluation, masked.number, round, bytes),
                    None => Ok(()),
                };
                let keystream = evaluation.keystream(masked.number, masked.bytes.len(), &mut seen)?;
                let bits = unmasked(&evaluation, keystream, masked, index_bits);
                to_small(evaluation.bootstrapper, &bits, context.threads)
            })?;
            if let Some(trace) = observed {
                trace.bits(&small, keys)?;
            }
            all.push(context.clock.time("answer_rgsw", Group::Online, || convert(keys, &small, context.threads))?);
        }
        Ok(all)
    }
}

/// The bits of the index, the most significant first, modulo Q.
fn unmasked(evaluation: &Evaluation, keystream: Vec<Lwe>, masked: &Masked, index_bits: u32) -> Vec<Lwe> {
    let (half, modulus) = (evaluation.half(), evaluation.bootstrapper.modulus());
    let bits = keystream.into_iter().enumerate().take(index_bits as usize).map(|(bit, mut mask)| {
        mask.b = modulus.add(mask.b, if masked.bit(bit) { half } else { 0 });
        mask
    });
    let mut bits: Vec<Lwe> = bits.collect();
    bits.reverse();
    bits
}
