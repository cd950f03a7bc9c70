use std::collections::HashSet;

use rand::RngCore;

use super::*;

fn buckets(records: u64, batch: (u32, u32, u32)) -> Buckets {
    let (queries, buckets, copies) = batch;
    let batch = Batch { queries, buckets, copies };
    batch.check().unwrap();
    Buckets::new(Shape::new(records, 13).unwrap(), batch).unwrap()
}

#[test]
fn every_record_stands_once_in_each_of_its_buckets_and_all_buckets_are_equally_full() {
    for (records, batch) in [(1, (1, 1, 1)), (100, (1, 1, 1)), (1, (2, 4, 3)), (1000, (16, 25, 3)), (999, (8, 8, 8))] {
        let buckets = buckets(records, batch);
        let whole = Database::seeded([1; 16], buckets.shape);
        let mut seen = HashSet::new();
        let parts: Vec<_> = (0..buckets.count()).map(|bucket| buckets.database(&whole, bucket)).collect();
        for index in 0..records {
            let places: Vec<_> = buckets.places(index).collect();
            assert_eq!(places.len(), batch.2 as usize);
            assert_eq!(places.iter().map(|place| place.0).collect::<HashSet<_>>().len(), places.len());
            for (bucket, position) in places {
                assert!(position < buckets.each.records && seen.insert((bucket, position)));
                assert_eq!(buckets.record_at(bucket, position), Some(index));
                assert_eq!(parts[bucket].record(position).unwrap(), whole.record(index).unwrap());
            }
        }
        let empty = (0..buckets.count()).flat_map(|b| (0..buckets.each.records).map(move |p| (b, p)));
        for (bucket, position) in empty.filter(|place| !seen.contains(place)) {
            assert_eq!(buckets.record_at(bucket, position), None);
            assert_eq!(parts[bucket].record(position).unwrap(), [0, 0]);
        }
    }
}

#[test]
fn assigned_queries_find_their_records_and_no_bucket_has_two() {
    let buckets = buckets(5000, (16, 25, 3));
    let mut rng = Seed([7; 16]).prg().rng();
    for count in [1, 15, 16, 17, 40] {
        let mut indices: Vec<u64> = (0..count).map(|_| rng.next_u64() % 5000).collect();
        indices[count - 1] = indices[0];
        let assigned = buckets.assign(&indices).unwrap();
        assert_eq!(assigned.len(), count);
        let mut asked = HashMap::new();
        for (batch, (&index, &(query, position))) in indices.iter().zip(&assigned).enumerate() {
            assert_eq!(query / 25, batch / 16);
            assert_eq!(buckets.record_at(query % 25, position), Some(index));
            assert_eq!(*asked.entry(query).or_insert(index), index);
        }
    }
    assert_eq!(buckets.queries(16).unwrap(), 25);
    assert_eq!(buckets.queries(17).unwrap(), 50);
    assert!(buckets.queries(MAX_QUERIES).unwrap_err().to_string().contains("fewer"));
    assert!(buckets.assign(&[5000]).unwrap_err().to_string().contains("out of range"));
}

/// How often three of nine buckets, drawn alike for each of eight records, leave no assignment: the mean of 2^18 draws of another
/// program.
const RATE: f64 = 0.0387;

#[test]
fn batches_fail_as_often_as_random_subsets_do() {
    let buckets = buckets(1 << 20, (8, 9, 3));
    let mut rng = Seed([8; 16]).prg().rng();
    let failed = (0..1 << 13).filter(|_| {
        let indices: Vec<u64> = (0..8).map(|_| rng.next_u64() % (1 << 20)).collect();
        let refused = buckets.assign(&indices).err().map(|error| error.to_string());
        refused.is_some_and(|error| error.contains("another request"))
    });
    let rate = failed.count() as f64 / f64::from(1 << 13);
    assert!((rate - RATE).abs() < 4.0 * (RATE / f64::from(1 << 13)).sqrt(), "{rate}");
}

#[test]
fn tables_out_of_range_are_named() {
    for ((queries, buckets, copies), key) in [
        ((0, 1, 1), "queries"),
        ((5, 4, 3), "queries"),
        ((1, 0, 1), "buckets"),
        ((1, 5000, 1), "buckets"),
        ((2, 2, 3), "copies"),
    ] {
        let refused = Batch { queries, buckets, copies }.check().unwrap_err().to_string();
        assert!(refused.contains(&format!("batch.{key}")), "{refused}");
    }
}
