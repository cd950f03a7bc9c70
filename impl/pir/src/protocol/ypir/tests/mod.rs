mod inspire0;

use ring::Kernel;

use super::layout::Layers;
use super::public::Public;
use super::*;
use crate::core::workload::Shape;
use crate::protocol::tests_support::{
    check_everywhere, conformance, grows_up_to_the_bounds, masks_of, never_repeat, noise_variance, read, refuses,
    retrieves_long_records, up_to, updates_like_fresh,
};

/// A set of toy dimensions: right in every respect but security.
pub(super) fn set_text(protocol: &str, extra: &str, secret: &str) -> String {
    format!(
        "protocol = \"{protocol}\"\ntitle = \"test\"\n{extra}[source]\nkind = \"repaired\"\n\
         [layers]\nentry_bits = 8\nswitched_modulus = 268369921\ndigit_bits = 15\nquery_coefficient_bytes = 8\n\
         [lwe]\ndimension = 64\nmodulus = \"2^32\"\nsecret = {{ kind = \"gaussian\", stddev = 11.0 }}\nerror = {{ stddev = 11.0 }}\n\
         [rlwe]\ndegree = 128\nmodulus = \"268369921 * 249561089\"\nsecret = {secret}\nerror = {{ stddev = 6.4 }}\n\
         [packing]\nbase_log2 = 19\ndigits = \"unsigned\"\n[switch]\nmask_modulus = 268369921\nbody_modulus = 1048576\n"
    )
}

/// Secrets as the paper has them.
pub(super) const GAUSSIAN: &str = "{ kind = \"gaussian\", stddev = 6.4 }";

fn set(text: &str) -> Set {
    read::<Ypir>(text).unwrap()
}

pub(super) fn toy() -> Set {
    set(&set_text("ypir", "", GAUSSIAN))
}

/// The published dimensions.
fn published() -> Set {
    let text = set_text("ypir", "", GAUSSIAN);
    set(&text.replace("dimension = 64", "dimension = 1024").replace("degree = 128", "degree = 2048"))
}

// Records of 513 and more bits are selected whole. Long ones take as long as they have entries: InsPIRe^(2)'s tests have those.
conformance!(every: Ypir, toy(), &up_to(64, &[(20, 100), (300, 513), (3, 2049)]), 2, 3);

/// Records of two entries, in two of five blocks of groups, whose differences are added to the second layer's hints, and in three, more
/// than half, for which they are computed again.
#[test]
fn second_hints_are_updated_either_way() {
    let (params, shape) = (set(&set_text("ypir", "", GAUSSIAN)), Shape::new(600 << 11, 16).unwrap());
    let layers = Layers::choose(&params, shape).unwrap();
    assert_eq!((layers.first.columns, layers.groups, layers.copies, layers.degree), (1 << 11, 600, 2, 128));
    for groups in [&[130, 255, 400][..], &[130, 255, 400, 599]] {
        let records: Vec<u64> = groups.iter().map(|group| (group << 11) + group).collect();
        updates_like_fresh::<Ypir>(&params, shape, &records);
    }
}

#[test]
fn other_secrets_digits_and_widths_serve_too() {
    let text = set_text("ypir", "", "{ kind = \"fixed_weight\", plus = 16, minus = 16 }");
    for (from, to) in [
        ("query_coefficient_bytes = 8", "query_coefficient_bytes = 7"),
        ("digits = \"unsigned\"", "digits = \"balanced\""),
        ("entry_bits = 8", "entry_bits = 3"),
        ("switched_modulus = 268369921", "switched_modulus = 16777216"),
    ] {
        check_everywhere::<Ypir>(&set(&text.replace(from, to)), 500, 11, 1, 2);
    }
}

#[test]
fn published_message_sizes() {
    // Table 2 of InsPIRe: 462 KB of keys, 384, 1024 and 2048 KB of queries, 12 KB of answer.
    for (log_bytes, query) in [(30, 384), (33, 1024), (35, 2048)] {
        let workload = Workload::new(Shape::new(8 << log_bytes, 1).unwrap(), 1, 0).unwrap();
        let sizes = Ypir::describe(&published(), &workload).unwrap();
        assert_eq!(sizes.payload_bytes("keys"), 462 << 10);
        assert_eq!(sizes.payload_bytes("query"), query << 10);
        assert_eq!(sizes.payload_bytes("answer"), 12 << 10);
    }
}

/// Records of more than 64 entries: no keys, a ring element a group, twelve kilobytes an entry; nothing kept but the database.
#[test]
fn long_records_are_selected_whole() {
    for (records, bits, rows, groups) in
        [(1u64 << 15, 1u64 << 18, 16384, 2), (1 << 22, 2048, 131_072, 32), (10, 819_200, 64, 1)]
    {
        let workload = Workload::new(Shape::new(records, bits).unwrap(), 1, 0).unwrap();
        let sizes = Ypir::describe(&published(), &workload).unwrap();
        assert_eq!(sizes.layout["columns"], rows);
        assert_eq!(sizes.layout["groups"], groups);
        assert_eq!(sizes.payload_bytes("keys"), 0);
        assert_eq!(sizes.payload_bytes("query"), 4 * rows + 8 * 2048 * groups);
        assert_eq!(sizes.payload_bytes("answer"), (12 << 10) * bits / 8);
        assert_eq!(sizes.instances[1].samples, Some(2048 * groups));
        let kept = sizes.memory.server_bytes() as f64;
        assert!(kept < 1.01 * sizes.layout["stored_bytes"].as_u64().unwrap() as f64 + (8 << 20) as f64);
    }
    let packed = Workload::new(Shape::new(1 << 24, 512).unwrap(), 1, 0).unwrap();
    assert_eq!(Ypir::describe(&published(), &packed).unwrap().payload_bytes("answer"), (64 * 12) << 10);
}

#[test]
fn sizes_do_not_wrap_around() {
    grows_up_to_the_bounds::<Ypir>(&published());
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let text = set_text("ypir", "", GAUSSIAN);
    for (from, to, key) in [
        ("entry_bits = 8", "entry_bits = 9", "layers.entry_bits"),
        ("switched_modulus = 268369921", "switched_modulus = 511", "layers.switched_modulus"),
        ("digit_bits = 15", "digit_bits = 16", "layers.digit_bits"),
        ("digit_bits = 15", "digit_bits = 8", "rlwe.degree"),
        ("bytes = 8", "bytes = 6", "layers.query_coefficient_bytes"),
        ("dimension = 64", "dimension = 96", "lwe.dimension"),
        ("degree = 128", "degree = 100", "rlwe.degree"),
        ("268369921 * 249561089", "268369921 * 268369921", "rlwe.modulus"),
        ("268369921 * 249561089", "268369921", "rlwe.modulus"),
        ("base_log2 = 19", "base_log2 = 28", "packing.base_log2"),
        ("body_modulus = 1048576", "body_modulus = 32768", "switch.body_modulus"),
        ("secret = { kind = \"gaussian\", stddev = 11.0 }", "secret = { kind = \"uniform\" }", "lwe.secret"),
        (GAUSSIAN, "{ kind = \"fixed_weight\", plus = 100, minus = 29 }", "rlwe.secret"),
        ("protocol = \"ypir\"", "protocol = \"inspire0\"", "protocol"),
    ] {
        refuses::<Ypir>(&text, from, to, key);
    }
}

#[test]
fn masks_never_repeat() {
    check_masks(&toy());
}

#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<Ypir>(&set(&set_text("ypir", "", GAUSSIAN)));
}

/// Under one secret no mask may appear twice: the second query's, those of every packing key, the first layer's.
pub(super) fn check_masks(params: &Set) {
    let layers = Layers::choose(params, Shape::new(3_000_000, 8).unwrap()).unwrap();
    never_repeat(|seed| {
        let public = Public::new(params, &layers, seed, Kernel::best()).unwrap();
        assert!(public.second.blocks() > 8);
        let mut masks = masks_of(&public.second, &public.masks, public.packing.exponents().len());
        masks.extend((0..layers.first.columns / 64).map(|block| public.first.element(block)));
        masks
    });
}

/// The switch to 28 and 20 bits, the trace and packing: the measured variance is below the sum of their bounds.
#[test]
fn second_layer_noise_is_within_the_sum_of_its_stages() {
    let shape = Shape::new(200_000, 8).unwrap();
    let params = set(&set_text("ypir", "", GAUSSIAN));
    let measured = noise_variance::<Ypir>(&params, shape, 130, "second_layer");
    let groups = Layers::choose(&params, shape).unwrap().groups as f64;
    let (d, q, unit) = (128.0, params.rlwe.modulus() as f64, 268_369_921.0);
    let (variance, z2) = (6.4f64.powi(2), 2f64.powi(38));
    // Centred digits of 15 bits; unsigned digits of the gadget, the trace's and the tree's switches at most (d^2 - 1) / 3 each.
    let product = groups * variance * 2f64.powi(30) / 12.0;
    let packing = (d * d - 1.0) / 3.0 * d * 3.0 * variance * z2 / 3.0;
    let switch = (unit / 2f64.powi(20)).powi(2) / 12.0 + (1.0 + d * variance) / 12.0;
    let bound = (product + 3.0 * packing) * (unit / q).powi(2) + switch;
    assert!(measured < bound && measured > switch / 2.0, "measured {measured:e}, bound {bound:e}, switch {switch:e}");
}

#[test]
fn values_are_switched_to_the_nearest() {
    let params = toy();
    let q1 = f64::from(params.layers.switched_modulus);
    for word in [0, 1, 15, 16, 17, 1 << 31, u32::MAX - 8, u32::MAX] {
        let exact = f64::from(word) * q1 / 2f64.powi(32);
        let switched = f64::from(params.switch_value(word));
        let distance = (exact - switched).abs();
        assert!(distance.min(q1 - distance) <= 0.5, "{word}: {exact} {switched}");
    }
}

/// The digits of the first layer's answer travel as the protocol says, and no other way.
#[test]
fn each_protocol_has_its_bodies() {
    for (protocol, extra) in [("ypir", "body = \"packed\"\n"), ("inspire0", "")] {
        let text = set_text(protocol, extra, GAUSSIAN);
        let error = if protocol == "ypir" { read::<Ypir>(&text) } else { read::<Inspire0>(&text) };
        let error = error.unwrap_err().to_string();
        assert!(error.contains("`body`"), "{protocol}: {error}");
    }
}
