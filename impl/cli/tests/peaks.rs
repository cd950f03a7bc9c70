//! The described peak of a run covers what the run takes, at shapes far from those that sets are made for: a process each, so that none has
//! what another's allocator kept.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Mutex;

use common::Lab;

/// The program's own pages are read from its file; a release has 9 MiB of them, which descriptions count, other builds more. Those with
/// addresses, which the system writes at the start, are the run's own: a debug build has 160 KiB more of them.
const PROGRAM_BYTES: u64 = (9 << 20) - if cfg!(debug_assertions) { 160 << 10 } else { 0 };

/// A set, records, bits of a record, queries, updates.
type Row = (&'static str, u64, u64, u64, u64);

#[test]
fn described_peaks_cover_runs_at_odd_shapes() {
    static ROWS: [Row; 29] = [
        ("simplepir/usenix23", 257, 2049, 1, 3),
        ("frodopir/secure-n1308 --with shards=7", 5003, 1000, 2, 3),
        ("piano/packed", 5003, 1000, 2, 3),
        ("piano/packed", 1_000_003, 64, 1000, 0),
        ("piano/conference", 1_000_003, 64, 1000, 0),
        ("doublepir/usenix23-one-hint", 257, 2049, 1, 3),
        ("doublepir/usenix23-one-hint", 100_003, 7, 3, 1),
        ("hintlesspir/tight", 5003, 1000, 3, 1),
        ("hintlesspir/giant-steps", 40_003, 1000, 2, 1),
        ("kspir/split", 5003, 1000, 3, 1),
        ("pirana/gbfv-n4096-63", 5003, 1000, 3, 1),
        ("pirana/bfv-n8192", 1003, 256, 1, 0),
        ("cwpir/n4096", 5003, 1000, 1, 1),
        ("onehot/gbfv-n4096-63", 5003, 1000, 3, 1),
        ("onehot/bfv-n4096", 5003, 1000, 2, 1),
        ("cwpir/folklore-n8192", 257, 2048, 1, 0),
        ("depir/short-n8192", 257, 33, 3, 1),
        ("ypir/usenix24", 5, 20_003, 1, 1),
        ("inspire2/published --with gamma0=16 --with gamma2=16 --with rows_factor=1", 5, 100_003, 1, 1),
        ("inspire/repaired --with folding.rows=4096 --with folding.points=32", 5003, 100, 2, 1),
        ("respire/64mb", 17, 800_000, 1, 0),
        ("respire/64mb", 5003, 100, 2, 2),
        ("spiral/secure-pack-256mb", 5003, 1000, 2, 2),
        ("spiral/secure-base-256mb", 17, 100_000, 1, 0),
        ("spiral/secure-stream-256mb", 5003, 1000, 1, 1),
        ("onionpir/repaired-40", 5003, 1000, 2, 2),
        ("onionpir/repaired-20", 17, 800_000, 1, 0),
        ("pirouette/smoke", 17, 80_000, 1, 1),
        ("trespire/smoke", 5003, 1000, 1, 1),
    ];
    let rows = Mutex::new(ROWS.iter());
    // Two at a time: each is a process of its own.
    let beyond = std::thread::scope(|scope| {
        let next = || rows.lock().unwrap().next();
        let all = move || std::iter::from_fn(next).filter_map(|row| beyond(*row)).collect::<Vec<String>>();
        let started = [scope.spawn(all), scope.spawn(all)];
        started.map(|thread| thread.join().unwrap()).concat()
    });
    assert!(beyond.is_empty(), "{beyond:#?}");
}

/// What is wrong where a run of a set at a shape takes more than is described.
fn beyond((set, records, record_bits, queries, updates): Row) -> Option<String> {
    let lab = Lab::new();
    let mut words = set.split(' ');
    let path = format!("{}/../../params/{}.toml", env!("CARGO_MANIFEST_DIR"), words.next().unwrap());
    let numbers =
        [("--records", records), ("--record-bits", record_bits), ("--queries", queries), ("--updates", updates)];
    let numbers: Vec<String> =
        numbers.iter().flat_map(|(name, number)| [name.to_string(), number.to_string()]).collect();
    let mut arguments = vec![path.as_str()];
    arguments.extend(words);
    arguments.extend(numbers.iter().map(String::as_str));
    arguments.extend(["--repetitions", "1", "--noise-seconds", "0", "--out", "r.json"]);
    let said = lab.run(&arguments);
    assert_eq!(said.code, 0, "{set}: {} {}", said.out, said.err);
    let memory = &lab.json("r.json")["memory"];
    let [peak, file, described] =
        ["peak_bytes", "peak_file_bytes", "described_peak_bytes"].map(|key| memory[key].as_u64().unwrap());
    (peak - file > described - PROGRAM_BYTES)
        .then(|| format!("{set} {records} x {record_bits}: {peak} of {described}, {file} of them the program's"))
}
