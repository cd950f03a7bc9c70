//! Packing tables: all kept, or made block by block with every answer.

use std::ops::Range;

use crate::core::clock::Group;
use crate::core::error::{Error, Result};
use crate::core::protocol::{BLOCK_BYTES, Context};
use crate::core::threads::side_by_side;

/// Packing tables, which updates rebuild. The old tables are dropped before the new ones are made, because both together would set the
/// peak of memory.
pub(crate) struct Tables<T> {
    kept: Vec<Option<T>>,
    /// No tables are kept; this is the number in a block: see [`Context::streamed`].
    block: Option<usize>,
}

impl<T> Default for Tables<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), block: None }
    }
}

impl<T> From<Vec<T>> for Tables<T> {
    fn from(tables: Vec<T>) -> Self {
        Self { kept: tables.into_iter().map(Some).collect(), block: None }
    }
}

impl<T> Tables<T> {
    /// Tables of `bytes` bytes each, made when they are needed.
    pub fn streamed(table_bytes: u64) -> Self {
        Self { kept: Vec::new(), block: Some(tables_of_block(table_bytes)) }
    }

    /// The tables that are built.
    pub fn kept(&self) -> impl Iterator<Item = &T> {
        self.kept.iter().flatten()
    }

    /// Drops tables whose data are about to change.
    pub fn invalidate(&mut self, which: impl IntoIterator<Item = usize>) {
        which.into_iter().for_each(|i| self.kept[i] = None);
    }

    /// Rebuilds the tables that were dropped.
    pub fn renew(&mut self, make: impl Fn(usize) -> Result<T>) -> Result<()> {
        let missing = self.kept.iter_mut().enumerate().filter(|(_, table)| table.is_none());
        for (i, table) in missing {
            *table = Some(make(i)?);
        }
        Ok(())
    }

    /// One table.
    pub fn get(&self, i: usize) -> Result<&T> {
        self.kept
            .get(i)
            .and_then(Option::as_ref)
            .ok_or_else(|| Error::Workload(format!("packing table {i} is missing")))
    }

    /// All tables.
    pub fn all(&self) -> Result<Vec<&T>> {
        (0..self.kept.len()).map(|i| self.get(i)).collect()
    }
}

/// A table of a block by its number.
type TableOf<'a, T> = dyn Fn(usize) -> Result<&'a T> + Sync + 'a;

impl<T: Send + Sync> Tables<T> {
    /// Calls `each` with tables, block by block; tables that are kept form one block. Others are made by `make`, one on every thread, and
    /// freed, both outside the clock.
    pub fn blocks(
        &self,
        which: Range<usize>,
        context: &Context,
        make: impl Fn(usize) -> Result<T> + Sync,
        mut each: impl FnMut(Range<usize>, &TableOf<T>) -> Result<()>,
    ) -> Result<()> {
        let Some(together) = self.block else { return each(which, &|i| self.get(i)) };
        for start in which.clone().step_by(together) {
            let block = start..which.end.min(start + together);
            let made = context.clock.outside(|| side_by_side(block.clone(), context.threads, &make))?;
            each(block, &|i| Ok(&made[i - start]))?;
            context.clock.outside(|| drop(made));
        }
        Ok(())
    }
}

/// `count` tables, or the part of each that is kept (phase `packing_tables`).
pub(crate) fn make_tables<T: Send>(
    count: usize,
    context: &Context,
    make: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    context.progress.begin("packing_tables", count as u64);
    let tables = context.clock.time("packing_tables", Group::Offline, || {
        side_by_side(0..count, context.threads, |i| {
            let table = make(i);
            context.progress.advance(1);
            table
        })
    })?;
    context.progress.end();
    Ok(tables)
}

/// The number of tables of `bytes` bytes in a block, if they are not kept.
pub(crate) fn tables_of_block(table_bytes: u64) -> usize {
    BLOCK_BYTES.div_ceil(table_bytes.max(1)) as usize
}

#[cfg(test)]
mod tests;
