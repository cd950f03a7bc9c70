//! Packing tables: all kept, or made block by block with every answer.

use std::ops::Range;

use rayon::prelude::*;

use crate::core::error::{Error, Result};
use crate::core::protocol::{BLOCK_BYTES, Context};

/// Packing tables, which updates make anew. The old one goes before the new one is made: together they would be the largest sum of
/// memory.
pub(crate) struct Tables<T> {
    kept: Vec<Option<T>>,
    /// Tables of a block, where none are kept: see [`Context::streamed`].
    block: Option<usize>,
}

impl<T> Default for Tables<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), block: None }
    }
}

impl<T> FromIterator<T> for Tables<T> {
    fn from_iter<I: IntoIterator<Item = T>>(tables: I) -> Self {
        Self { kept: tables.into_iter().map(Some).collect(), block: None }
    }
}

impl<T> Tables<T> {
    /// Tables of so many bytes each that are made when they are needed.
    pub fn streamed(table_bytes: u64) -> Self {
        Self { kept: Vec::new(), block: Some(tables_of_block(table_bytes)) }
    }

    /// Those that are there.
    pub fn kept(&self) -> impl Iterator<Item = &T> {
        self.kept.iter().flatten()
    }

    /// Adds a table.
    pub fn push(&mut self, table: T) {
        self.kept.push(Some(table));
    }

    /// Drops tables: the data they are made of changes.
    pub fn invalidate(&mut self, which: impl IntoIterator<Item = usize>) {
        which.into_iter().for_each(|i| self.kept[i] = None);
    }

    /// Those that are to be made again.
    pub fn missing(&self) -> Vec<usize> {
        (0..self.kept.len()).filter(|&i| self.kept[i].is_none()).collect()
    }

    /// Sets a table that was missing.
    pub fn set(&mut self, i: usize, table: T) {
        self.kept[i] = Some(table);
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
    /// Calls `each` for some tables, block by block: all of them if they are kept. Others are made by `make`, as many side by side as
    /// there are threads, and given back, outside the clock.
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

/// Tables of so many bytes that are made together where they are not kept.
pub(crate) fn tables_of_block(table_bytes: u64) -> usize {
    BLOCK_BYTES.div_ceil(table_bytes.max(1)) as usize
}

/// `work` for each number, by as many threads.
pub(crate) fn side_by_side<R: Send>(
    which: Range<usize>,
    threads: usize,
    work: impl Fn(usize) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if threads > 1 { which.into_par_iter().map(&work).collect() } else { which.map(work).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::error::Error;

    #[test]
    fn a_missing_table_is_refused_until_it_is_made() {
        let mut tables: Tables<u32> = [10, 11, 12].into_iter().collect();
        assert_eq!(tables.all().unwrap(), [&10, &11, &12]);
        tables.invalidate([1]);
        assert!(tables.all().is_err() && tables.get(1).is_err());
        assert_eq!(tables.get(2).unwrap(), &12);
        tables.invalidate([2]);
        assert_eq!(tables.missing(), [1, 2]);
        tables.set(1, 21);
        tables.set(2, 22);
        assert_eq!(tables.all().unwrap(), [&10, &21, &22]);
    }

    /// Streamed tables give what kept ones give, in blocks, whatever the threads.
    #[test]
    fn streamed_tables_are_made_when_they_are_needed() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let kept: Tables<usize> = (0..10).map(|i| i * i).collect();
        let streamed: Tables<usize> = Tables::streamed(BLOCK_BYTES.div_ceil(3));
        for threads in [1, 3] {
            let context = crate::protocol::tests_support::context(ring::Kernel::best(), threads);
            let alive = AtomicUsize::new(0);
            let make = |i: usize| {
                alive.fetch_add(1, Ordering::Relaxed);
                Ok(i * i)
            };
            let of = |tables: &Tables<usize>| {
                let (mut all, mut blocks) = (Vec::new(), 0);
                let each = |block: Range<usize>, table: &TableOf<usize>| {
                    blocks += 1;
                    block.into_iter().try_for_each(|i| {
                        all.push((i, *table(i)?));
                        Ok(())
                    })
                };
                tables.blocks(2..9, &context, make, each).unwrap();
                (all, blocks)
            };
            let expected: Vec<(usize, usize)> = (2..9).map(|i| (i, i * i)).collect();
            assert_eq!(of(&streamed), (expected.clone(), 3), "{threads} threads");
            assert_eq!(of(&kept), (expected, 1));
            assert_eq!(alive.load(Ordering::Relaxed), 7, "kept tables are not made");
            let failing = |_| Err(Error::Workload("no memory".into()));
            assert!(streamed.blocks(0..2, &context, failing, |_, _| Ok(())).is_err());
        }
        assert_eq!((tables_of_block(96 << 20), tables_of_block(1 << 40)), (3, 1));
    }
}
