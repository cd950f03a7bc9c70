//! Rings, scheme and slots, as both parties use them.

use std::sync::Arc;

use bfv::{Algebraic, Family, PlainModulus};
use lattice::RlweKey;
use lattice::wire::SEED_BYTES;
use ring::{Kernel, Modulus, Ring};

use super::Set;
use super::monomials::Monomials;
use super::wire::poly_bytes;
use crate::core::{Database, Error, Result, Shape, copy_bits, put_bits};

/// What a set and a shape determine.
pub struct Engine {
    pub set: Set,
    pub shape: Shape,
    /// Polynomials of a record.
    pub columns: usize,
    pub monomials: Monomials,
    /// Queries.
    pub scheme: Algebraic<u32>,
    /// Answers, modulo the first primes.
    pub short: Algebraic<u32>,
    slots: PlainModulus,
    /// t.
    pub plain: Modulus<u32>,
    /// The product of the primes that answers lack, modulo t: plaintexts of answers are divided by it.
    dropped: u32,
}

/// Bytes of a query: a seed, and a body for each variable.
pub fn query_bytes(set: &Set) -> u64 {
    SEED_BYTES as u64 + set.variables as u64 * poly_bytes(set.ring.degree, &set.ciphertext_primes())
}

/// Bytes of an answer to one query: D + 1 elements for each column.
pub fn answer_bytes(set: &Set, shape: Shape) -> u64 {
    let primes = set.ciphertext_primes();
    let element = poly_bytes(set.ring.degree, &primes[..set.primes.answer]);
    (set.columns(shape) as u64).saturating_mul(set.degree as u64 + 1).saturating_mul(element)
}

impl Engine {
    pub fn new(set: &Set, shape: Shape, kernel: Kernel) -> Result<Self> {
        set.check_shape(shape)?;
        let (ring, t) = (set.ring(kernel)?, set.ring.plaintext_modulus);
        if set.slots() != set.ring.degree {
            let problem = format!(
                "{t} is not 1 modulo 2 {n}, so that plaintexts have {} slots of several numbers, which are only described. Give a degree of which \
                 it is.",
                set.slots(),
                n = set.ring.degree
            );
            return Err(Error::value("ring.plaintext_modulus", problem));
        }
        let prefix: Option<Arc<Ring<u32>>> = ring.prefix(set.primes.answer);
        let short = prefix.ok_or_else(|| Error::value("primes.answer", "no primes are left.".to_string()))?;
        let plain = Modulus::new(t as u32)?;
        let dropped = ring.primes()[set.primes.answer..].iter().fold(1, |b, p| plain.mul(b, plain.reduce_u64(*p)));
        Ok(Self {
            columns: set.columns(shape),
            monomials: Monomials::new(set.variables, set.degree),
            scheme: Algebraic::new(&ring, t)?,
            short: Algebraic::new(&short, t)?,
            slots: PlainModulus::new(Family::Integer { t }, set.ring.degree)?,
            plain,
            dropped,
            shape,
            set: set.clone(),
        })
    }

    /// Slots of a query.
    pub fn slots(&self) -> usize {
        self.set.ring.degree
    }

    /// The records that the slots of a query ask for: those of unused slots are spread over the database, so that all queries have plaintexts alike.
    pub fn asked(&self, indices: &[u64]) -> Vec<u64> {
        let unused = (indices.len()..self.slots()).map(|slot| slot as u64 % self.shape.records);
        indices.iter().copied().chain(unused).collect()
    }

    /// The plaintexts of a query: in each slot the coordinates of its record's point.
    pub fn plaintexts(&self, asked: &[u64]) -> Result<Vec<Vec<i64>>> {
        let points: Vec<Vec<usize>> = asked.iter().map(|index| self.monomials.exponents(*index as usize)).collect();
        let of = |variable: usize| {
            let values: Vec<u64> = points.iter().map(|point| point[variable] as u64).collect();
            Ok(self.slots.encode(&values)?)
        };
        (0..self.set.variables).map(of).collect()
    }

    /// Bits of a column of a record: the last may have fewer.
    fn column_bits(&self, column: usize) -> std::ops::Range<u64> {
        let width = u64::from(self.set.entry_bits());
        let first = column as u64 * width;
        first..(first + width).min(self.shape.record_bits)
    }

    /// The numbers in the columns of a record.
    pub fn entries(&self, record: &[u8]) -> Vec<u32> {
        let entry = |column| {
            let (bits, mut out) = (self.column_bits(column), [0; 4]);
            let (byte, shift) = ((bits.start / 8) as usize, (bits.start % 8) as u32);
            copy_bits(&record[byte..], shift, (bits.end - bits.start) as usize, &mut out);
            u32::from_le_bytes(out)
        };
        (0..self.columns).map(entry).collect()
    }

    /// The plaintexts of an answer, a column each, to a query for these records.
    pub fn answer(&self, database: &Database, asked: &[u64]) -> Result<Vec<Vec<i64>>> {
        let mut values = vec![Vec::with_capacity(asked.len()); self.columns];
        for index in asked {
            let entries = self.entries(&database.record(*index)?);
            values.iter_mut().zip(entries).for_each(|(values, entry)| values.push(u64::from(entry)));
        }
        values.iter().map(|values| Ok(self.slots.encode(values)?)).collect()
    }

    /// The key of answers.
    pub fn short_key(&self, key: &RlweKey<u32>) -> Result<RlweKey<u32>> {
        Ok(RlweKey::from_coefficients(self.short.ring(), key.coefficients().to_vec())?)
    }

    /// The values in the slots of what an answer decrypts to.
    pub fn decode(&self, decrypted: &[i64]) -> Result<Vec<u64>> {
        let scaled = decrypted.iter().map(|x| self.plain.mul(self.plain.from_signed(*x), self.dropped).into());
        let scaled: Vec<i64> = scaled.collect();
        Ok(self.slots.decode(&scaled)?)
    }

    /// The records in the first slots of columns; each is below 2^`entry_bits`.
    pub fn records(&self, columns: &[Vec<u64>], count: usize) -> Result<Vec<Vec<u8>>> {
        let record = |slot: usize| {
            let mut record = vec![0; self.shape.record_bytes()];
            for (column, values) in columns.iter().enumerate() {
                let (bits, value) = (self.column_bits(column), values[slot]);
                if value >> (bits.end - bits.start) != 0 {
                    return Err(Error::message("answer", format!("the value {value} is not one of a record.")));
                }
                put_bits(&value.to_le_bytes(), 0, bits.end - bits.start, &mut record, bits.start);
            }
            Ok(record)
        };
        (0..count).map(record).collect()
    }

    /// A plaintext as answers have it: divided by the product of the primes that they lack.
    pub fn divided(&self, plaintext: &[i64]) -> Vec<u32> {
        let inverse = self.plain.inverse(self.dropped).unwrap_or_default();
        plaintext.iter().map(|x| self.plain.mul(self.plain.from_signed(*x), inverse)).collect()
    }

    /// How far each coefficient of a phase is from the modulus's half, as a part of the modulus: the smallest number that is the phase modulo q and
    /// the message modulo t, over q.
    pub fn errors(&self, scheme: &Algebraic<u32>, phase: &[u32], message: &[u32]) -> Vec<f64> {
        let (ring, n) = (scheme.ring(), self.slots());
        let limbs = ring.rns().product().len();
        let mut numbers = vec![0; n * limbs];
        ring.rns().compose_limbs(phase, &mut numbers);
        let fraction = |number: &[u64]| ratio(number, ring.rns().product());
        let residue = |number: &[u64]| {
            let shift = self.plain.reduce_u128(1 << 64);
            number
                .iter()
                .rev()
                .fold(0, |r, word| self.plain.add(self.plain.mul(r, shift), self.plain.reduce_u64(*word)))
        };
        let q = residue(ring.rns().product());
        let inverse = self.plain.inverse(q).unwrap_or_default();
        let error = |(number, message): (&[u64], &u32)| {
            // Centred, the phase is this number or q less.
            let (x, negative) = (fraction(number), fraction(number) >= 0.5);
            let found = self.plain.sub(residue(number), if negative { q } else { 0 });
            let wraps = self.plain.centred(self.plain.mul(self.plain.sub(*message, found), inverse));
            (if negative { small_complement(number, ring.rns().product()) } else { x }) + wraps as f64
        };
        numbers.chunks_exact(limbs).zip(message).map(error).collect()
    }
}

/// The quotient of two numbers in words, the second not smaller.
fn ratio(number: &[u64], by: &[u64]) -> f64 {
    // Words from the last on have exponents that a double holds; smaller ones vanish.
    let float = |words: &[u64]| {
        words.iter().rev().enumerate().map(|(i, word)| *word as f64 * 2f64.powi(-64 * i as i32)).sum::<f64>()
    };
    float(number) / float(by)
}

/// (number - q) / q of two numbers in words.
fn small_complement(number: &[u64], q: &[u64]) -> f64 {
    let mut borrow = false;
    let difference = q.iter().zip(number).map(|(q, x)| {
        let (first, under) = q.overflowing_sub(*x);
        let (second, also) = first.overflowing_sub(u64::from(borrow));
        borrow = under || also;
        second
    });
    -ratio(&difference.collect::<Vec<_>>(), q)
}
