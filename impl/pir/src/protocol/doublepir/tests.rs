use crate::protocol::tests_support::{
    check_everywhere, conformance, grows_up_to_the_bounds, noise_variance, read, refuses_hints_of_other_seeds,
    refuses_impossible_changes, set_text, small_set, up_to,
};

use super::*;
use crate::core::workload::Shape;

const TABLE: &str =
    "[[plain_moduli]]\nlog2_samples = 13\nmodulus = 928\n[[plain_moduli]]\nlog2_samples = 17\nmodulus = 464\n";

fn params(copies: &str) -> Set {
    small_set::<DoublePir>(&format!("min_columns = 64\nhint_copies = {copies}\n"), TABLE)
}

// One copy of the second layer: every entry of a record is a second query, so very wide records take long.
conformance!(one_copy: DoublePir, params("1"), &up_to(2049, &[]), 3, 4);

#[test]
fn a_change_beyond_a_digit_is_refused() {
    refuses_impossible_changes::<DoublePir>(&params("1"), Shape::new(1000, 13).unwrap(), &[u8::MAX; 8]);
}

#[test]
fn a_hint_of_other_seeds_is_no_update() {
    refuses_hints_of_other_seeds::<DoublePir>(&params("1"), Shape::new(1000, 13).unwrap());
}

#[test]
fn copies_of_the_hint_trade_queries_for_hint() {
    for copies in ["\"all\"", "3", "2"] {
        check_everywhere::<DoublePir>(&params(copies), 500, 100, 2, 3);
    }
    let workload = Workload::new(Shape::new(500, 100).unwrap(), 1, 1).unwrap();
    let [all, one] = ["\"all\"", "1"].map(|copies| DoublePir::describe(&params(copies), &workload).unwrap());
    assert!(all.payload_bytes("hint") > one.payload_bytes("hint"));
    assert!(all.payload_bytes("query") < one.payload_bytes("query"));
}

#[test]
fn second_layer_noise_matches_balanced_digits() {
    let shape = Shape::new(4_000_000, 1).unwrap();
    let measured = noise_variance::<DoublePir>(&params("1"), shape, 70, "second_layer");
    let layers = params("1").layers(shape).unwrap();
    let p = f64::from(layers.gadget.base());
    // Three full balanced digits and a short top digit of a uniform residue.
    let full = (p * p - 1.0) / 12.0;
    let top = (2f64.powi(32) / p.powi(3)).powi(2) / 12.0;
    let moment = (3.0 * full + top) / 4.0;
    let predicted = layers.groups as f64 * 6.4f64.powi(2) * moment;
    assert!((measured / predicted - 1.0).abs() < 1.0 / 16.0, "measured {measured:e}, predicted {predicted:e}");
}

#[test]
fn published_message_sizes() {
    let table = "[[plain_moduli]]\nlog2_samples = 16\nmodulus = 552\n";
    let text = set_text("doublepir", "min_columns = 65536\nhint_copies = \"all\"\n", table);
    let params = read::<DoublePir>(&text.replace("dimension = 64", "dimension = 1024")).unwrap();
    let workload = Workload::new(Shape::new(1 << 33, 1).unwrap(), 1, 0).unwrap();
    let sizes = DoublePir::describe(&params, &workload).unwrap();
    assert_eq!(sizes.payload_bytes("hint"), 32 + (16 << 20));
    // 312.9 KiB up and 32.0 KiB down, as published.
    assert_eq!(sizes.payload_bytes("query"), 4 * (65536 + 14564));
    assert_eq!(sizes.payload_bytes("answer"), 4 * (2 * 4 * 1024 + 4));
}

#[test]
fn first_layer_noise_matches_the_digits_of_records() {
    // 208 entries a record, 80 keys: 16640 values. All columns hold records.
    let shape = Shape::new(64 * 4, 2048).unwrap();
    let measured = noise_variance::<DoublePir>(&params("\"all\""), shape, 80, "first_layer");
    let layers = params("\"all\"").layers(shape).unwrap();
    let (p, offset) = (layers.first.code.plain_modulus(), f64::from(layers.first.code.offset()));
    let moment = (0..p).map(|digit| (f64::from(digit) - offset).powi(2)).sum::<f64>() / f64::from(p);
    assert_eq!(layers.first.columns * layers.first.rows / layers.first.code.entries_per_record() as usize, 256);
    let predicted = layers.first.columns as f64 * 6.4f64.powi(2) * moment;
    assert!((measured / predicted - 1.0).abs() < 1.0 / 16.0, "measured {measured:e}, predicted {predicted:e}");
}

#[test]
fn sizes_do_not_wrap_around() {
    let table = "[[plain_moduli]]\nlog2_samples = 32\nmodulus = 3\n";
    for copies in ["\"all\"", "1"] {
        let text = set_text("doublepir", &format!("min_columns = 16777216\nhint_copies = {copies}\n"), table);
        let params = read::<DoublePir>(&text.replace("dimension = 64", "dimension = 16384")).unwrap();
        grows_up_to_the_bounds::<DoublePir>(&params);
    }
}
