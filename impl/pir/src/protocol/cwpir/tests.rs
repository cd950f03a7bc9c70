use ring::Kernel;

use super::*;
use crate::core::database::{Database, Keys};
use crate::core::session::ServerSession;
use crate::core::workload::Shape;
use crate::protocol::tests_support::bfv::SWITCH;
use crate::protocol::tests_support::{
    ALL_SHAPES, check_everywhere, conformance, context, finds_every_record, in_full, noise_is, parties_of, read,
    refuses, retrieves_long_records, updates_keep,
};

fn plain(weight: usize) -> String {
    format!("{{ operator = \"plain\", weight = {weight} }}")
}

fn arithmetic(weight: usize) -> String {
    format!("{{ operator = \"arithmetic\", weight = {weight} }}")
}

const FOLKLORE: &str = "{ operator = \"folklore\" }";

/// A ring of degree 64 and plaintexts of 10 bits a coefficient.
fn text(selection: &str, switch: &str) -> String {
    format!(
        "protocol = \"cwpir\"\ntitle = \"test\"\nselection = {selection}\n[source]\nkind = \"own\"\n[ring]\ndegree = 64\n\
         modulus = \"268432897 * 268428161 * 268425089 * 268424449 * 268423553\"\nspecial_modulus = 268423297\n\
         digit_bits = 28\nplaintext = {{ kind = \"integer\", modulus = 1153 }}\nsecret = {{ kind = \"ternary\" }}\n\
         error = {{ stddev = 3.2 }}\n{switch}"
    )
}

fn set(selection: &str, switch: &str) -> Set {
    read::<Cwpir>(&text(selection, switch)).unwrap()
}

/// Records that are asked for by keys of that many bits.
fn keyed(selection: &str, bits: u32) -> String {
    text(selection, SWITCH)
        .replace("[source]", &format!("keyword_bits = {bits}\n[source]"))
        .replace("268423553\"", "268423553 * 268421761 * 268421249\"")
}

conformance!(every: Cwpir, set(&plain(2), SWITCH), ALL_SHAPES, 3, 4);

/// Every operator, codewords of any weight, bits of words in several ciphertexts.
#[test]
fn every_operator_serves() {
    for selection in [plain(1), plain(3), plain(4), arithmetic(1), arithmetic(2), arithmetic(4), FOLKLORE.into()] {
        for (records, bits) in [(1, 1), (2, 600), (77, 641), (200, 400)] {
            check_everywhere::<Cwpir>(&set(&selection, SWITCH), records, bits, 2, 3);
        }
    }
}

#[test]
fn every_record_is_found() {
    for selection in [plain(2), arithmetic(2), FOLKLORE.into()] {
        finds_every_record::<Cwpir>(&set(&selection, ""), 67, 700);
    }
}

#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<Cwpir>(&set(&plain(2), SWITCH));
}

/// A product of operands is one at its own item alone: checked in the clear, for all pairs of items.
#[test]
fn words_select_their_own_items() {
    for selection in [Selection::Plain { weight: 1 }, Selection::Plain { weight: 3 }, Selection::Folklore {}] {
        for items in [1, 2, 3, 16, 61] {
            let layout = Layout::new(Shape::new(items, 700).unwrap(), (selection, None), 64, 10);
            assert_eq!(layout.count() as u64, items);
            for asked in 0..layout.count() {
                let ones = layout.ones(asked as u64);
                assert!(ones.iter().all(|bit| *bit < layout.code.bits));
                let bit = |bit: usize| usize::from(ones.contains(&bit));
                let operand = |i: usize| match selection {
                    Selection::Folklore {} if i % 2 == 1 => 1 - bit(i / 2),
                    Selection::Folklore {} => bit(i / 2),
                    _ => bit(i),
                };
                for item in 0..layout.count() {
                    let product: usize = layout.operands_of(item as u64).into_iter().map(operand).product();
                    assert_eq!(product, usize::from(item == asked), "{selection:?}: {asked} and {item} of {items}");
                    assert_eq!(layout.operands_of(item as u64).len(), layout.products() + 1);
                }
            }
        }
    }
}

/// Records that are asked for by sparse keys of 20 and of 64 bits: all of them are found, and 1000 absent keys are not (of 64 bits, in
/// full), before and after records changed. Absent keys share as many ones with a present key as they can.
#[test]
fn keys_find_their_records_alone() {
    let long = if in_full() { 1000 } else { 12 };
    for (selection, bits, present, absent) in [(plain(4), 20, 8, 1000), (plain(4), 20, 1, 5), (plain(8), 64, 6, long)] {
        let set = read::<Cwpir>(&keyed(&selection, bits)).unwrap();
        let shape = Shape::new(present, 700).unwrap();
        let key = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits);
        let keys: Vec<u64> = (0..present).map(key).collect();
        let mut database = Database::seeded([9; 16], shape).keyed(Keys::new(keys.clone()).unwrap()).unwrap();
        let mut context = context(Kernel::best(), 2);
        let (mut server, mut client) = parties_of::<Cwpir>(&set, &database, &mut context);
        let layout = set.layout(shape).unwrap();
        let near = |i: u64| {
            let (mut ones, place) = (layout.ones(keys[(i % present) as usize]), (i / present) as usize);
            let last = ones.len() - 1;
            if place >= ones[last - 1] || place == ones[last] {
                return key(present + i);
            }
            ones[last] = place;
            layout.code.number(&ones)
        };
        let missing: Vec<u64> = (0..absent).map(near).filter(|key| !keys.contains(key)).collect();
        assert!(missing.len() as u64 == absent && missing.iter().all(|key| bits == 64 || key >> bits == 0));
        let mut find = |server: &ServerSession<Cwpir>, keys: &[u64]| {
            let mut found = Vec::new();
            for keys in keys.chunks(50) {
                let request = client.ask(keys, &mut context).unwrap();
                let response = server.answer(&[request], &mut context).unwrap().remove(0);
                found.extend(client.extract(&response, &context).unwrap());
            }
            found
        };
        let known = |database: &Database| (0..present).map(|i| database.record(i).unwrap()).collect::<Vec<_>>();
        assert!(find(&server, &keys) == known(&database));
        assert!(find(&server, &missing).iter().all(Vec::is_empty));
        let zeros = vec![0; shape.record_bytes()];
        database.change(present - 1, zeros.clone()).unwrap();
        server
            .update(&[(present - 1, zeros)], &mut crate::protocol::tests_support::context(Kernel::best(), 1))
            .unwrap();
        assert!(find(&server, &keys) == known(&database) && find(&server, &missing[..5]).iter().all(Vec::is_empty));
    }
}

/// Keys are refused where none are expected, and the other way round.
#[test]
fn keys_belong_to_sets_with_keyword_bits() {
    let database = Database::seeded([9; 16], Shape::new(3, 700).unwrap());
    let with_keys = |keys: &[u64]| database.clone().keyed(Keys::new(keys.to_vec()).unwrap()).unwrap();
    let refused = |set: &Set, database: &Database, part: &str| {
        let error = ServerSession::<Cwpir>::new(set, database, &mut context(Kernel::best(), 1)).err().unwrap();
        assert!(error.to_string().contains(part), "{error}");
    };
    let asked_by_key = read::<Cwpir>(&keyed(&plain(4), 20)).unwrap();
    refused(&asked_by_key, &database, "--keys");
    refused(&asked_by_key, &with_keys(&[1, 2, 1 << 20]), "keyword_bits");
    refused(&set(&plain(2), ""), &with_keys(&[1, 2, 3]), "--keys");
    assert!(Keys::new(vec![1, 2, 1]).unwrap_err().to_string().contains("records 0 and 2"));
    refuses::<Cwpir>(&keyed(&plain(4), 20), "keyword_bits = 20", "keyword_bits = 65", "keyword_bits");
    refuses::<Cwpir>(&keyed(&plain(4), 20), "keyword_bits = 20", "keyword_bits = 64", "selection.weight");
}

/// The lengths of words for k = 2 that CwPIR's measurements use.
#[test]
fn words_are_as_long_as_published() {
    let lengths = [24, 33, 46, 65, 92, 129, 182, 257, 363, 513, 725];
    for (log2, length) in (8..).zip(lengths) {
        let layout =
            Layout::new(Shape::new(1 << log2, 163_840).unwrap(), (Selection::Plain { weight: 2 }, None), 8192, 20);
        assert_eq!((layout.code.bits, layout.polynomials, layout.ciphertexts()), (length, 1, 1));
    }
}

/// Equal coefficients have their energy at two roots of X^N + 1, so those of zeros and of ones must be small.
#[test]
fn runs_of_zeros_and_of_ones_are_short() {
    for (keys, byte, expected) in [(None, 0, 0), (None, u8::MAX, -1), (Some(20), 0, 1), (Some(20), u8::MAX, -1)] {
        let layout = Layout::new(Shape::new(1, 640).unwrap(), (Selection::Plain { weight: 4 }, keys), 64, 10);
        let [plaintext] = layout.plaintexts(0, &[byte; 80]).try_into().unwrap();
        assert!(plaintext.iter().all(|&z| z == expected), "{plaintext:?}");
        assert_eq!(layout.bits(plaintext.into_iter()), [byte; 80]);
    }
}

/// A changed server has the plaintexts of one made of the changed database.
#[test]
fn updates_make_the_same_plaintexts() {
    for bits in [5, 104, 1000] {
        updates_keep::<Cwpir>(&set(&plain(2), ""), Shape::new(300, bits).unwrap(), |server| server.plaintexts());
    }
}

/// An expansion, a product of two bits or a tree of them, the sum over items, and the switch: over 20 keys.
#[test]
fn noise_is_that_of_the_steps() {
    let (n, t) = (64f64, 1153f64);
    let q: f64 = [268_432_897f64, 268_428_161.0, 268_425_089.0, 268_424_449.0, 268_423_553.0].iter().product();
    let (weight, variance) = (2.0 / 3.0 * n, 3.2f64.powi(2));
    let key = n * 5.0 * variance * 2f64.powi(56) / 12.0 / 268_423_297f64.powi(2);
    let switch = key + (1.0 + weight) / 12.0;
    // Polynomials in |s(zeta)|^2, whose moments are j! h^j.
    type Variance = [f64; 5];
    let product = |x: Variance, y: Variance| -> Variance {
        let mut out = [(1.0 + 1.0) / 12.0 + key, (1.0 + 1.0) / 12.0, 1.0 / 12.0, 0.0, 0.0];
        for j in 0..4 {
            let sum = (x[j] + y[j]) * n * t.powi(2) / 12.0;
            out[j] += sum;
            out[j + 1] += sum;
        }
        out
    };
    let mean =
        |x: Variance| -> f64 { (0..5).map(|j| x[j] * weight.powi(j as i32) * (1..=j).product::<usize>() as f64).sum() };
    let coefficient = (4f64.powi(10) + 2.0) / 12.0;
    for selection in [plain(2), plain(3), arithmetic(2), FOLKLORE.into()] {
        let set = set(&selection, "[switch]\nmask_modulus = 268435456\nbody_modulus = 4194304\n");
        let shape = Shape::new(20, 640).unwrap();
        let layout = set.layout(shape).unwrap();
        let parts = 2f64.powi(layout.depth as i32);
        let bit = (variance + 1.0 / 12.0) / parts + (parts - 1.0) * switch;
        // Of the roundings of key switches one a level meets the key's own value at a root.
        let levels = f64::from(layout.depth) / 12.0;
        let x: Variance = [bit - levels * weight, levels, 0.0, 0.0, 0.0];
        // The terms of an inner product have the same error, the sum of two, whose products add up in phase.
        let term = x.map(|part| 4.0 * part);
        let selected = mean(match set.selection {
            Selection::Plain { weight: 2 } => product(x, x),
            Selection::Plain { .. } => product(product(x, x), x),
            Selection::Arithmetic { .. } => product(term, term),
            Selection::Folklore {} => product(product(product(x, x), product(x, x)), x),
        });
        let sum = n * coefficient * 20.0 * selected;
        let answer = sum / q.powi(2) + 1.0 / 12.0 / 2f64.powi(44) + weight / 12.0 / 2f64.powi(56);
        let stages = [("expansion", bit), ("selection", selected), ("sum", sum), ("answer", answer * q.powi(2))];
        noise_is::<Cwpir>(&set, shape, &stages.map(|(stage, variance)| (stage, (t / q).powi(2) * variance)));
    }
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let arithmetic_text = text(&arithmetic(2), SWITCH);
    refuses::<Cwpir>(&arithmetic_text, "weight = 2", "weight = 3", "selection.weight");
    let text = text(&plain(2), SWITCH);
    for (from, to, key) in [
        ("weight = 2", "weight = 0", "selection.weight"),
        ("weight = 2", "weight = 33", "selection.weight"),
        (
            "{ kind = \"integer\", modulus = 1153 }",
            "{ kind = \"binomial\", slots = 8, base = 65620 }",
            "ring.plaintext",
        ),
        ("degree = 64", "degree = 96", "ring.degree"),
        ("special_modulus = 268423297", "special_modulus = 268432897", "ring.special_modulus"),
        ("digit_bits = 28", "digit_bits = 1", "ring.digit_bits"),
        ("\"ternary\"", "\"uniform\"", "ring.secret"),
        ("body_modulus = 67108864", "body_modulus = 1153", "switch.body_modulus"),
        ("\"cwpir\"", "\"simplepir\"", "protocol"),
    ] {
        refuses::<Cwpir>(&text, from, to, key);
    }
}
