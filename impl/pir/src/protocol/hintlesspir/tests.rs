use ring::{Kernel, Modulus};

use super::*;
use crate::core::workload::Shape;
use crate::protocol::tests_support::{
    ALL_SHAPES, check_everywhere, committed, conformance, grows_up_to_the_bounds, left_of, never_repeat,
    noise_variance, read, refuses, retrieves_long_records, updates_like_fresh,
};

/// 64 and 256 slots with blocks of some rows, and other tables.
fn text(degree: usize, block_rows: usize, tables: &str) -> String {
    let (modulus, moduli) = match degree {
        64 => ("1073741441 * 1073739649 * 1073738753", "2095361, 2094721"),
        _ => ("1073738753 * 1073732609 * 1073731073", "2091521, 2090497"),
    };
    format!(
        "protocol = \"hintlesspir\"\ntitle = \"test\"\ncolumns_per_row = 2\nblock_rows = {block_rows}\n[source]\nkind = \"own\"\n\
         [lwe]\ndimension = 30\nmodulus = \"2^32\"\nsecret = {{ kind = \"ternary\" }}\nerror = {{ stddev = 3.2 }}\n\
         [[plain_moduli]]\nlog2_samples = 32\nmodulus = 256\n\
         [ring]\ndegree = {degree}\nmodulus = \"{modulus}\"\nslot_moduli = [{moduli}]\n\
         secret = {{ kind = \"gaussian\", stddev = 3.2 }}\nerror = {{ stddev = 3.2 }}\ndigit_bits = 15\n{tables}"
    )
}

fn set(degree: usize, block_rows: usize, tables: &str) -> Set {
    read::<HintlessPir>(&text(degree, block_rows, tables)).unwrap()
}

const SWITCH: &str = "[switch]\nmask_modulus = 4294967296\nbody_modulus = 33554432\n";

/// The `[giant]` table.
fn giant(baby_steps: usize, digit_bits: u32) -> String {
    format!("[giant]\nbaby_steps = {baby_steps}\ndigit_bits = {digit_bits}\n")
}

conformance!(every: HintlessPir, set(64, 32, ""), ALL_SHAPES, 3, 4);

mod giant_steps {
    use super::*;

    conformance!(every: HintlessPir, set(64, 32, &giant(4, 30)), ALL_SHAPES, 3, 4);
}

/// Blocks of two rows, of half the slots and of all slots; answers modulo Q and switched.
#[test]
fn every_block_length_serves() {
    for (degree, block_rows, switch) in [(64, 2, ""), (64, 64, SWITCH), (256, 128, SWITCH), (256, 256, "")] {
        check_everywhere::<HintlessPir>(&set(degree, block_rows, switch), 5000, 40, 2, 3);
    }
}

/// Fewer baby steps than are made together, as many as a block has plaintexts, more; two segments of turns.
#[test]
fn every_number_of_baby_steps_serves() {
    for (degree, block_rows, baby_steps) in
        [(64, 64, 1), (64, 64, 2), (64, 16, 8), (64, 8, 32), (256, 256, 16), (256, 256, 64)]
    {
        let tables = format!("{SWITCH}{}", giant(baby_steps, 15));
        check_everywhere::<HintlessPir>(&set(degree, block_rows, &tables), 5000, 40, 2, 3);
    }
}

#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<HintlessPir>(&set(256, 128, SWITCH));
}

/// Records of several blocks, of which the first and the last are touched.
#[test]
fn updates_make_the_same_tables() {
    for tables in ["", SWITCH, &giant(4, 30)] {
        let shape = Shape::new(3000, 13 * 8).unwrap();
        updates_like_fresh::<HintlessPir>(&set(64, 32, tables), shape, &[0, 1, 1500, 2998]);
    }
}

/// Sizes at 1, 8 and 32 GB: what the code's program sends, and the formula from which InsPIRe's Tables 2 to 4 are.
#[test]
fn published_message_sizes() {
    let set = committed::<HintlessPir>("hintlesspir/code");
    for (log_bytes, aspect, query, quoted, sent) in
        [(30, 1, 128, 1748, 5888), (33, 2, 512, 3316, 11_776), (35, 2, 1024, 6452, 23_552)]
    {
        let set = Set { columns_per_row: aspect, ..set.clone() };
        for record_bits in [1, 512, 1 << 18] {
            let workload = Workload::new(Shape::new((8u64 << log_bytes) / record_bits, record_bits).unwrap(), 1, 0);
            let sizes = HintlessPir::describe(&set, &workload.unwrap()).unwrap();
            assert_eq!(sizes.payload_bytes("keys"), 360 << 10);
            assert_eq!(sizes.payload_bytes("query"), query << 10, "2^{log_bytes} B of {record_bits} bits");
            assert_eq!(sizes.payload_bytes("answer"), sent << 10, "2^{log_bytes} B of {record_bits} bits");
            assert_eq!(sizes.layout["quoted_answer_bytes"], quoted << 10);
        }
    }
    // Keys with three more rows; two blocks of 57 KiB.
    let set = committed::<HintlessPir>("hintlesspir/giant-steps");
    let sizes = HintlessPir::describe(&set, &Workload::new(Shape::new(1 << 33, 1).unwrap(), 1, 0).unwrap()).unwrap();
    let bytes = ["keys", "query", "answer"].map(|message| sizes.payload_bytes(message) >> 10);
    assert_eq!(bytes, [495, 512, 146]);
    // Table 5: 180 KB for 2^12 rows, beside the words.
    let set = committed::<HintlessPir>("hintlesspir/one-prime");
    let workload = Workload::new(Shape::new(1 << 24, 8).unwrap(), 1, 0).unwrap();
    let sizes = HintlessPir::describe(&set, &workload).unwrap();
    assert_eq!((sizes.payload_bytes("answer"), sizes.payload_bytes("query")), ((180 + 16) << 10, 16 << 10));
}

/// The sum over M products with turns, each of which adds the noise of a key switch; and the giant steps' own.
#[test]
fn noise_is_the_sum_over_the_turns() {
    let (n, q, t) = (64f64, 90f64.exp2(), 2_095_361f64);
    for (block_rows, babies, switch) in [(16, 8, ""), (64, 32, SWITCH), (64, 4, ""), (64, 1, "")] {
        let terms = block_rows as f64 / 2.0;
        // Sums are turned with digits of 30 bits, whose noise is most of it where the secret is not turned, and hardly any elsewhere.
        let tables =
            if block_rows == 2 * babies { switch.to_owned() } else { format!("{switch}{}", giant(babies, 30)) };
        let measured =
            noise_variance::<HintlessPir>(&set(64, block_rows, &tables), Shape::new(1 << 17, 8).unwrap(), 40, "hint");
        let (babies, variance, digit) = (babies as f64, 3.2f64.powi(2), 15f64.exp2().powi(2) / 12.0);
        let switched = terms * (babies - 1.0) / 2.0 * n * 6.0 * variance * digit;
        let giants = (terms / babies - 1.0) * n * 3.0 * variance * 30f64.exp2().powi(2) / 12.0;
        let product = (t / q).powi(2) * (n * t * t / 12.0 * (terms * variance + switched) + giants);
        let rounding = if switch.is_empty() {
            0.0
        } else {
            (t / 32f64.exp2()).powi(2) * (1.0 + n * variance) / 12.0 + (t / 25f64.exp2()).powi(2) / 12.0
        };
        let predicted = product + rounding;
        assert!((measured / predicted - 1.0).abs() < 0.1, "measured {measured:e}, predicted {predicted:e}");
    }
}

/// Under one secret no mask may appear twice: those of the encrypted secrets and of the rotation keys.
#[test]
fn masks_never_repeat() {
    let set = set(64, 32, &giant(4, 15));
    let layout = set.layout(Shape::new(1000, 13).unwrap()).unwrap();
    let count = never_repeat(|seed| {
        let public = public::Public::new(&set, &layout, seed, Kernel::best()).unwrap();
        let keys: Vec<_> = public.rotations.iter().flat_map(|key| key.key_half().unwrap().rows().to_vec()).collect();
        let masks = (0..2).map(|number| public.secret_mask(number)).chain(keys);
        masks.map(|mask| mask.as_slice().to_vec()).collect()
    });
    assert_eq!(count, 2 * (2 + 6 + 6));
}

#[test]
fn the_secret_as_slots_is_wiped() {
    let layout = set(64, 32, "").layout(Shape::new(1000, 13).unwrap()).unwrap();
    let slots = layout.secret(&[5; 30], &Modulus::new(2_095_361).unwrap());
    let secret = bytemuck::cast([slots[0], slots[1]]);
    assert_ne!(left_of(secret, slots.to_vec()), 0);
    assert_eq!(left_of(secret, slots), 0);
}

#[test]
fn sizes_do_not_wrap_around() {
    for name in ["hintlesspir/code", "hintlesspir/giant-steps"] {
        grows_up_to_the_bounds::<HintlessPir>(&committed::<HintlessPir>(name));
    }
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let text = text(64, 32, &format!("{SWITCH}{}", giant(4, 30)));
    for (from, to, key) in [
        ("columns_per_row = 2", "columns_per_row = 0", "columns_per_row"),
        ("block_rows = 32", "block_rows = 128", "block_rows"),
        ("block_rows = 32", "block_rows = 24", "block_rows"),
        ("dimension = 30", "dimension = 33", "lwe.dimension"),
        ("\"2^32\"\nsecret = { kind = \"ternary\" }", "\"2^32\"\nsecret = { kind = \"uniform\" }", "lwe.secret"),
        ("[2095361, 2094721]", "[2095361]", "ring.slot_moduli"),
        ("[2095361, 2094721]", "[2095361, 2095361]", "ring.slot_moduli"),
        ("[2095361, 2094721]", "[2095361, 2094723]", "ring.slot_moduli"),
        ("1073741441 * ", "1073741443 * ", "ring.modulus"),
        ("digit_bits = 15", "digit_bits = 1", "ring.digit_bits"),
        ("body_modulus = 33554432", "body_modulus = 1048576", "switch.body_modulus"),
        ("baby_steps = 4", "baby_steps = 5", "giant.baby_steps"),
        ("baby_steps = 4", "baby_steps = 64", "giant.baby_steps"),
        ("digit_bits = 30", "digit_bits = 32", "giant.digit_bits"),
        ("\"hintlesspir\"", "\"simplepir\"", "protocol"),
    ] {
        refuses::<HintlessPir>(&text, from, to, key);
    }
}
