//! Counter, masked indices, and the keys of the cipher.

use ::aes::cipher::{BlockCipherEncrypt, KeyInit};
use ::aes::{Aes128, Block};
use lattice::{LatticeError, Masks, SeededRgsw, SeededRlwe};
use rand::RngCore;
use ring::Ring;
use zeroize::Zeroizing;

use super::aes::{BLOCK_BITS, ROUNDS, RoundKeys, State, block, needed};
use super::evaluate::CipherKeys;
use super::set::{Cipher, Masked};
use crate::core::seed::fresh_seed;
use crate::core::{Context, Error, Frame, Messages, Request, Result};
use crate::parts::folding::Place;

use super::super::carrier::{Carried, Carrier};
use super::super::keys::{Secrets, ServerKeys};
use super::super::query::QueryForm;
use super::super::set::Set;

/// Name of the message with RGSW encryptions of the first round key's bits.
pub const OF_FIRST: &str = "first_round_key";
/// Name of the message with RLWE encryptions of the other round keys' bits.
pub const OF_OTHERS: &str = "round_keys";
/// Name of the message with the number of a request's first block.
pub const COUNTER: &str = "counter";
/// Bytes of that message.
pub const COUNTER_BYTES: u64 = 4;
/// Blocks of a key: their numbers have four bytes.
const BLOCKS: u64 = 1 << 32;

/// Indices under a block cipher in counter mode.
#[derive(Debug)]
pub struct Ciphered;

/// A client's cipher, and the number of blocks that it has used.
pub struct Asker {
    key: Zeroizing<State>,
    pub(super) used: u64,
}

impl Asker {
    /// The round keys.
    pub fn round_keys(&self) -> RoundKeys {
        RoundKeys::new(&self.key)
    }

    /// The keystream of a block, of as many bytes.
    fn keystream(&self, number: u32, bytes: usize) -> Vec<u8> {
        let mut state = Block::from(block(number));
        Aes128::new(&(*self.key).into()).encrypt_block(&mut state);
        needed(bytes)[ROUNDS].iter().map(|&byte| state[byte]).collect()
    }
}

/// RLWE ciphertexts that hold the bits of all round keys but the first.
fn ciphertexts_of_others(degree: usize) -> usize {
    (ROUNDS * BLOCK_BITS).div_ceil(degree)
}

/// Ciphertexts of the keys of the cipher, with RGSW encryptions of `length` digits.
pub fn round_key_rows(degree: usize, length: usize) -> u64 {
    (BLOCK_BITS * 2 * length + ciphertexts_of_others(degree)) as u64
}

/// Payload bytes of the keys of the cipher, by name.
pub fn wire_bytes(ring: &Ring<u32>, length: usize) -> [(&'static str, u64); 2] {
    let first = BLOCK_BITS * SeededRgsw::wire_bytes(ring, length);
    let others = ciphertexts_of_others(ring.n()) * SeededRlwe::wire_bytes(ring);
    [(OF_FIRST, first as u64), (OF_OTHERS, others as u64)]
}

impl Carried for Cipher {
    type Carrier = Ciphered;
}

impl Carrier<Cipher> for Ciphered {
    type Asker = Asker;
    type Reader = CipherKeys;
    type Asked = Masked;

    fn asker(_: &Set<Cipher>, context: &mut Context) -> Result<Asker> {
        let mut key = Zeroizing::new([0; 16]);
        context.rng.fill_bytes(&mut *key);
        Ok(Asker { key, used: 0 })
    }

    fn introduce(params: &Set<Cipher>, asker: &Asker, secrets: &Secrets, context: &mut Context) -> Result<Messages> {
        let (key, ring, rng) = (&secrets.ring, secrets.ring.ring(), &mut context.rng);
        let (gadget, error) = (params.query.rounds.gadget().of(ring)?, params.rlwe.error.sampler()?);
        let round_keys = asker.round_keys();
        // A separate seed, so that no mask of the keys is used again.
        let mut masks = Masks::new(fresh_seed(rng));
        let bits = [ring.zero(), ring.monomial_ntt(0)];
        let mut first = Vec::new();
        for bit in bits_of(round_keys.of(0)) {
            let rgsw = SeededRgsw::new(key, &bits[usize::from(bit)], &gadget, &error, &mut masks, rng)?;
            first.extend(rgsw.to_bytes(ring));
        }
        let half = params.rlwe.modulus() / 2;
        let mut all = Zeroizing::new(vec![0u64; ciphertexts_of_others(ring.n()) * ring.n()]);
        let of_others = (1..=ROUNDS).flat_map(|round| bits_of(round_keys.of(round)));
        all.iter_mut().zip(of_others).for_each(|(value, bit)| *value = if bit { half } else { 0 });
        let mut others = Vec::new();
        for part in all.chunks(ring.n()) {
            let message = Zeroizing::new(ring.from_u64(part));
            others.extend(key.encrypt(&message, &error, &mut masks, rng).to_bytes(ring));
        }
        let frame = |name, bytes: Vec<u8>| (name, Frame::of(Cipher::NAME, name, &bytes));
        Ok(vec![frame(OF_FIRST, first), frame(OF_OTHERS, others)])
    }

    fn reader(params: &Set<Cipher>, keys: &ServerKeys, messages: &Messages) -> Result<CipherKeys> {
        let gadget = params.query.rounds.gadget().of(keys.ring())?;
        let ring = gadget.ring();
        let expected = wire_bytes(ring, gadget.length());
        let payload = |(wanted, bytes): (&'static str, u64)| -> Result<Frame> {
            let message = messages.iter().find(|(name, _)| *name == wanted);
            let (_, message) = message.ok_or_else(|| Error::message(wanted, "it is missing."))?;
            message.clone().check(Cipher::NAME, wanted, bytes)
        };
        let [first, others] = [payload(expected[0])?, payload(expected[1])?];
        let rgsw = |bytes| SeededRgsw::from_bytes(&gadget, bytes).map(|seeded| seeded.expand(ring));
        let first = first.payload().chunks_exact(SeededRgsw::wire_bytes(ring, gadget.length())).map(rgsw);
        let rlwe = |bytes| Ok(SeededRlwe::from_bytes(ring, bytes)?.expand(ring).inverse(ring));
        let others = others.payload().chunks_exact(SeededRlwe::wire_bytes(ring)).map(rlwe);
        Ok(CipherKeys {
            converter: keys.converter.with_output(&gadget, params.query.rounds.spacing(&params.rlwe))?,
            first: first.collect::<std::result::Result<_, LatticeError>>().map_err(Error::in_message(OF_FIRST))?,
            others: others.collect::<std::result::Result<_, LatticeError>>().map_err(Error::in_message(OF_OTHERS))?,
        })
    }

    fn held(keys: &CipherKeys) -> Vec<(&'static str, usize)> {
        let first = keys.first.iter().map(lattice::Rgsw::bytes).sum::<usize>();
        let others = keys.others.iter().map(|keys| keys.a.bytes() + keys.b.bytes()).sum::<usize>();
        vec![("round keys", first + others)]
    }

    /// The number of the first block, and each index under a block of its own. No block serves twice, which would reveal the exclusive or of
    /// two indices: a client whose numbers are used up asks no more.
    fn ask(
        params: &Set<Cipher>,
        asker: &mut Asker,
        _: &Secrets,
        (places, bits): (&[Place], u32),
        _: &mut Context,
    ) -> Result<Messages> {
        let (first, last) = (asker.used, asker.used + places.len() as u64);
        if last > BLOCKS {
            return Err(Error::Workload(format!(
                "a key enciphers {BLOCKS} indices, each under a block of its own, and {first} are used: set up a new client."
            )));
        }
        asker.used = last;
        let mut indices = Vec::new();
        for (number, place) in (first..last).zip(places) {
            let masks = asker.keystream(number as u32, params.query.keystream_bytes(bits));
            let index = place.item.to_le_bytes().into_iter().chain(std::iter::repeat(0));
            indices.extend(masks.iter().zip(index).map(|(mask, byte)| mask ^ byte));
        }
        let counter = Frame::of(Cipher::NAME, COUNTER, &(first as u32).to_le_bytes());
        Ok(vec![(COUNTER, counter), ("query", Frame::of(Cipher::NAME, "query", &indices))])
    }

    fn read(params: &Set<Cipher>, _: &CipherKeys, request: &Request, bits: u32) -> Result<Vec<Masked>> {
        let [(COUNTER, counter), ("query", query)] = &request.messages[..] else {
            return Err(Error::message("query", format!("a request is these messages: {COUNTER}, query.")));
        };
        let counter = counter.clone().check(Cipher::NAME, COUNTER, COUNTER_BYTES)?;
        let each = params.query.keystream_bytes(bits);
        let query = query.clone().check(Cipher::NAME, "query", request.queries.saturating_mul(each as u64))?;
        let first = counter.payload().try_into().map_or(0, u32::from_le_bytes);
        // Numbers beyond the last come from no honest client: they decipher to anything.
        let masked = |k: u64| Masked {
            number: first.wrapping_add(k as u32),
            bytes: query.payload()[k as usize * each..][..each].to_vec(),
        };
        Ok((0..request.queries).map(masked).collect())
    }
}

/// The bits of a state, each byte's lowest first.
pub fn bits_of(state: &State) -> impl Iterator<Item = bool> {
    state.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1))
}
