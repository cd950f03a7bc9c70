//! Staleness keys cover what is imported and nothing else.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[path = "../../build/sources.rs"]
mod sources;

use sources::Sources;

/// A workspace of a few files.
const FILES: &[(&str, &str)] = &[
    ("ring/src/lib.rs", "mod hidden; pub mod poly; pub mod unused; pub use poly::{Poly, Other as Renamed};"),
    ("ring/src/hidden.rs", "impl super::poly::Poly { fn secret() {} }"),
    ("ring/src/poly/mod.rs", "mod methods; pub mod extra; pub struct Poly;"),
    ("ring/src/poly/methods.rs", "impl super::Poly {}"),
    ("ring/src/poly/extra.rs", ""),
    ("ring/src/unused.rs", ""),
    ("pir/src/lib.rs", "pub mod runner; pub mod parts; pub mod protocol;"),
    ("pir/src/runner.rs", "use crate::clock::Clock; // crate::parts::other::Not"),
    ("pir/src/clock.rs", ""),
    ("pir/src/parts/mod.rs", "pub mod used; pub mod other; pub mod third;"),
    ("pir/src/parts/used.rs", "use {ring::Poly, super::third::{self, Deep}};"),
    ("pir/src/parts/third.rs", "fn f() -> &'static str { \"crate::parts::other\" }"),
    ("pir/src/parts/other.rs", ""),
    ("pir/src/protocol/mod.rs", "pub mod a; pub mod b;"),
    ("pir/src/protocol/a/mod.rs", "mod server; #[cfg(test)] mod tests;"),
    ("pir/src/protocol/a/server.rs", "fn f() { vec![crate::parts::used::new()]; }"),
    ("pir/src/protocol/a/tests.rs", "use crate::parts::other;"),
    ("pir/src/protocol/b/mod.rs", ""),
];

struct Lab(tempfile::TempDir);

impl Lab {
    fn new() -> Self {
        let lab = Self(tempfile::tempdir().unwrap());
        FILES.iter().for_each(|(path, text)| lab.write(path, text));
        lab
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn roots(&self, protocol: &str) -> [PathBuf; 2] {
        ["runner.rs".into(), format!("protocol/{protocol}")].map(|path| self.0.path().join("pir/src").join(path))
    }

    fn key(&self, protocol: &str) -> String {
        Sources::new(self.0.path()).digest(&self.roots(protocol))
    }
}

#[test]
fn the_closure_has_what_is_imported() {
    let lab = Lab::new();
    let found = Sources::new(lab.0.path()).closure(&lab.roots("a"));
    let found: BTreeSet<&str> =
        found.iter().map(|path| path.strip_prefix(lab.0.path()).unwrap().to_str().unwrap()).collect();
    let expected = [
        "pir/src/clock.rs",
        "pir/src/parts/third.rs",
        "pir/src/parts/used.rs",
        "pir/src/protocol/a/mod.rs",
        "pir/src/protocol/a/server.rs",
        "pir/src/runner.rs",
        "ring/src/hidden.rs",
        "ring/src/poly/methods.rs",
        "ring/src/poly/mod.rs",
    ];
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn a_new_part_or_protocol_makes_no_record_stale() {
    let lab = Lab::new();
    let before = ["a", "b"].map(|protocol| lab.key(protocol));
    lab.write("pir/src/parts/mod.rs", "pub mod used; pub mod other; pub mod third; pub mod new;");
    lab.write("pir/src/parts/new.rs", "pub fn new() {}");
    lab.write("pir/src/protocol/c/mod.rs", "use crate::parts::new;");
    lab.write("ring/src/unused.rs", "pub fn edited() {}");
    assert_eq!(["a", "b"].map(|protocol| lab.key(protocol)), before);
}

#[test]
fn an_edit_of_what_is_used_makes_its_users_stale() {
    for (edited, a, b) in [
        ("pir/src/parts/used.rs", true, false),
        ("pir/src/parts/third.rs", true, false),
        ("ring/src/poly/methods.rs", true, false),
        ("ring/src/hidden.rs", true, false),
        ("pir/src/clock.rs", true, true),
        ("pir/src/protocol/b/mod.rs", false, true),
        ("pir/src/protocol/a/tests.rs", false, false),
        ("ring/src/poly/extra.rs", false, false),
    ] {
        let lab = Lab::new();
        let before = ["a", "b"].map(|protocol| lab.key(protocol));
        let text = FILES.iter().find(|(path, _)| *path == edited).unwrap().1;
        lab.write(edited, &format!("{text} fn edited() {{}}"));
        let after = ["a", "b"].map(|protocol| lab.key(protocol));
        assert_eq!([before[0] != after[0], before[1] != after[1]], [a, b], "{edited}");
    }
}

#[test]
fn moving_a_file_makes_no_record_stale() {
    let lab = Lab::new();
    let before = lab.key("a");
    std::fs::create_dir(lab.0.path().join("pir/src/clock")).unwrap();
    let from = lab.0.path().join("pir/src/clock.rs");
    std::fs::rename(from, lab.0.path().join("pir/src/clock/mod.rs")).unwrap();
    assert_eq!(lab.key("a"), before);
}

/// The real tree: no protocol's key covers the folder of another.
#[test]
fn no_protocol_depends_on_another() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = root.join("pir/src/protocol");
    let mut sources = Sources::new(root);
    let names = |files: &BTreeSet<PathBuf>| -> BTreeSet<String> {
        let inside = files.iter().filter_map(|file| file.strip_prefix(&folder).ok());
        inside.filter_map(|file| Some(file.parent()?.iter().next()?.to_str()?.to_owned())).collect()
    };
    let protocol = |path: &PathBuf| path.is_dir() && !path.ends_with("tests_support");
    for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(protocol) {
        let own = entry.file_name().unwrap().to_str().unwrap().to_owned();
        let files = sources.closure(&[entry, root.join("pir/src/core/runner.rs")]);
        assert_eq!(names(&files), BTreeSet::from([own.clone()]), "{own}");
        assert!(
            files.contains(&root.join("ring/src/kernel.rs")) && files.contains(&root.join("pir/src/core/clock.rs"))
        );
    }
}
