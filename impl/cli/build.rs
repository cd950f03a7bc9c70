//! Tells the program its commit, whether the work tree differed from it, the compiler, and the hash of the sources that each
//! primitive's numbers depend on.

use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../build/provenance.rs"]
mod provenance;
#[path = "../build/sources.rs"]
mod sources;

use provenance::{Provenance, git};

/// The top of the repository, as seen from this crate's folder.
const ROOT: &str = "../..";

fn main() {
    hash_primitives();
    hash_calibration();
    let root = Path::new(ROOT);
    let Provenance { commit, dirty, remark } = Provenance::of(root, &[]);
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(compiler).arg("--version").output().ok().filter(|output| output.status.success());
    let rustc = version.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=PIRLAB_COMMIT={commit}");
    println!("cargo::rustc-env=PIRLAB_DIRTY={dirty}");
    println!("cargo::rustc-env=PIRLAB_COMMIT_REMARK={remark}");
    if commit == provenance::UNKNOWN {
        println!("cargo::warning=the commit is unknown, and records will say so: {remark}");
    }
    println!("cargo::rustc-env=PIRLAB_RUSTC={}", rustc.trim());
    // The commit changes with HEAD and the branches (which may lie elsewhere, in a linked work tree); the flag is taken anew
    // whenever a source changes.
    let folders = [("--absolute-git-dir", &["HEAD"][..]), ("--git-common-dir", &["refs", "packed-refs"])];
    for (folder, files) in folders.into_iter().filter(|_| remark.is_empty()) {
        let Ok(git) = git(root, &[], &["rev-parse", folder]) else { continue };
        for file in files.iter().map(|file| root.join(&git).join(file)).filter(|file| file.exists()) {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    for source in
        ["build.rs", "../build", "../Cargo.toml", "../ring/src", "../gadget/src", "../lattice/src", "../pir/src", "src"]
    {
        println!("cargo::rerun-if-changed={source}");
    }
}

/// Unit costs depend on the crates that are timed and on how they are.
fn hash_calibration() {
    let mut files = sources::ground_files();
    for folder in ["../pir/src/linear", "src/command/calibrate"] {
        sources::rust_files(Path::new(folder), Path::new(""), &mut files);
    }
    let encoding = ["digits.rs", "protocol/inspire/code.rs", "protocol/inspire/interpolation.rs"];
    files.extend(encoding.iter().map(|file| Path::new("../pir/src").join(file)));
    println!("cargo::rustc-env=PIRLAB_CALIBRATION={}", sources::digest(&files));
}

/// A primitive's numbers depend on its own file or folder below src/primitive/kind, on how all are timed, and on the crates
/// that it measures. The hash goes by the name of that file.
fn hash_primitives() {
    let mut shared = sources::ground_files();
    shared.push(PathBuf::from("src/primitive/timing.rs"));
    let kinds = std::fs::read_dir("src/primitive/kind").map(|entries| {
        entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| !path.ends_with("mod.rs"))
            .collect::<Vec<_>>()
    });
    for kind in kinds.unwrap_or_default() {
        let mut files = Vec::new();
        if kind.is_dir() {
            sources::rust_files(&kind, Path::new(""), &mut files);
        } else {
            files.push(kind.clone());
        }
        let name = kind.file_stem().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
        println!("cargo::rustc-env=PIRLAB_PRIMITIVE_{name}={}", sources::digest(shared.iter().chain(&files)));
    }
}
