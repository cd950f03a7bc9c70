//! Which commit a program is built from, and where nobody knows it, why.

use std::path::Path;
use std::process::Command;

/// The file that `git archive` fills with its commit, from the top of the repository.
pub const ARCHIVED: &str = "impl/build/commit.txt";

/// What stands for a commit that is not known.
pub const UNKNOWN: &str = "unknown";

/// What is known of the sources' commit.
pub struct Provenance {
    /// Hexadecimal, or [`UNKNOWN`].
    pub commit: String,
    /// Whether the work tree differs from it.
    pub dirty: bool,
    /// Why the commit or the changes are not known; empty where they are.
    pub remark: String,
}

impl Provenance {
    /// Of the sources whose repository's top folder is `root`; git gets further variables of the environment.
    pub fn of(root: &Path, environment: &[(&str, &str)]) -> Self {
        // An archive has no repository: one around it, or made of it later, is another.
        if let Some(commit) = archived(root) {
            let remark = "from an archive of that commit, of which nobody knows whether it was changed".into();
            return Self { commit, dirty: false, remark };
        }
        match checked_out(root, environment) {
            Ok((commit, dirty)) => Self { commit, dirty, remark: String::new() },
            Err(remark) => Self { commit: UNKNOWN.into(), dirty: false, remark },
        }
    }
}

/// The commit of the archive that the sources came in.
fn archived(root: &Path) -> Option<String> {
    let text = std::fs::read_to_string(root.join(ARCHIVED)).ok()?;
    let commit = text.trim();
    (commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| commit.to_string())
}

/// The commit of the repository whose top folder is `root`, and whether the sources differ from it.
fn checked_out(root: &Path, environment: &[(&str, &str)]) -> Result<(String, bool), String> {
    let top = git(root, environment, &["rev-parse", "--show-toplevel"])?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if real(Path::new(&top)) != real(root) {
        return Err(format!("the sources lie in the git repository {top}, whose commits are not theirs"));
    }
    let commit = git(root, environment, &["rev-parse", "HEAD"])?;
    // A source that git does not know yet is as much a difference as a changed one.
    let sources = ["--", "impl", ":(exclude)impl/target"];
    let changed = [&["status", "--porcelain", "--untracked-files=normal"], &sources[..]].concat();
    Ok((commit, !git(root, environment, &changed)?.is_empty()))
}

/// What git prints, or the first line of why it does not.
pub fn git(root: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    // These name another repository where git runs a hook.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    command.arg("-C").arg(root).args(arguments).envs(environment.iter().copied()).env("LC_ALL", "C");
    let output = command.output().map_err(|error| format!("git cannot be run: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let said = text(&output.stderr);
    let line = said.lines().next().unwrap_or("it does not say why").trim_start_matches("fatal: ");
    let remedy = if line.contains("dubious ownership") {
        "; allow it with `git config --global --add safe.directory FOLDER`, then `touch impl/cli/build.rs` and build again"
    } else {
        ""
    };
    Err(format!("git refuses: {line}{remedy}"))
}
