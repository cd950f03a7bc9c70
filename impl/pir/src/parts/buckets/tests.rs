use rayon::prelude::*;

use super::*;
use crate::protocol::tests_support::in_full;

fn places_of(records: u64, batch: (u32, u32, u32), seed: Seed) -> Places {
    let (queries, buckets, copies) = batch;
    let batch = Batch { queries, buckets, copies };
    batch.check(8192).unwrap();
    Places::new(Buckets::new(Shape::new(records, 13).unwrap(), batch).unwrap(), seed)
}

fn places(records: u64, batch: (u32, u32, u32)) -> Places {
    places_of(records, batch, Seed([5; 16]))
}

#[test]
fn every_record_stands_once_in_each_of_its_buckets_and_all_buckets_are_equally_full() {
    for (records, batch) in [(1, (1, 1, 1)), (100, (1, 1, 1)), (1, (2, 4, 3)), (1000, (16, 25, 3)), (999, (8, 8, 8))] {
        let places = places(records, batch);
        let Buckets { shape, each, .. } = places.buckets;
        let whole = Database::seeded([1; 16], shape);
        let mut seen = HashSet::new();
        let count = places.buckets.count();
        let parts: Vec<_> = (0..count).map(|bucket| places.database(&whole, bucket)).collect();
        for index in 0..records {
            let own: Vec<_> = places.of(index).collect();
            assert_eq!(own.len(), batch.2 as usize);
            assert_eq!(own.iter().map(|place| place.0).collect::<HashSet<_>>().len(), own.len());
            for (bucket, position) in own {
                assert_eq!(position, places.buckets.position(index));
                assert!(position < each.records && seen.insert((bucket, position)));
                assert_eq!(places.record_at(bucket, position), Some(index));
                assert_eq!(parts[bucket].record(position).unwrap(), whole.record(index).unwrap());
            }
        }
        let empty = (0..count).flat_map(|b| (0..each.records).map(move |p| (b, p)));
        for (bucket, position) in empty.filter(|place| !seen.contains(place)) {
            assert_eq!(places.record_at(bucket, position), None);
            assert_eq!(parts[bucket].record(position).unwrap(), [0, 0]);
        }
    }
}

#[test]
fn assigned_queries_find_their_records_and_no_bucket_has_two() {
    let places = places(5000, (16, 25, 3));
    let mut rng = Seed([7; 16]).prg().rng();
    for count in [1, 15, 16, 17, 40] {
        let mut indices: Vec<u64> = (0..count).map(|_| rng.next_u64() % 5000).collect();
        indices[count - 1] = indices[0];
        let assigned = places.assign(&indices).unwrap();
        assert_eq!(assigned.len(), count);
        let mut asked = HashMap::new();
        for (batch, (&index, &(query, position))) in indices.iter().zip(&assigned).enumerate() {
            assert_eq!(query / 25, batch / 16);
            assert_eq!(places.record_at(query % 25, position), Some(index));
            assert_eq!(*asked.entry(query).or_insert(index), index);
        }
    }
    assert_eq!(places.buckets.queries(16).unwrap(), 25);
    assert_eq!(places.buckets.queries(17).unwrap(), 50);
    assert!(places.buckets.queries(MAX_QUERIES).unwrap_err().to_string().contains("fewer"));
    assert!(places.assign(&[5000]).unwrap_err().to_string().contains("out of range"));
}

/// One seed for each server: what one publishes decides where clients look.
#[test]
fn clients_look_where_the_server_says() {
    let buckets = Buckets::new(Shape::new(5000, 13).unwrap(), Batch { queries: 16, buckets: 25, copies: 3 }).unwrap();
    let mut rng = Seed([9; 16]).prg().rng();
    let [one, other] = [0, 1].map(|_| Places::draw(buckets, &mut rng));
    let known = Places::received(buckets, "respire", &one.publish("respire")).unwrap();
    let of = |places: &Places| (0..100).map(|index| places.of(index).collect::<Vec<_>>()).collect::<Vec<_>>();
    assert_eq!(of(&known), of(&one));
    assert_ne!(of(&known), of(&other));
    assert!(Places::received(buckets, "respire", &Messages::new()).is_err());
    assert!(Places::unpublished(buckets).is_none());
    let whole = Buckets::new(buckets.shape, Batch::default()).unwrap();
    assert!(Places::draw(whole, &mut rng).publish("respire").is_empty() && Places::unpublished(whole).is_some());
}

/// At most, the chance that eight records, a place of each in each of three groups of three buckets, have no assignment; at least
/// a third of that is their rate (`log2_unassigned` of the noise chain).
const BOUND: f64 = 0.1365;

/// Whatever a batch asks for: records of different blocks, neighbours in a block, and two runs at the same places of two blocks.
#[test]
fn batches_fail_as_rarely_as_the_bound_says() {
    const SEEDS: u64 = 1 << 12;
    let batches = [(0..8).map(|i| 3 * i).collect(), (0..8).collect(), vec![0, 1, 2, 9, 10, 11, 18, 19]];
    for batch in batches {
        let fails = |seed: u64| {
            let places = places_of(1 << 10, (8, 9, 3), Seed(u128::from(seed).to_le_bytes()));
            let refused = places.assign(&batch).err().map(|error| error.to_string());
            refused.is_some_and(|error| error.contains("finds no bucket of its own"))
        };
        let rate = (0..SEEDS).filter(|seed| fails(*seed)).count() as f64 / SEEDS as f64;
        assert!(rate < BOUND + 4.0 * (BOUND / SEEDS as f64).sqrt(), "{batch:?}: {rate}");
    }
    let spread: Vec<u64> = (0..8).map(|i| 3 * i).collect();
    let failed = (0..SEEDS)
        .filter(|seed| places_of(1 << 10, (8, 9, 3), Seed(u128::from(*seed).to_le_bytes())).assign(&spread).is_err());
    assert!(failed.count() as f64 > BOUND / 3.0 * SEEDS as f64);
}

/// Runs of neighbours at equal places of two blocks fail no more often than the bound at a size that sets have.
#[test]
fn runs_of_neighbours_find_buckets() {
    // 2^-8 is above the bound for 16 records in 25 buckets, which is 2^-8.9.
    const SEEDS: u64 = 1 << 12;
    let batch: Vec<u64> = (0..8).chain(8 * 40..8 * 41).collect();
    let fails =
        |seed: &u64| places_of(5000, (16, 25, 3), Seed(u128::from(*seed).to_le_bytes())).assign(&batch).is_err();
    assert!(((0..SEEDS).filter(fails).count() as u64) < SEEDS >> 8);
}

/// Random batches of the sizes of PIRANA's sets, with one seed each: 10^5 in full, and 1000 of the longest, whose four million records
/// take a tenth of a second a batch.
#[test]
fn random_batches_of_sets_find_buckets() {
    for (queries, buckets, batches) in [(256, 4096, 100_000), (256, 546, 100_000), (4096, 8192, 1000)] {
        let places = places(1 << 20, (queries, buckets, 3));
        let batches = if in_full() { batches } else { batches / 500 };
        (0..batches).into_par_iter().for_each(|batch| {
            let mut rng = Seed((u128::from(queries) << 64 | batch).to_le_bytes()).prg().rng();
            let indices: Vec<u64> = (0..queries).map(|_| rng.next_u64() % (1 << 20)).collect();
            let assigned = places.assign(&indices);
            assert!(assigned.is_ok_and(|assigned| assigned.len() == indices.len()), "batch {batch} of {queries}");
        });
    }
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
        let refused = Batch { queries, buckets, copies }.check(4096).unwrap_err().to_string();
        assert!(refused.contains(&format!("batch.{key}")), "{refused}");
    }
}
