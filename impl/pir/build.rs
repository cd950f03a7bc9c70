//! Hashes the sources that each protocol's numbers depend on, so that a record knows whether it is stale: what the protocol's own folder
//! imports, and what the runner does.

use std::path::PathBuf;

#[path = "../build/sources.rs"]
mod sources;

fn main() {
    for source in ["build.rs", "../build", "src", "../ring/src", "../gadget/src", "../lattice/src", "../bfv/src"] {
        println!("cargo::rerun-if-changed={source}");
    }
    let mut sources = sources::Sources::new("..");
    let runner = PathBuf::from("../pir/src/core/runner.rs");
    let folders = std::fs::read_dir("../pir/src/protocol").into_iter().flatten().filter_map(Result::ok);
    for folder in folders.map(|entry| entry.path()).filter(|path| path.is_dir()) {
        let name = folder.file_name().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
        println!("cargo::rustc-env=PIRLAB_SOURCE_{name}={}", sources.digest(&[folder, runner.clone()]));
    }
}
