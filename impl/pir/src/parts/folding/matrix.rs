//! The matrix that a server selects from: in memory, or built block by block with every answer.

use lattice::Rlwe;
use ring::{Coefficient, Ntt, Poly, PolyMatrix, PolyPairs};

use super::{Encoder, Layout, Place, Selection};
use crate::core::{BLOCK_BYTES, Change, Context, Database, Error, Group, Result, check_change};

/// Columns multiplied at a time, a power of two. Their products, 48 KiB each in Pirouette's ring, are folded before the next columns are
/// multiplied; reading the vector again for each group is cheap beside reading the matrix.
const COLUMNS_TOGETHER: usize = 256;

/// For each vector, the ciphertexts of columns.
pub type Columns = Vec<Vec<Rlwe<u32, Coefficient>>>;

/// Records as polynomials in rows and columns.
pub struct Matrix {
    encoder: Encoder,
    source: Source,
    /// Columns of a block that is streamed.
    pub block_columns: usize,
}

enum Source {
    Whole(PolyMatrix),
    /// The database, of which blocks are made.
    Streamed(Database),
}

/// Queries that share one pass over the database; more take more passes.
pub const BATCH: usize = 8;

impl Matrix {
    /// Encodes the database (phase `encode`), unless it is streamed.
    pub fn of(encoder: Encoder, database: &Database, context: &Context) -> Result<Self> {
        if context.streamed {
            return Ok(Self::streamed(encoder, database.clone()));
        }
        context.clock.time("encode", Group::Offline, || Self::whole(encoder, database, context))
    }

    /// Encodes the database.
    pub fn whole(encoder: Encoder, database: &Database, context: &Context) -> Result<Self> {
        let whole = encoder.block(database, 0..encoder.layout().matrix_columns(), context)?;
        Ok(Self::new(encoder, Source::Whole(whole)))
    }

    /// Keeps the database, whose blocks every answer encodes again.
    pub fn streamed(encoder: Encoder, database: Database) -> Self {
        Self::new(encoder, Source::Streamed(database))
    }

    fn new(encoder: Encoder, source: Source) -> Self {
        let block_columns = Self::columns_of_blocks(encoder.layout(), encoder.ring().primes().len());
        Self { encoder, source, block_columns }
    }

    /// Bytes that are kept.
    pub fn held_bytes(&self) -> u64 {
        match &self.source {
            Source::Whole(whole) => whole.bytes(),
            Source::Streamed(_) => 0,
        }
    }

    /// The database, if the matrix is streamed.
    pub fn database(&self) -> Option<&Database> {
        match &self.source {
            Source::Whole(_) => None,
            Source::Streamed(database) => Some(database),
        }
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        self.encoder.layout()
    }

    /// Columns of a block of a matrix modulo `primes` primes: a power of two, so that a block folds to one ciphertext, and [`BLOCK_BYTES`] to twice that.
    pub fn columns_of_blocks(layout: &Layout, primes: usize) -> usize {
        let column = PolyMatrix::bytes_for(layout.dimensions.degree, primes, layout.matrix_rows(), 1);
        let columns = BLOCK_BYTES.div_ceil(column).next_power_of_two();
        usize::try_from(columns).unwrap_or(usize::MAX).min(layout.matrix_columns())
    }

    /// Number of columns whose products are held at a time.
    pub fn columns_together(layout: &Layout, primes: usize, streamed: bool) -> usize {
        let most = if streamed { Self::columns_of_blocks(layout, primes) } else { layout.matrix_columns() };
        most.min(COLUMNS_TOGETHER)
    }

    /// Calls `each` for a few columns at a time, with the number of the first and with a function that computes their ciphertexts for each
    /// vector; all vectors share one pass over the memory. Streamed blocks are built and freed outside the clock.
    pub fn multiply(
        &self,
        selection: &Selection,
        vectors: &[&PolyPairs],
        context: &Context,
        each: impl FnMut(usize, &dyn Fn() -> Result<Columns>) -> Result<()>,
    ) -> Result<()> {
        self.multiply_first(self.layout().matrix_columns(), selection, vectors, context, each)
    }

    /// The same for the first `count` columns.
    pub fn multiply_first(
        &self,
        count: usize,
        selection: &Selection,
        vectors: &[&PolyPairs],
        context: &Context,
        mut each: impl FnMut(usize, &dyn Fn() -> Result<Columns>) -> Result<()>,
    ) -> Result<()> {
        let mut parts = |block: &PolyMatrix, first: usize| {
            let wanted = block.columns().min(count - first);
            (0..wanted).step_by(COLUMNS_TOGETHER).try_for_each(|start| {
                let end = wanted.min(start + COLUMNS_TOGETHER);
                each(first + start, &|| selection.rows(block, start..end, vectors))
            })
        };
        let database = match &self.source {
            Source::Whole(whole) => return parts(whole, 0),
            Source::Streamed(database) => database,
        };
        let all = self.layout().matrix_columns();
        let mut kept: Option<PolyMatrix> = None;
        for first in (0..count).step_by(self.block_columns) {
            let columns = first..all.min(first + self.block_columns);
            let block =
                context.clock.outside(|| match kept.take().filter(|block| block.columns() == columns.len()) {
                    None => self.encoder.block(database, columns, context),
                    Some(mut block) => self.encoder.refill(&mut block, database, columns, context).map(|()| block),
                })?;
            parts(&block, first)?;
            kept = Some(block);
        }
        context.clock.outside(|| drop(kept));
        Ok(())
    }

    /// The polynomial in that row and column.
    pub fn polynomial(&self, row: usize, column: usize) -> Result<Poly<u32, Ntt>> {
        match &self.source {
            Source::Whole(matrix) => matrix.get(row, column).map_err(Error::from),
            Source::Streamed(database) => self.encoder.polynomial(database, row, column),
        }
    }

    /// The centred coefficients of the polynomial in that row and column.
    pub fn coefficients(&self, row: usize, column: usize) -> Result<Vec<i64>> {
        self.encoder.small(&self.polynomial(row, column)?)
    }

    /// The coefficients of each polynomial of the cell at that place.
    pub fn cell(&self, place: &Place) -> Result<Vec<Vec<i64>>> {
        let places = (0..self.layout().polynomials()).map(|number| self.layout().polynomial(place, number));
        places.map(|(row, column)| self.coefficients(row, column)).collect()
    }

    /// The plaintext of a response about that place, slot by slot.
    pub fn slots(&self, place: &Place) -> Result<Vec<Vec<i64>>> {
        let (layout, cell) = (self.layout(), self.cell(place)?);
        let slot = |number: usize| {
            let each = layout.slots_per_polynomial();
            let (polynomial, slot) = (number / each, number % each);
            let first = place.position + slot * layout.positions();
            cell[polynomial][first..].iter().step_by(layout.dimensions.slots()).copied().collect()
        };
        Ok((0..layout.slots).map(slot).collect())
    }

    /// Changes records, after checking all of them.
    pub fn update(&mut self, changes: &[Change]) -> Result<()> {
        let shape = self.layout().shape;
        changes.iter().try_for_each(|(index, record)| check_change(shape, *index, record))?;
        let Source::Whole(matrix) = &mut self.source else {
            return Err(Error::Workload("a streamed database is never whole: the server cannot update it.".into()));
        };
        changes.iter().try_for_each(|(index, record)| self.encoder.change(matrix, *index, record))
    }
}
