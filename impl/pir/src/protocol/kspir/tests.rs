use ring::Kernel;

use super::*;
use crate::core::database::Database;
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::workload::Shape;
use crate::protocol::tests_support::{
    ALL_SHAPES, check_everywhere, committed, conformance, context, grows_up_to_the_bounds, read, refuses,
    retrieves_long_records, updates_keep,
};

/// 64 slots, baby steps and keys of them.
fn text((steps, keys): (usize, usize), switch: &str) -> String {
    format!(
        "protocol = \"kspir\"\ntitle = \"test\"\nbaby_steps = {steps}\nbaby_keys = {keys}\nslot_modulus = 65537\n\
         special_modulus = 16776961\n[source]\nkind = \"own\"\n\
         [rlwe]\ndegree = 64\nmodulus = \"268432897 * 268428161\"\nsecret = {{ kind = \"ternary\" }}\nerror = {{ stddev = 3.2 }}\n\
         [baby_gadget]\nbase_log2 = 20\n[giant_gadget]\nbase_log2 = 19\ndropped = 1\n\
         [selector_gadget]\nbase_log2 = 18\ndropped = 1\n[packing_gadget]\nbase_log2 = 14\n{switch}"
    )
}

fn set(baby: (usize, usize), switch: &str) -> Set {
    read::<Kspir>(&text(baby, switch)).unwrap()
}

const SWITCH: &str = "[switch]\nmask_modulus = 67108864\nbody_modulus = 524288\n";

conformance!(every: Kspir, set((8, 4), ""), ALL_SHAPES, 3, 4);

/// All splits of the columns in baby and giant steps, and of baby steps in keys.
#[test]
fn every_split_of_steps_serves() {
    for (baby, switch) in
        [((1, 1), ""), ((32, 32), SWITCH), ((32, 1), ""), ((8, 8), SWITCH), ((16, 4), ""), ((16, 2), "")]
    {
        check_everywhere::<Kspir>(&set(baby, switch), 5000, 300, 2, 3);
    }
}

#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<Kspir>(&set((8, 4), SWITCH));
}

/// Where a record begins within an entry, ends in the next item's column, or has several items.
#[test]
fn records_lie_where_the_layout_says() {
    for (records, bits) in [(5000, 13), (3000, 1), (40, 3001), (2, 1024)] {
        let shape = Shape::new(records, bits).unwrap();
        let (layout, database) = (set((8, 4), "").layout(shape).unwrap(), Database::seeded([7; 16], shape));
        for index in [0, 1, records / 2, records - 1] {
            let (place, record) = (layout.place(index), database.record(index).unwrap());
            let parts: Vec<Vec<u16>> = (0..layout.parts)
                .map(|part| layout.entries(&database, (place.column, place.class), part).unwrap())
                .collect();
            let wide: Vec<Vec<u64>> = parts.iter().map(|part| part.iter().map(|x| u64::from(*x)).collect()).collect();
            assert_eq!(layout.record(index, &wide), record);
            // The record alone is a part of its item.
            for (part, entries) in parts.iter().enumerate() {
                let alone = layout.entries_of(index, &record, part);
                assert!(alone.iter().zip(entries).all(|(alone, entry)| alone & entry == *alone));
                assert!(layout.records_per_item > 1 || alone == *entries);
            }
        }
    }
}

/// A changed server has the plaintexts of one made of the changed database, though it added differences to them.
#[test]
fn updates_make_the_same_plaintexts() {
    updates_keep::<Kspir>(&set((8, 4), ""), Shape::new(3000, 104).unwrap(), |server| server.plaintexts());
}

/// Sizes at 1, 8 and 32 GB: what is sent, and the formulas from which InsPIRe's Tables 2 to 4 are.
#[test]
fn published_message_sizes() {
    let [code, switched, split, large] =
        ["code", "switched", "split", "split-large"].map(|name| committed::<Kspir>(&format!("kspir/{name}")));
    let sizes = |set: &Set, log_bytes: u32, record_bits: u64| {
        let shape = Shape::new((8u64 << log_bytes) / record_bits, record_bits).unwrap();
        Kspir::describe(set, &Workload::new(shape, 1, 0).unwrap()).unwrap()
    };
    for (log_bytes, levels, quoted) in [(30, 6, 2352), (33, 9, 2688), (35, 11, 2912)] {
        for (record_bits, parts) in [(1, 1), (512, 1), (1 << 16, 1), (1 << 18, 4)] {
            let sizes = sizes(&code, log_bytes, record_bits);
            assert_eq!(sizes.layout["quoted_key_bytes"], quoted << 10);
            assert_eq!(sizes.layout["quoted_query_bytes"], 14 << 10);
            assert_eq!(sizes.layout["quoted_answer_bytes"], 224 << 10);
            // Two seeds with a number beside the query; one a key, and the fingerprint, beside the keys.
            assert_eq!(sizes.payload_bytes("query"), (140 << 10) + 48);
            assert_eq!(sizes.payload_bytes("answer"), parts * (56 << 10));
            let packing = levels - u64::from(parts == 4) * 2;
            let keys = 64 * 3 * 40 + 15 * 2 * 28 + packing * 4 * 28;
            assert_eq!(sizes.payload_bytes("keys"), (keys << 10) + 24 * (64 + 15 + packing) + 8);
        }
    }
    // Two more rotations of the query, eight giant steps less: fewer keys.
    let keys = (66 * 3 * 40 + 7 * 2 * 28 + 6 * 4 * 28) << 10;
    assert_eq!(sizes(&large, 30, 1 << 16).payload_bytes("keys"), keys + 24 * (66 + 7 + 6) + 8);
    // OnionPIRv2's table has 26 KB.
    assert_eq!(sizes(&switched, 30, 1 << 16).payload_bytes("answer"), 26 << 10);
    assert_eq!(sizes(&split, 30, 1 << 16).payload_bytes("answer"), 23_040);
}

/// A block's products, its giant steps, the selection, and the packing, whose key switches double with every level.
#[test]
fn noise_is_that_of_the_steps() {
    let (n, q, t, variance) = (64f64, 268_432_897f64 * 268_428_161.0, 65_537f64, 3.2f64.powi(2));
    let digits = |base: i32, count: f64| n * count * variance * 2f64.powi(2 * base) / 12.0;
    let key = 2.0 / 3.0 * n;
    // 32 columns and 16 parts of each; baby steps from a base for every four of them, the rest giant steps.
    let shape = Shape::new(32 * 16, 1024).unwrap();
    for (steps, switch) in [(8, ""), (8, SWITCH), (32, "")] {
        let (set, bases) = (set((steps, 4), switch), steps as f64 / 4.0);
        let giants = 32.0 / steps as f64;
        let turn = digits(20, 2.0) / 16_776_961f64.powi(2) + (1.0 + key) / 12.0;
        let turns = steps as f64 * (variance + 1.0 / 12.0) + ((bases - 1.0) * 4.0 + bases * 3.0) * turn;
        let dropped = |base: i32| 2f64.powi(2 * base) / 12.0;
        let giant = digits(19, 1.25) + dropped(19) * key;
        let selection = digits(18, 4.0) + dropped(18) * (1.0 + key);
        let packing = digits(14, 4.0) * (256.0 - 1.0) / 3.0;
        let q_units = giants * n * t * t / 12.0 * turns + (giants - 1.0) * giant + selection + packing;
        let mut predicted = (t / q).powi(2) * q_units;
        if !switch.is_empty() {
            predicted += (t / 26f64.exp2()).powi(2) * key / 12.0 + (t / 19f64.exp2()).powi(2) / 12.0;
        }
        let measured = measured(&set, shape);
        assert!((measured / predicted - 1.0).abs() < 0.1, "measured {measured:e}, predicted {predicted:e}");
    }
}

/// The mean square of errors over 30 clients, who have a key each.
fn measured(set: &Set, shape: Shape) -> f64 {
    let (database, mut context) = (Database::seeded([9; 16], shape), context(Kernel::best(), 1));
    let mut server = ServerSession::<Kspir>::new(set, &database, &mut context).unwrap();
    for _ in 0..30 {
        let mut client = ClientSession::<Kspir>::new(set, shape, &mut context).unwrap();
        client.connect(&mut server, &mut Link::new(Kspir::NAME), &mut context).unwrap();
        for _ in 0..10 {
            let request = client.ask(&[3, 77], &mut context).unwrap();
            let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
            client.extract(&response, &context).unwrap();
            client.log_errors(&server, (&request, &response), &mut context).unwrap();
        }
    }
    let summary = context.noise.summary();
    let [stage] = &summary[..] else { panic!("one stage") };
    assert!(stage.keys >= 20 && stage.samples >= 1 << 14 && stage.max < stage.threshold);
    stage.stddev.powi(2)
}

#[test]
fn sizes_do_not_wrap_around() {
    grows_up_to_the_bounds::<Kspir>(&committed::<Kspir>("kspir/code"));
}

/// More items than 64 a column are refused, with the most that fit.
#[test]
fn too_many_records_are_refused() {
    let layout = |records| set((8, 4), "").layout(Shape::new(records, 1024).unwrap());
    assert_eq!(layout(32 * 64).unwrap().classes, 64);
    let error = layout(32 * 64 + 1).unwrap_err().to_string();
    assert!(error.contains("2048 such records"), "{error}");
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let text = text((8, 4), SWITCH);
    for (from, to, key) in [
        ("baby_steps = 8", "baby_steps = 12", "baby_steps"),
        ("baby_steps = 8", "baby_steps = 64", "baby_steps"),
        ("baby_keys = 4", "baby_keys = 16", "baby_keys"),
        ("slot_modulus = 65537", "slot_modulus = 65539", "slot_modulus"),
        ("slot_modulus = 65537", "slot_modulus = 786433", "slot_modulus"),
        ("special_modulus = 16776961", "special_modulus = 16776963", "special_modulus"),
        ("special_modulus = 16776961", "special_modulus = 268432897", "special_modulus"),
        ("special_modulus = 16776961", "special_modulus = 12289", "baby_gadget"),
        ("268432897 * 268428161", "268432897", "rlwe.modulus"),
        ("base_log2 = 14", "base_log2 = 28", "packing_gadget.base_log2"),
        ("base_log2 = 18", "digits = \"balanced\"\nbase_log2 = 18", "selector_gadget.digits"),
        ("mask_modulus = 67108864", "mask_modulus = 65537", "switch.mask_modulus"),
        ("\"kspir\"", "\"simplepir\"", "protocol"),
    ] {
        refuses::<Kspir>(&text, from, to, key);
    }
}
