//! A client's keys, on the wire and in the server's form.

use bfv::{RnsGadget, SeededKey, SwitchingKey};
use lattice::wire::{SEED_BYTES, residue_bits};
use lattice::{Masks, SeededRlwePrime, TraceKeys, trace_keys};
use rand::RngCore;

use super::engine::Engine;
use super::{Layout, Set};
use crate::core::seed::fresh_seed;
use crate::core::{Error, FINGERPRINT_BYTES, Result};
use crate::parts::bfv::BfvSecret;

/// Bytes of seeded encryptions with polynomials of `bits` bits in all: a seed, the number of the first mask, a body each.
pub fn seeded_bytes(encryptions: usize, bits: usize) -> usize {
    SEED_BYTES + 8 + (encryptions * bits).div_ceil(8)
}

/// Bytes of the message `keys`: keys of baby steps, of giant steps and of the packing, after what identifies the set.
pub fn key_bytes(set: &Set, layout: &Layout) -> u64 {
    let bits = 8 * set.poly_bytes() as usize;
    let wide = bits + set.rlwe.degree * residue_bits(set.special_modulus) as usize;
    let baby = layout.baby_places(set.baby_keys).count() * seeded_bytes(set.length(set.baby_gadget), wide);
    let giant = (layout.giants() - 1) * seeded_bytes(set.length(set.giant_gadget), bits);
    let packing = layout.levels() as usize * seeded_bytes(set.length(set.packing_gadget), bits);
    (FINGERPRINT_BYTES + baby + giant + packing) as u64
}

/// Makes the message.
pub fn write_keys(engine: &Engine, secret: &BfvSecret, rng: &mut impl RngCore) -> Result<Vec<u8>> {
    let (BfvSecret { key, wide, error }, masks) = (secret, &mut Masks::new(fresh_seed(rng)));
    let mut out = Vec::with_capacity(key_bytes(&engine.set, &engine.layout) as usize);
    out.extend(engine.set.fingerprint()?);
    for (gadget, key, exponents) in
        [(&engine.baby, wide, engine.baby_exponents()), (&engine.giant, key, engine.giant_exponents())]
    {
        for exponent in exponents {
            out.extend(SeededKey::automorphism(gadget, key, exponent, error, masks, rng)?.to_bytes(gadget));
        }
    }
    let packing = trace_keys(key, engine.packing_levels(), &engine.packing, error, masks, rng)?;
    packing.iter().for_each(|key| out.extend(key.to_bytes(&engine.ring)));
    Ok(out)
}

/// The keys in the server's form.
pub struct ServerKeys {
    pub baby: Vec<SwitchingKey<u32>>,
    pub giant: Vec<SwitchingKey<u32>>,
    pub packing: TraceKeys<u32>,
}

impl ServerKeys {
    /// Parses the message.
    pub fn read(engine: &Engine, bytes: &[u8]) -> Result<Self> {
        let (fingerprint, mut rest) = bytes.split_at(FINGERPRINT_BYTES.min(bytes.len()));
        if bytes.len() as u64 != key_bytes(&engine.set, &engine.layout) || fingerprint != engine.set.fingerprint()? {
            return Err(Error::message("keys", "they were made with another parameter set than the server's."));
        }
        let mut next = |bytes: usize| rest.split_off(..bytes).unwrap_or_default();
        let mut switching = |gadget: &RnsGadget<u32>, exponents: Vec<u64>| -> Result<Vec<SwitchingKey<u32>>> {
            let key = |exponent| {
                SeededKey::from_bytes(gadget, exponent, next(SeededKey::<u32>::wire_bytes(gadget)))?.expand(gadget)
            };
            exponents.into_iter().map(key).collect::<std::result::Result<_, _>>().map_err(Error::in_message("keys"))
        };
        let baby = switching(&engine.baby, engine.baby_exponents())?;
        let giant = switching(&engine.giant, engine.giant_exponents())?;
        let (ring, levels) = (&engine.ring, engine.packing_levels());
        let mut level = |_| {
            let bytes = next(SeededRlwePrime::<u32>::wire_bytes(ring, engine.packing.length()));
            SeededRlwePrime::from_bytes(&engine.packing, bytes).map_err(Error::in_message("keys"))
        };
        let packing = levels.clone().map(&mut level).collect::<Result<Vec<_>>>()?;
        Ok(Self { baby, giant, packing: TraceKeys::new(ring, *levels.start(), &packing)? })
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.baby.iter().chain(&self.giant).map(SwitchingKey::bytes).sum::<usize>() + self.packing.bytes()
    }
}
