//! The preprocessed database: one matrix for each bucket.

use super::engine::Engine;
use super::set::Set;
use crate::core::{Change, Context, Database, Group, Result};
use crate::parts::buckets::Buckets;
use crate::parts::folding::{Encoder, Layout, Matrix, Selection};

/// All buckets, of one layout.
pub struct Store {
    pub buckets: Buckets,
    /// Of a bucket.
    pub layout: Layout,
    pub selection: Selection,
    /// By bucket.
    pub matrices: Vec<Matrix>,
}

impl Store {
    /// Encodes the database (phase `encode`), unless it is to be streamed.
    pub fn new(engine: &Engine, database: &Database, context: &Context) -> Result<Self> {
        let params: &Set = &engine.params;
        let buckets = params.buckets(database.shape())?;
        let layout = params.layout(buckets.each)?;
        let selection = Selection::new(layout, &engine.ring, params.matrix_primes, context.threads)?;
        let encoder = Encoder::new(layout, selection.matrix_ring(), true);
        let parts = (0..buckets.count()).map(|bucket| (encoder.clone(), buckets.database(database, bucket)));
        let matrices = if context.streamed {
            parts.map(|(encoder, database)| Matrix::streamed(encoder, database)).collect()
        } else {
            let encode =
                || parts.map(|(encoder, database)| Matrix::whole(encoder, &database, context)).collect::<Result<_>>();
            context.clock.time("encode", Group::Offline, encode)?
        };
        Ok(Self { buckets, layout, selection, matrices })
    }

    /// Changes records, wherever they stand.
    pub fn update(&mut self, changes: &[Change]) -> Result<()> {
        for (index, record) in changes {
            for (bucket, position) in self.buckets.places(*index) {
                self.matrices[bucket].update(&[(position, record.clone())])?;
            }
        }
        Ok(())
    }
}
