use ring::Kernel;

use super::*;
use crate::core::database::Database;
use crate::core::workload::Shape;
use crate::protocol::tests_support::bfv::{BINOMIAL, GOLDILOCKS, INTEGER, NORMS, SHORT, SWITCH};
use crate::protocol::tests_support::{
    ALL_SHAPES, check_everywhere, conformance, context, finds_every_record, noise_is, parties_of, read, refuses,
    retrieves_long_records, updates_keep,
};

/// A ring of degree 64.
fn text(plaintext: &str, direct: u64, switch: &str) -> String {
    format!(
        "protocol = \"pirana\"\ntitle = \"test\"\ndirect_columns = {direct}\n[source]\nkind = \"own\"\n\
         [ring]\ndegree = 64\nmodulus = \"268432897 * 268428161 * 268425089\"\nspecial_modulus = 268424449\n\
         digit_bits = 28\nplaintext = {plaintext}\nsecret = {{ kind = \"ternary\" }}\nerror = {{ stddev = 3.2 }}\n{switch}"
    )
}

fn set(plaintext: &str, direct: u64, switch: &str) -> Set {
    read::<Pirana>(&text(plaintext, direct, switch)).unwrap()
}

conformance!(every: Pirana, set(INTEGER, 4, SWITCH), ALL_SHAPES, 3, 4);
conformance!(every_binomial: Pirana, set(BINOMIAL, 1, ""), &[(1, 1), (777, 7), (100, 2049)], 2, 3);

#[test]
fn every_record_is_found() {
    for (plaintext, records, bits) in
        [(INTEGER, 200, 100), (BINOMIAL, 100, 1100), (SHORT, 700, 20), (GOLDILOCKS, 40, 500)]
    {
        finds_every_record::<Pirana>(&set(plaintext, 4, ""), records, bits);
    }
}

/// Batches of five records in as many slots as there are buckets, and in fewer buckets, whose records have several slots.
#[test]
fn batches_serve() {
    for (plaintext, buckets, records, bits) in [
        (INTEGER, 64, 777, 40),
        (INTEGER, 30, 777, 5),
        (INTEGER, 20, 100, 300),
        (SHORT, 12, 500, 100),
        (GOLDILOCKS, 2, 9, 1000),
    ] {
        let batch = format!("[batch]\nqueries = {}\nbuckets = {buckets}\ncopies = 2\n", 5.min(buckets));
        let set = read::<Pirana>(&(text(plaintext, 3, SWITCH) + &batch)).unwrap();
        // Two batches where hardly any is refused.
        check_everywhere::<Pirana>(&set, records, bits, if buckets == 64 { 7 } else { 1 }, 3);
        let shape = Shape::new(records, bits).unwrap();
        let database = Database::seeded([9; 16], shape);
        let mut context = context(Kernel::best(), 1);
        let (server, mut client) = parties_of::<Pirana>(&set, &database, &mut context);
        // A batch that is refused is asked for otherwise; records that are asked for twice share a bucket.
        let (mut served, mut refused) = (0, 0);
        for first in 0..8 {
            let indices = [first, 3 * first + 1, first, records - 1 - first].map(|index| index % records);
            let request = match client.ask(&indices, &mut context) {
                Ok(request) => request,
                Err(error) => {
                    assert!(error.to_string().contains("finds no bucket of its own"), "{error}");
                    refused += 1;
                    continue;
                }
            };
            let response = server.answer(&[request], &mut context).unwrap().remove(0);
            let found = client.extract(&response, &context).unwrap();
            assert_eq!(found, indices.map(|index| database.record(index).unwrap()));
            served += 1;
        }
        // In thirty buckets three records would have to share one pair: fewer than one batch in ten thousand.
        let few = if buckets < 30 { served } else { 1 };
        assert!(refused < few, "{buckets} buckets: {served} served, {refused} refused");
    }
}

/// Families of every kind; codewords of weight one and two.
#[test]
fn every_family_serves() {
    for (plaintext, direct) in [(SHORT, 1), (SHORT, 1000), (GOLDILOCKS, 2), (BINOMIAL, 1000)] {
        check_everywhere::<Pirana>(&set(plaintext, direct, SWITCH), 500, 300, 2, 3);
    }
}

#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<Pirana>(&set(INTEGER, 4, SWITCH));
}

/// Every entry of an item comes to lie in a slot of its own, whatever the shape, and plaintexts have places of their own.
#[test]
fn entries_and_plaintexts_have_places_of_their_own() {
    for (rows, row_slots, entry_bits) in [(2, 32, 12), (1, 8, 127), (1, 32, 16), (2, 4, 5)] {
        for records in [1, 2, 3, 5, 8, 31, 32, 33, 40, 64, 65, 1000] {
            for bits in [1, 12, 13, 100, 3000, 20_000] {
                let shape = Shape::new(records, bits).unwrap();
                let layout = Layout::new(shape, (rows, row_slots), entry_bits, 4);
                assert!(layout.code.words() >= layout.columns as u64 && layout.columns > 0);
                assert!(layout.repetitions * layout.classes <= rows * row_slots);
                let mut entries = std::collections::BTreeSet::new();
                let (mut slots, mut places) = (entries.clone(), std::collections::BTreeSet::new());
                let class = layout.classes - 1;
                for polynomial in 0..layout.polynomials {
                    let turn = layout.turn(polynomial);
                    assert!(turn.answer < layout.answers && turn.half < layout.halves);
                    assert!(turn.baby < layout.baby && turn.giant < layout.giants);
                    assert!(places.insert((layout.matrix_row(0, turn), layout.matrix_column(turn))));
                    for repetition in 0..layout.repetitions {
                        let places = turn.baby * layout.giants + turn.giant;
                        let slot = layout.turned(layout.slot(repetition, class), turn.half, places);
                        assert!(slots.insert(turn.answer * rows * row_slots + slot), "{layout:?}");
                        entries.insert(layout.entry(polynomial, repetition));
                    }
                }
                assert!((0..layout.entries).all(|entry| entries.contains(&entry)), "{layout:?}");
                let last = layout.place(records - 1);
                assert!(last.0 + 1 == layout.columns && last.1 < layout.classes);
            }
        }
    }
}

/// A changed server has the plaintexts of one made of the changed database.
#[test]
fn updates_make_the_same_plaintexts() {
    for (plaintext, bits) in [(INTEGER, 104), (INTEGER, 5), (BINOMIAL, 1000), (SHORT, 104)] {
        updates_keep::<Pirana>(&set(plaintext, 1, ""), Shape::new(300, bits).unwrap(), |server| server.plaintexts());
    }
}

/// A product of two bits, a key switch, the sum over columns, turns of the sums, and the switch: over 20 keys of each family.
#[test]
fn noise_is_that_of_the_steps() {
    let (n, q) = (64f64, 268_432_897f64 * 268_428_161.0 * 268_425_089.0);
    let (weight, variance) = (2.0 / 3.0 * n, 3.2f64.powi(2));
    let rounding = (1.0 + weight) / 12.0;
    let [integer, binomial] = NORMS;
    for (plaintext, (norm, square, plain), records, bits) in
        [(INTEGER, integer, 2000, 100), (BINOMIAL, binomial, 200, 1000)]
    {
        let shape = Shape::new(records, bits).unwrap();
        let set = set(plaintext, 1, "[switch]\nmask_modulus = 268435456\nbody_modulus = 4194304\n");
        let layout = set.layout(shape).unwrap();
        assert!(layout.code.weight == 2 && layout.baby == 1 && layout.giants == layout.polynomials);
        let switch = n * 3.0 * variance * 2f64.powi(56) / 12.0 / 268_424_449f64.powi(2) + rounding;
        let cross = 2.0 * (variance + 1.0 / 12.0) * n * square / norm * rounding;
        let selection = cross + (1.0 + weight + 2.0 * weight.powi(2)) / 12.0 + switch;
        let products = n * plain * (layout.columns * layout.polynomials) as f64 * selection;
        let sum = products + (layout.giants - 1) as f64 * switch;
        let answer = sum / q.powi(2) + 1.0 / 12.0 / 2f64.powi(44) + weight / 12.0 / 2f64.powi(56);
        let stages = [("selection", selection / q.powi(2)), ("sum", sum / q.powi(2)), ("answer", answer)];
        noise_is::<Pirana>(&set, shape, &stages.map(|(stage, variance)| (stage, norm * variance)));
    }
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let text = text(INTEGER, 4, SWITCH);
    for (from, to, key) in [
        ("direct_columns = 4", "direct_columns = 0", "direct_columns"),
        ("degree = 64", "degree = 96", "ring.degree"),
        ("268432897 * ", "268432899 * ", "ring.modulus"),
        ("special_modulus = 268424449", "special_modulus = 268424451", "ring.special_modulus"),
        ("special_modulus = 268424449", "special_modulus = 268432897", "ring.special_modulus"),
        ("modulus = 7681", "modulus = 7687", "ring.plaintext"),
        ("digit_bits = 28", "digit_bits = 1", "ring.digit_bits"),
        ("\"ternary\"", "\"uniform\"", "ring.secret"),
        ("stddev = 3.2", "stddev = 0.1", "ring.error.stddev"),
        ("body_modulus = 67108864", "body_modulus = 7681", "switch.body_modulus"),
        ("[switch]", "[batch]\nqueries = 3\nbuckets = 65\ncopies = 2\n[switch]", "batch.buckets"),
        ("[switch]", "[batch]\nqueries = 3\nbuckets = 2\ncopies = 2\n[switch]", "batch.queries"),
        ("\"pirana\"", "\"simplepir\"", "protocol"),
    ] {
        refuses::<Pirana>(&text, from, to, key);
    }
}
