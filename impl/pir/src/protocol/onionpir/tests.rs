//! OnionPIR at toy sizes through the runner, published byte counts, refusals.

use super::describe::describe;
use super::*;
use crate::core::workload::Shape;
use crate::protocol::tests_support::{
    ALL_SHAPES, check_everywhere, committed, conformance, grows_up_to_the_bounds, read,
};

/// Toy dimensions, right in every respect but security.
fn text() -> String {
    "protocol = \"onionpir\"\ntitle = \"test\"\nplain_bits = 8\nplain_digits = 2\nrow_bits = 3\nfurther = \"one-hot\"\n\
     [source]\nkind = \"repaired\"\n\
     [ring]\ndegree = 256\nmodulus = \"67084289 * 67043329\"\nspecial_modulus = \"33538049\"\ndigit_bits = 14\n\
     secret = { kind = \"ternary\" }\nerror = { stddev = 3.2 }\n\
     [gadgets]\nselector = { base_log2 = 10, dropped = 1 }\nconversion = { base_log2 = 9 }\n\
     [switch]\nmask_modulus = 1099511627776\nbody_modulus = 1048576\n"
        .to_owned()
}

const SWITCH: &str = "[switch]\nmask_modulus = 1099511627776\nbody_modulus = 1048576\n";

fn set(text: &str) -> Set {
    read::<OnionPir>(text).unwrap()
}

conformance!(every: OnionPir, set(&text()), ALL_SHAPES, 1, 3);

/// The toy with q of twice as many primes.
fn wide() -> String {
    text().replace("67043329\"", "67043329 * 134176769 * 134111233\"")
}

/// Dimensions of two, keys modulo q, whole answers, at shapes of small, middle and long records.
fn binary() -> String {
    wide().replace("one-hot", "binary").replace("special_modulus = \"33538049\"\n", "").replace(SWITCH, "")
}
const SHAPES: &[(u64, u64)] = &[(1, 1), (5000, 100), (37, 2049)];
conformance!(binary: OnionPir, set(&binary()), SHAPES, 2, 3);

#[test]
fn other_digits_and_moduli_serve_as_well() {
    for (bits, digits) in [(16, 1), (5, 3), (1, 2)] {
        let other = text().replace("plain_bits = 8", &format!("plain_bits = {bits}"));
        let other = other.replace("plain_digits = 2", &format!("plain_digits = {digits}"));
        check_everywhere::<OnionPir>(&set(&other), 777, 77, 2, 2);
    }
    // Digits that exceed a prime, and a plaintext modulus of 60 bits.
    let longest = wide().replace("plain_bits = 8", "plain_bits = 30").replace(SWITCH, "");
    check_everywhere::<OnionPir>(&set(&longest), 777, 77, 1, 2);
    // Columns that do not fill the last dimension.
    for records in [9, 17, 33, 65, 150] {
        check_everywhere::<OnionPir>(&set(&text()), records, 4000, 1, 1);
    }
}

/// The sizes in bytes that the authors' sets and their repairs have at 2^16 records, with masks from seeds.
#[test]
fn published_sizes() {
    // Bits of q, of q P, levels, digits of automorphisms and of the conversion, length of an answer.
    for (name, records, n, [q, qp, levels, digits, conversion], answer) in [
        ("original", (1 << 16, 30720 * 8), 4096, [124, 186, 9, 5, 7], 126_976),
        ("small-branch", (1 << 16, 16384 * 8), 8192, [62, 124, 9, 3, 15], 126_976),
        ("v2-4096", (1 << 16, 23552 * 8), 4096, [120, 180, 11, 4, 8], 57 << 10),
        ("v2-2048", (1 << 16, 4096 * 8), 2048, [60, 120, 9, 2, 10], 27 << 9),
        ("repaired-40", (1 << 16, 20480 * 8), 4096, [106, 106, 9, 8, 6], 54_272),
        ("repaired-20", (1 << 16, 10240 * 8), 4096, [70, 106, 8, 3, 5], 35_840),
    ] {
        let workload = Workload::new(Shape::new(records.0, records.1).unwrap(), 1, 0).unwrap();
        let sizes = describe(&committed::<OnionPir>(&format!("onionpir/{name}")), &workload).unwrap();
        assert_eq!(sizes.layout["expansion_depth"], levels, "{name}");
        assert_eq!(sizes.payload_bytes("query"), 16 + n * q / 8, "{name}");
        assert_eq!(sizes.payload_bytes("answer"), answer, "{name}");
        let keys = (levels * digits * qp + 2 * conversion * q) * n / 8;
        assert_eq!(sizes.payload_bytes("keys"), 8 + 24 * (levels + 1) + keys, "{name}");
    }
}

#[test]
fn sizes_grow_up_to_the_bounds() {
    for name in ["repaired-40", "v2-4096"] {
        grows_up_to_the_bounds::<OnionPir>(&committed::<OnionPir>(&format!("onionpir/{name}")));
    }
}

#[test]
fn values_out_of_range_are_named() {
    for (from, to, key) in [
        ("protocol = \"onionpir\"", "protocol = \"other\"", "protocol"),
        ("plain_bits = 8", "plain_bits = 31", "plain_bits"),
        ("plain_digits = 2", "plain_digits = 8", "plain_digits"),
        ("plain_digits = 2", "plain_digits = 7", "plain_digits"),
        ("row_bits = 3", "row_bits = 9", "row_bits"),
        ("degree = 256", "degree = 255", "ring.degree"),
        ("67084289 * ", "5000000000 * ", "ring.modulus"),
        ("67084289 * ", "67084291 * ", "ring.modulus"),
        ("\"33538049\"", "\"33538051\"", "ring.special_modulus"),
        ("\"33538049\"", "\"67084289\"", "ring.special_modulus"),
        ("digit_bits = 14", "digit_bits = 32", "ring.digit_bits"),
        ("base_log2 = 10", "base_log2 = 28", "gadgets.selector.base_log2"),
        ("dropped = 1", "dropped = 9", "gadgets.selector"),
        ("{ base_log2 = 9 }", "{ base_log2 = 9, digits = \"balanced\" }", "gadgets.conversion.digits"),
        ("body_modulus = 1048576", "body_modulus = 65536", "switch.body_modulus"),
        ("mask_modulus = 1099511627776", "mask_modulus = 4611686018427387904", "switch.mask_modulus"),
        ("\"ternary\"", "\"uniform\"", "ring.secret"),
    ] {
        assert!(text().contains(from), "{from}");
        let error = read::<OnionPir>(&text().replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(&format!("`{key}`")), "{to}: {error}");
    }
    let few = text().replace("row_bits = 3", "row_bits = 8");
    let workload = Workload::new(Shape::new(1 << 16, 4096).unwrap(), 1, 0).unwrap();
    let error = describe(&set(&few), &workload).map(drop).unwrap_err().to_string();
    assert!(error.contains("row_bits"), "{error}");
}
