//! Reasons to refuse a matrix or its contents.

/// Reasons to refuse a matrix or its contents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatrixError {
    /// No storage width holds entries of that many bits.
    #[error("entries of {0} bits cannot be stored: widths are 1 to 15 bits (11 is stored as 12, 13 to 15 as 16)")]
    Width(u32),
    /// A shape without rows or columns, or too large for the address space.
    #[error("a matrix of {rows} x {cols} entries is empty or exceeds the address space")]
    Shape {
        /// Requested rows.
        rows: usize,
        /// Requested columns.
        cols: usize,
    },
    /// The system refused the memory.
    #[error("no memory for a matrix of {0} bytes")]
    Memory(u64),
    /// A row, column or block outside the matrix.
    #[error("{what} {index} is outside the matrix, which has {len}")]
    Index {
        /// "row", "column" or "block".
        what: &'static str,
        /// The index given.
        index: usize,
        /// The number of them.
        len: usize,
    },
    /// A slice whose length does not fit its place.
    #[error("{what}: {given} given, {needed} needed")]
    Length {
        /// The contents of the slice.
        what: &'static str,
        /// Its length.
        given: usize,
        /// The length it should have.
        needed: usize,
    },
    /// A column where a chunk cannot start.
    #[error("column {0} is not a multiple of 32")]
    Alignment(usize),
    /// An entry that 16 bits cannot hold.
    #[error("entry {value} in row {row}, column {col} is not between -2^15 and 2^15")]
    Wide {
        /// Its row.
        row: usize,
        /// Its column.
        col: usize,
        /// Its value.
        value: i32,
    },
    /// An entry that the storage width cannot hold.
    #[error("entry {value} in column {col} is not below 2^{bits}")]
    Entry {
        /// Its column.
        col: usize,
        /// Its value.
        value: u16,
        /// log2 of the bound.
        bits: u32,
    },
}
