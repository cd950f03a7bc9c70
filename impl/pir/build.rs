//! Hashes the sources that each protocol's numbers depend on, so that a record knows whether it is stale: the protocol's
//! own folder, what all protocols share, and the crates below this one.

use std::path::Path;

#[path = "../build/sources.rs"]
mod sources;

use sources::{digest, ground_files, rust_files};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../build/sources.rs");
    let mut shared = ground_files();
    println!("cargo::rerun-if-changed=src");
    let protocols = Path::new("src/protocol");
    rust_files(Path::new("src"), protocols, &mut shared);
    let folders = std::fs::read_dir(protocols).map(|entries| {
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    });
    for folder in folders.unwrap_or_default() {
        let mut files = Vec::new();
        rust_files(&folder, Path::new(""), &mut files);
        let name = folder.file_name().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
        println!("cargo::rustc-env=PIRLAB_SOURCE_{name}={}", digest(shared.iter().chain(&files)));
    }
}
