//! Which commit a build records, in repositories, archives and copies.

#![cfg(unix)]
#![allow(dead_code, clippy::unwrap_used)]

#[path = "../../build/provenance.rs"]
mod provenance;

use std::path::Path;

use provenance::{ARCHIVED, Provenance, git};

/// Git without the user's settings.
const GIT: [(&str, &str); 6] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "a"),
    ("GIT_AUTHOR_EMAIL", "a@example.org"),
    ("GIT_COMMITTER_NAME", "a"),
    ("GIT_COMMITTER_EMAIL", "a@example.org"),
];

/// The attributes and the file to be filled in, as this repository has them.
const ATTRIBUTES: &str = include_str!("../../../.gitattributes");
const TEMPLATE: &str = "$Format:%H$\n";

fn put(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A repository with a source in it, and its commit.
fn repository(root: &Path) -> String {
    put(root, ".gitattributes", ATTRIBUTES);
    put(root, ARCHIVED, TEMPLATE);
    put(root, "impl/pir/src/lib.rs", "// A source.\n");
    for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "x"]] {
        git(root, &GIT, arguments).unwrap();
    }
    git(root, &GIT, &["rev-parse", "HEAD"]).unwrap()
}

/// Unpacks an archive of a repository.
fn unpack(repository: &Path, to: &Path) {
    let tar = to.join("archive.tar");
    std::fs::create_dir_all(to).unwrap();
    git(repository, &GIT, &["archive", "--output", tar.to_str().unwrap(), "HEAD"]).unwrap();
    let unpacked = std::process::Command::new("tar").arg("-xf").arg(&tar).arg("-C").arg(to).status().unwrap();
    assert!(unpacked.success());
}

#[test]
fn a_repository_says_its_commit_and_whether_sources_changed() {
    let folder = tempfile::tempdir().unwrap();
    let commit = repository(folder.path());
    let found = Provenance::of(folder.path(), &GIT);
    assert_eq!((found.commit, found.dirty, found.remark.whole.as_str()), (commit, false, ""));
    put(folder.path(), "impl/target/built", "");
    put(folder.path(), "docs/page.md", "");
    assert!(!Provenance::of(folder.path(), &GIT).dirty);
    put(folder.path(), "impl/ring/src/new.rs", "");
    assert!(Provenance::of(folder.path(), &GIT).dirty);
}

#[test]
fn an_archive_says_its_own_commit_wherever_it_is_unpacked() {
    let (ours, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let commit = repository(ours.path());
    repository(other.path());
    let inner = other.path().join("vendor/lab");
    unpack(ours.path(), &inner);
    let found = Provenance::of(&inner, &GIT);
    assert_eq!((found.commit.as_str(), found.dirty), (commit.as_str(), false));
    assert!(found.remark.recorded.contains("archive"), "{:?}", found.remark);
    // A repository made of the archive is not ours either.
    for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "y"]] {
        git(&inner, &GIT, arguments).unwrap();
    }
    assert_eq!(Provenance::of(&inner, &GIT).commit, commit);
}

#[test]
fn a_shortened_commit_in_an_archive_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    for (text, whole) in [("0123456789ab".to_string(), false), ("0123456789".repeat(4), true)] {
        put(folder.path(), ARCHIVED, &text);
        assert_eq!(Provenance::of(folder.path(), &GIT).commit == text, whole, "{text}");
    }
}

#[test]
fn a_copy_inside_another_repository_has_no_commit_and_says_why() {
    let other = tempfile::tempdir().unwrap();
    repository(other.path());
    let inner = other.path().join("copy");
    put(&inner, ARCHIVED, TEMPLATE);
    let found = Provenance::of(&inner, &GIT);
    assert_eq!(found.commit, "unknown");
    names_no_folder(&found, other.path());
    let sentence = format!("in the git repository {}, whose commits", last_part(other.path()));
    assert!(found.remark.recorded.contains(&sentence), "{:?}", found.remark);
    let alone = tempfile::tempdir().unwrap();
    // Folders of tests may lie in a checkout, above which git does not look then.
    let ceiling = alone.path().parent().and_then(Path::to_str).unwrap();
    let found = Provenance::of(alone.path(), &[&GIT[..], &[("GIT_CEILING_DIRECTORIES", ceiling)]].concat());
    let said = found.remark.recorded.contains("not a git repository");
    assert!(found.commit == "unknown" && said, "{:?}", found.remark);
}

#[test]
fn a_checkout_of_another_owner_says_why_it_has_no_commit() {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    let found = Provenance::of(folder.path(), &[&GIT[..], &[("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")]].concat());
    assert_eq!(found.commit, "unknown");
    names_no_folder(&found, folder.path());
    for text in [&found.remark.recorded, &found.remark.whole] {
        assert!(text.contains("dubious ownership") && text.contains("safe.directory"), "{text}");
        assert!(!text.contains('\n'), "{text}");
    }
    assert!(found.remark.recorded.contains(&format!("at '{}';", last_part(folder.path()))), "{:?}", found.remark);
}

#[test]
fn no_record_names_a_folder_that_git_names() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let spaced = folder.path().join("a user's folder");
    repository(&spaced);
    let found = Provenance::of(&spaced, &[&GIT[..], &[("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")]].concat());
    names_no_folder(&found, folder.path());
    // The repository of a linked work tree that was copied to another machine.
    let gone = other.path().join("gone");
    put(folder.path(), "tree/.git", &format!("gitdir: {}\n", gone.display()));
    let found = Provenance::of(&folder.path().join("tree"), &GIT);
    names_no_folder(&found, &gone);
}

fn last_part(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// The build's warning has the whole path of a folder; the record has neither it nor the folders above it.
fn names_no_folder(found: &Provenance, folder: &Path) {
    let whole = folder.canonicalize().unwrap_or(folder.into());
    let above = whole.parent().unwrap().display().to_string();
    assert!(found.remark.whole.contains(whole.to_str().unwrap()), "{:?}", found.remark);
    assert!(!found.remark.recorded.contains(&above), "{:?}", found.remark);
}

#[test]
fn the_file_to_be_filled_in_is_here() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(ARCHIVED);
    let text = std::fs::read_to_string(here).unwrap();
    assert!(text == TEMPLATE || text.trim().bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
}
