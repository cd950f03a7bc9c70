//! Hashes the sources that each operation's numbers depend on, so that a record knows whether it is stale: what the operation's own file
//! or folder imports.

#[path = "../build/sources.rs"]
mod sources;

fn main() {
    for source in
        ["build.rs", "../build", "src", "../ring/src", "../gadget/src", "../lattice/src", "../bfv/src", "../pir/src"]
    {
        println!("cargo::rerun-if-changed={source}");
    }
    let mut sources = sources::Sources::new("..");
    let operations = std::fs::read_dir("../bench/src/operation").into_iter().flatten().filter_map(Result::ok);
    for place in operations.map(|entry| entry.path()).filter(|path| !path.ends_with("mod.rs")) {
        let name = place.file_stem().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
        println!("cargo::rustc-env=PIRLAB_OPERATION_{name}={}", sources.digest(&[place]));
    }
}
