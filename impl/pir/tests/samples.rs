//! How many samples an observer can collect under one secret, for every protocol and kind of secret, against numbers worked out by hand
//! from the protocols' pages.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use pir::core::set_file::ParameterFile;
use pir::core::workload::{Shape, Workload};
use pir::registry;

type Samples = [(&'static str, Option<u64>)];

/// A set with what is changed of it, a shape, and the samples of each instance. Ring degrees are 2048, packing keys have 3 digits.
const EXPECTED: &[(&str, (u64, u64), &Samples)] = &[
    // A word a column: 1000 records of 103 entries in 412 rows.
    ("simplepir/usenix23", (1000, 1024), &[("query", Some(250))]),
    // A word a record.
    ("frodopir/published", (1000, 1024), &[("query", Some(1000))]),
    // The first layer is at least 2^16 wide, two groups of rows are left for the second.
    ("doublepir/usenix23-one-hint", (100_000, 8), &[("first_query", Some(1 << 16)), ("second_query", Some(2))]),
    // 2^20 bytes in 1024 columns; two encryptions of the secret and six rows of a key of degree 4096.
    ("hintlesspir/code", (1 << 20, 8), &[("query", Some(1024)), ("keys", Some((2 + 6) * 4096))]),
    // The same database in 4096 columns, and three rows of a second key.
    ("hintlesspir/giant-steps", (1 << 20, 8), &[("query", Some(4096)), ("keys", Some((2 + 6 + 3) * 4096))]),
    // 64 keys of baby steps with three rows of degree 4096; every query adds to the other.
    ("kspir/code", (1 << 18, 1 << 16), &[("queries_and_keys", None), ("rotation_keys", Some(64 * 3 * 4096))]),
    // 2^20 bytes in 2048 columns, 512 groups; CDKS has a key for each of log2(2048) = 11 automorphisms.
    (
        "ypir/usenix24",
        (1 << 20, 8),
        &[("first_query", Some(2048)), ("second_query_and_keys", Some(512 + 11 * 3 * 2048))],
    ),
    ("simpleypir/usenix24", (4096, 1 << 16), &[("query_and_keys", Some(2048 + 11 * 3 * 2048))]),
    // InspiRING has two keys.
    (
        "inspire0/published-packed",
        (1 << 20, 8),
        &[("first_query", Some(2048)), ("second_query_and_keys", Some(512 + 2 * 3 * 2048))],
    ),
    // N/t = 2048, t = 512; gamma 16 and 1024 have a key each.
    (
        "inspire2/published gamma0=16 gamma2=16 rows_factor=1",
        (1 << 20, 256),
        &[("queries_and_keys", Some(2048 + 512 + 2 * 3 * 2048))],
    ),
    // N/t = 16384; the point is an RGSW ciphertext of 2 * 3 rows.
    ("inspire/repaired", (1 << 20, 512), &[("query", Some(16_384 + (2 * 3 + 2 * 3) * 2048))]),
    // A vector of one part has a key of 3 digits, its response one of 24.
    (
        "respire/64mb",
        (1 << 20, 256),
        &[("queries_and_keys", None), ("vector_keys", Some(3 * 2048)), ("response_keys", Some(24 * 2048))],
    ),
    // Keys of products, of 40 places and of one place, with four rows of degree 8192 each; every query adds to `queries`.
    ("pirana/bfv-n8192", (1 << 18, 2048), &[("queries", None), ("keys", Some(3 * 4 * 8192))]),
    // Keys of products, of 15 turns and, because the first turn is by one place, of nothing more; six rows of degree 4096 each.
    ("onehot/gbfv-n4096-63", (1 << 14, 2048), &[("queries", None), ("keys", Some(16 * 6 * 4096))]),
    // 92 bits of a codeword. Keys of products and of 7 levels of expansion, with six rows of degree 4096 each; every query adds to `queries`.
    ("cwpir/n4096", (1 << 12, 163_840), &[("queries", None), ("keys", Some((1 + 7) * 6 * 4096))]),
    // Packing keys: each body has 4 digits at each of 2 places; 2 vectors more where rows become vectors.
    ("spiral/secure-pack-256mb", (1 << 20, 2048), &[("queries_and_keys", None), ("packing_keys", Some(2 * 4 * 2048))]),
    (
        "spiral/secure-base-256mb",
        (1 << 20, 2048),
        &[("queries_and_keys", None), ("packing_keys", Some((2 + 2) * 4 * 2048))],
    ),
    // Keys of 8 levels with 3 and 5 digits modulo q P; every query, and RGSW(-s), adds to `queries`.
    ("onionpir/repaired-20", (1 << 18, 2048), &[("queries", None), ("keys", Some(8 * 3 * 4096))]),
    ("onionpir/original", (1 << 20, 2048), &[("queries", None), ("keys", Some(8 * 5 * 4096))]),
    // A ciphertext for each of four variables; a query serves all its slots.
    ("depir/short-n8192", (330, 16), &[("query", Some(4 * 8192))]),
    // No lattice.
    ("piano/published", (1000, 1024), &[]),
    // 3/2 * 764 selectors of two rows of 4 digits, 11 automorphisms of 12, squares of 5; every query adds to `query`.
    (
        "pirouette/2^20",
        (1 << 20, 256),
        &[
            ("ring", Some((1146 * 2 * 4 + 11 * 12 + 5) * 2048)),
            ("query", None),
            ("key_switching", Some(2048 * 8)),
            ("response", Some(24 * 2048)),
        ],
    ),
    // The same keys, and the round keys: 128 RGSW ciphertexts of two rows of 2 digits, and a ciphertext of 1280 bits.
    (
        "trespire/2^20",
        (1 << 20, 2048),
        &[
            ("ring", Some((1146 * 2 * 4 + 11 * 12 + 5 + 128 * 2 * 2 + 1) * 2048)),
            ("key_switching", Some(2048 * 8)),
            ("response", Some(24 * 2048)),
        ],
    ),
    // Its database is 256 ciphertexts more.
    (
        "pirouette/encrypted",
        (1024, 2048),
        &[
            ("ring", Some((1146 * 2 * 4 + 11 * 12 + 5 + 256) * 2048)),
            ("query", None),
            ("key_switching", Some(2048 * 8)),
            ("response", Some(24 * 2048)),
        ],
    ),
    // As printed: 512 selectors of two rows of 7 digits, 11 automorphisms of 7, squares of 7; 20 digits to the response's key.
    (
        "pirouette_h/published",
        (1 << 20, 256),
        &[("ring", Some((512 * 2 * 7 + 11 * 7 + 7) * 2048)), ("query", None), ("response", Some(20 * 2048))],
    ),
];

#[test]
fn samples_are_those_of_one_secret() {
    let mut protocols = Vec::new();
    for (set, (records, record_bits), expected) in EXPECTED {
        let mut words = set.split(' ');
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../params/{}.toml", words.next().unwrap()));
        let with =
            words.map(|word| word.split_once('=').unwrap()).map(|(key, value)| (key.into(), value.parse().unwrap()));
        let file = ParameterFile::read(&path).unwrap().with(&with.collect()).unwrap();
        let name = set.split('/').next().unwrap();
        protocols.push(name);
        // Every query of a batch has secrets of its own, or all share the client's.
        for queries in [1, 3] {
            let workload = Workload::new(Shape::new(*records, *record_bits).unwrap(), queries, 0).unwrap();
            let described = (registry::find(name).unwrap().describe)(&file, &workload).unwrap();
            let found: Vec<_> = described.instances.iter().map(|each| (each.name.as_str(), each.samples)).collect();
            assert_eq!(found, *expected, "{set}, {queries} queries");
        }
    }
    for protocol in registry::all() {
        assert!(protocols.contains(&protocol.name), "{} has no expected numbers", protocol.name);
    }
}
