use super::*;
use crate::core::workload::Shape;
use crate::protocol::tests_support::bfv::{BINOMIAL, GOLDILOCKS, INTEGER, NORMS, SHORT, SWITCH};
use crate::protocol::tests_support::{
    ALL_SHAPES, check_everywhere, conformance, finds_every_record, noise_is, read, refuses, retrieves_long_records,
    updates_keep,
};

/// A ring of degree 64.
fn text(plaintext: &str, baby: usize, hoisted: bool, switch: &str) -> String {
    format!(
        "protocol = \"onehot\"\ntitle = \"test\"\nmost_baby_steps = {baby}\nhoisted = {hoisted}\n[source]\nkind = \"own\"\n\
         [ring]\ndegree = 64\nmodulus = \"268432897 * 268428161 * 268425089 * 268424449\"\nspecial_modulus = 268423553\n\
         digit_bits = 28\nplaintext = {plaintext}\nsecret = {{ kind = \"ternary\" }}\nerror = {{ stddev = 3.2 }}\n{switch}"
    )
}

fn set(plaintext: &str, baby: usize, hoisted: bool, switch: &str) -> Set {
    read::<OneHot>(&text(plaintext, baby, hoisted, switch)).unwrap()
}

conformance!(every: OneHot, set(INTEGER, 4, true, SWITCH), ALL_SHAPES, 3, 4);

#[test]
fn every_family_serves() {
    for (plaintext, baby, hoisted) in
        [(SHORT, 4, false), (GOLDILOCKS, 2, true), (BINOMIAL, 1, true), (BINOMIAL, 8, false)]
    {
        for (records, bits) in [(1, 1), (500, 300), (33, 1100)] {
            check_everywhere::<OneHot>(&set(plaintext, baby, hoisted, SWITCH), records, bits, 2, 3);
        }
    }
}

#[test]
fn every_record_is_found() {
    for (plaintext, records, bits) in [(INTEGER, 200, 100), (BINOMIAL, 100, 1100), (SHORT, 700, 20)] {
        finds_every_record::<OneHot>(&set(plaintext, 4, true, ""), records, bits);
    }
}

#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<OneHot>(&set(BINOMIAL, 4, true, SWITCH));
}

/// Every item has a slot of its own among the diagonals, and its entries slots of their own in an answer.
#[test]
fn items_have_places_of_their_own() {
    for (slots, rows, entry_bits) in [(64, 2, 12), (8, 1, 127), (32, 1, 16), (2, 1, 63)] {
        for (records, bits) in [(1, 1), (9, 100), (64, 13), (65, 700), (1000, 5000)] {
            for (baby, hoisted) in [(1, true), (4, true), (4, false), (64, true)] {
                let layout =
                    Layout::new(Shape::new(records, bits).unwrap(), (slots, rows), entry_bits, (baby, hoisted));
                let mut places = std::collections::BTreeSet::new();
                for item in 0..layout.count() {
                    let place = layout.diagonal(item);
                    assert!(place.row < layout.matrix_rows() && place.giant < layout.giants && place.slot < slots);
                    assert!(places.insert((place.row, place.giant, place.slot)), "{layout:?}");
                }
                for class in [0, layout.classes - 1] {
                    let found: std::collections::BTreeSet<_> =
                        (0..layout.entries).map(|entry| layout.found(class, entry)).collect();
                    assert!(found.len() == layout.entries && found.iter().all(|found| found.0 < layout.answers));
                }
                assert!(layout.baby <= baby && layout.baby * layout.giants == layout.width);
            }
        }
    }
}

/// A changed server has the plaintexts of one made of the changed database.
#[test]
fn updates_make_the_same_plaintexts() {
    for (plaintext, bits) in [(INTEGER, 104), (INTEGER, 5), (BINOMIAL, 1000), (SHORT, 104)] {
        let set = set(plaintext, 4, true, "");
        updates_keep::<OneHot>(&set, Shape::new(300, bits).unwrap(), |server| server.plaintexts());
    }
}

/// Products with turned selectors, giant steps, a product with the row selector, the sum, and the switch: over 20 keys of each family.
#[test]
fn noise_is_that_of_the_steps() {
    let q: f64 = [268_432_897f64, 268_428_161.0, 268_425_089.0, 268_424_449.0].iter().product();
    let (n, weight, variance) = (64f64, 2.0 / 3.0 * 64.0, 3.2f64.powi(2));
    let rounding = (1.0 + weight) / 12.0;
    let [integer, binomial] = NORMS;
    for (plaintext, (norm, square, plain), records, bits) in
        [(INTEGER, integer, 1500, 60), (BINOMIAL, binomial, 128, 1000)]
    {
        let shape = Shape::new(records, bits).unwrap();
        let set = set(plaintext, 4, true, "[switch]\nmask_modulus = 268435456\nbody_modulus = 4194304\n");
        let layout = set.layout(shape).unwrap();
        assert!(layout.baby == 4 && layout.giants > 1, "{layout:?}");
        let (rows, giants) = (layout.matrix_rows() as f64, layout.giants as f64);
        let switch = n * 4.0 * variance * 2f64.powi(56) / 12.0 / 268_423_553f64.powi(2) + rounding;
        let fresh = variance + 1.0 / 12.0;
        let column = n * plain * rows * giants * (fresh + 0.75 * switch) + (giants - 1.0) * switch;
        let product =
            (column + fresh) * n * square / norm * rounding + (1.0 + weight + 2.0 * weight.powi(2)) / 12.0 + switch;
        let entries = layout.entries as f64;
        let sum = entries * product + (entries - 1.0) * switch;
        let answer = sum / q.powi(2) + 1.0 / 12.0 / 2f64.powi(44) + weight / 12.0 / 2f64.powi(56);
        let stages = [("column", column / q.powi(2)), ("sum", sum / q.powi(2)), ("answer", answer)];
        noise_is::<OneHot>(&set, shape, &stages.map(|(stage, variance)| (stage, norm * variance)));
    }
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let text = text(INTEGER, 4, true, SWITCH);
    for (from, to, key) in [
        ("most_baby_steps = 4", "most_baby_steps = 3", "most_baby_steps"),
        ("degree = 64", "degree = 96", "ring.degree"),
        ("modulus = 7681", "modulus = 7687", "ring.plaintext"),
        ("body_modulus = 67108864", "body_modulus = 7681", "switch.body_modulus"),
        ("\"onehot\"", "\"simplepir\"", "protocol"),
    ] {
        refuses::<OneHot>(&text, from, to, key);
    }
}
