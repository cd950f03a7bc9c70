//! DEPIR's parameter set.

use std::path::PathBuf;
use std::sync::Arc;

use ring::primes::{is_prime, primes_above};
use ring::{Kernel, Ring, RingShape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::monomials::monomials;
use crate::core::{Error, ErrorSize, ParameterSet, Result, SecretKind, Shape, in_range, power_of_two};
use crate::parts::ring_matrix::{MAX_STDDEV, check_secret};

/// Name of the protocol.
pub(super) const NAME: &str = "depir";

/// The tables of params/depir/*.toml.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Variables m of the polynomial that records are values of.
    pub variables: usize,
    /// Its total degree D: there are C(D + m, m) records.
    pub degree: usize,
    /// Order k above D of the roots of unity at which ciphertexts, polynomials in the secret, are evaluated; absent: 0 to D.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<usize>,
    /// Ciphertexts and slots.
    pub ring: SetRing,
    /// Ciphertext primes.
    pub primes: Primes,
    /// Tables of values.
    pub tables: Tables,
}

/// The `[ring]` table: ciphertexts over Z_q[X]/(X^n + 1) of plaintexts modulo t.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetRing {
    /// Ring degree n, a power of two.
    pub degree: usize,
    /// The odd prime t above D; where it is 1 modulo 2 n, a plaintext has n slots.
    pub plaintext_modulus: u64,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Size of the error.
    pub error: ErrorSize,
}

/// The `[primes]` table: the first primes from a bound on that are 1 modulo 2 n, and modulo k with transforms for roots of unity.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Primes {
    /// Number r of primes of queries.
    pub query: usize,
    /// Number r' of the largest of them, to which answers are switched.
    pub answer: usize,
    /// They are above 2^this.
    pub above_log2: u32,
}

/// What a table holds for each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evaluator {
    /// The value modulo a prime p (the paper).
    Values,
    /// The value modulo p^2 and the derivatives modulo p, which give the values at all points modulo p^2.
    Derivatives,
}

impl Evaluator {
    /// The modulus of the values of the table modulo a prime.
    pub fn modulus(self, prime: u64) -> u64 {
        if self == Self::Values { prime } else { prime * prime }
    }

    /// Bytes of a column of a record. The authors store a value modulo a prime that may exceed a byte, as those on disk do, in two.
    pub fn record_bytes(self, variables: usize, on_disk: bool) -> usize {
        if self == Self::Values { 1 + usize::from(on_disk) } else { 2 + variables }
    }
}

/// The `[tables]` table.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    /// What a table holds for each point.
    pub evaluator: Evaluator,
    /// Memory for tables, MiB.
    pub memory_mib: u64,
    /// Disk for tables that do not fit in memory, MiB. Absent: as much as tables of values need; none for derivatives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_mib: Option<u64>,
    /// Folder in which each table has a file: existing files are used; tables that do not fit in memory are mapped. Absent: tables
    /// are made in memory, and sets that need a disk are only described.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// Most level-1 primes: with none, every residue is read from a table. Absent: as many as save tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level1_cap: Option<usize>,
}

/// Largest total degree.
const MOST_DEGREE: usize = 254;
/// Primes of rings that are computed with.
const MAX_PRIME_BITS: u32 = 31;
/// Primes of sets that are only described, as the authors store them.
const MOST_PRIME_BITS: u32 = 32;

impl ParameterSet for Set {
    fn check(&self) -> Result<()> {
        let Self { variables, degree, ring, primes, tables, .. } = self;
        in_range("variables", *variables, 1..=6)?;
        in_range("degree", *degree, 1..=MOST_DEGREE)?;
        if let Some(k) = self.roots {
            in_range("roots", k, degree + 1..=1024)?;
        }
        power_of_two("ring.degree", ring.degree, 64..=1 << 16, "")?;
        let t = ring.plaintext_modulus;
        in_range("ring.plaintext_modulus", t, 2 * *degree as u64 + 1..=1 << 20)?;
        if t % 2 == 0 || !is_prime(t) {
            return Err(Error::value("ring.plaintext_modulus", format!("{t} is not an odd prime.")));
        }
        check_secret("ring.secret", ring.secret, ring.degree)?;
        ring.error.check("ring.error", MAX_STDDEV)?;
        in_range("primes.query", primes.query, 1..=128)?;
        in_range("primes.answer", primes.answer, 1..=primes.query)?;
        in_range("primes.above_log2", primes.above_log2, 16..=30)?;
        in_range("tables.memory_mib", tables.memory_mib, 1..=1 << 20)?;
        in_range("tables.disk_mib", tables.disk_mib.unwrap_or_default(), 0..=1 << 40)?;
        if tables.folder.as_ref().is_some_and(|folder| folder.as_os_str().is_empty()) {
            return Err(Error::value("tables.folder", "it is empty; give the path of a folder, or leave it out."));
        }
        if tables.level1_cap.is_some() && tables.evaluator == Evaluator::Derivatives {
            let problem = "derivative tables have as many level-1 primes as fit; leave it out.";
            return Err(Error::value("tables.level1_cap", problem));
        }
        let found = self.ciphertext_primes();
        let long = found.first().is_some_and(|prime| prime >> MOST_PRIME_BITS != 0);
        if found.len() < primes.query || long {
            let problem = format!("{} primes = 1 modulo {} reach beyond 2^32; give fewer.", primes.query, self.step());
            return Err(Error::value("primes.query", problem));
        }
        Ok(())
    }
}

impl Set {
    /// Ciphertext primes are 1 modulo this number: with roots of unity also those of the transforms that the authors compute with.
    fn step(&self) -> u64 {
        let (n, k) = (self.ring.degree, self.roots.unwrap_or(1));
        let transform = if self.roots.is_some() { 2 * k.next_power_of_two() } else { 1 };
        (k * transform.max(2 * n)) as u64
    }

    /// The ciphertext primes, the largest first: those of answers are its first ones.
    pub fn ciphertext_primes(&self) -> Vec<u64> {
        let found = primes_above(self.primes.above_log2, self.step());
        let fit = found.filter(|prime| *prime != self.ring.plaintext_modulus);
        let mut primes: Vec<u64> = fit.take(self.primes.query).collect();
        primes.reverse();
        primes
    }

    /// The ring of queries.
    ///
    /// # Errors
    /// Primes that are too long to compute with.
    pub fn ring(&self, kernel: Kernel) -> Result<Arc<Ring<u32>>> {
        let primes = self.ciphertext_primes();
        if primes.first().is_some_and(|prime| prime >> MAX_PRIME_BITS != 0) {
            let problem = format!("primes up to {} are described; only those below 2^31 are computed with.", primes[0]);
            return Err(Error::value("primes.query", problem));
        }
        Ring::new(self.ring.degree, &primes, kernel).map_err(Error::from)
    }

    /// The shape of that ring, on which the cost of operations depends.
    pub fn shape(&self) -> RingShape {
        RingShape { degree: self.ring.degree, primes: self.primes.query }
    }

    /// Slots of a plaintext: X^n + 1 has as many factors modulo t.
    pub fn slots(&self) -> usize {
        let (t, order) = (self.ring.plaintext_modulus, 2 * self.ring.degree as u64);
        let powers = std::iter::successors(Some(t % order), |power| Some(power * t % order));
        // t is odd, so that it is a unit.
        let period = powers.take_while(|power| *power != 1).count() + 1;
        self.ring.degree / period
    }

    /// Points k at which ciphertexts are evaluated.
    pub fn points(&self) -> usize {
        self.roots.unwrap_or(self.degree + 1)
    }

    /// Largest magnitude of a coefficient of the polynomial.
    pub fn coefficient_bound(&self) -> u64 {
        self.ring.plaintext_modulus / 2
    }

    /// Bits of data of a slot.
    pub fn entry_bits(&self) -> u32 {
        self.ring.plaintext_modulus.ilog2()
    }

    /// Slots of a record, a polynomial for each.
    pub fn columns(&self, shape: Shape) -> usize {
        shape.record_bits.div_ceil(u64::from(self.entry_bits())) as usize
    }

    /// Queries for some records: a query has a record of each slot.
    pub fn queries(&self, records: u64) -> u64 {
        records.div_ceil(self.slots() as u64)
    }

    /// Refuses databases with more records than the polynomial has coefficients.
    pub fn check_shape(&self, shape: Shape) -> Result<()> {
        let (m, degree, most) = (self.variables, self.degree, monomials(self.variables, self.degree));
        if shape.records <= most {
            return Ok(());
        }
        let remedy = match (degree..=MOST_DEGREE).find(|degree| monomials(m, *degree) >= shape.records) {
            Some(needed) => format!("a set of degree {needed} or more"),
            None => "a set with more variables".into(),
        };
        Err(Error::Workload(format!(
            "records = {}: a polynomial in {m} variables of degree {degree} has {most} coefficients, one a record. Give fewer records, or \
             {remedy}.",
            shape.records
        )))
    }
}
