use super::*;
use ring::Kind;

/// Changing entries and taking the differences in gives the ring masks of the changed matrix, exactly.
#[test]
fn differences_bring_masks_up_to_date() {
    let ring = Ring::new(64, &[268_369_921, 249_561_089], Kernel::best()).unwrap();
    let (rows, cols) = (150, 7);
    let queries = RingQueries::new(&ring, Seed([4; 16]), rows);
    let mut matrix = ColumnMatrix::new(rows, cols, 64).unwrap();
    let entry = |row: usize, col: usize| ((row * 7919 + col * 104_729) % 65536) as i32 - 32768;
    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
        matrix.set(row, col, entry(row, col)).unwrap();
    }
    let masks = |matrix: &ColumnMatrix| column_masks(matrix, &ring, &queries.masks(), (0, cols), 1).unwrap();
    let mut kept = masks(&matrix);
    for (row, first, fresh) in [(0, 0, &[5, -32768, 32768][..]), (63, 4, &[1, 2, 3]), (64, 2, &[0]), (149, 6, &[-1])] {
        let added: Vec<i32> = fresh.iter().enumerate().map(|(i, fresh)| fresh - matrix.get(row, first + i)).collect();
        for (i, fresh) in fresh.iter().enumerate() {
            matrix.set(row, first + i, *fresh).unwrap();
        }
        add_to_masks(&ring, &queries, row, kept[first..].iter_mut().zip(added));
        assert_eq!(kept, masks(&matrix), "row {row}");
    }
    assert!(is_incremental(20 * 3 * 5, 3, 5) && !is_incremental(20 * 3 * 5 + 1, 3, 5));
}

/// One entry changes one ring mask; where many change, columns are multiplied again.
#[test]
fn masks_are_brought_up_to_date_the_shorter_way() {
    let ring = RingShape { degree: 2048, primes: 2 };
    let few = masks_update_work(ring, (5, 5), 4096, 2048);
    assert_eq!(few, Work::of(Kind::ResidueMultiplyAdds, &[3, 2, 5, 2048]));
    let many = masks_update_work(ring, (81_921, 81_921), 4096, 2048);
    assert_eq!(many, ring_products_work(ring, 4096, 2048));
    assert_eq!(many.get(Kind::Transform(2048)), 2 * 2048 * 2);
}
