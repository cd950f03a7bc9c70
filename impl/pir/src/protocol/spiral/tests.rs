//! Spiral at toy sizes through the runner, published byte counts, refusals.

use super::describe::describe;
use super::*;
use crate::core::workload::Shape;
use crate::protocol::tests_support::{
    ALL_SHAPES, check_everywhere, committed, conformance, grows_up_to_the_bounds, read,
};

/// Toy dimensions, right in every respect but security.
fn text() -> String {
    "protocol = \"spiral\"\ntitle = \"test\"\nvariant = \"pack\"\nplain_bits = 4\nrow_bits = 3\nmatrix_primes = 2\n\
     vector_length = 2\n\
     [source]\nkind = \"repaired\"\n\
     [rlwe]\ndegree = 256\nmodulus = \"268369921 * 249561089\"\n\
     secret = { kind = \"gaussian\", stddev = 2.553 }\nerror = { width = 6.4 }\n\
     [bases]\nselector = 128\nconversion = 16384\n\
     [expansion]\nleaf = 128\nselector = 4\n\
     [switch]\nmask_modulus = 65537\nbody_modulus = 64\n"
        .to_owned()
}

/// The toy of that variant.
fn variant(name: &str) -> String {
    let text = text().replace("\"pack\"", &format!("\"{name}\""));
    if name.starts_with("stream") { text.replace("[expansion]\nleaf = 128\nselector = 4\n", "") } else { text }
}

fn set(text: &str) -> Set {
    read::<Spiral>(text).unwrap()
}

conformance!(every: Spiral, set(&text()), ALL_SHAPES, 1, 3);

/// The other variants at shapes of small, middle and long records.
const SHAPES: &[(u64, u64)] = &[(1, 1), (5000, 100), (37, 2049)];
conformance!(base: Spiral, set(&variant("base")), SHAPES, 1, 3);
conformance!(stream: Spiral, set(&variant("stream")), SHAPES, 2, 3);
conformance!(stream_pack: Spiral, set(&variant("stream-pack")), SHAPES, 1, 3);

#[test]
fn other_digits_and_lengths_serve_as_well() {
    for (name, length) in [("pack", 1), ("pack", 3), ("base", 1), ("stream", 3)] {
        let other = variant(name).replace("vector_length = 2", &format!("vector_length = {length}"));
        check_everywhere::<Spiral>(&set(&other), 777, 77, 2, 2);
    }
    let half = |name: &str| variant(name).replace("matrix_primes = 2", "matrix_primes = 1");
    for name in ["base", "pack", "stream", "stream-pack"] {
        check_everywhere::<Spiral>(&set(&half(name).replace("plain_bits = 4", "plain_bits = 3")), 700, 300, 1, 1);
    }
}

/// The authors' sizes, with masks from seeds: polynomials of keys and of a query, bytes of an answer.
#[test]
fn published_sizes() {
    const POLY: u64 = 14336;
    const SHORT: (u64, u64) = (1 << 20, 2048);
    const MIDDLE: (u64, u64) = (1 << 18, 245_760);
    const LONG: (u64, u64) = (1 << 14, 800_000);
    for (name, (records, bits), v, [keys, seeds], query, answer) in [
        ("pack-256mb", SHORT, (9, 6), [10 * 8 + 7 * 56 + 2 * 4 + 4 * 4, 10 + 7 + 1 + 4], 1, 20480),
        ("base-256mb", SHORT, (9, 6), [10 * 8 + 7 * 56 + 4 * 4 + 4 * 4, 10 + 7 + 4 + 4], 1, 20992),
        ("base-256mb-selector", SHORT, (8, 7), [9 * 8 + 7 * 56 + 4 * 4 + 4 * 4, 9 + 7 + 4 + 4], 1, 20480),
        ("stream-256mb", SHORT, (9, 6), [4 * 4 + 4 * 4, 4 + 4], 512 + 5 * 6, 19968),
        // Three digits of a selector instead of two; 820 of 1024 rows are stored.
        ("stream-pack-256mb", SHORT, (10, 3), [16 * 56, 16], 820 + 2 * 3 * 3, 70656),
        ("base-256mb", MIDDLE, (9, 9), [10 * 8 + 8 * 56 + 4 * 4 + 4 * 4, 10 + 8 + 4 + 4], 1, 83968),
        // 28 digits of 32: the others are void.
        ("stream-30kb", MIDDLE, (10, 8), [4 * 28 + 4 * 28, 4 + 4], 1024 + 4 * 8, 62464),
        ("pack-30kb", MIDDLE, (10, 8), [11 * 16 + 7 * 56 + 2 * 4 + 16 * 4, 11 + 7 + 1 + 16], 1, 61440),
        ("stream-pack-30kb", MIDDLE, (11, 6), [16 * 56, 16], 2048 + 2 * 3 * 6, 96256),
        ("base-100kb", LONG, (9, 5), [10 * 16 + 7 * 56 + 4 * 4 + 4 * 4, 10 + 7 + 4 + 4], 1, 242_176),
        ("stream-100kb", LONG, (9, 5), [4 * 16 + 4 * 16, 4 + 4], 512 + 4 * 5, 207_872),
        ("pack-100kb", LONG, (10, 4), [11 * 8 + 6 * 56 + 2 * 28 + 64 * 28, 11 + 6 + 1 + 64], 1, 186_368),
        ("stream-pack-100kb", LONG, (11, 3), [25 * 56, 25], 2048 + 2 * 3 * 3, 149_760),
    ] {
        let workload = Workload::new(Shape::new(records, bits).unwrap(), 1, 0).unwrap();
        let sizes = describe(&committed::<Spiral>(&format!("spiral/{name}")), &workload).unwrap();
        let layout = |key: &str| sizes.layout[key].as_u64().unwrap();
        assert_eq!((layout("row_bits"), layout("column_bits")), v, "{name}");
        assert_eq!(sizes.payload_bytes("keys"), keys * POLY + 8 + 24 * seeds, "{name}");
        assert_eq!(sizes.payload_bytes("query"), 16 + query * POLY, "{name}");
        assert_eq!(sizes.payload_bytes("answer"), answer, "{name}");
    }
}

#[test]
fn sizes_grow_up_to_the_bounds() {
    for name in ["pack", "base", "stream", "stream-pack"] {
        grows_up_to_the_bounds::<Spiral>(&committed::<Spiral>(&format!("spiral/{name}-256mb")));
    }
}

#[test]
fn values_out_of_range_are_named() {
    for (from, to, key) in [
        ("protocol = \"spiral\"", "protocol = \"other\"", "protocol"),
        ("plain_bits = 4", "plain_bits = 21", "plain_bits"),
        ("plain_bits = 4", "plain_bits = 8", "switch.body_modulus"),
        ("row_bits = 3", "row_bits = 8", "row_bits"),
        ("matrix_primes = 2", "matrix_primes = 3", "matrix_primes"),
        ("vector_length = 2", "vector_length = 0", "vector_length"),
        ("selector = 128", "selector = 1", "bases.selector"),
        ("leaf = 128", "leaf = 1", "expansion.leaf"),
        ("[expansion]\nleaf = 128\nselector = 4\n", "", "expansion"),
        ("\"pack\"", "\"stream-pack\"", "expansion"),
        ("mask_modulus = 65537", "mask_modulus = 17", "switch.mask_modulus"),
        ("stddev = 2.553 }", "stddev = 2553.0 }", "rlwe.secret.stddev"),
    ] {
        assert!(text().contains(from), "{from}");
        let error = read::<Spiral>(&text().replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(&format!("`{key}`")), "{to}: {error}");
    }
}
