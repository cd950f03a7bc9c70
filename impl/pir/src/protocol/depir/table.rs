//! One table: the records of all points modulo a small prime, in memory or mapped from a file.

use memmap2::Mmap;
use ring::{Buffer, Small};

use super::set::{Evaluator, Set};
use crate::core::{Error, Result};

/// Bytes after the last record, so that eight can be read of it.
const PADDING: u64 = 8;
/// Bytes of a page of a mapped file.
pub(super) const PAGE: usize = 4096;

/// What a table has, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// p.
    pub prime: Small,
    /// The modulus of values: p or p^2.
    pub modulus: Small,
    /// Points: p^m.
    pub points: u64,
    /// Bytes of a value, of a column of a record (the value and its derivatives), and of a record.
    pub value: usize,
    pub column: usize,
    pub stride: usize,
    /// Whether the table is mapped.
    pub mapped: bool,
}

impl Layout {
    /// The table modulo a prime, for records of that many columns.
    ///
    /// # Errors
    /// More points than places of 32 bits count.
    pub fn new(set: &Set, prime: u64, mapped: bool, columns: usize) -> Result<Self> {
        let points = prime.saturating_pow(set.variables as u32);
        let small = |modulus: u64| Small::new(modulus).filter(|_| points >> 32 == 0);
        let (Some(prime), Some(modulus)) = (small(prime), small(set.tables.evaluator.modulus(prime))) else {
            let problem = format!(
                "a table modulo {prime} has {prime}^{} points, and tables of 2^32 points or more are only described. Give fewer variables, or \
                 tables.memory_mib and tables.disk_mib that have room for smaller primes alone.",
                set.variables
            );
            return Err(Error::value("variables", problem));
        };
        let evaluator = set.tables.evaluator;
        let column = evaluator.record_bytes(set.variables, mapped);
        let value = if evaluator == Evaluator::Values { column } else { 2 };
        Ok(Self { prime, modulus, points, value, column, stride: columns * column, mapped })
    }

    /// Bytes of the table: see [`padded_bytes`].
    pub fn bytes(&self) -> u64 {
        padded_bytes(self.points * self.stride as u64)
    }

    /// Bytes of the records that have the first coordinate in common, or of all where that is the only one.
    pub fn part_bytes(&self, variables: usize) -> usize {
        let points = if variables == 1 { self.points } else { self.points / u64::from(self.prime.value()) };
        points as usize * self.stride
    }
}

/// Bytes of a table of records of `bytes` bytes in all.
pub fn padded_bytes(bytes: u64) -> u64 {
    bytes.saturating_add(PADDING).div_ceil(4).saturating_mul(4)
}

/// Where the bytes of a table are.
pub enum Bytes {
    /// Read from memory.
    Memory(Buffer<u32>),
    /// Read from a file, from this byte on.
    Mapped(Mmap, usize),
}

/// The records of all points modulo a prime, the columns of each side by side.
pub struct Table {
    /// What it has.
    pub layout: Layout,
    bytes: Bytes,
}

impl Table {
    /// The table of these bytes.
    pub fn new(layout: Layout, bytes: Bytes) -> Self {
        Self { layout, bytes }
    }

    /// The records, and [`PADDING`] bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Memory(buffer) => buffer.bytes(),
            Bytes::Mapped(map, start) => &map[*start..],
        }
    }

    /// Brings the pages of a mapped table at some places into memory, in the order of the file: a disk then sees one sweep, not as many
    /// seeks as places. `pages` is overwritten.
    pub fn sweep(&self, places: &[u32], pages: &mut Vec<u32>) {
        let Bytes::Mapped(map, start) = &self.bytes else { return };
        pages.clear();
        pages.extend(places.iter().map(|place| ((start + *place as usize * self.layout.stride) / PAGE) as u32));
        pages.sort_unstable();
        pages.dedup();
        ring::read_pages(map, pages.iter().map(|page| *page as usize * PAGE));
    }
}
