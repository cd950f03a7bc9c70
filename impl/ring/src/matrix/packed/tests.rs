use super::order::{Order, STRIP_CHUNKS};
use super::*;
use crate::Kernel;
use crate::bits::{read_entries, write_entries};
use crate::work::Kind;
use proptest::prelude::*;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WIDTHS: [u32; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16];

fn random_entries(rng: &mut impl RngCore, count: usize, width: u32) -> Vec<u16> {
    (0..count).map(|_| (rng.next_u32() & ((1 << width.min(15)) - 1)) as u16).collect()
}

#[test]
fn storage_widths_round_up() {
    assert_eq!(
        (1..=15).map(|w| PackedMatrix::storage_width(w).unwrap()).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 12, 16, 16, 16]
    );
    assert_eq!(PackedMatrix::storage_width(0), Err(MatrixError::Width(0)));
    assert_eq!(PackedMatrix::storage_width(16), Err(MatrixError::Width(16)));
}

#[test]
fn lengths_are_exact() {
    assert_eq!(PackedMatrix::stored_bytes_for(1, 1, 9), 8 * 36 + 64);
    assert_eq!(PackedMatrix::stored_bytes_for(30893, 30895, 9), 3862 * 966 * 8 * 36 + 64);
    let matrix = PackedMatrix::new(9, 33, 10).unwrap();
    assert_eq!(matrix.stored_bytes(), 2 * 2 * 8 * 40 + 64);
    assert_eq!(matrix.tail(0).len() as u64, matrix.stored_bytes());
}

#[test]
fn bad_shapes_are_errors() {
    assert!(matches!(PackedMatrix::new(0, 5, 9), Err(MatrixError::Shape { .. })));
    assert!(matches!(PackedMatrix::new(5, 0, 9), Err(MatrixError::Shape { .. })));
    assert!(matches!(PackedMatrix::new(usize::MAX, 2, 9), Err(MatrixError::Shape { .. })));
    assert!(matches!(PackedMatrix::new(5, 5, 11), Err(MatrixError::Width(11))));
    let mut matrix = PackedMatrix::new(9, 33, 9).unwrap();
    assert!(matches!(matrix.set(9, 0, 0), Err(MatrixError::Index { what: "row", .. })));
    assert!(matches!(matrix.set(0, 33, 0), Err(MatrixError::Index { what: "column", .. })));
    assert!(matches!(matrix.set(0, 0, 512), Err(MatrixError::Entry { .. })));
    assert!(matches!(matrix.set_row(0, &[0; 32]), Err(MatrixError::Length { .. })));
    assert!(matches!(matrix.block_mut(1), Err(MatrixError::Index { what: "block", .. })));
    let mut wide = PackedMatrix::new(1, 40, 16).unwrap();
    assert!(matches!(wide.set(0, 0, 1 << 15), Err(MatrixError::Entry { .. })));
    let mut bits = [0xff; 80];
    bits[71] = 0x80;
    assert!(matches!(wide.set_row_from_bits(0, &bits, 0), Err(MatrixError::Entry { col: 0, .. })));
    assert!(matches!(matrix.set_row_part(0, 1, &[0; 8]), Err(MatrixError::Alignment(1))));
    assert!(matches!(matrix.set_row_part(0, 0, &[0; 31]), Err(MatrixError::Alignment(31))));
    assert!(matches!(matrix.set_row_part(0, 32, &[0; 2]), Err(MatrixError::Index { .. })));
    assert!(matches!(matrix.set_row_part(0, usize::MAX, &[]), Err(MatrixError::Index { .. })));
}

#[test]
fn all_ways_of_writing_give_the_same_matrix() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for width in WIDTHS {
        for (rows, cols) in [(1, 1), (8, 32), (9, 33), (3, 140), (70, 260), (129, 128)] {
            let entries = random_entries(&mut rng, rows * cols, width);
            let new = || PackedMatrix::new(rows, cols, width).unwrap();
            let (mut by_entry, mut by_row, mut by_bits) = (new(), new(), new());
            for (row, entries) in entries.chunks(cols).enumerate() {
                for (col, &entry) in entries.iter().enumerate() {
                    by_entry.set(row, col, entry).unwrap();
                }
                by_row.set_row(row, entries).unwrap();
                let offset = u64::from(rng.next_u32() % 70);
                // Bits around the row are ones, which must not leak into the padding.
                let mut stream = vec![0xff; (offset as usize + cols * width as usize) / 8 + 1 + (row % 3) * 60];
                write_entries(&mut stream, offset, width, entries);
                by_bits.set_row_from_bits(row, &stream, offset).unwrap();
            }
            for other in [&by_row, &by_bits] {
                assert_eq!(by_entry.tail(0), other.tail(0), "{rows} x {cols} at width {width}");
            }
            let mut row_out = vec![0; cols];
            for (row, entries) in entries.chunks(cols).enumerate() {
                by_entry.row(row, &mut row_out);
                assert_eq!(row_out, entries);
                assert!(entries.iter().enumerate().all(|(col, entry)| by_entry.get(row, col) == *entry));
            }
            for group in 0..rows.div_ceil(GROUP_ROWS) {
                let padded = by_entry.chunks() * CHUNK;
                let mut tile = vec![-1; GROUP_ROWS * padded];
                by_entry.unpack_group_on(Kernel::Scalar, group, 0, &mut tile).unwrap();
                for (i, &value) in tile.iter().enumerate() {
                    let (row, col) = (group * GROUP_ROWS + i / padded, i % padded);
                    let inside = row < rows && col < cols;
                    assert_eq!(value as u16, if inside { entries[row * cols + col] } else { 0 });
                }
            }
        }
    }
}

#[test]
fn bits_beyond_the_source_are_zero() {
    let mut matrix = PackedMatrix::new(1, 64, 9).unwrap();
    matrix.set_row(0, &[511; 64]).unwrap();
    matrix.set_row_from_bits(0, &[0xff; 3], 4).unwrap();
    let mut out = vec![0; 64];
    matrix.row(0, &mut out);
    assert_eq!(out[..4], [511, 511, 3, 0]);
    matrix.set_row_from_bits(0, &[0xff; 3], u64::MAX).unwrap();
    matrix.row(0, &mut out);
    assert_eq!(out, [0; 64]);
}

#[test]
fn blocks_are_filled_in_parallel() {
    use rayon::prelude::*;
    let mut matrix = PackedMatrix::new(100, 50, 7).unwrap();
    let blocks: Vec<_> = matrix.blocks_mut().enumerate().collect();
    blocks.into_par_iter().for_each(|(number, mut block)| {
        for row in 0..block.rows() {
            let entries = [(64 * number + row) as u16; 50];
            block.set_row(row, &entries).unwrap();
        }
    });
    assert!((0..100).all(|row| matrix.get(row, 49) == row as u16));
}

proptest! {
    #[test]
    fn written_entries_are_read_back(width in 1u32..=16, offset in 0u64..100, seed: u64, count in 0usize..50) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let entries: Vec<u16> = (0..count).map(|_| (rng.next_u32() & ((1 << width) - 1)) as u16).collect();
        let mut bytes = vec![0xa5; (offset as usize + count * width as usize).div_ceil(8)];
        write_entries(&mut bytes, offset, width, &entries);
        let mut back = vec![0; count];
        read_entries(&bytes, offset, width, &mut back);
        prop_assert_eq!(back, entries);
        prop_assert!(bytes.iter().take(offset as usize / 8).all(|byte| *byte == 0xa5));
    }

    #[test]
    fn setting_one_entry_changes_no_other(at in 0usize..8, rows in 1usize..100, cols in 1usize..200, seed: u64) {
        let width = WIDTHS[at];
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut matrix = PackedMatrix::new(rows, cols, width).unwrap();
        let mut entries = random_entries(&mut rng, rows * cols, width);
        for (row, entries) in entries.chunks(cols).enumerate() {
            matrix.set_row(row, entries).unwrap();
        }
        let (row, col) = (rng.next_u32() as usize % rows, rng.next_u32() as usize % cols);
        entries[row * cols + col] ^= 1;
        matrix.set(row, col, entries[row * cols + col]).unwrap();
        for (i, &entry) in entries.iter().enumerate() {
            prop_assert_eq!(matrix.get(i / cols, i % cols), entry);
        }
    }
}

#[test]
fn strips_are_visited_once_in_any_number_of_places() {
    for chunks in [1, 3, 4, 5, 16, 17, 43, 64] {
        for groups in [1, 8] {
            let order = Order { chunks, groups, share: 40 };
            let every =
                (0..chunks).step_by(STRIP_CHUNKS).flat_map(|strip| (0..groups).map(move |group| (strip, group)));
            for most in 1..=8 {
                assert!((1..=most).contains(&order.streams(most)));
                let mut visited: Vec<_> = order.strips(most).collect();
                visited.sort_unstable();
                assert!(every.clone().eq(visited), "{chunks} chunks, {groups} groups, {most} places");
            }
            let in_one: Vec<_> = order.strips(1).map(|(strip, group)| order.at(strip, group * GROUP_ROWS)).collect();
            assert!(in_one.is_sorted());
        }
    }
}

#[test]
fn products_read_the_matrix_for_every_batch_and_each_query_for_every_block() {
    let read = |rows, columns, queries| {
        (matvec_work(rows, columns, 1000, queries) + queries_work(rows, columns, queries)).get(Kind::BytesRead)
    };
    assert_eq!(read(64, 10, 1), 1000);
    assert_eq!(read(129, 10, 1), 1000 + 2 * 40);
    assert_eq!(read(65, 10, 33), 2 * 1000 + 33 * 40);
    let sums = [1, 11, 32, 33].map(|queries| matvec_work(7, 10, 1000, queries));
    assert_eq!(sums.each_ref().map(|work| work.get(Kind::RowSums)), [7, 7, 7, 14]);
    assert_eq!(sums.map(|work| work.get(Kind::FurtherRowSums)), [0, 70, 217, 217]);
}
