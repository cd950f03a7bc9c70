//! A client's switching keys, on the wire and in the server's form. A key is named by the exponent of its automorphism; 1 names that of
//! relinearisation.

use bfv::{LevelKeys, RnsGadget, SeededKey, SwitchingKey};
use lattice::Masks;
use rand::RngCore;

use super::BfvSecret;
use crate::core::{Error, FINGERPRINT_BYTES, Result};

/// Makes the message, of the keys of these exponents in their order.
pub fn write_keys(
    gadget: &RnsGadget<u32>,
    secret: &BfvSecret,
    fingerprint: [u8; FINGERPRINT_BYTES],
    exponents: &[u64],
    (masks, rng): (&mut Masks, &mut impl RngCore),
) -> Result<Vec<u8>> {
    let BfvSecret { wide, error, .. } = secret;
    let mut out = fingerprint.to_vec();
    for exponent in exponents {
        let key = match exponent {
            1 => SeededKey::relinearisation(gadget, wide, error, masks, rng)?,
            _ => SeededKey::automorphism(gadget, wide, *exponent, error, masks, rng)?,
        };
        out.extend(key.to_bytes(gadget));
    }
    Ok(out)
}

/// A client's keys.
pub struct ServerKeys(Vec<SwitchingKey<u32>>);

impl ServerKeys {
    /// Parses the message.
    pub fn read(
        gadget: &RnsGadget<u32>,
        fingerprint: [u8; FINGERPRINT_BYTES],
        exponents: &[u64],
        bytes: &[u8],
    ) -> Result<Self> {
        let (found, rest) = bytes.split_at(FINGERPRINT_BYTES.min(bytes.len()));
        let each = SeededKey::<u32>::wire_bytes(gadget);
        if rest.len() != exponents.len() * each || found != fingerprint {
            return Err(Error::message("keys", "they were made with another parameter set than the server's."));
        }
        let read = |(exponent, bytes): (&u64, &[u8])| {
            let key = SeededKey::from_bytes(gadget, *exponent, bytes).and_then(|key| key.expand(gadget));
            key.map_err(Error::in_message("keys"))
        };
        Ok(Self(exponents.iter().zip(rest.chunks_exact(each)).map(read).collect::<Result<_>>()?))
    }

    /// The key of that exponent.
    pub fn of(&self, exponent: u64) -> Result<&SwitchingKey<u32>> {
        let key = self.0.iter().find(|key| key.exponent() == exponent);
        key.ok_or_else(|| Error::message("keys", format!("there is no key of exponent {exponent}.")))
    }

    /// The keys of an expansion that are among them.
    pub fn levels<'a>(&'a self, gadget: &'a RnsGadget<u32>) -> LevelKeys<'a, u32> {
        LevelKeys(gadget, &self.0)
    }

    /// The key from s^2 to s.
    pub fn relinearisation(&self) -> Result<&SwitchingKey<u32>> {
        self.of(1)
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(SwitchingKey::bytes).sum()
    }
}
