use super::*;
use crate::parts::lwe_matrix::PlainModulus;

fn table(double: bool) -> PlainModuli {
    let simple = [991, 833, 701, 589, 495, 416, 350, 294, 247];
    let second = [929, 781, 657, 552, 464, 390, 328, 276, 231];
    let moduli = if double { second } else { simple };
    let rows: Vec<_> =
        (13..).zip(moduli).map(|(log2_samples, modulus)| PlainModulus { log2_samples, modulus }).collect();
    PlainModuli(rows)
}

#[test]
fn published_dimensions() {
    for (records, bits, rows, columns, p) in [
        (1u64 << 33, 1, 30893, 30895, 701),
        (1 << 36, 1, 92681, 92683, 495),
        (1 << 30, 8, 32768, 32768, 701),
        (1 << 20, 2048, 15052, 14769, 833),
        (1 << 22, 2048, 30380, 29960, 701),
        (1 << 25, 2048, 87707, 87610, 495),
        (1 << 22, 256, 10665, 10619, 833),
        (1 << 20, 256, 5226, 5217, 991),
        (1 << 24, 512, 30415, 30339, 701),
    ] {
        let layout = Layout::choose(Shape::new(records, bits).unwrap(), &table(false), Tiling::Square).unwrap();
        assert_eq!(
            (layout.rows, layout.columns, layout.code.plain_modulus()),
            (rows, columns, p),
            "{records} x {bits}"
        );
    }
    let wide = Tiling::Wide { min_columns: 1 << 16 };
    for (records, rows, columns, p) in [(1u64 << 33, 14564, 65536, 552), (1 << 36, 92681, 92683, 464)] {
        let layout = Layout::choose(Shape::new(records, 1).unwrap(), &table(true), wide).unwrap();
        assert_eq!((layout.rows, layout.columns, layout.code.plain_modulus()), (rows, columns, p));
    }
}

#[test]
fn every_record_has_its_own_place_inside_the_matrix() {
    for (records, bits) in [(1u64, 1u64), (1, 100), (1000, 13), (1001, 1), (77, 7), (50, 2049), (12, 9000)] {
        for tiling in [Tiling::Square, Tiling::Wide { min_columns: 64 }] {
            let layout = Layout::choose(Shape::new(records, bits).unwrap(), &table(false), tiling).unwrap();
            let mut seen = std::collections::HashSet::new();
            for index in 0..records {
                let (row, column, slot) = layout.place(index);
                assert!(row + layout.code.entries_per_record() as usize <= layout.rows && column < layout.columns);
                assert_eq!(row % layout.code.entries_per_record() as usize, 0);
                assert!(seen.insert((row, column, slot)));
            }
        }
    }
}

#[test]
fn stored_bytes_exceed_the_information_by_less_than_a_fifth_at_1_gb() {
    let layout = Layout::choose(Shape::new(1 << 33, 1).unwrap(), &table(false), Tiling::Square).unwrap();
    assert!((layout.stored_bytes() as f64) < 1.2 * f64::from(1 << 30));
}

#[test]
fn a_database_past_the_table_is_refused_with_the_key() {
    for (tiling, remedy) in [(Tiling::Square, "split the database"), (Tiling::Shards(2), "take more shards")] {
        let error = Layout::choose(Shape::new(1 << 46, 1).unwrap(), &table(false), tiling).unwrap_err().to_string();
        assert!(error.contains("plain_moduli") && error.contains(remedy), "{error}");
    }
}
