use super::*;
use crate::core::workload::Shape;
use crate::protocol::tests_support::{conformance, noise_variance, read, retrieves_long_records, up_to};

fn set(body: &str) -> Set {
    let text = set_text("inspire0", &format!("body = \"{body}\"\n"), GAUSSIAN);
    read::<Inspire0>(&text).unwrap()
}

/// Merged, a toy ciphertext has room for the digits of four entries: those of five are selected whole. Longer records are YPIR's.
fn shapes() -> Vec<(u64, u64)> {
    up_to(13, &[(20, 24), (20, 32), (20, 40), (20, 600)])
}

conformance!(unpacked: Inspire0, set("unpacked"), &shapes(), 2, 3);
conformance!(packed: Inspire0, set("packed"), &shapes(), 2, 3);
conformance!(merged: Inspire0, set("merged"), &shapes(), 2, 3);

/// Rounding is most of an answer's noise: the ways to send the digits differ little. What half a packing leaves behind its samples is
/// no error.
#[test]
fn packed_digits_err_like_unpacked_ones() {
    let shape = Shape::new(200_000, 8).unwrap();
    let [unpacked, packed, merged] =
        ["unpacked", "packed", "merged"].map(|body| noise_variance::<Inspire0>(&set(body), shape, 135, "second_layer"));
    for (name, variance) in [("packed", packed), ("merged", merged)] {
        assert!((0.8..1.25).contains(&(variance / unpacked)), "{name}: {variance:e}, unpacked: {unpacked:e}");
    }
}

#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<Inspire0>(&set("unpacked"));
}

#[test]
fn masks_never_repeat() {
    check_masks(&set("unpacked"));
}

#[test]
fn published_message_sizes() {
    // Table 2 of InsPIRe: 84 KB of keys, 384, 1024 and 2048 KB of queries, 36 KB of answer; 24 KB where it is packed; merged, one
    // ciphertext.
    for (body, answer) in [("unpacked", 36), ("packed", 24), ("merged", 12)] {
        let text = set_text("inspire0", &format!("body = \"{body}\"\n"), GAUSSIAN);
        let text = text.replace("dimension = 64", "dimension = 1024").replace("degree = 128", "degree = 2048");
        let params = read::<Inspire0>(&text).unwrap();
        for (log_bytes, query) in [(30, 384), (33, 1024), (35, 2048)] {
            let workload = Workload::new(Shape::new(8 << log_bytes, 1).unwrap(), 1, 0).unwrap();
            let sizes = Inspire0::describe(&params, &workload).unwrap();
            assert_eq!(sizes.payload_bytes("keys"), 84 << 10);
            assert_eq!(sizes.payload_bytes("query"), query << 10);
            assert_eq!(sizes.payload_bytes("answer"), answer << 10);
        }
    }
}

#[test]
fn records_whose_digits_do_not_fit_are_selected_whole() {
    for (body, bits, whole) in
        [("merged", 32, false), ("merged", 40, true), ("packed", 512, false), ("packed", 513, true)]
    {
        let workload = Workload::new(Shape::new(20, bits).unwrap(), 1, 0).unwrap();
        let sizes = Inspire0::describe(&set(body), &workload).unwrap();
        assert_eq!(sizes.layout["selected_whole"], whole, "{body}, {bits} bits");
        assert_eq!(sizes.payload_bytes("keys") == 0, whole, "{body}, {bits} bits");
    }
}
