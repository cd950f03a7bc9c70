//! Key switches in full: rows are in the order in which a switch reads them, and their sums are reduced as rarely as the word allows.

use super::Lwe;
use crate::decompose::Scale;
use crate::error::LatticeError;
use gadget::{Coins, Gadget};
use ring::{Buffer, Kind, Modulus, Vectors, Work};
use std::ops::Range;
use std::sync::Arc;

/// The rows of a key switch in full: row r holds `to` residues of its mask, its body, and padding to whole cache lines.
pub struct LweSwitchKey {
    modulus: Modulus<u64>,
    scale: Scale,
    to: usize,
    rows: Rows,
}

/// Rows in the shortest word that serves their modulus.
enum Rows {
    /// For powers of two up to 2^32, with sums that wrap around.
    Wrapping(Buffer<u32>),
    /// For other moduli below 2^31, with products of 32 bits and sums of 64.
    Narrow(Buffer<u32>),
    /// For all other moduli, with separate sums of low and high halves.
    Wide(Buffer<u64>),
}

/// Words of a row begin at cache lines.
const LINE: usize = 16;

/// Rows whose products with digits are summed before a reduction: digits are below 2^21 (bases to 2^20), residues and halves of them below
/// 2^32, so that 2^10 products stay below 2^63.
const LAZY_ROWS: usize = 1 << 10;

/// Rows read for one ciphertext after the other before the next rows: few enough for the first-level cache.
const ROWS_TOGETHER: usize = 8;

fn wraps(modulus: Modulus<u64>) -> bool {
    modulus.value().is_power_of_two() && modulus.value() <= 1 << 32
}

fn is_narrow(modulus: Modulus<u64>) -> bool {
    wraps(modulus) || modulus.value() < 1 << 31
}

fn width(to: usize) -> usize {
    (to + 1).next_multiple_of(LINE)
}

impl LweSwitchKey {
    pub(super) fn zero(modulus: Modulus<u64>, scale: Scale, to: usize, rows: usize) -> Result<Self, LatticeError> {
        let words = rows * width(to);
        let no_memory = |error| LatticeError::Parameter(format!("LWE key-switching key: {error}"));
        let rows = if wraps(modulus) {
            Rows::Wrapping(Buffer::zeroed(words).map_err(no_memory)?)
        } else if is_narrow(modulus) {
            Rows::Narrow(Buffer::zeroed(words).map_err(no_memory)?)
        } else {
            Rows::Wide(Buffer::zeroed(words).map_err(no_memory)?)
        };
        Ok(Self { modulus, scale, to, rows })
    }

    /// Writes row `index`, the body last.
    pub(super) fn set_row(&mut self, index: usize, row: &[u64]) {
        let at = index * width(self.to);
        match &mut self.rows {
            Rows::Wrapping(rows) | Rows::Narrow(rows) => {
                rows[at..at + row.len()].iter_mut().zip(row).for_each(|(to, &from)| *to = from as u32);
            }
            Rows::Wide(rows) => rows[at..at + row.len()].copy_from_slice(row),
        }
    }

    /// Bytes of a key from dimension `from` to `to` with `length` digits: words of 4 bytes for powers of two to 2^32 and other moduli
    /// below 2^31, of 8 for others.
    pub fn bytes(modulus: Modulus<u64>, from: usize, to: usize, length: usize) -> usize {
        from * length * width(to) * if is_narrow(modulus) { 4 } else { 8 }
    }

    fn row_count(&self) -> usize {
        let words = match &self.rows {
            Rows::Wrapping(rows) | Rows::Narrow(rows) => rows.len(),
            Rows::Wide(rows) => rows.len(),
        };
        words / width(self.to)
    }
}

/// Switches ciphertexts with one key and one gadget.
pub struct LweSwitcher {
    key: LweSwitchKey,
    gadget: Arc<dyn Gadget<u64>>,
    from: usize,
    vectors: Vectors,
}

impl LweSwitcher {
    /// Bytes in memory of its key.
    pub fn key_bytes(&self) -> usize {
        match &self.key.rows {
            Rows::Wrapping(rows) | Rows::Narrow(rows) => 4 * rows.len(),
            Rows::Wide(rows) => 8 * rows.len(),
        }
    }

    /// A switch with that key, made with that gadget.
    ///
    /// # Errors
    /// A gadget of another modulus, base, number of dropped digits or length.
    pub fn new(key: LweSwitchKey, gadget: Arc<dyn Gadget<u64>>) -> Result<Self, LatticeError> {
        if gadget.modulus() != key.modulus.value() || Scale::of(gadget.as_ref()) != key.scale {
            return Err(LatticeError::Mismatch("a key-switching key and a gadget it was not made with"));
        }
        let vectors = Vectors::new(gadget.kernel()).map_err(ring::RingError::from)?;
        Ok(Self { from: key.row_count() / gadget.length(), key, gadget, vectors })
    }

    /// The dimensions it switches from and to.
    pub fn dimensions(&self) -> (usize, usize) {
        (self.from, self.key.to)
    }

    /// The modulus of its ciphertexts.
    pub fn modulus(&self) -> Modulus<u64> {
        self.key.modulus
    }

    /// The work of [`Self::switch`] from dimension `from` to `to` with `length` digits. The digits themselves are not counted.
    pub fn switch_work(from: usize, to: usize, length: usize) -> Work {
        Work::of(Kind::MultiplyAddsU32, &[from as u64, length as u64, to as u64])
    }

    /// The ciphertext under the new key: its phase is the old phase plus the noise of the switch.
    ///
    /// # Errors
    /// A ciphertext of another dimension or modulus.
    pub fn switch(&self, input: &Lwe, coins: &mut Coins) -> Result<Lwe, LatticeError> {
        let mut outputs = self.switch_all(std::slice::from_ref(input), coins)?;
        Ok(outputs.swap_remove(0))
    }

    /// Like [`Self::switch`], for all inputs side by side: the key is read from memory once.
    pub fn switch_all(&self, inputs: &[Lwe], coins: &mut Coins) -> Result<Vec<Lwe>, LatticeError> {
        if !inputs.iter().all(|input| input.a.len() == self.from && input.modulus == self.key.modulus) {
            return Err(LatticeError::Mismatch("an LWE ciphertext and a key-switching key for another"));
        }
        let digits: Vec<Vec<i32>> = inputs.iter().map(|input| self.digits(input, coins)).collect();
        let modulus = self.key.modulus;
        let sums: Vec<Vec<u64>> = match &self.key.rows {
            Rows::Wrapping(rows) => self.sum_wrapping(rows, &digits),
            Rows::Narrow(rows) => self.sum_narrow(rows, &digits),
            Rows::Wide(rows) => self.sum_wide(rows, &digits),
        };
        let output = |(input, mut a): (&Lwe, Vec<u64>)| {
            a.truncate(self.key.to + 1);
            let b = a.pop().unwrap_or_default();
            Lwe { modulus, a, b: modulus.add(b, input.b) }
        };
        Ok(inputs.iter().zip(sums).map(output).collect())
    }

    /// The digits in the order of the rows: coefficient by coefficient.
    fn digits(&self, input: &Lwe, coins: &mut Coins) -> Vec<i32> {
        let length = self.gadget.length();
        let mut by_digit = vec![0; length * self.from];
        self.gadget.decompose(&input.a, &mut by_digit, coins);
        (0..self.from).flat_map(|i| (0..length).map(move |t| t * self.from + i)).map(|at| by_digit[at]).collect()
    }

    /// The ranges of rows that are read together.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> {
        let rows = self.from * self.gadget.length();
        (0..rows).step_by(ROWS_TOGETHER).map(move |first| first..rows.min(first + ROWS_TOGETHER))
    }

    fn sum_wrapping(&self, rows: &[u32], digits: &[Vec<i32>]) -> Vec<Vec<u64>> {
        let width = width(self.key.to);
        let mut sums = vec![vec![0; width]; digits.len()];
        for block in self.blocks() {
            let rows = &rows[block.start * width..block.end * width];
            for (digits, sums) in digits.iter().zip(&mut sums) {
                self.vectors.add_multiples(&digits[block.clone()], rows, sums);
            }
        }
        let residue = |sum| u64::from(sum) & (self.key.modulus.value() - 1);
        sums.into_iter().map(|sums| sums.into_iter().map(residue).collect()).collect()
    }

    fn sum_narrow(&self, rows: &[u32], digits: &[Vec<i32>]) -> Vec<Vec<u64>> {
        let (width, modulus) = (width(self.key.to), self.key.modulus);
        let mut sums = vec![vec![0; width]; digits.len()];
        for block in self.blocks() {
            if block.start % LAZY_ROWS == 0 {
                sums.as_mut_slice().iter_mut().flatten().for_each(|sum| *sum = modulus.from_signed(*sum) as i64);
            }
            let rows = &rows[block.start * width..block.end * width];
            for (digits, sums) in digits.iter().zip(&mut sums) {
                self.vectors.add_wide_multiples(&digits[block.clone()], rows, sums);
            }
        }
        let residue = |sum| modulus.from_signed(sum);
        sums.into_iter().map(|sums| sums.into_iter().map(residue).collect()).collect()
    }

    fn sum_wide(&self, rows: &[u64], digits: &[Vec<i32>]) -> Vec<Vec<u64>> {
        let width = width(self.key.to);
        let mut sums: Vec<_> = digits.iter().map(|_| Halves::new(self.key.modulus, width)).collect();
        for block in self.blocks() {
            for (digits, sums) in digits.iter().zip(&mut sums) {
                if block.start % LAZY_ROWS == 0 {
                    sums.reduce();
                }
                for row in block.clone() {
                    sums.add(digits[row], &rows[row * width..][..width]);
                }
            }
        }
        sums.into_iter().map(Halves::finish).collect()
    }
}

/// Sum of digit * row modulo q, with separate sums of the residues' low and high halves.
struct Halves {
    modulus: Modulus<u64>,
    total: Vec<u64>,
    low: Vec<i64>,
    high: Vec<i64>,
}

impl Halves {
    fn new(modulus: Modulus<u64>, width: usize) -> Self {
        Self { modulus, total: vec![0; width], low: vec![0; width], high: vec![0; width] }
    }

    fn add(&mut self, digit: i32, row: &[u64]) {
        let digit = i64::from(digit);
        for ((low, high), &residue) in self.low.iter_mut().zip(&mut self.high).zip(row) {
            *low += digit * i64::from(residue as u32);
            *high += digit * (residue >> 32) as i64;
        }
    }

    fn reduce(&mut self) {
        let q = i128::from(self.modulus.value());
        for ((total, low), high) in self.total.iter_mut().zip(&mut self.low).zip(&mut self.high) {
            let sum = (i128::from(*high) << 32) + i128::from(*low) + i128::from(*total);
            *total = sum.rem_euclid(q) as u64;
            (*low, *high) = (0, 0);
        }
    }

    fn finish(mut self) -> Vec<u64> {
        self.reduce();
        self.total
    }
}
