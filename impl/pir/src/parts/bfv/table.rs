//! What `[ring]` tables of BFV and related ciphertexts have in common.

use std::sync::Arc;

use bfv::{Family, RnsGadget, SwitchShape};
use lattice::SplitRing;
use ring::{Kernel, Ring, RingShape};

use crate::core::{Error, ErrorSize, FINGERPRINT_BYTES, LweInstance, Result, SecretKind, in_range, power_of_two};
use crate::parts::ring_matrix::{MAX_STDDEV, check_secret, product_text};

/// Bits of the largest prime.
pub const MAX_PRIME_BITS: u32 = 31;

/// A table of ciphertexts over Z_q[X]/(X^N + 1), whose keys are modulo q P.
pub trait RingTable {
    /// Ring degree N.
    fn degree(&self) -> usize;
    /// The primes of q.
    fn primes(&self) -> &[u64];
    /// The primes of P; none without it.
    fn special_primes(&self) -> &[u64];
    /// Bits of a digit of a mask.
    fn digit_bits(&self) -> u32;
    /// Distribution of the secret, and size of the error.
    fn secret(&self) -> (SecretKind, ErrorSize);

    /// Refuses values out of range; degrees from 64 to `most`.
    fn check_ring(&self, most: usize) -> Result<()> {
        power_of_two("ring.degree", self.degree(), 64..=most, "")?;
        for (key, primes) in [("ring.modulus", self.primes()), ("ring.special_modulus", self.special_primes())] {
            if primes.iter().any(|prime| prime >> MAX_PRIME_BITS != 0) {
                return Err(Error::value(key, format!("write primes below 2^{MAX_PRIME_BITS}, \"p1 * p2 * p3\".")));
            }
        }
        self.ring(Kernel::Scalar).map_err(|e| Error::value("ring.modulus", e.to_string()))?;
        in_range("ring.digit_bits", self.digit_bits(), 2..=MAX_PRIME_BITS)?;
        self.gadget(Kernel::Scalar).map_err(|e| Error::value("ring.special_modulus", e.to_string()))?;
        let (secret, error) = self.secret();
        error.check("ring.error", MAX_STDDEV)?;
        check_secret("ring.secret", secret, self.degree())
    }

    /// The primes of q P.
    fn key_primes(&self) -> Vec<u64> {
        [self.primes(), self.special_primes()].concat()
    }

    /// The ring of ciphertexts.
    fn ring(&self, kernel: Kernel) -> Result<Arc<Ring<u32>>> {
        Ring::new(self.degree(), self.primes(), kernel).map_err(Error::from)
    }

    /// The decomposition of masks.
    fn gadget(&self, kernel: Kernel) -> Result<RnsGadget<u32>> {
        let key_ring = Ring::new(self.degree(), &self.key_primes(), kernel)?;
        Ok(RnsGadget::new(&key_ring, self.special_primes().len(), self.digit_bits())?)
    }

    /// Digits of a mask, rows of a key: residues modulo each prime of q are cut into digits of their own.
    fn digits(&self) -> usize {
        self.digits_of(self.digit_bits())
    }

    /// Digits of a mask where a digit has that many bits.
    fn digits_of(&self, digit_bits: u32) -> usize {
        let digits = |prime: &u64| (u64::BITS - prime.leading_zeros()).div_ceil(digit_bits) as usize;
        self.primes().iter().map(digits).sum()
    }

    /// The shape of the ring, on which the cost of operations depends.
    fn shape(&self) -> RingShape {
        RingShape { degree: self.degree(), primes: self.primes().len() }
    }

    /// What the cost of key switches depends on.
    fn switch_shape(&self) -> SwitchShape {
        SwitchShape { ring: self.shape(), special: self.special_primes().len(), rows: self.digits() }
    }

    /// Bits of a coefficient of a ciphertext on the wire, residue by residue.
    fn coefficient_bits(&self) -> u64 {
        bits(self.primes())
    }

    /// Bytes of a polynomial of a ciphertext on the wire.
    fn wire_bytes(&self) -> u64 {
        self.degree() as u64 * self.coefficient_bits() / 8
    }

    /// Bytes on the wire of that many keys, after what identifies the set: a seed, the number of the first mask, and bodies each.
    fn keys_bytes(&self, count: u64) -> u64 {
        let rows = self.digits() as u64 * self.degree() as u64 * bits(&self.key_primes()) / 8;
        FINGERPRINT_BYTES as u64 + count * (24 + rows)
    }

    /// Bytes of a key in memory: masks and bodies of its rows, each with two tables of its automorphism.
    fn key_bytes(&self) -> u64 {
        let switch = self.switch_shape();
        2 * (switch.rows as u64 * switch.keys().poly_bytes() + 8 * self.degree() as u64)
    }

    /// An RLWE instance modulo these primes, of `samples` samples under one secret.
    fn instance(&self, name: &str, primes: &[u64], samples: Option<u64>, protects: &str) -> LweInstance {
        let (secret, error) = self.secret();
        LweInstance {
            name: name.into(),
            kind: "rlwe".into(),
            dimension: self.degree() as u64,
            modulus: product_text(primes),
            log2_modulus: primes.iter().map(|prime| (*prime as f64).log2()).sum(),
            secret,
            error_stddev: error.stddev().0,
            samples,
            protects: protects.into(),
        }
    }

    /// The instances that an observer sees where one secret encrypts all queries and keys, which have that many rows. Without keys, queries are
    /// the only instance.
    fn instances(&self, key_rows: u64) -> Vec<LweInstance> {
        let mut all = vec![self.instance("queries", self.primes(), None, "every record asked for under the key")];
        if key_rows > 0 {
            let samples = Some(key_rows.saturating_mul(self.degree() as u64));
            all.push(self.instance("keys", &self.key_primes(), samples, "the secret of all queries"));
        }
        all
    }
}

/// Bytes of what one party makes of its parameters: the ring of keys, of which that of ciphertexts, with `primes` primes, is a part, the plaintext
/// moduli with t(X) and its inverse, and the ring that opens answers.
pub fn party_bytes(keys: RingShape, primes: usize, families: &[Family]) -> Result<u64> {
    let plain: u64 =
        families.iter().map(|family| family.table_bytes(keys.degree)).sum::<std::result::Result<_, _>>()?;
    let constants = 2 * families.len() as u64 * RingShape { primes, ..keys }.poly_bytes();
    Ok(keys.table_bytes() + plain + constants + SplitRing::table_bytes(keys.degree))
}

/// Bits of a residue modulo each prime.
fn bits(primes: &[u64]) -> u64 {
    primes.iter().map(|prime| u64::from(lattice::wire::residue_bits(*prime))).sum()
}

/// Implements the table's own part for a struct with its keys; `$special` gives the primes of P.
macro_rules! ring_table {
    ($table:ty, |$this:ident| $special:expr) => {
        impl $crate::parts::bfv::RingTable for $table {
            fn degree(&self) -> usize {
                self.degree
            }

            fn primes(&self) -> &[u64] {
                self.modulus.primes()
            }

            fn special_primes(&self) -> &[u64] {
                let $this = self;
                $special
            }

            fn digit_bits(&self) -> u32 {
                self.digit_bits
            }

            fn secret(&self) -> (SecretKind, ErrorSize) {
                (self.secret, self.error)
            }
        }
    };
}
pub(super) use ring_table;
