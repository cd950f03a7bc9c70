use ring::Kernel;

use super::*;
use crate::core::workload::Shape;
use crate::parts::ring_matrix::is_incremental;
use crate::protocol::tests_support::{
    ALL_SHAPES, check_everywhere, committed, conformance, grows_up_to_the_bounds, masks_of, never_repeat,
    noise_variance, read, refuses, retrieves_long_records, updates_like_fresh,
};

fn text(rows: &str, step: u64) -> String {
    format!(
        "protocol = \"simpleypir\"\ntitle = \"test\"\nentry_bits = 14\nitem_step = {step}\nrows = \"{rows}\"\n\
         query_coefficient_bytes = 7\n[source]\nkind = \"repaired\"\n\
         [rlwe]\ndegree = 128\nmodulus = \"268369921 * 249561089\"\nsecret = {{ kind = \"gaussian\", stddev = 6.4 }}\n\
         error = {{ stddev = 6.4 }}\n[packing]\nbase_log2 = 19\ndigits = \"unsigned\"\n\
         [switch]\nmask_modulus = 268369921\nbody_modulus = 1048576\n"
    )
}

fn set(text: &str) -> Set {
    read::<SimpleYpir>(text).unwrap()
}

conformance!(every: SimpleYpir, set(&text("exact", 128)), ALL_SHAPES, 2, 3);

#[test]
fn other_items_and_narrow_entries_serve_too() {
    check_everywhere::<SimpleYpir>(&set(&text("power_of_two", 100)), 700, 300, 3, 4);
    let narrow = text("exact", 1).replace("entry_bits = 14", "entry_bits = 5").replace("unsigned", "balanced");
    check_everywhere::<SimpleYpir>(&set(&narrow), 600, 77, 1, 2);
}

/// Records that fill the second of an item's three ring elements: the largest number that is added to the hint, and one more, for which it is
/// computed again.
#[test]
fn hints_are_updated_either_way() {
    let params = set(&text("exact", 128));
    let shape = Shape::new(1152, 14 * 128).unwrap();
    let layout = layout::Layout::choose(&params, shape).unwrap();
    assert_eq!((layout.records_per_item, layout.elements, layout.rows), (3, 3, 3 * 128));
    let second: Vec<u64> = (1..1152).step_by(3 * 5).collect();
    for (count, incremental) in [(60, true), (61, false)] {
        assert_eq!(is_incremental(count, 1, layout.rows / layout.degree), incremental);
        updates_like_fresh::<SimpleYpir>(&params, shape, &second[..count]);
    }
}

#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<SimpleYpir>(&set(&text("exact", 128)));
}

/// An exact item of long records is not cut short: at 1 GB two records of 32 KB, as published, where the root of the database is one and
/// a half; records shorter than an element leave less empty than one.
#[test]
fn exact_items_hold_whole_records() {
    let set = |name: &str| committed::<SimpleYpir>(&format!("simpleypir/{name}"));
    let layout = |name, records, bits| layout::Layout::choose(&set(name), Shape::new(records, bits).unwrap()).unwrap();
    for (log2_records, published) in [(15, (16384, 19)), (18, (65536, 37))] {
        for name in ["usenix24", "signed-tight"] {
            let layout = layout(name, 1 << log2_records, 1 << 18);
            assert_eq!((layout.rows, layout.elements), published, "{name}, 2^{log2_records}");
        }
    }
    for (records, bits) in [(1 << 33, 1), (1 << 24, 512), (3_000_001, 800), (300, 819_200), (1 << 15, 1 << 18)] {
        let layout = layout("signed-tight", records, bits);
        let (item, element) = (layout.elements as u64 * 28_672, 28_672);
        assert!(item - layout.records_per_item * bits < element, "{records} x {bits}: {layout:?}");
    }
}

/// Under one secret no mask may appear twice: the query's, those of every packing key.
#[test]
fn masks_never_repeat() {
    let params = set(&text("exact", 128));
    let layout = layout::Layout::choose(&params, Shape::new(4_000_000, 14).unwrap()).unwrap();
    let count = never_repeat(|seed| {
        let public = server::Public::new(&params, &layout, seed, Kernel::best()).unwrap();
        assert!(public.queries.blocks() > 8);
        masks_of(&public.queries, &public.masks, public.packing.exponents().len())
    });
    assert_eq!(count, 2 * (layout.rows.div_ceil(128) + 7 * 3));
}

#[test]
fn published_message_sizes() {
    // Upload and download of Tables 2 to 4 of InsPIRe, the same for every entry size of a database; keys as YPIR.
    let params = set(&text("power_of_two", 18725).replace("degree = 128", "degree = 2048"));
    for (log_bytes, up, down) in [(30, 112, 228), (33, 448, 444), (35, 896, 888)] {
        for record_bits in [1, 512, 1 << 18] {
            let workload = Workload::new(Shape::new((8u64 << log_bytes) / record_bits, record_bits).unwrap(), 1, 0);
            let sizes = SimpleYpir::describe(&params, &workload.unwrap()).unwrap();
            assert_eq!(sizes.payload_bytes("keys"), 462 << 10);
            assert_eq!(sizes.payload_bytes("query"), up << 10, "2^{log_bytes} B of {record_bits} bits");
            assert_eq!(sizes.payload_bytes("answer"), down << 10, "2^{log_bytes} B of {record_bits} bits");
        }
    }
}

#[test]
fn noise_is_within_the_sum_of_its_stages() {
    let shape = Shape::new(200_000, 14).unwrap();
    let params = set(&text("exact", 128));
    let measured = noise_variance::<SimpleYpir>(&params, shape, 60, "answer");
    let layout = layout::Layout::choose(&params, shape).unwrap();
    let (d, q, unit) = (128.0, params.rlwe.modulus() as f64, 268_369_921.0);
    let (variance, z2) = (6.4f64.powi(2), 2f64.powi(38));
    let product = layout.rows as f64 * variance * 2f64.powi(28) / 12.0;
    let packing = (d * d - 1.0) / 3.0 * d * 3.0 * variance * z2 / 3.0;
    let switch = (unit / 2f64.powi(20)).powi(2) / 12.0 + (1.0 + d * variance) / 12.0;
    let bound = (product + packing) * (unit / q).powi(2) + switch;
    assert!(measured < bound && measured > switch / 2.0, "measured {measured:e}, bound {bound:e}, switch {switch:e}");
}

#[test]
fn sizes_do_not_wrap_around() {
    grows_up_to_the_bounds::<SimpleYpir>(&set(&text("power_of_two", 18725).replace("degree = 128", "degree = 2048")));
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let text = text("exact", 128);
    for (from, to, key) in [
        ("entry_bits = 14", "entry_bits = 17", "entry_bits"),
        ("item_step = 128", "item_step = 0", "item_step"),
        ("bytes = 7", "bytes = 9", "query_coefficient_bytes"),
        ("body_modulus = 1048576", "body_modulus = 16384", "switch.body_modulus"),
        ("\"simpleypir\"", "\"ypir\"", "protocol"),
    ] {
        refuses::<SimpleYpir>(&text, from, to, key);
    }
}
