//! KSPIR's parameter set.

use bfv::{Family, PlainModulus, RnsGadget, Scheme, SwitchShape};
use ring::{Kernel, Ring, RingShape, primes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::core::{Error, FINGERPRINT_BYTES, LweInstance, ParameterSet, Result, Shape, fingerprint, power_of_two};
use crate::parts::ring_matrix::{Gadget, Rlwe, Switch, product_text};

/// Name of the protocol.
pub(super) const NAME: &str = "kspir";

/// The tables of params/kspir/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Baby steps B: rotations of the query, a power of two up to half the ring degree.
    pub baby_steps: usize,
    /// Keys K of baby steps, a power of two up to B: they turn by 1 to K places, and further multiples of K have keys of their own.
    pub baby_keys: usize,
    /// Modulus t of slots: a prime = 1 modulo twice the ring degree, below 2^17.
    pub slot_modulus: u64,
    /// The prime P by which the keys of baby steps are longer than ciphertexts.
    pub special_modulus: u64,
    /// Ring, secret and error of ciphertexts.
    pub rlwe: Rlwe,
    /// Gadget of the keys of baby steps.
    pub baby_gadget: Gadget,
    /// Gadget of the keys of giant steps.
    pub giant_gadget: Gadget,
    /// Gadget of the encryption that selects a part.
    pub selector_gadget: Gadget,
    /// Gadget of the packing keys.
    pub packing_gadget: Gadget,
    /// Moduli of an answer; absent: it stays modulo q.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<Switch>,
}

/// Slots hold less than two bytes and a bit, since entries are of up to 16 bits.
const MOST_SLOT_MODULUS: u64 = 1 << 17;
/// Bits of the largest special prime.
const SPECIAL_BITS: u32 = 28;

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        self.rlwe.check(2..=2)?;
        power_of_two("baby_steps", self.baby_steps, 1..=self.rlwe.degree / 2, ", half the ring degree")?;
        power_of_two("baby_keys", self.baby_keys, 1..=self.baby_steps, ", the number of baby steps")?;
        let (t, order) = (self.slot_modulus, 2 * self.rlwe.degree as u64);
        if t >= MOST_SLOT_MODULUS || t % order != 1 || !primes::is_prime(t) {
            let problem = format!("{t} is not a prime below {MOST_SLOT_MODULUS} that is 1 modulo 2 degree.");
            return Err(Error::value("slot_modulus", problem));
        }
        let special = self.special_modulus;
        if special >> SPECIAL_BITS != 0 || special % order != 1 || !primes::is_prime(special) {
            let problem = format!("{special} is not a prime below 2^{SPECIAL_BITS} that is 1 modulo 2 degree.");
            return Err(Error::value("special_modulus", problem));
        }
        let key_ring = self.key_ring(Kernel::Scalar).map_err(|e| Error::value("special_modulus", e.to_string()))?;
        for (key, gadget) in self.gadgets() {
            gadget.check(key, &self.rlwe, true)?;
        }
        self.baby(&key_ring).map_err(|e| Error::value("baby_gadget", e.to_string()))?;
        self.scheme(&self.rlwe.ring(Kernel::Scalar)?).map_err(|e| Error::value("slot_modulus", e.to_string()))?;
        self.switch.map_or(Ok(()), |switch| switch.check(t))
    }
}

impl Set {
    fn gadgets(&self) -> [(&'static str, Gadget); 4] {
        [
            ("baby_gadget", self.baby_gadget),
            ("giant_gadget", self.giant_gadget),
            ("selector_gadget", self.selector_gadget),
            ("packing_gadget", self.packing_gadget),
        ]
    }

    /// The database's layout; refuses one with more items than a column has parts.
    pub fn layout(&self, shape: Shape) -> Result<super::Layout> {
        super::Layout::new(shape, (self.rlwe.degree, self.entry_bits()), self.baby_steps)
    }

    /// The ring of the keys of baby steps.
    pub fn key_ring(&self, kernel: Kernel) -> Result<Arc<Ring<u32>>> {
        let primes = [self.rlwe.primes(), &[self.special_modulus]].concat();
        Ring::new(self.rlwe.degree, &primes, kernel).map_err(Error::from)
    }

    /// The encryption scheme over the ciphertexts' ring.
    pub fn scheme(&self, ring: &Arc<Ring<u32>>) -> Result<Scheme<u32>> {
        let modulus = PlainModulus::new(Family::Integer { t: self.slot_modulus }, self.rlwe.degree)?;
        Ok(Scheme::new(ring, &modulus)?)
    }

    /// The decomposition of baby steps; `key_ring` is the ring of their keys.
    pub fn baby(&self, key_ring: &Arc<Ring<u32>>) -> Result<RnsGadget<u32>> {
        let ring = key_ring.prefix(self.rlwe.primes().len());
        let ring = ring.ok_or_else(|| Error::value("modulus", "it has no prime."))?;
        Ok(RnsGadget::of_integers(key_ring, 1, self.baby_gadget.of(&ring)?)?)
    }

    /// Bits of an entry: the most that are always below t.
    pub fn entry_bits(&self) -> u32 {
        self.slot_modulus.ilog2()
    }

    /// The shape of the ciphertexts' ring.
    pub fn ring_shape(&self) -> RingShape {
        self.rlwe.shape()
    }

    /// Digits of a gadget.
    pub fn length(&self, gadget: Gadget) -> usize {
        gadget.length(self.rlwe.modulus())
    }

    /// What the cost of a baby step depends on.
    pub fn baby_shape(&self) -> SwitchShape {
        SwitchShape { ring: self.ring_shape(), special: 1, rows: self.length(self.baby_gadget) }
    }

    /// What the cost of a giant step depends on.
    pub fn giant_shape(&self) -> SwitchShape {
        SwitchShape { ring: self.ring_shape(), special: 0, rows: self.length(self.giant_gadget) }
    }

    /// Identifies the set in messages that only a server of the same set can use.
    pub fn fingerprint(&self) -> Result<[u8; FINGERPRINT_BYTES]> {
        fingerprint(self, &[])
    }

    /// Bytes of a ciphertext of an answer.
    pub fn answer_bytes(&self) -> u64 {
        let n = self.rlwe.degree;
        self.switch.map_or(2 * self.poly_bytes(), |switch| switch.bytes(n, n))
    }

    /// Bytes of a polynomial modulo q on the wire.
    pub fn poly_bytes(&self) -> u64 {
        (self.rlwe.degree as u64 * u64::from(self.rlwe.residue_bits())).div_ceil(8)
    }

    /// The instances that an observer sees: all keys, and every query, are encryptions under one secret.
    pub fn instances(&self, baby_samples: u64) -> Vec<LweInstance> {
        let queries = self.rlwe.instance("queries_and_keys", None, "every record asked for under the key");
        let primes = [self.rlwe.primes(), &[self.special_modulus]].concat();
        let rotations = LweInstance {
            name: "rotation_keys".into(),
            modulus: product_text(&primes),
            log2_modulus: primes.iter().map(|prime| (*prime as f64).log2()).sum(),
            samples: Some(baby_samples),
            protects: "the secret of all queries".into(),
            ..queries.clone()
        };
        // A query for the only column is not turned.
        if baby_samples == 0 { vec![queries] } else { vec![queries, rotations] }
    }
}
