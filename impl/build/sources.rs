//! Hashes of sources, shared by the build scripts: a record knows by them whether it is stale.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The crates that everything measured stands on, as seen from a crate's folder.
pub const GROUND: [&str; 3] = ["../ring/src", "../gadget/src", "../lattice/src"];

/// Adds the Rust files below a folder, in order, but for `skip`, for tests, which measure nothing, and for registries and
/// progress bars, which change with what they list.
pub fn rust_files(folder: &Path, skip: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(Result::ok).map(|entry| entry.path()).collect())
        .unwrap_or_default();
    entries.sort();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path == skip || ["tests", "tests.rs", "benches", "registry.rs", "progress.rs"].contains(&name) {
            continue;
        }
        if path.is_dir() {
            rust_files(&path, skip, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The files of the crates of [`GROUND`]; a change of them builds the calling crate again.
pub fn ground_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in GROUND {
        println!("cargo::rerun-if-changed={folder}");
        rust_files(Path::new(folder), Path::new(""), &mut files);
    }
    files
}

/// Hash of names and contents, hexadecimal.
pub fn digest<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> String {
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update(file.to_string_lossy().as_bytes());
        hasher.update(std::fs::read(file).unwrap_or_default());
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
