//! Tells the program its commit, whether the work tree differed from it, the compiler, and the hash of the sources that each
//! primitive's numbers depend on.

use std::path::Path;
use std::process::Command;

#[path = "../build/sources.rs"]
mod sources;

use sources::Sources;

fn main() {
    let mut sources = Sources::new("..");
    hash_primitives(&mut sources);
    hash_calibration(&mut sources);
    let commit = output("git", &["rev-parse", "HEAD"]);
    // A source that git does not know yet is as much a difference as a changed one.
    let places = ["--", "..", ":(exclude)../target"];
    let dirty = output("git", &[&["status", "--porcelain", "--untracked-files=normal"], &places[..]].concat());
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let rustc = output(&compiler, &["--version"]).unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=PIRLAB_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=PIRLAB_DIRTY={}", dirty.is_some_and(|list| !list.is_empty()));
    println!("cargo::rustc-env=PIRLAB_RUSTC={rustc}");
    // The commit changes with HEAD and the branches (which may lie elsewhere, in a linked work tree); the flag is taken anew
    // whenever a source changes.
    let folders = [("--absolute-git-dir", &["HEAD"][..]), ("--git-common-dir", &["refs", "packed-refs"])];
    for (folder, files) in folders {
        let Some(git) = output("git", &["rev-parse", folder]) else { continue };
        for file in files.iter().map(|file| Path::new(&git).join(file)).filter(|file| file.exists()) {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    for source in
        ["build.rs", "../build", "../Cargo.toml", "../ring/src", "../gadget/src", "../lattice/src", "../pir/src", "src"]
    {
        println!("cargo::rerun-if-changed={source}");
    }
}

/// What a command prints, where it succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}

/// Unit costs depend on what is timed and on how it is.
fn hash_calibration(sources: &mut Sources) {
    println!("cargo::rustc-env=PIRLAB_CALIBRATION={}", sources.digest(&["../cli/src/command/calibrate".into()]));
}

/// A primitive's numbers depend on what its own file or folder below src/primitive/kind imports. The hash goes by the name of that file.
fn hash_primitives(sources: &mut Sources) {
    let kinds = std::fs::read_dir("../cli/src/primitive/kind").into_iter().flatten().filter_map(Result::ok);
    for kind in kinds.map(|entry| entry.path()).filter(|path| !path.ends_with("mod.rs")) {
        let name = kind.file_stem().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
        println!("cargo::rustc-env=PIRLAB_PRIMITIVE_{name}={}", sources.digest(&[kind]));
    }
}
