//! The preprocessed database: one matrix for each bucket, or what they are streamed from.

use ring::{Coefficient, PolyMatrix, PolyPairs};

use lattice::Rlwe;

use super::Params;
use super::engine::Engine;
use crate::buckets::Buckets;
use crate::clock::Group;
use crate::database::{Database, check_change};
use crate::error::Result;
use crate::folded::{Encoder, Layout, Selection};
use crate::scheme::{Change, Context};

/// Bytes of a block of a streamed database: larger than last-level caches.
pub const BLOCK_BYTES: u64 = 256 << 20;

/// For each vector, the ciphertexts of the columns.
pub type Columns = Vec<Vec<Rlwe<u32, Coefficient>>>;

/// One bucket.
enum Source {
    Whole(PolyMatrix),
    Streamed(Box<Database>),
}

/// All buckets, of one layout.
pub struct Store {
    pub buckets: Buckets,
    /// Of a bucket.
    pub layout: Layout,
    encoder: Encoder,
    sources: Vec<Source>,
    matrix_primes: usize,
}

impl Store {
    /// Encodes the database (phase `encode`), unless it is to be streamed.
    pub fn new(engine: &Engine, database: &Database, context: &Context) -> Result<Self> {
        let params: &Params = &engine.params;
        let buckets = params.buckets(database.shape())?;
        let layout = params.layout(buckets.each)?;
        let selection = Selection::new(layout, &engine.ring, params.matrix_primes, context.threads)?;
        let encoder = Encoder::new(layout, selection.matrix_ring(), true);
        let source = |bucket: usize| {
            let database = buckets.database(database, bucket);
            if context.streamed {
                return Ok(Source::Streamed(Box::new(database)));
            }
            Ok(Source::Whole(encoder.block(&database, 0..layout.matrix_columns(), context)?))
        };
        let encode = || (0..buckets.count()).map(source).collect::<Result<_>>();
        let sources = if context.streamed { encode() } else { context.clock.time("encode", Group::Offline, encode) }?;
        Ok(Self { buckets, layout, encoder, sources, matrix_primes: params.matrix_primes })
    }

    /// For each vector the ciphertexts of all columns of a bucket; `multiply` is called for each block of it, which a streamed one
    /// builds outside the clock.
    pub fn rows(
        &self,
        bucket: usize,
        selection: &Selection,
        vectors: &[PolyPairs],
        context: &Context,
        mut multiply: impl FnMut(&dyn Fn() -> Result<Columns>) -> Result<Columns>,
    ) -> Result<Columns> {
        let vectors: Vec<&PolyPairs> = vectors.iter().collect();
        let database = match &self.sources[bucket] {
            Source::Whole(whole) => return multiply(&|| selection.rows(whole, &vectors)),
            Source::Streamed(database) => database,
        };
        let mut all: Columns = vectors.iter().map(|_| Vec::new()).collect();
        let columns = self.layout.matrix_columns();
        let column_bytes = self.layout.stored_bytes(self.matrix_primes) / columns as u64;
        let each = usize::try_from((BLOCK_BYTES / column_bytes.max(1)).max(1)).unwrap_or(columns);
        for first in (0..columns).step_by(each) {
            let range = first..columns.min(first.saturating_add(each));
            let block = context.clock.outside(|| self.encoder.block(database, range, context))?;
            let part = multiply(&|| selection.rows(&block, &vectors))?;
            all.iter_mut().zip(part).for_each(|(all, part)| all.extend(part));
        }
        Ok(all)
    }

    /// Changes records, wherever they stand.
    pub fn update(&mut self, changes: &[Change]) -> Result<()> {
        changes.iter().try_for_each(|(index, record)| check_change(self.buckets.shape, *index, record))?;
        for (index, record) in changes {
            for (bucket, position) in self.buckets.places(*index) {
                match &mut self.sources[bucket] {
                    Source::Whole(whole) => self.encoder.change(whole, position, record)?,
                    Source::Streamed(database) => database.change(position, record.clone())?,
                }
            }
        }
        Ok(())
    }
}
