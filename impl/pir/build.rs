//! Hashes the sources that each protocol's numbers depend on, so that a record knows whether it is stale: the protocol's
//! own folder, what all protocols share, and the crates below this one.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

fn rust_files(folder: &Path, skip: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(Result::ok).map(|entry| entry.path()).collect())
        .unwrap_or_default();
    entries.sort();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // Tests measure nothing; the registry changes with every new protocol.
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

fn hash(files: &[PathBuf], hasher: &mut Sha256) {
    for file in files {
        hasher.update(file.to_string_lossy().as_bytes());
        hasher.update(std::fs::read(file).unwrap_or_default());
    }
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let mut shared = Vec::new();
    let none = Path::new("");
    for folder in ["../ring/src", "../gadget/src", "../lattice/src"] {
        println!("cargo:rerun-if-changed={folder}");
        rust_files(Path::new(folder), none, &mut shared);
    }
    println!("cargo:rerun-if-changed=src");
    let protocols = Path::new("src/protocol");
    rust_files(Path::new("src"), protocols, &mut shared);
    let folders = std::fs::read_dir(protocols).map(|entries| {
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    });
    for folder in folders.unwrap_or_default() {
        let mut files = Vec::new();
        rust_files(&folder, none, &mut files);
        let mut hasher = Sha256::new();
        hash(&shared, &mut hasher);
        hash(&files, &mut hasher);
        let digest: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let name = folder.file_name().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
        println!("cargo:rustc-env=PIRLAB_SOURCE_{name}={digest}");
    }
}
