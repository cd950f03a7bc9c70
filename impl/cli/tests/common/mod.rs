//! What the integration tests share: a folder of its own with small parameter sets, and the program.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// A small SimplePIR set: fast and insecure.
pub const SIMPLE: &str = r#"
protocol = "simplepir"
title = "small"
[source]
kind = "repaired"
[lwe]
dimension = 64
modulus = "2^32"
secret = { kind = "uniform" }
error = { stddev = 6.4 }
[[plain_moduli]]
log2_samples = 13
modulus = 991
[[plain_moduli]]
log2_samples = 16
modulus = 495
[[plain_moduli]]
log2_samples = 24
modulus = 16
"#;

/// A small DoublePIR set.
pub fn double() -> String {
    SIMPLE.replace("\"simplepir\"", "\"doublepir\"").replace("title", "min_columns = 4096\nhint_copies = 1\ntitle")
}

/// What a finished program said.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Refused with code 2 in one paragraph that holds all of `parts`.
    pub fn is_refused(&self, parts: &[&str]) {
        assert_eq!(self.code, 2, "{} {}", self.out, self.err);
        assert!(self.err.starts_with("pirlab: ") && !self.err.contains("panicked"), "{}", self.err);
        assert!(!self.err.trim_end().contains("\n\n"), "more than a paragraph: {}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "`{part}` is not in: {}", self.err);
        }
    }
}

/// The program and whether it is a debug build: the one that `PIRLAB_BINARY` names, as `make test` does with the release that it has
/// built, which runs full-size sets several times as fast; else that of the tests' own profile.
pub fn program() -> (PathBuf, bool) {
    let own = || (env!("CARGO_BIN_EXE_pirlab").into(), cfg!(debug_assertions));
    std::env::var_os("PIRLAB_BINARY").map_or_else(own, |release| (release.into(), false))
}

/// A folder with parameter sets, emptied at the end.
pub struct Lab {
    pub folder: tempfile::TempDir,
}

impl Lab {
    pub fn new() -> Self {
        let lab = Self { folder: tempfile::tempdir().unwrap() };
        lab.put("params/simplepir/small.toml", SIMPLE);
        lab.put("params/doublepir/small.toml", double());
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program().0);
        command.args(arguments).current_dir(self.folder.path()).env("PIRLAB_ALLOW_DEBUG", "1").stdin(Stdio::null());
        command
    }

    pub fn pirlab(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments).output().unwrap())
    }

    /// `pirlab run` without probing.
    pub fn run(&self, arguments: &[&str]) -> Said {
        self.pirlab(&[&["run", "--no-probe"], arguments].concat())
    }

    pub fn with_input(&self, arguments: &[&str], input: &str) -> Said {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        said(child.wait_with_output().unwrap())
    }

    pub fn json(&self, name: &str) -> Value {
        read_json(&self.path(name))
    }

    /// Every file below the folder that is neither a parameter file nor among `known`.
    pub fn other_files(&self, known: &[&str]) -> Vec<PathBuf> {
        let mut folders = vec![self.folder.path().to_path_buf()];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.starts_with(self.path("params")) && !known.iter().any(|name| self.path(name) == path) {
                    files.push(path);
                }
            }
        }
        files
    }
}

/// The file of a group of rows.
pub fn group(rows: &[Value]) -> String {
    json!({"experiment": "test/group", "group": "all", "rows": rows}).to_string()
}

pub fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

pub fn read_json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}
