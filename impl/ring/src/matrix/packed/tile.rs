//! The tile of a matrix product.

/// Rows and columns of the tile of a matrix product that one call computes.
pub(crate) const TILE_ROWS: usize = 8;
pub(crate) const TILE_COLS: usize = 32;
/// Registers that 32 columns of a pair of rows take: (low, low) halves of the columns in two, (high, high) in two.
pub(crate) const LANES_PER_PAIR: usize = 4;
