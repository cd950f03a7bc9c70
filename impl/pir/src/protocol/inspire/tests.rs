use std::io::Write;

use ring::{Kernel, Seed};

use super::encoded::Encoded;
use super::layout::Layout;
use super::public::Public;
use super::whitening::Whitening;
use super::*;
use crate::core::database::Database;
use crate::core::seed::fresh_seed;
use crate::core::workload::Shape;
use crate::parts::ring_matrix::is_incremental;
use crate::protocol::tests_support::{
    ALL_SHAPES, check_everywhere, conformance, context, grows_up_to_the_bounds, masks_of, never_repeat, noise_variance,
    read, refuses, retrieves_all, retrieves_long_records, updates_like_fresh,
};

const GAUSSIAN: &str = "{ kind = \"gaussian\", stddev = 6.4 }";

/// A set of toy dimensions: right in every respect but security.
fn set_text() -> String {
    format!(
        "protocol = \"inspire\"\ntitle = \"test\"\nbody = \"full\"\n[source]\nkind = \"repaired\"\n\
         [folding]\nplain_modulus = 65537\nrows = 20\npoints = 8\ninterpolation = \"cooley_tukey\"\n\
         [rlwe]\ndegree = 64\nmodulus = \"268369921 * 249561089\"\nsecret = {GAUSSIAN}\nerror = {{ stddev = 6.4 }}\n\
         [packing]\nbase_log2 = 19\ndigits = \"unsigned\"\n\
         [evaluation]\nbase_log2 = 19\ndigits = \"unsigned\"\nalways_sent = true\n\
         [switch]\nmask_modulus = 268369921\nbody_modulus = 1048576\n"
    )
}

/// A modulus of one prime, messages and digits that leave room below it.
const ONE_PRIME: [(&str, &str); 3] = [
    ("\"268369921 * 249561089\"", "\"268369921\""),
    ("plain_modulus = 65537", "plain_modulus = 65"),
    ("base_log2 = 19", "base_log2 = 4"),
];
const IN_BITS: (&str, &str) = ("body = \"full\"", "body = \"full\"\nquery_coefficients = \"bits\"");

fn set(replacements: &[(&str, &str)]) -> Set {
    let text = replacements.iter().fold(set_text(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    read::<Inspire>(&text).unwrap()
}

fn workload(records: u64, bits: u64) -> Workload {
    Workload::new(Shape::new(records, bits).unwrap(), 1, 0).unwrap()
}

conformance!(every: Inspire, set(&[]), ALL_SHAPES, 2, 3);

#[test]
fn other_parameters_serve_too() {
    let lagrange = ("\"cooley_tukey\"", "\"lagrange\"");
    let padded = ("interpolation = \"cooley_tukey\"", "interpolation = \"cooley_tukey\"\npadded = true");
    let sets: [&[(&str, &str)]; 14] = [
        &[padded],
        // One prime, its residues in 28 bits; and two in bits.
        &[ONE_PRIME[0], ONE_PRIME[1], ONE_PRIME[2], IN_BITS],
        &[IN_BITS],
        &[("plain_modulus = 65537", "plain_modulus = 65535")],
        &[("plain_modulus = 65537", "plain_modulus = 65")],
        &[lagrange, ("points = 8", "points = 6"), ("plain_modulus = 65537", "plain_modulus = 65535")],
        &[("points = 8", "points = 1"), ("always_sent = true", "always_sent = false")],
        &[("\"full\"", "\"used\""), ("always_sent = true", "always_sent = false")],
        &[("\"unsigned\"", "\"balanced\""), ("= 19", "= 19\ndropped = 1")],
        &[(GAUSSIAN, "{ kind = \"fixed_weight\", plus = 8, minus = 8 }"), ("rows = 20", "rows = 150")],
        &[("points = 8", "points = 128"), ("rows = 20", "rows = 1")],
        &[("points = 8", "points = 64\nvariables = 2")],
        // More points than there are unit monomials, 128.
        &[("points = 8", "points = 512\nvariables = 3"), ("rows = 20", "rows = 1")],
        &[lagrange, ("points = 8", "points = 9\nvariables = 2")],
    ];
    for replacements in sets {
        let params = set(replacements);
        for (records, bits) in [(1, 3), (2000, 11), (30, 1300)] {
            check_everywhere::<Inspire>(&params, records, bits, 1, 2);
        }
    }
    let rows = |set: &[(&str, &str)]| Layout::choose(&self::set(set), Shape::new(30, 1300).unwrap()).unwrap().rows;
    assert_eq!((rows(&[]), rows(&[padded])), (15, 20), "whatever the database");
}

/// Every 16-bit word: as data, and as the values that are interpolated, by data from which whitening makes all words. A record is
/// the whole words of a polynomial; words past the last are 65535, the only word that is not a residue modulo 65535.
#[test]
fn every_word_survives() {
    for (p, words) in [("65537", 64), ("65535", 63)] {
        let params = set(&[("plain_modulus = 65537", &format!("plain_modulus = {p}")), ("rows = 20", "rows = 150")]);
        let bytes = 2 * words as usize;
        let mut data: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        data.resize(data.len().next_multiple_of(bytes), 0xff);
        let shape = Shape::new((data.len() / bytes) as u64, 16 * words).unwrap();
        let layout = Layout::choose(&params, shape).unwrap();
        assert_eq!((layout.records_per_item, layout.planes, layout.points, layout.groups), (1, 1, 8, 1));
        // The seed that a server draws first.
        let seed = fresh_seed(&mut context(Kernel::best(), 1).rng);
        let whitening = Whitening::new(&layout, seed.derive("whitening"));
        let mut whitened = data.clone();
        for (item, record) in (0..).zip(whitened.chunks_exact_mut(bytes)) {
            let mut string = record.to_vec();
            string.resize(whitening.bytes(), 0);
            whitening.apply(item, 0, &mut string);
            record.copy_from_slice(&string[..bytes]);
        }
        for data in [data, whitened] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&data).unwrap();
            let database = Database::open(&format!("file:{}", file.path().display()), shape).unwrap();
            let records = retrieves_all::<Inspire>(&params, &database);
            assert!(records.concat() == data, "modulo {p}");
        }
    }
}

/// Items of the second of two interpolations in a row, from both blocks of rows: as many as are taken into the hint at most, and one more,
/// for which it is computed again.
#[test]
fn hints_are_updated_either_way() {
    let params = set(&[("rows = 20", "rows = 150")]);
    let shape = Shape::new(1300, 1024).unwrap();
    let layout = Layout::choose(&params, shape).unwrap();
    assert_eq!((layout.records_per_item, layout.groups, layout.points, layout.blocks()), (1, 2, 8, 2));
    let second: Vec<u64> = (0..1300).filter(|item| item / 8 % 2 == 1).step_by(15).collect();
    for (count, incremental) in [(40, true), (41, false)] {
        assert_eq!(is_incremental(count, 1, layout.blocks()), incremental);
        updates_like_fresh::<Inspire>(&params, shape, &second[..count]);
    }
}

#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<Inspire>(&set(&[("points = 8", "points = 1"), ("rows = 20", "rows = 300")]));
}

/// The paper's dimensions with these numbers of rows and points.
fn published(rows: u32, points: u32) -> Set {
    set(&[
        ("degree = 64", "degree = 2048"),
        ("rows = 20", &format!("rows = {rows}")),
        ("points = 8", &format!("points = {points}")),
    ])
}

#[test]
fn published_message_sizes() {
    // Table 9: rows, entry bits, database's log2 bytes, points, ciphertexts, total in KB.
    let gigabyte = [
        (4096, 512, 30, 32, 2, 220),
        (8192, 512, 30, 32, 1, 236),
        (16384, 512, 30, 16, 1, 292),
        (32768, 512, 30, 8, 1, 404),
        (65536, 512, 30, 4, 1, 628),
        (1024, 1 << 18, 30, 32, 8, 271),
        (2048, 1 << 18, 30, 16, 8, 278),
        (4096, 1 << 18, 30, 8, 8, 292),
        (8192, 1 << 18, 30, 4, 8, 320),
        (16384, 1 << 18, 30, 2, 8, 376),
        (32768, 1 << 18, 30, 1, 8, 488),
        (8192, 512, 33, 32, 8, 320),
        (65536, 512, 33, 32, 1, 628),
        (16384, 1 << 18, 35, 32, 16, 472),
    ];
    for (rows, bits, log_bytes, points, ciphertexts, total) in gigabyte {
        let sizes = Inspire::describe(&published(rows, 32), &workload((8u64 << log_bytes) / bits, bits)).unwrap();
        assert_eq!(sizes.layout["rows"], rows);
        assert_eq!(sizes.layout["points"], points);
        assert_eq!(sizes.payload_bytes("keys"), 84 << 10);
        assert_eq!(sizes.payload_bytes("point"), 84 << 10);
        assert_eq!(sizes.payload_bytes("query"), 7 * u64::from(rows));
        assert_eq!(sizes.payload_bytes("answer"), (12 << 10) * ciphertexts);
        let sum: u64 = ["keys", "point", "query", "answer"].iter().map(|name| sizes.payload_bytes(name)).sum();
        assert_eq!(sum >> 10, total, "{rows} rows of {bits} bits");
    }
}

/// Table 6, peer routing, is printed as 69 KB: 56 for keys of eight digits of four bits, of which the eighth is zero modulo a prime
/// of 28 bits, 0.875 for the query, 12 for the answer. Ours have the seven.
#[test]
fn small_parameters_have_the_published_sizes() {
    let small = [("degree = 64", "degree = 1024"), ("rows = 20", "rows = 256"), ("points = 8", "points = 1")];
    let unsent = ("always_sent = true", "always_sent = false");
    let params = set(&[&ONE_PRIME[..], &small, &[IN_BITS, unsent]].concat());
    let sizes = Inspire::describe(&params, &workload(256, 12288)).unwrap();
    assert_eq!(sizes.layout["answer_ciphertexts"], 2);
    let bytes = ["keys", "query", "answer"].map(|name| sizes.payload_bytes(name));
    assert_eq!(bytes, [7 * (7 << 10), 256 * 28 / 8, 12 << 10]);
    assert_eq!(sizes.instances[0].modulus, "268369921");
}

/// Two variables of 32 points each: an encrypted point more, and as many products less one as there are points.
#[test]
fn several_variables_take_a_point_each() {
    let params = set(&[
        ("degree = 64", "degree = 2048"),
        ("rows = 20", "rows = 16"),
        ("points = 8", "points = 1024\nvariables = 2"),
    ]);
    let sizes = Inspire::describe(&params, &workload(1 << 20, 512)).unwrap();
    assert_eq!((sizes.layout["points"].as_u64(), sizes.layout["rows"].as_u64()), (Some(1024), Some(16)));
    assert_eq!(sizes.payload_bytes("point"), 2 * (84 << 10));
    assert_eq!(sizes.payload_bytes("answer"), 12 << 10);
    assert_eq!(sizes.instances[0].samples, Some(16 + 2048 * (2 * 3 + 2 * 2 * 3)));
    let fewer = Inspire::describe(&params, &workload(1 << 14, 512)).unwrap();
    assert_eq!(fewer.layout["points"], 16, "no more points than needed: 4 x 4");
}

#[test]
fn modulo_65535_a_polynomial_holds_one_bit_less() {
    let params = |p: &str| set(&[("degree = 64", "degree = 2048"), ("65537", p), ("rows = 20", "rows = 32768")]);
    let shape = Shape::new(1 << 24, 512).unwrap();
    let (exact, less) =
        (Layout::choose(&params("65537"), shape).unwrap(), Layout::choose(&params("65535"), shape).unwrap());
    assert_eq!((exact.records_per_item, exact.rows, exact.points), (64, 32768, 8));
    assert_eq!((less.records_per_item, less.rows, less.points, less.groups), (63, 33289, 8, 1));
    let wide = Layout::choose(&params("65535"), Shape::new(1 << 15, 1 << 18).unwrap()).unwrap();
    assert_eq!((wide.planes, wide.points, wide.rows), (9, 1, 32768));
}

#[test]
fn sizes_do_not_wrap_around() {
    grows_up_to_the_bounds::<Inspire>(&published(1 << 20, 32));
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    for (from, to, key) in [
        ("plain_modulus = 65537", "plain_modulus = 65536", "folding.plain_modulus"),
        ("plain_modulus = 65537", "plain_modulus = 65539", "folding.plain_modulus"),
        ("rows = 20", "rows = 0", "folding.rows"),
        ("points = 8", "points = 6", "folding.points"),
        ("points = 8", "points = 256", "folding.points"),
        ("points = 8", "points = 8\nvariables = 2", "folding.points"),
        ("points = 8", "points = 8\nvariables = 0", "folding.variables"),
        ("degree = 64", "degree = 100", "rlwe.degree"),
        ("[packing]\nbase_log2 = 19", "[packing]\nbase_log2 = 28", "packing.base_log2"),
        ("[evaluation]\nbase_log2 = 19", "[evaluation]\nbase_log2 = 28", "evaluation.base_log2"),
        ("body_modulus = 1048576", "body_modulus = 32768", "switch.body_modulus"),
        (GAUSSIAN, "{ kind = \"uniform\" }", "rlwe.secret"),
        ("protocol = \"inspire\"", "protocol = \"inspire0\"", "protocol"),
    ] {
        let text = set_text();
        refuses::<Inspire>(&text, from, to, key);
    }
}

/// Whatever the records, entries are spread as random ones: few are 2^15, no value is frequent; so also where all of a column would be 2^15,
/// and where columns would agree because only the records at the point 1 are not zero.
#[test]
fn entries_are_random_for_any_data() {
    let params = set(&[("rows = 20", "rows = 1024")]);
    let shape = Shape::new(8192, 1024).unwrap();
    let layout = Layout::choose(&params, shape).unwrap();
    assert_eq!((layout.rows, layout.points, layout.columns()), (1024, 8, 512));
    let words = |word: u16, step: usize| -> Vec<u8> {
        (0..8192).flat_map(|item| [if item % step == 0 { word } else { 0 }; 64]).flat_map(u16::to_le_bytes).collect()
    };
    let mut files = Vec::new();
    for (i, bytes) in [words(0, 1), words(0x8000, 1), words(0xffff, 1), words(0x8000, 8)].into_iter().enumerate() {
        let path = std::env::temp_dir().join(format!("pirlab-whitening-{}-{i}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let database = Database::open(&format!("file:{}", path.display()), shape).unwrap();
        files.push(path);
        let whitening = Whitening::new(&layout, Seed([7; 16]));
        let context = context(Kernel::best(), 2);
        let encoded = Encoded::encode(&params, layout, &whitening, &database, &context).unwrap();
        // 2^19 entries: eight of each residue in the mean.
        assert!(encoded.matrix.excess().len() < 40, "{i}: {} entries listed", encoded.matrix.excess().len());
        let mut counts = std::collections::HashMap::new();
        for (row, col) in (0..1024).flat_map(|row| (0..512).map(move |col| (row, col))) {
            *counts.entry(encoded.matrix.get(row, col)).or_insert(0u32) += 1;
        }
        assert!(counts.len() > 65_000 && counts.values().all(|count| *count < 40), "{i}");
        let agree =
            |row| (0..64).filter(|col| encoded.matrix.get(row, *col) == encoded.matrix.get(row, 64 + col)).count();
        assert!((0..1024).map(agree).sum::<usize>() < 20, "{i}");
    }
    files.iter().for_each(|path| std::fs::remove_file(path).unwrap());
}

/// Under one secret no mask may appear twice: the query's, those of every packing key, those of the encrypted point.
#[test]
fn masks_never_repeat() {
    let params = set(&[("rows = 20", "rows = 1000")]);
    let layout = Layout::choose(&params, Shape::new(1000, 1024).unwrap()).unwrap();
    let count = never_repeat(|seed| {
        let public = Public::new(&params, &layout, seed, Kernel::best()).unwrap();
        assert!(public.queries.blocks() > 8);
        let mut masks = masks_of(&public.queries, &public.masks, 2);
        for variable in 0..2 {
            let point = public.point(variable, &vec![0; public.point_bytes()]).unwrap().expand(&public.ring);
            masks.extend(point.mask.rows().iter().chain(point.body.rows()).map(|row| row.a.as_slice().to_vec()));
        }
        masks
    });
    assert_eq!(count, 2 * (layout.blocks() + 18));
}

/// The measured variance is below the sum of the bounds of all stages: product, packing, evaluation, switch.
#[test]
fn noise_is_within_the_sum_of_its_stages() {
    let params = set(&[("rows = 20", "rows = 1500")]);
    let shape = Shape::new(12_000, 1024).unwrap();
    let measured = noise_variance::<Inspire>(&params, shape, 270, "switch");
    let layout = Layout::choose(&params, shape).unwrap();
    assert_eq!(layout.points, 8);
    let (d, q, unit) = (64.0, params.rlwe.modulus() as f64, 268_369_921.0);
    let (variance, z2, p2) = (6.4f64.powi(2), 2f64.powi(38), 65537f64.powi(2));
    // Centred entries; unsigned digits have mean square z^2 / 3, and d - 1 key switches.
    let product = layout.rows as f64 * variance * p2 / 12.0;
    let packing = d * (d - 1.0) * 3.0 * variance * z2 / 3.0;
    let evaluation = 2.0 * 3.0 * d * variance * z2 / 3.0;
    let switch = (unit / 2f64.powi(20)).powi(2) / 12.0 + (1.0 + d * variance) / 12.0;
    // The top digit has 18 bits and is smaller; Delta p differs from q by less than p times messages.
    let bound = 8.0 * (product + packing + evaluation) * (unit / q).powi(2) + switch;
    // Nearly all of it is the switch's, so that this is an equality: 17280 errors and 270 secrets of 64 coefficients leave a variance off by
    // sqrt(2/17280 + (1 - rounding's share)^2 2/17280), four times which is below 1/16.
    let sampling = 4.0 * (4.0f64 / 17280.0).sqrt();
    assert!(sampling < 1.0 / 16.0);
    let within = switch * (1.0 - sampling)..bound * (1.0 + sampling);
    assert!(within.contains(&measured), "measured {measured:e}, bound {bound:e}, switch {switch:e}");
}
