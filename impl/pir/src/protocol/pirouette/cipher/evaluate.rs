//! AES-128 on encrypted bits.
//!
//! A bit of a state is an LWE ciphertext of bit Q/2 under the ring key, so that sums are exclusive ors: ShiftRows, MixColumns and round
//! keys are sums alone. An S-box is looked up by RGSW encryptions of the eight bits of its input, in RLWE ciphertexts of its table; for these the
//! bits are switched to the small key and converted, but for the first round, whose input is the known counter and the first round key, of
//! whose bits the client sends RGSW encryptions.

use lattice::convert::{Extraction, RgswConverter, rgsw_work};
use lattice::functional::Bootstrapper;
use lattice::lwe::Lwe;
use lattice::{Extractor, GadgetShape, LatticeError, Rgsw, RingGadget, Rlwe, Workspace};
use ring::{Coefficient, Ring, Work};

use super::super::convert::{BITS_TOGETHER, Lattice};
use super::super::keys::ServerKeys;
use super::aes::{self, BLOCK, ROUNDS, State};
use crate::core::threads::side_by_side;
use crate::core::{Error, Result};
use crate::parts::ring_matrix::workspace;

/// Values of a byte.
const BYTES: usize = 1 << 8;

/// What the server keeps of a client's cipher.
pub struct CipherKeys {
    /// To RGSW encryptions between rounds.
    pub converter: RgswConverter<u32>,
    /// The bits of the first round key, each byte's lowest first.
    pub first: Vec<Rgsw<u32>>,
    /// The bits of the other round keys, times Q/2, coefficient by coefficient.
    pub others: Vec<Rlwe<u32, Coefficient>>,
}

/// Bits of a byte of a state, the lowest first.
pub type Byte = Vec<Lwe>;

/// What an S-box of a round reads and gives: the byte's place, its bits modulo 2N under the small key, and its output. The first round
/// reads none.
pub struct Substituted {
    pub place: usize,
    pub input: Vec<Lwe>,
    pub output: Byte,
}

/// Bits of an S-box that a table holds: all 256 entries fill a ring of 256 to 2048 coefficients, a larger one in part.
pub fn bits_of_a_table(degree: usize) -> usize {
    (degree / BYTES).min(8)
}

/// The tables of the S-box: bit k of S(x), times Q/2, at coefficient w x + k, for w bits of S a table.
pub fn tables(ring: &Ring<u32>, half: u64) -> Vec<Rlwe<u32, Coefficient>> {
    let width = bits_of_a_table(ring.n());
    let table = |first: usize| {
        let mut values = vec![0; ring.n()];
        for x in 0..BYTES {
            for k in 0..width {
                values[width * x + k] = u64::from(aes::substitute(x as u8) >> (first + k) & 1) * half;
            }
        }
        Rlwe::trivial(ring, ring.from_u64(&values))
    };
    (0..8).step_by(width).map(table).collect()
}

/// One query's block.
pub struct Evaluation<'a> {
    pub keys: &'a ServerKeys,
    pub cipher: &'a CipherKeys,
    pub bootstrapper: &'a Bootstrapper<u32>,
    pub threads: usize,
}

impl Evaluation<'_> {
    /// Q/2, rounded down.
    pub fn half(&self) -> u64 {
        self.bootstrapper.modulus().value() / 2
    }

    /// The first bits of the keystream of block `number`, modulo Q under the ring key: those of the bytes of [`aes::needed`]. `seen` is
    /// given the S-boxes of every round, from number 1 on.
    pub fn keystream(
        &self,
        number: u32,
        bytes: usize,
        seen: &mut dyn FnMut(usize, &[Substituted]) -> Result<()>,
    ) -> Result<Vec<Lwe>> {
        let needed = aes::needed(bytes);
        let tables = tables(self.bootstrapper.ring(), self.half());
        let mut substituted = self.first_round(&tables, aes::block(number), &needed[0])?;
        seen(1, &substituted)?;
        for (round, places) in needed.iter().enumerate().take(ROUNDS).skip(1) {
            let bytes = self.linear(round, &substituted, places)?;
            substituted = self.substitute(&tables, places, bytes)?;
            seen(round + 1, &substituted)?;
        }
        Ok(self.linear(ROUNDS, &substituted, &needed[ROUNDS])?.concat())
    }

    /// The S-boxes of the first round, by RGSW encryptions of the first round key's bits; a bit of the block that is one swaps what they select.
    fn first_round(
        &self,
        tables: &[Rlwe<u32, Coefficient>],
        block: State,
        places: &[usize],
    ) -> Result<Vec<Substituted>> {
        side_by_side(places.iter(), self.threads, |&place| {
            let bits = &self.cipher.first[8 * place..8 * (place + 1)];
            let output = look_up(self.cipher.converter.output(), tables, bits, block[place], &mut workspace())?;
            Ok(Substituted { place, input: Vec::new(), output })
        })
    }

    /// The S-boxes of bytes.
    fn substitute(
        &self,
        tables: &[Rlwe<u32, Coefficient>],
        places: &[usize],
        bytes: Vec<Byte>,
    ) -> Result<Vec<Substituted>> {
        let small = to_small(self.bootstrapper, &bytes.concat(), self.threads)?;
        let inputs: Vec<_> = places.iter().zip(small.chunks_exact(BITS_TOGETHER)).collect();
        side_by_side(inputs.into_iter(), self.threads, |(&place, input)| {
            let (converter, mut workspace) = (&self.cipher.converter, workspace());
            let bits = converter.convert_all(input, self.keys.rotation(), &mut workspace)?;
            let output = look_up(converter.output(), tables, &bits, 0, &mut workspace)?;
            Ok(Substituted { place, input: input.to_vec(), output })
        })
    }

    /// The bytes at `places` after ShiftRows, MixColumns except in the last round, and the round key.
    fn linear(&self, round: usize, substituted: &[Substituted], places: &[usize]) -> Result<Vec<Byte>> {
        let found = |place: usize| -> Lattice<&Byte> {
            let byte = substituted.iter().find(|byte| byte.place == place);
            byte.map(|byte| &byte.output).ok_or(LatticeError::Mismatch("a round of a cipher and the bytes before it"))
        };
        let ring = self.bootstrapper.ring();
        let keys: Vec<Extractor> =
            self.cipher.others.iter().map(|keys| Extractor::new(ring, keys)).collect::<Lattice<_>>()?;
        let bit = |place: usize, bit: usize| -> Lattice<Lwe> {
            let (row, column) = (place % 4, place / 4);
            let key = (round - 1) * aes::BLOCK_BITS + 8 * place + bit;
            let mut sum = keys[key / ring.n()].coefficient(key % ring.n())?;
            let from = if round < ROUNDS { aes::mixed_from(bit) } else { vec![(0, bit)] };
            for (distance, bit) in from {
                // A difference is a sum, because -Q/2 = Q/2 up to 1.
                sum.sub_assign(&found(aes::shifted_from((row + distance) % 4, column))?[bit])?;
            }
            Ok(sum)
        };
        side_by_side(places.iter(), self.threads, |&place| {
            (0..8).map(|k| bit(place, k)).collect::<Lattice<Byte>>().map_err(Error::from)
        })
    }
}

/// Bits under the ring key as inputs of rotations, on `threads` threads.
pub fn to_small(bootstrapper: &Bootstrapper<u32>, bits: &[Lwe], threads: usize) -> Result<Vec<Lwe>> {
    let parts: Vec<_> = bits.chunks(bits.len().div_ceil(threads.max(1)).max(1)).collect();
    let small = |part: &[Lwe]| bootstrapper.to_small(part, &mut workspace()).map_err(Error::from);
    Ok(side_by_side(parts.into_iter(), threads, small)?.concat())
}

/// The bits of S(x), x the byte whose bits are those in `bits` plus those of `known`: eight CMUXes a table.
fn look_up(
    gadget: &RingGadget<u32>,
    tables: &[Rlwe<u32, Coefficient>],
    bits: &[Rgsw<u32>],
    known: u8,
    workspace: &mut Workspace<u32>,
) -> Lattice<Byte> {
    let ring = gadget.ring();
    let (n, width) = (ring.n(), bits_of_a_table(ring.n()));
    let mut found = Vec::with_capacity(8);
    for table in tables {
        let (mut here, mut out) = (table.clone(), Rlwe::zero(ring));
        for (j, bit) in bits.iter().enumerate() {
            let there = here.mul_monomial(ring, 2 * n - (width << j));
            let (zero, one) = if known >> j & 1 == 0 { (&here, &there) } else { (&there, &here) };
            gadget.cmux(bit, zero, one, workspace, &mut out)?;
            here.copy_from(&out);
        }
        let extractor = Extractor::new(ring, &here)?;
        (0..width).try_for_each(|k| extractor.coefficient(k).map(|bit| found.push(bit)))?;
    }
    Ok(found)
}

/// The work of [`look_up`]. Extraction is not counted.
fn look_up_work(gadget: GadgetShape) -> Work {
    let tables = 8 / bits_of_a_table(gadget.ring.degree);
    (gadget.cmux_work() + gadget.ring.moves(2)) * (8 * tables) as u64
}

/// Bytes that are converted between rounds for a keystream of `bytes` bytes: after each round but the last.
pub fn converted_bytes(bytes: usize) -> u64 {
    aes::needed(bytes)[1..ROUNDS].iter().map(|places| places.len() as u64).sum()
}

/// The work of [`Evaluation::keystream`] for `bytes` bytes, but for rotations, reading their key, and switches to the small key, one for each
/// bit of [`converted_bytes`]: the rows of RGSW encryptions at those places of the accumulator, and the S-boxes. Sums are not counted.
pub fn keystream_work(
    bytes: usize,
    positions: &[usize],
    rounds: GadgetShape,
    (trace, squaring): (GadgetShape, GadgetShape),
) -> Work {
    if bytes == 0 {
        return Work::default();
    }
    let converted = converted_bytes(bytes);
    let rows = rgsw_work(positions, Extraction::Tree, trace, squaring) * (8 * converted);
    rows + look_up_work(rounds) * (converted + BLOCK as u64)
}

/// Bytes of LWE ciphertexts that a round has in memory: the sums, and the outputs of S-boxes before and after them.
pub fn round_bytes(degree: usize) -> u64 {
    (3 * aes::BLOCK_BITS * (degree + 1) * size_of::<u64>()) as u64
}
