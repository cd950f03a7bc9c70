//! Hands the program its commit, whether the work tree differed from it, the compiler, and the hash of the sources that unit costs depend
//! on.

use std::path::Path;
use std::process::Command;

#[path = "../build/provenance.rs"]
mod provenance;
#[path = "../build/sources.rs"]
mod sources;

use provenance::{Provenance, git};
use sources::Sources;

/// The top of the repository, as seen from this crate's folder.
const ROOT: &str = "../..";

fn main() {
    // Unit costs depend on what is timed and on how it is.
    let calibration = Sources::new("..").digest(&["../cli/src/command/calibrate".into()]);
    println!("cargo::rustc-env=PIRLAB_CALIBRATION={calibration}");
    let root = Path::new(ROOT);
    let Provenance { commit, dirty, remark } = Provenance::of(root, &[]);
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(compiler).arg("--version").output().ok().filter(|output| output.status.success());
    let rustc = version.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=PIRLAB_COMMIT={commit}");
    println!("cargo::rustc-env=PIRLAB_DIRTY={dirty}");
    println!("cargo::rustc-env=PIRLAB_COMMIT_REMARK={}", remark.recorded);
    if commit == provenance::UNKNOWN {
        println!("cargo::warning=the commit is unknown, and records will say so: {}", remark.whole);
    }
    println!("cargo::rustc-env=PIRLAB_RUSTC={}", rustc.trim());
    // The commit changes with HEAD and the branches (which may lie elsewhere, in a linked work tree); the flag is determined
    // again whenever a source changes.
    let folders = [("--absolute-git-dir", &["HEAD"][..]), ("--git-common-dir", &["refs", "packed-refs"])];
    for (folder, files) in folders.into_iter().filter(|_| remark.whole.is_empty()) {
        let Ok(git) = git(root, &[], &["rev-parse", folder]) else { continue };
        for file in files.iter().map(|file| root.join(&git).join(file)).filter(|file| file.exists()) {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    let crates = ["../ring/src", "../gadget/src", "../lattice/src", "../bfv/src", "../pir/src", "../bench/src", "src"];
    for source in ["build.rs", "../build", "../Cargo.toml"].into_iter().chain(crates) {
        println!("cargo::rerun-if-changed={source}");
    }
}
