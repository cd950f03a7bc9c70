//! The cost of operations: counts by kind, which add and scale.
//!
//! Every operation that a protocol calls has a twin beside it, named after it, that takes shapes and returns its [`Work`]. Descriptions
//! are sums of these; estimator/cost/operations.toml has the seconds of one operation of each kind.

use std::collections::BTreeMap;
use std::iter::Sum;
use std::ops::{Add, Mul};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// A kind of counted operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            /// A transform of that many points modulo a prime of 28 bits, as all rings of protocols have.
            Transform(usize),
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// Its name in descriptions.
            pub fn name(self) -> String {
                match self {
                    Self::Transform(points) => format!("ntt_{points}_28"),
                    $(Self::$kind => $name.into(),)*
                }
            }
        }
    };
}

kinds! {
    /// A digit of a residue in a base that is a power of two.
    Digits = "digits",
    /// A digit of a residue in any other base.
    DividedDigits = "divided_digits",
    /// A residue times a residue, added.
    ResidueMultiplyAdds = "residue_multiply_adds",
    /// A residue that an automorphism, a sum or a difference moves.
    MovedSlots = "automorphism_slots",
    /// Making a residue of a packing table of few ciphertexts.
    SmallTableSlots = "small_table_slots",
    /// Making a residue of a packing table of InspiRING.
    TableSlots = "table_slots",
    /// Making a residue of a packing table of CDKS.
    TreeSlots = "tree_slots",
    /// An entry of a packed matrix times a word of the only vector.
    MultiplyAddsPacked = "multiply_adds_packed",
    /// An entry of a packed matrix times a word of one of several vectors.
    BatchMultiplyAddsPacked = "batch_multiply_adds_packed",
    /// A packed entry times a word of a dense matrix.
    MatrixMultiplyAdds = "matrix_multiply_adds",
    /// A 16-bit entry times a residue.
    MultiplyAddsU16 = "multiply_adds_u16",
    /// A word of 32 bits times another.
    MultiplyAddsU32 = "multiply_adds_u32",
    /// A residue of a matrix of polynomials times a residue of a vector.
    PolyMatrixMultiplyAdds = "poly_matrix_multiply_adds",
    /// A residue of a packing table times a residue of a key.
    TableMultiplyAdds = "table_multiply_adds",
    /// A byte read from memory.
    BytesRead = "bytes_read",
    /// A byte of packing tables read.
    TableBytes = "table_bytes",
    /// A byte of a matrix of polynomials read.
    PolyMatrixBytes = "poly_matrix_bytes",
    /// A byte of keys that a step is the first to read.
    KeyBytes = "key_bytes",
    /// A byte of the database stored.
    BytesWritten = "bytes_written",
    /// A byte of memory new to the process.
    AllocatedBytes = "allocated_bytes",
    /// A byte of the pseudorandom generator.
    PrgBytes = "prg_bytes",
    /// A sample of an error distribution.
    GaussianSamples = "gaussian_samples",
    /// A sum of a packed row with the first vector of a pass.
    RowSums = "row_sums",
    /// A sum of a packed row with a further vector of a pass.
    FurtherRowSums = "further_row_sums",
    /// A word of a dense matrix made ready for the product with a packed one.
    MatrixWords = "matrix_words",
    /// A base-p digit of a record, p no power of two.
    DigitConversions = "digit_conversions",
    /// A balanced digit of a word of 32 bits.
    BalancedDigits = "balanced_digits",
    /// A 16-bit entry written by rows into a new matrix of columns.
    ColumnEntries = "column_entries",
    /// An entry of a matrix changed alone.
    ScatteredEntries = "scattered_entries",
    /// An entry changed alone in a matrix that lists some of its entries.
    ListedEntries = "listed_entries",
    /// An entry made ready for a transform.
    WidenedEntries = "widened_entries",
    /// An entry cut from the bits of records.
    CutEntries = "cut_entries",
    /// Making a residue of a polynomial of InsPIRe's planes.
    PlaneEntries = "plane_entries",
    /// A residue turned, added and subtracted in an interpolation.
    Butterflies = "butterflies",
    /// A residue divided by a difference of points.
    Divisions = "divisions",
    /// A word of a hint, switched and cut into digits.
    HintWords = "hint_words",
    /// A product in taking residues modulo several primes to residues modulo others.
    ConvertedResidues = "converted_residues",
    /// A coefficient switched to a smaller modulus.
    CoefficientsSwitched = "coefficients_switched",
    /// A block of a pseudorandom function, at inputs in any order.
    PrfBlocks = "prf_blocks",
    /// A word of 64 bits of an entry found at a random place in the second-level cache, added to a sum.
    HintWords64 = "hint_words_64",
    /// An entry read from a random place in memory.
    RandomReads = "random_reads",
    /// A value read from the table of a point, with its place and its part of sums.
    TableReads = "table_reads",
    /// The same of a value with derivatives.
    DerivativeReads = "derivative_reads",
    /// A page of a mapped table read from the disk.
    DiskReads = "disk_reads",
    /// A product in making tables of a polynomial's values.
    TableProducts = "table_products",
    /// A value of such a table reduced and stored.
    TableValues = "table_values",
    /// A word of a message read.
    WordsRead = "words_read",
    /// A word of a message written.
    WordsWritten = "words_written",
    /// A query of a batch beside the first.
    Queries = "queries",
    /// The fixed cost of any phase.
    Phases = "phases",
}

/// Counts by kind. Descriptions show a kind that is counted as zero, but not one without a count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work(BTreeMap<Kind, u64>);

/// The product of a count's factors; beyond 2^64 the largest number.
pub fn count(factors: &[u64]) -> u64 {
    factors.iter().fold(1, |product: u64, &factor| product.saturating_mul(factor))
}

impl Work {
    /// Operations of one kind, whose number is the product of the factors.
    pub fn of(kind: Kind, factors: &[u64]) -> Self {
        Self::from([(kind, count(factors))])
    }

    /// The number of operations of that kind.
    pub fn get(&self, kind: Kind) -> u64 {
        self.0.get(&kind).copied().unwrap_or(0)
    }

    /// Names and numbers.
    pub fn counts(&self) -> impl Iterator<Item = (String, u64)> {
        self.0.iter().map(|(kind, number)| (kind.name(), *number))
    }

    fn and(mut self, (kind, more): (Kind, u64)) -> Self {
        let number = self.0.entry(kind).or_default();
        *number = number.saturating_add(more);
        self
    }
}

impl<const N: usize> From<[(Kind, u64); N]> for Work {
    fn from(counts: [(Kind, u64); N]) -> Self {
        counts.into_iter().fold(Self::default(), Self::and)
    }
}

impl Add for Work {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        more.0.into_iter().fold(self, Self::and)
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Self::add)
    }
}

impl Mul<u64> for Work {
    type Output = Self;

    fn mul(mut self, times: u64) -> Self {
        self.0.values_mut().for_each(|number| *number = number.saturating_mul(times));
        self
    }
}

#[cfg(test)]
mod tests;
