//! The commit that a program is built from, or why it is unknown.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The file that `git archive` fills with its commit, from the top of the repository.
pub const ARCHIVED: &str = "impl/build/commit.txt";

/// The value for an unknown commit.
pub const UNKNOWN: &str = "unknown";

/// The sources' commit, as far as it is known.
pub struct Provenance {
    /// Hexadecimal, or [`UNKNOWN`].
    pub commit: String,
    /// Whether the work tree differs from it.
    pub dirty: bool,
    /// Why the commit or the changes are unknown; empty if they are known.
    pub remark: Remark,
}

/// A sentence in two forms: for records, which name no folder of the machine, and for the person who builds.
#[derive(Clone, Debug, Default)]
pub struct Remark {
    /// Folders appear with their last part only.
    pub recorded: String,
    /// Folders appear with whole paths.
    pub whole: String,
}

impl Remark {
    /// A sentence that names no folder.
    fn plain(text: &str) -> Self {
        Self { recorded: text.into(), whole: text.into() }
    }
}

impl Provenance {
    /// The commit of sources whose repository's top folder is `root`; git gets further variables of the environment.
    pub fn of(root: &Path, environment: &[(&str, &str)]) -> Self {
        // An archive has no repository: one around it, or made of it later, does not count.
        if let Some(commit) = archived(root) {
            let remark = Remark::plain("from an archive of that commit, of which nobody knows whether it was changed");
            return Self { commit, dirty: false, remark };
        }
        match checked_out(root, environment) {
            Ok((commit, dirty)) => Self { commit, dirty, remark: Remark::default() },
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
fn checked_out(root: &Path, environment: &[(&str, &str)]) -> Result<(String, bool), Remark> {
    let top = git(root, environment, &["rev-parse", "--show-toplevel"])?;
    if real(Path::new(&top)) != real(root) {
        let sentence =
            |name: &str| format!("the sources lie in the git repository {name}, whose commits are not theirs");
        return Err(Remark { recorded: sentence(last_part(&top)), whole: sentence(&top) });
    }
    let commit = git(root, environment, &["rev-parse", "HEAD"])?;
    // A source that git does not track yet is a difference too.
    let sources = ["--", "impl", ":(exclude)impl/target"];
    let changed = [&["status", "--porcelain", "--untracked-files=normal"], &sources[..]].concat();
    Ok((commit, !git(root, environment, &changed)?.is_empty()))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// The last part of a path, or the whole path if it has none.
fn last_part(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

/// Git's message about the repository in `root`, with all paths cut to their last parts; paths in quotes may have spaces.
fn without_folders(line: &str, root: &Path) -> String {
    let root = real(root).display().to_string();
    let line = line.replace(&root, last_part(&root));
    let word = |word: &str| {
        let last = word.rsplit('/').next().unwrap_or(word);
        if last.contains(char::is_alphanumeric) { last.to_string() } else { word.to_string() }
    };
    let parts = line.split('\'').enumerate().map(|(place, part)| {
        if place % 2 == 1 {
            last_part(part).to_string()
        } else {
            part.split(' ').map(word).collect::<Vec<_>>().join(" ")
        }
    });
    parts.collect::<Vec<_>>().join("'")
}

/// Git's output, or the first line of its error.
pub fn git(root: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> Result<String, Remark> {
    let mut command = Command::new("git");
    // In a git hook these variables name another repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    command.arg("-C").arg(root).args(arguments).envs(environment.iter().copied()).env("LC_ALL", "C");
    let output = command.output().map_err(|error| Remark::plain(&format!("git cannot be run: {error}")))?;
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
    let sentence = |line: &str| format!("git refuses: {line}{remedy}");
    Err(Remark { recorded: sentence(&without_folders(line, root)), whole: sentence(line) })
}
