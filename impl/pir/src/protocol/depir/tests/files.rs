//! Tables in files: the same answers as from memory, what is taken from an earlier or killed server, and what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ring::Kernel;

use super::super::set::Evaluator;
use super::super::*;
use crate::core::database::Database;
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::{Result, Shape};
use crate::protocol::tests_support::{context, read, updates_like_fresh};

/// 165 records; with `memory` MiB of memory and `disk` of disk.
fn set(evaluator: &str, (memory, disk): (u64, u64), folder: Option<&Path>) -> Set {
    let mut set: Set = read::<Depir>(&format!(
        "protocol = \"depir\"\ntitle = \"test\"\nvariables = 3\ndegree = 8\n[source]\nkind = \"own\"\n\
         [ring]\ndegree = 64\nplaintext_modulus = 257\nsecret = {{ kind = \"ternary\" }}\nerror = {{ stddev = 1.5 }}\n\
         [primes]\nquery = 6\nanswer = 3\nabove_log2 = 27\n[tables]\nevaluator = \"{evaluator}\"\nmemory_mib = {memory}\ndisk_mib = {disk}\n"
    ))
    .unwrap();
    set.tables.folder = folder.map(Path::to_path_buf);
    set
}

const SHAPE: (u64, u64) = (165, 13);

fn server(set: &Set, seed: u8) -> Result<ServerSession<Depir>> {
    let shape = Shape::new(SHAPE.0, SHAPE.1).unwrap();
    ServerSession::new(set, &Database::seeded([seed; 16], shape), &mut context(Kernel::best(), 2))
}

/// Whether a server's answer to all records is right.
fn serves(set: &Set, server: &mut ServerSession<Depir>, seed: u8) -> bool {
    let (mut context, shape) = (context(Kernel::best(), 1), Shape::new(SHAPE.0, SHAPE.1).unwrap());
    let database = Database::seeded([seed; 16], shape);
    let mut client = ClientSession::<Depir>::new(set, shape, &mut context).unwrap();
    client.connect(server, &mut Link::new(Depir::NAME), &mut context).unwrap();
    let request = client.ask(&(0..SHAPE.0).collect::<Vec<_>>(), &mut context).unwrap();
    let answer = server.answer(&[request], &mut context).unwrap().remove(0);
    let records = client.extract(&answer, &context).unwrap();
    records.iter().zip(0..).all(|(record, index)| *record == database.record(index).unwrap())
}

/// The files of a folder, and when they were written.
fn files(folder: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let entry = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().path();
    let written = |path: PathBuf| (path.clone(), fs::metadata(&path).unwrap().modified().unwrap());
    fs::read_dir(folder).unwrap().map(entry).map(written).collect()
}

#[test]
fn tables_in_memory_in_files_and_mixed_serve_the_same_records() {
    for (evaluator, mixed) in [("values", (1, 1 << 20)), ("derivatives", (1, 4))] {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (sizes, folder, files_in_memory) in
            [((64, 0), None, true), ((64, 0), Some(folder.path()), true), (mixed, Some(other.path()), false)]
        {
            let set = set(evaluator, sizes, folder);
            let mut server = server(&set, 9).unwrap();
            let held = server.tables()[0].bytes;
            assert!(serves(&set, &mut server, 9), "{evaluator} {sizes:?}");
            let workload = crate::core::Workload::new(Shape::new(SHAPE.0, SHAPE.1).unwrap(), 1, 0).unwrap();
            let sizes = Depir::describe(&set, &workload).unwrap();
            assert_eq!(held, sizes.memory.server[0].bytes);
            // A record has two columns.
            let on_disk = 2 * sizes.layout["disk_bytes"].as_u64().unwrap();
            assert_eq!(on_disk == 0, files_in_memory);
            if let Some(folder) = folder.filter(|_| !files_in_memory) {
                let bytes: u64 = files(folder).keys().map(|path| fs::metadata(path).unwrap().len()).sum();
                assert!(bytes > on_disk + held && bytes < on_disk + held + 64 * 150);
            }
        }
    }
}

/// A killed server leaves whole tables, and one that has no name yet.
#[test]
fn existing_tables_are_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let set = set("derivatives", (1, 4), Some(folder.path()));
    drop(server(&set, 9).unwrap());
    let whole = files(folder.path());
    let (kept, lost) = (whole.keys().next().unwrap(), whole.keys().next_back().unwrap());
    let half = fs::read(lost).unwrap();
    fs::write(lost.with_extension("part"), &half[..half.len() / 2]).unwrap();
    fs::remove_file(lost).unwrap();
    let mut server = server(&set, 9).unwrap();
    let again = files(folder.path());
    assert!(again.keys().eq(whole.keys()));
    assert!(again[kept] == whole[kept] && again.iter().filter(|(path, time)| whole[*path] != **time).count() == 1);
    assert!(serves(&set, &mut server, 9));
}

/// Each kind of bad file is refused by its name, with what is wrong and what to do, in memory and mapped.
#[test]
fn bad_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let set = set("derivatives", (1, 4), Some(folder.path()));
    drop(server(&set, 9).unwrap());
    for prime in [5, 31] {
        let path = folder.path().join(format!("table-{prime}"));
        let whole = fs::read(&path).unwrap();
        let refused = |set: &Set, seed: u8, text: &str| {
            let said = server(set, seed).err().expect(text).to_string();
            let named = said.contains(&path.display().to_string()) && said.contains("Delete it");
            assert!(named && said.contains(text), "{said} ({text})");
        };
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let cases = [
            (whole[..whole.len() - 1].to_vec(), "truncated"),
            (whole[..100].to_vec(), "truncated"),
            (Vec::new(), "truncated"),
            (whole.iter().copied().chain([0]).collect(), "too long"),
            (flipped(whole.len() - 20), "corrupted"),
            (flipped(150), "corrupted"),
            (flipped(20), "header does not have its checksum"),
            (flipped(66), "header does not have its checksum"),
            (flipped(0), "not a table file"),
        ];
        for (bytes, text) in cases {
            fs::write(&path, bytes).unwrap();
            refused(&set, 9, text);
        }
        fs::write(&path, &whole).unwrap();
    }
    drop(server(&set, 9).unwrap());
    let said = server(&set, 8).err().unwrap().to_string();
    assert!(said.contains("another database") && said.contains("Delete it"), "{said}");
    for change in [|set: &mut Set| set.degree = 9, |set: &mut Set| set.tables.evaluator = Evaluator::Values] {
        let mut other = set.clone();
        change(&mut other);
        let said = server(&other, 9).err().unwrap().to_string();
        assert!(said.contains("another plan") && said.contains("instead of"), "{said}");
    }
}

#[test]
fn updates_make_files_again() {
    let folder = tempfile::tempdir().unwrap();
    let set = set("values", (1, 1 << 20), Some(folder.path()));
    let shape = Shape::new(SHAPE.0, SHAPE.1).unwrap();
    // The second server, which is made of the changed database, takes the files of the first.
    updates_like_fresh::<Depir>(&set, shape, &[0, 7, 164]);
    let said = server(&set, 9).err().unwrap().to_string();
    assert!(said.contains("another database"), "{said}");
}

/// A file in place of the folder, and disks and memory that the tables exceed, are refused before a table is made.
#[test]
fn plans_that_do_not_fit_are_refused_first() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let said = server(&set("derivatives", (1, 4), Some(&file)), 9).err().unwrap().to_string();
    assert!(said.contains("making the folder of tables"), "{said}");
    let said = server(&set("values", (1, 0), None), 9).err().unwrap().to_string();
    assert!(said.contains("tables.disk_mib") && said.contains("give as much"), "{said}");
    let said = server(&set("values", (1, 1 << 20), None), 9).err().unwrap().to_string();
    assert!(said.contains("tables.folder") && said.contains("GiB on disk"), "{said}");
    let mut many = set("values", (1 << 20, 1 << 40), Some(folder.path()));
    (many.variables, many.degree) = (6, 60);
    let said = server(&many, 9).err().unwrap().to_string();
    assert!(said.contains("variables") && said.contains("2^32 points"), "{said}");
    let workload = crate::core::Workload::new(Shape::new(SHAPE.0, SHAPE.1).unwrap(), 1, 0).unwrap();
    many.tables.folder = None;
    (many.variables, many.degree, many.tables.disk_mib) = (5, 20, None);
    many.tables.evaluator = Evaluator::Derivatives;
    let said = Depir::describe(&many, &workload).map(drop).unwrap_err().to_string();
    assert!(said.contains("2^32 points"), "{said}");
}
