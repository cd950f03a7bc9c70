//! Which tables are kept, and which of them a value modulo each ciphertext prime takes (section 5).
//!
//! A value modulo q of integer inputs in [-q/2, q/2] is below a bound as an integer, and follows from its residues modulo numbers with a
//! product four times as large. Level 0 has tables of all points modulo a small prime. A ciphertext prime takes level-0 residues, and where they
//! do not suffice those modulo level-1 primes, each of which takes level-0 residues in turn.

use ring::primes::is_prime;

use super::monomials::monomials;
use super::set::{Evaluator, Set};
use super::table::{Layout, PAGE};
use crate::core::{Error, Result};

/// How the values modulo one number are found: the first of each list of [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    /// The number.
    pub modulus: u64,
    /// Tables in memory.
    pub memory: usize,
    /// Tables on disk.
    pub disk: usize,
    /// Level-1 primes.
    pub level1: usize,
}

/// Tables and levels. Each list is in the order of use: the largest prime first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    evaluator: Evaluator,
    variables: usize,
    /// Primes whose tables are in memory.
    pub memory: Vec<u64>,
    /// Primes whose tables are mapped, a file each.
    pub disk: Vec<u64>,
    /// Level-1 primes.
    pub level1: Vec<Uses>,
    /// Ciphertext primes.
    pub top: Vec<Uses>,
}

/// Largest prime of tables in memory, whose entries are bytes.
const LARGEST_IN_MEMORY: u64 = 256;
/// Level-1 primes are below this number.
const LEVEL1_BELOW: u64 = 1 << 16;
/// Two sums of logarithms that are closer may be equal.
const MARGIN: f64 = 1e-9;

/// Bits of the product of moduli that a value modulo q takes: of the bound on integer values, one for the sign, and one to spare.
pub fn product_bits(set: &Set, q: u64) -> f64 {
    let (m, degree, half) = (set.variables, set.degree, (q / 2 + 1) as f64);
    // The sum over degrees j of the number of monomials of degree j times half^j, over half^D.
    let sum: f64 = (0..=degree).map(|j| monomials(m - 1, j) as f64 * half.powi(j as i32 - degree as i32)).sum();
    (sum.log2() + (set.coefficient_bound() as f64).log2() + degree as f64 * half.log2()).ceil() + 2.0
}

fn log2(x: u64) -> f64 {
    (x as f64).log2()
}

/// The shortest prefix whose logarithms add up to that many bits.
fn prefix(logs: impl Iterator<Item = f64>, bits: f64) -> Option<usize> {
    let mut sum = 0.0;
    let short = |log: f64| {
        sum += log;
        sum < bits + MARGIN
    };
    if bits <= 0.0 { Some(0) } else { logs.map(short).position(|short| !short).map(|last| last + 1) }
}

fn odd_primes() -> impl Iterator<Item = u64> + Clone {
    (3..).step_by(2).filter(|n| is_prime(*n))
}

impl Plan {
    /// The plan of a set for records of that many columns.
    ///
    /// # Errors
    /// Tables that fit the memory are too few.
    pub fn new(set: &Set, columns: u64) -> Result<Self> {
        let mut plan = Self {
            evaluator: set.tables.evaluator,
            variables: set.variables,
            memory: Vec::new(),
            disk: Vec::new(),
            level1: Vec::new(),
            top: Vec::new(),
        };
        let columns = columns.max(1);
        let budget = (set.tables.memory_mib << 20) / columns;
        let primes = set.ciphertext_primes();
        let largest = primes.iter().copied().max().unwrap_or_default();
        let level1 = match set.tables.evaluator {
            Evaluator::Values => plan.values(set, budget, largest),
            Evaluator::Derivatives => plan.derivatives(set, (budget, columns), largest),
        };
        if let Some(mib) = set.tables.disk_mib.filter(|mib| plan.bytes()[1] > (mib << 20) / columns) {
            let needed = plan.bytes()[1].saturating_mul(columns).div_ceil(1 << 20);
            return Err(Error::value(
                "tables.disk_mib",
                format!("{mib} MiB: tables on disk take {needed}; give as much."),
            ));
        }
        for prime in level1.into_iter().rev() {
            let uses = plan.uses(set, prime)?;
            plan.level1.push(uses);
        }
        plan.top = primes.into_iter().map(|prime| plan.uses(set, prime)).collect::<Result<_>>()?;
        Ok(plan)
    }

    /// The authors' rule. Fills the tables; returns the level-1 primes, ascending.
    fn values(&mut self, set: &Set, budget: u64, largest: u64) -> Vec<u64> {
        let needed = |q: u64| prefix(odd_primes().map(log2), product_bits(set, q)).unwrap_or_default();
        let all: Vec<u64> = odd_primes().take(needed(largest)).collect();
        let least = needed(all.last().copied().unwrap_or(3));
        let cap = set.tables.level1_cap.unwrap_or(usize::MAX);
        let tables = least.max(all.len().saturating_sub(cap)).min(all.len());
        let fits = |total: &mut u64, prime: &u64| {
            *total = total.saturating_add(self.table_bytes(*prime, false));
            Some(*total <= budget && *prime <= LARGEST_IN_MEMORY)
        };
        let kept = all[..tables].iter().scan(0, fits).take_while(|fits| *fits).count();
        self.memory = all[..kept].iter().rev().copied().collect();
        self.disk = all[kept..tables].iter().rev().copied().collect();
        all[tables..].to_vec()
    }

    /// As many tables as fit memory, and then disk; level-1 primes as large as these allow, because a value modulo q takes about
    /// D log2(q) bits of residues, and a constant more.
    fn derivatives(&mut self, set: &Set, (budget, columns): (u64, u64), largest: u64) -> Vec<u64> {
        let (mut bits, needed) = (0.0, product_bits(set, largest));
        let disk = (set.tables.disk_mib.unwrap_or_default() << 20) / columns;
        let (mut room, mut on_disk) = (budget, false);
        for prime in odd_primes().take_while(|prime| *prime < LARGEST_IN_MEMORY) {
            let bytes = self.table_bytes(prime, on_disk);
            if bytes > room && !on_disk {
                (room, on_disk) = (disk, true);
            }
            if bytes > room || bits >= needed + MARGIN {
                break;
            }
            room -= bytes;
            bits += self.bits(prime);
            if on_disk { &mut self.disk } else { &mut self.memory }.insert(0, prime);
        }
        let least = self.disk.first().or(self.memory.first()).copied().unwrap_or(LEVEL1_BELOW);
        let fit = (least + 1..LEVEL1_BELOW).rev().filter(|q| is_prime(*q));
        let fit = fit.skip_while(|q| product_bits(set, *q) + MARGIN > bits);
        let primes: Vec<u64> = fit.take(needed.max(0.0) as usize).collect();
        let count = prefix(primes.iter().map(|prime| log2(*prime)), needed - bits);
        primes[..count.unwrap_or(primes.len())].iter().rev().copied().collect()
    }

    /// What a value modulo q takes, of the tables and of the level-1 primes so far.
    fn uses(&self, set: &Set, q: u64) -> Result<Uses> {
        let logs = self.tables().map(|prime| self.bits(prime));
        let logs = logs.chain(self.level1.iter().map(|uses| log2(uses.modulus)).filter(|_| q >= LEVEL1_BELOW));
        let bits = product_bits(set, q);
        let count = prefix(logs, bits).ok_or_else(|| {
            let number = self.memory.len() + self.disk.len();
            let mib = set.tables.memory_mib.saturating_add(set.tables.disk_mib.unwrap_or_default());
            let problem = format!(
                "{mib} MiB have room for {number} tables, which are too few for values modulo {q}: their moduli need a product of \
                 {bits} bits. Give more memory, or split the records."
            );
            Error::value("tables.memory_mib", problem)
        })?;
        let memory = count.min(self.memory.len());
        let disk = (count - memory).min(self.disk.len());
        Ok(Uses { modulus: q, memory, disk, level1: count - memory - disk })
    }

    /// Bits that a read of a table gives.
    fn bits(&self, prime: u64) -> f64 {
        log2(self.modulus(prime))
    }

    /// The modulus of the values of a table.
    pub fn modulus(&self, prime: u64) -> u64 {
        self.evaluator.modulus(prime)
    }

    /// All tables, in the order of use.
    pub fn tables(&self) -> impl Iterator<Item = u64> {
        self.memory.iter().chain(&self.disk).copied()
    }

    /// Bytes of a column of a table.
    pub fn table_bytes(&self, prime: u64, on_disk: bool) -> u64 {
        let record = self.evaluator.record_bytes(self.variables, on_disk) as u64;
        prime.saturating_pow(self.variables as u32).saturating_mul(record)
    }

    /// Pages of a record of that many columns on disk.
    pub fn record_pages(&self, columns: u64) -> u64 {
        columns.saturating_mul(self.evaluator.record_bytes(self.variables, true) as u64).div_ceil(PAGE as u64)
    }

    /// Bytes of a column of all tables in memory, and of those on disk.
    pub fn bytes(&self) -> [u64; 2] {
        [(&self.memory, false), (&self.disk, true)].map(|(primes, on_disk)| {
            primes.iter().fold(0u64, |sum, p| sum.saturating_add(self.table_bytes(*p, on_disk)))
        })
    }

    /// The tables of records of that many columns, in the order of use.
    ///
    /// # Errors
    /// Plans that are only described: tables on disk without a folder for them, or of more points than places count.
    pub fn layouts(&self, set: &Set, columns: usize) -> Result<Vec<Layout>> {
        if self.disk.is_empty() || set.tables.folder.is_some() {
            let layout = |prime| Layout::new(set, prime, self.disk.contains(&prime), columns);
            return self.tables().map(layout).collect();
        }
        let gib = self.bytes().map(|bytes| bytes.saturating_mul(columns as u64) as f64 / f64::from(1 << 30));
        Err(Error::value(
            "tables.folder",
            format!(
                "the tables of this set take {:.1} GiB in memory and {:.1} GiB on disk, and without a folder for these it is only described. Give \
                 one, or take a set with derivatives, or give tables.memory_mib more.",
                gib[0], gib[1]
            ),
        ))
    }

    /// Reads in memory and on disk of the values at one point modulo all ciphertext primes.
    pub fn reads(&self) -> [u64; 2] {
        let of = |uses: &Uses| {
            let level1 = &self.level1[..uses.level1];
            let below = |count: fn(&Uses) -> usize| level1.iter().map(count).sum::<usize>() + count(uses);
            [below(|uses| uses.memory), below(|uses| uses.disk)]
        };
        self.top.iter().map(of).fold([0; 2], |sum, reads| [sum[0] + reads[0] as u64, sum[1] + reads[1] as u64])
    }
}
