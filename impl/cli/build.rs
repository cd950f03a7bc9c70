//! Tells the program its commit, whether the work tree differed from it, and the compiler.

use std::path::Path;
use std::process::Command;

fn main() {
    let commit = output("git", &["rev-parse", "HEAD"]);
    // A source that git does not know yet is as much a difference as a changed one.
    let sources = ["--", "..", ":(exclude)../target"];
    let dirty = output("git", &[&["status", "--porcelain", "--untracked-files=normal"], &sources[..]].concat());
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
    for source in ["build.rs", "../Cargo.toml", "../ring/src", "../gadget/src", "../lattice/src", "../pir/src", "src"] {
        println!("cargo::rerun-if-changed={source}");
    }
}

/// What a command prints, where it succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}
