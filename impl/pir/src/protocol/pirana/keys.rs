//! A client's keys, on the wire and in the server's form.

use bfv::{SeededKey, SwitchingKey};
use lattice::Masks;
use rand::RngCore;

use super::engine::Engine;
use super::{Layout, Set};
use crate::core::seed::fresh_seed;
use crate::core::{Error, FINGERPRINT_BYTES, Result};
use crate::parts::bfv::BfvSecret;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// From s^2 to s, after products.
    Relinearise,
    /// Swaps the rows of slots.
    Swap,
    /// Turns by G places.
    Baby,
    /// Turns by one place.
    Giant,
}

/// The keys that a layout needs, in the order in which they travel.
fn roles(layout: &Layout) -> Vec<Role> {
    let needed = [
        (Role::Relinearise, layout.code.weight > 1),
        (Role::Swap, layout.halves > 1),
        (Role::Baby, layout.baby > 1),
        (Role::Giant, layout.giants > 1),
    ];
    needed.into_iter().filter(|(_, needed)| *needed).map(|(role, _)| role).collect()
}

/// Number of the keys.
pub fn key_count(layout: &Layout) -> u64 {
    roles(layout).len() as u64
}

/// Bytes of the message `keys`: the keys, after what identifies the set.
pub fn key_bytes(set: &Set, layout: &Layout) -> u64 {
    FINGERPRINT_BYTES as u64 + key_count(layout) * set.ring.key_wire_bytes()
}

fn exponent(engine: &Engine, role: Role) -> u64 {
    let id = engine.scheme.modulus().id();
    match role {
        Role::Relinearise => 1,
        Role::Swap => id.swap(),
        Role::Baby => id.rotation(engine.layout.giants),
        Role::Giant => id.rotation(1),
    }
}

/// Makes the message.
pub fn write_keys(engine: &Engine, secret: &BfvSecret, rng: &mut impl RngCore) -> Result<Vec<u8>> {
    let (BfvSecret { wide, error, .. }, gadget) = (secret, &engine.gadget);
    let masks = &mut Masks::new(fresh_seed(rng));
    let mut out = Vec::with_capacity(key_bytes(&engine.set, &engine.layout) as usize);
    out.extend(engine.set.fingerprint()?);
    for role in roles(&engine.layout) {
        let key = match role {
            Role::Relinearise => SeededKey::relinearisation(gadget, wide, error, masks, rng)?,
            _ => SeededKey::automorphism(gadget, wide, exponent(engine, role), error, masks, rng)?,
        };
        out.extend(key.to_bytes(gadget));
    }
    Ok(out)
}

/// The keys in the server's form.
pub struct ServerKeys(Vec<(Role, SwitchingKey<u32>)>);

impl ServerKeys {
    /// Parses the message.
    pub fn read(engine: &Engine, bytes: &[u8]) -> Result<Self> {
        let (fingerprint, mut rest) = bytes.split_at(FINGERPRINT_BYTES.min(bytes.len()));
        if bytes.len() as u64 != key_bytes(&engine.set, &engine.layout) || fingerprint != engine.set.fingerprint()? {
            return Err(Error::message("keys", "they were made with another parameter set than the server's."));
        }
        let (gadget, each) = (&engine.gadget, SeededKey::<u32>::wire_bytes(&engine.gadget));
        let mut keys = Vec::new();
        for role in roles(&engine.layout) {
            let bytes = rest.split_off(..each).unwrap_or_default();
            let key = SeededKey::from_bytes(gadget, exponent(engine, role), bytes).and_then(|key| key.expand(gadget));
            keys.push((role, key.map_err(Error::in_message("keys"))?));
        }
        Ok(Self(keys))
    }

    fn of(&self, role: Role) -> Result<&SwitchingKey<u32>> {
        let key = self.0.iter().find(|(found, _)| *found == role).map(|(_, key)| key);
        key.ok_or_else(|| Error::message("keys", format!("the layout has no key {role:?}.")))
    }

    /// The key from s^2 to s.
    pub fn relinearisation(&self) -> Result<&SwitchingKey<u32>> {
        self.of(Role::Relinearise)
    }

    /// The key that swaps the rows of slots.
    pub fn swap(&self) -> Result<&SwitchingKey<u32>> {
        self.of(Role::Swap)
    }

    /// The key of a baby step.
    pub fn baby(&self) -> Result<&SwitchingKey<u32>> {
        self.of(Role::Baby)
    }

    /// The key of a giant step.
    pub fn giant(&self) -> Result<&SwitchingKey<u32>> {
        self.of(Role::Giant)
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|(_, key)| key.bytes()).sum()
    }
}
