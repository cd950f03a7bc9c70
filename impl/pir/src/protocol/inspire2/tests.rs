use ring::Kernel;

use super::layout::Layout;
use super::public::Public;
use super::*;
use crate::core::workload::Shape;
use crate::parts::ring_matrix::is_incremental;
use crate::protocol::tests_support::{
    ALL_SHAPES, check_everywhere, conformance, grows_up_to_the_bounds, masks_of, never_repeat, noise_variance, read,
    refuses, retrieves_long_records, updates_like_fresh,
};

fn text(gamma0: u32) -> String {
    format!(
        "protocol = \"inspire2\"\ntitle = \"test\"\nentry_bits = 16\ngamma0 = {gamma0}\ngamma1 = 64\ngamma2 = {gamma0}\n\
         rows_factor = 1\nswitched_modulus = 268369921\n[source]\nkind = \"repaired\"\n\
         [rlwe]\ndegree = 128\nmodulus = \"67043329 * 132120577\"\nsecret = {{ kind = \"gaussian\", stddev = 6.4 }}\n\
         error = {{ stddev = 6.4 }}\n[packing]\nbase_log2 = 18\ndigits = \"unsigned\"\n\
         [switch]\nmask_modulus = 268369921\nbody_modulus = 1048576\n"
    )
}

fn set(text: &str) -> Set {
    read::<Inspire2>(text).unwrap()
}

/// The published dimensions.
fn published(gamma0: u32, factor: u32) -> Set {
    let text = text(gamma0).replace("degree = 128", "degree = 2048").replace("gamma1 = 64", "gamma1 = 1024");
    set(&text.replace("rows_factor = 1", &format!("rows_factor = {factor}")))
}

conformance!(every: Inspire2, set(&text(16)), ALL_SHAPES, 2, 3);

#[test]
fn other_gammas_entries_and_digits_serve_too() {
    // Other gammas, each with keys of its own; narrow entries; signed digits.
    let others = text(8).replace("gamma2 = 8", "gamma2 = 2").replace("unsigned", "balanced");
    check_everywhere::<Inspire2>(&set(&others), 5000, 40, 1, 2);
    let narrow = text(32).replace("entry_bits = 16", "entry_bits = 9").replace("gamma1 = 64", "gamma1 = 32");
    check_everywhere::<Inspire2>(&set(&narrow), 600, 77, 1, 2);
}

/// Records of two cells, all in the second of three columns of cells: the largest number that is added to the first layer's hints, and one
/// more, for which they are computed again.
#[test]
fn first_hints_are_updated_either_way() {
    let (params, shape) = (set(&text(16)), Shape::new(6000, 512).unwrap());
    let layout = Layout::choose(&params, shape).unwrap();
    assert_eq!((layout.rows, layout.cell_columns, layout.copies, layout.selects_whole), (2048, 3, 2, false));
    let second: Vec<u64> = (1..6000).step_by(3 * 6).collect();
    for (count, incremental) in [(320, true), (321, false)] {
        assert_eq!(is_incremental(count, 1, layout.rows / layout.ring_degree), incremental);
        updates_like_fresh::<Inspire2>(&params, shape, &second[..count]);
    }
}

/// Records of two cells in as many columns as are taken into the second layer's hints at most, and one more, for which they are computed
/// again.
#[test]
fn second_hints_are_updated_either_way() {
    let (params, shape) = (set(&text(16)), Shape::new(24 * 2048, 512).unwrap());
    let layout = Layout::choose(&params, shape).unwrap();
    assert_eq!((layout.rows, layout.cell_columns, layout.copies, layout.selects_whole), (2048, 24, 2, false));
    // One of each column, a row apart.
    let records: Vec<u64> = (2..24).map(|column| 24 * column + column).collect();
    for (count, incremental) in [(20, true), (21, false)] {
        assert_eq!(is_incremental(count, 1, layout.cell_columns.div_ceil(layout.ring_degree)), incremental);
        updates_like_fresh::<Inspire2>(&params, shape, &records[..count]);
    }
}

#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<Inspire2>(&set(&text(16)));
}

#[test]
fn published_message_sizes() {
    // gamma0, f, log2 of the database's bytes: N / t, t, query in KB, total in KB (Tables 2, 3 and 8).
    for (gamma0, factor, log_bytes, rows, degree, query, total) in [
        (64, 1, 30, 4096, 2048, 39.75, 171.6),
        (64, 2, 30, 8192, 1024, 59.6, 191.4),
        (64, 4, 30, 16384, 512, 109.3, 241.1),
        (32, 4, 30, 16384, 1024, 112.6, 244.3),
        (64, 8, 30, 32768, 256, 213.7, 345.5),
        (32, 8, 30, 32768, 512, 215.3, 347.0),
        (16, 1, 30, 8192, 4096, 79.5, 211.1),
        (64, 1, 33, 8192, 8192, 106.0, 237.8),
        (64, 2, 35, 32768, 8192, 265.0, 396.8),
    ] {
        let params = published(gamma0, factor);
        let bits = 16 * u64::from(gamma0);
        let shape = Shape::new((8u64 << log_bytes) / bits, bits).unwrap();
        let layout = Layout::choose(&params, shape).unwrap();
        assert_eq!((layout.rows, layout.cell_columns), (rows, degree), "gamma0 {gamma0}, f {factor}, 2^{log_bytes} B");
        let sizes = Inspire2::describe(&params, &Workload::new(shape, 1, 0).unwrap()).unwrap();
        assert_eq!(sizes.payload_bytes("keys"), 2 * 3 * 2048 * 53 / 8);
        assert_eq!(sizes.payload_bytes("query"), (rows + degree) as u64 * 53 / 8);
        let masks_and_bodies = 4 * (7168 + 2560) + 2 * (7168 + 5 * u64::from(gamma0) / 2);
        assert_eq!(sizes.payload_bytes("answer"), masks_and_bodies);
        let kilobytes = |name: &str| sizes.payload_bytes(name) as f64 / 1024.0;
        assert!((kilobytes("query") - query).abs() < 0.1, "query {}", kilobytes("query"));
        let sum = kilobytes("keys") + kilobytes("query") + kilobytes("answer");
        assert!((sum - total).abs() < 0.15, "total {sum}, published {total}");
    }
}

/// Under one secret no mask may appear twice: both queries', those of the keys for every gamma.
#[test]
fn masks_never_repeat() {
    let params = set(&text(16));
    let layout = Layout::choose(&params, Shape::new(300_000, 256).unwrap()).unwrap();
    never_repeat(|seed| {
        let public = Public::new(&params, &layout, seed, Kernel::best()).unwrap();
        assert!(public.first.blocks() > 8 && public.second.blocks() > 1);
        let packings: Vec<_> = public.packings().collect();
        assert_eq!(packings.len(), 2);
        [masks_of(&public.first, &packings[0].1, 1), masks_of(&public.second, &packings[1].1, 1)].concat()
    });
}

/// Products, packings and switches: the measured variance is below the sum of their bounds, of either layer.
#[test]
fn noise_is_within_the_sum_of_its_stages() {
    let shape = Shape::new(200_000, 256).unwrap();
    let params = set(&text(16));
    let layout = Layout::choose(&params, shape).unwrap();
    let (d, q, unit, variance) = (128.0, params.rlwe.modulus() as f64, 268_369_921.0, 6.4f64.powi(2));
    let masks = (1.0 + d * variance) / 12.0;
    for (stage, terms, gamma, body) in
        [("second_layer", layout.cell_columns, 64.0, unit / 2f64.powi(20)), ("first_layer", layout.rows, 16.0, 1.0)]
    {
        let measured = noise_variance::<Inspire2>(&params, shape, 1100, stage);
        let product = terms as f64 * variance * 2f64.powi(32) / 12.0;
        let packing = gamma * d * 3.0 * variance * 2f64.powi(36) / 3.0;
        let switch = body * body / 12.0 + masks;
        let bound = (product + 3.0 * packing) * (unit / q).powi(2) + switch;
        assert!(measured < bound && measured > switch / 4.0, "{stage}: {measured:e}, {bound:e}, switch {switch:e}");
    }
}

#[test]
fn sizes_do_not_wrap_around() {
    grows_up_to_the_bounds::<Inspire2>(&published(64, 8));
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let text = text(16);
    for (from, to, key) in [
        ("entry_bits = 16", "entry_bits = 17", "entry_bits"),
        ("gamma0 = 16", "gamma0 = 128", "gamma0"),
        ("gamma1 = 64", "gamma1 = 63", "gamma1"),
        ("gamma2 = 16", "gamma2 = 1", "gamma2"),
        ("rows_factor = 1", "rows_factor = 3", "rows_factor"),
        ("switched_modulus = 268369921", "switched_modulus = 131071", "switched_modulus"),
        ("\"inspire2\"", "\"ypir\"", "protocol"),
    ] {
        refuses::<Inspire2>(&text, from, to, key);
    }
}

/// Records of more than eight cells: the keys of gamma_0 alone, a ring element for each column of cells, two ciphertexts a cell.
#[test]
fn long_records_are_selected_whole() {
    for (records, bits, rows, degree) in
        [(1u64 << 15, 1u64 << 18, 8192, 4), (10_000, 819_200, 8192, 2), (3, 819_200, 32, 1)]
    {
        let workload = Workload::new(Shape::new(records, bits).unwrap(), 1, 0).unwrap();
        let sizes = Inspire2::describe(&published(64, 1), &workload).unwrap();
        assert_eq!((sizes.layout["rows"].as_u64(), sizes.layout["cell_columns"].as_u64()), (Some(rows), Some(degree)));
        let cells = bits / 1024;
        assert_eq!(sizes.payload_bytes("keys"), 3 * 2048 * 53 / 8);
        assert_eq!(sizes.payload_bytes("query"), (rows + 2048 * degree) * 53 / 8);
        // 3584 digits of the mask and 112 of the body in two ciphertexts of 28 bits a coefficient of the mask.
        assert_eq!(sizes.payload_bytes("answer"), cells * (2 * 2048 * 28 + 20 * 3696) / 8);
        assert_eq!(sizes.instances[0].samples, Some(rows + 2048 * degree + 3 * 2048));
    }
    let packed = Workload::new(Shape::new(10_000, 8 * 1024).unwrap(), 1, 0).unwrap();
    assert_eq!(Inspire2::describe(&published(64, 1), &packed).unwrap().layout["selected_whole"], false);
}
