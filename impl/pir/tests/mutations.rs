//! Parameter sets that nobody would write, made of the committed ones: each is refused, or described within seconds.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pir::core::set_file::ParameterFile;
use pir::core::workload::{Shape, Workload};
use pir::registry;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

/// Values that stand for a value of a set.
const VALUES: [&str; 20] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "5e-324",
    "-0.0",
    "nan",
    "inf",
    "true",
    "\"\"",
    "\"2^64\"",
    "\"18446744073709551557*18446744073709551533\"",
    "[]",
    "{}",
    "{ kind = \"ternary\" }",
];
/// Databases at which what is not refused is described.
const SHAPES: [(u64, u64); 3] = [(1, 1), (1000, 4097), (1 << 40, 8)];
/// A set is read, checked and described within this time.
const LONGEST: Duration = Duration::from_secs(20);

fn sets(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sets(&path, found);
        } else if path.extension().is_some_and(|end| end == "toml") {
            found.push(path);
        }
    }
    found.sort();
}

/// A line with another value, that many bytes changed, lines left out, doubled or moved.
fn mutated(text: &str, rng: &mut impl Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..lines.len());
        match rng.random_range(0..8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let to = rng.random_range(0..lines.len());
                lines.swap(at, to);
            }
            3 => {
                let mut bytes = lines[at].clone().into_bytes();
                if let Some(place) = (0..bytes.len()).collect::<Vec<_>>().choose(rng) {
                    bytes[*place] = rng.random_range(32..127);
                }
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            _ => {
                if let Some((key, _)) = lines[at].clone().split_once(" = ") {
                    lines[at] = format!("{key} = {}", VALUES.choose(rng).unwrap());
                }
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

#[test]
fn mutated_sets_are_refused_or_described() {
    let mut paths = Vec::new();
    sets(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../params"), &mut paths);
    let texts: Vec<String> = paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let number = if std::env::var_os("PIRLAB_VERIFY").is_some() { 200_000 } else { 4_000 };
    let (mut described, mut refused) = (0, 0);
    for seed in 0..number {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let set = rng.random_range(0..paths.len());
        let text = mutated(&texts[set], &mut rng);
        let start = Instant::now();
        let sizes = ParameterFile::of(&paths[set], &text).and_then(|file| {
            let protocol = registry::find(&file.protocol)?;
            (protocol.check)(&file)?;
            let describe = |&(records, bits): &(u64, u64)| {
                (protocol.describe)(&file, &Workload::new(Shape::new(records, bits)?, 1, 1)?).map(drop)
            };
            Ok(SHAPES.iter().map(describe).filter(Result::is_ok).count())
        });
        if sizes.is_ok_and(|shapes| shapes > 0) {
            described += 1
        } else {
            refused += 1
        }
        let took = start.elapsed();
        assert!(took < LONGEST, "mutation {seed} of {} took {took:?}:\n{text}", paths[set].display());
    }
    assert!(described > number / 100 && refused > number / 10, "{described} described, {refused} refused");
}
