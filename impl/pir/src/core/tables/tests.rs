use super::*;
use crate::core::error::Error;

#[test]
fn a_missing_table_is_refused_until_it_is_made() {
    let mut tables = Tables::from(vec![10, 11, 12]);
    assert_eq!(tables.all().unwrap(), [&10, &11, &12]);
    tables.invalidate([1]);
    assert!(tables.all().is_err() && tables.get(1).is_err());
    assert_eq!(tables.get(2).unwrap(), &12);
    tables.invalidate([2]);
    tables.renew(|i| Ok(20 + i)).unwrap();
    assert_eq!(tables.all().unwrap(), [&10, &21, &22]);
}

/// Streamed tables give what kept ones give, in blocks, whatever the threads.
#[test]
fn streamed_tables_are_made_when_they_are_needed() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let streamed: Tables<usize> = Tables::streamed(BLOCK_BYTES.div_ceil(3));
    for threads in [1, 3] {
        let context = crate::protocol::tests_support::context(ring::Kernel::best(), threads);
        let kept = Tables::from(make_tables(10, &context, |i| Ok(i * i)).unwrap());
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
