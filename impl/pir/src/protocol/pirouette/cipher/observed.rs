//! The errors inside the cipher: what its rotations see, what its RGSW encryptions and S-boxes add.

use lattice::lwe::Lwe;

use super::super::convert::Lattice;
use super::super::trace::{Decision, Trace};
use super::aes::{self, State};
use super::evaluate::{Evaluation, Substituted};
use super::set::Cipher;
use crate::core::Result;
use crate::parts::ring_matrix::workspace;

/// Logs the S-boxes of a round: `round_input`, whose errors decide, modulo 2N; `round_row` and `round_row_secret`, the rows of the RGSW
/// encryptions of one byte, which are made once more; `sbox` or, after the first round, `first_sbox`.
pub fn round(
    trace: &mut Trace<Cipher>,
    evaluation: &Evaluation,
    number: u32,
    round: usize,
    bytes: &[Substituted],
) -> Result<()> {
    let states = trace.asker.round_keys().states(aes::block(number));
    let before: &State = &states[round - 1];
    let degree = evaluation.bootstrapper.ring().n() as u64;
    let window = evaluation.cipher.converter.limit() as f64;
    let quarter = evaluation.half() as f64 / 2.0;
    for byte in bytes {
        let input = before[byte.place];
        let decision = |stage, small, unit: u64, value: u8, threshold| {
            move |(bit, ciphertext): (usize, &Lwe)| Decision {
                stage,
                ciphertext: ciphertext.clone(),
                small,
                expected: u64::from(value >> bit & 1) * unit,
                threshold,
            }
        };
        let read = decision("round_input", true, degree, input, window);
        trace.decisions(byte.input.iter().enumerate().map(read))?;
        let stage = if round == 1 { "first_sbox" } else { "sbox" };
        let looked_up = decision(stage, false, evaluation.half(), aes::substitute(input), quarter);
        trace.decisions(byte.output.iter().enumerate().map(looked_up))?;
    }
    if let Some(byte) = bytes.first().filter(|byte| !byte.input.is_empty()) {
        let converter = &evaluation.cipher.converter;
        let rows = converter.convert_all(&byte.input, evaluation.keys.rotation(), &mut workspace());
        let rows: Lattice<_> = rows;
        for (bit, selector) in rows?.iter().enumerate() {
            let names = ["round_row", "round_row_secret"];
            trace.rows(names, converter.output(), selector, before[byte.place] >> bit & 1 == 1)?;
        }
    }
    Ok(())
}
