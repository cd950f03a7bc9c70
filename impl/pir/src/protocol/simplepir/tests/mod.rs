mod frodopir;

use crate::protocol::tests_support::{
    ALL_SHAPES, conformance, grows_up_to_the_bounds, noise_variance, read, refuses_hints_of_other_seeds,
    refuses_impossible_changes, set_text, small_set,
};

use super::*;
use crate::core::workload::Shape;
use crate::parts::lwe_matrix::RecordCode;

const TABLE: &str =
    "[[plain_moduli]]\nlog2_samples = 13\nmodulus = 991\n[[plain_moduli]]\nlog2_samples = 14\nmodulus = 833\n";

fn params() -> Set {
    small_set::<SimplePir>("", TABLE)
}

conformance!(every: SimplePir, params(), ALL_SHAPES, 3, 4);

#[test]
fn a_change_beyond_an_entry_is_refused() {
    refuses_impossible_changes::<SimplePir>(&params(), Shape::new(1000, 13).unwrap(), &i16::MAX.to_le_bytes());
}

#[test]
fn a_hint_of_another_seed_is_no_update() {
    refuses_hints_of_other_seeds::<SimplePir>(&params(), Shape::new(1000, 13).unwrap());
}

#[test]
fn noise_variance_is_columns_times_error_variance_times_second_moment() {
    // 20 keys x 1000 rows; the entries of a seeded database are uniform below 2^9.
    let shape = Shape::new(9_000_000, 1).unwrap();
    let measured = noise_variance::<SimplePir>(&params(), shape, 20, "answer");
    let layout = params().layout(shape).unwrap();
    let code = RecordCode::new(1, layout.code.plain_modulus());
    let (range, offset) = (f64::from(1u32 << code.entry_bits()), f64::from(code.offset()));
    let moment = (0..range as u32).map(|e| (f64::from(e) - offset).powi(2)).sum::<f64>() / range;
    let predicted = layout.columns as f64 * 6.4f64.powi(2) * moment;
    assert!((measured / predicted - 1.0).abs() < 1.0 / 16.0, "measured {measured:e}, predicted {predicted:e}");
}

#[test]
fn published_message_sizes() {
    let workload = Workload::new(Shape::new(1 << 33, 1).unwrap(), 1, 0).unwrap();
    let table = "[[plain_moduli]]\nlog2_samples = 15\nmodulus = 701\n";
    let text = set_text("simplepir", "", table).replace("dimension = 64", "dimension = 1024");
    let params = read::<SimplePir>(&text).unwrap();
    let sizes = SimplePir::describe(&params, &workload).unwrap();
    assert_eq!(sizes.payload_bytes("hint"), 16 + 4 * 30893 * 1024);
    assert_eq!(sizes.payload_bytes("query"), 4 * 30895);
    assert_eq!(sizes.payload_bytes("answer"), 4 * 30893);
}

#[test]
fn sizes_do_not_wrap_around() {
    let table = "[[plain_moduli]]\nlog2_samples = 32\nmodulus = 3\n";
    let text = set_text("simplepir", "", table).replace("dimension = 64", "dimension = 16384");
    grows_up_to_the_bounds::<SimplePir>(&read::<SimplePir>(&text).unwrap());
}
