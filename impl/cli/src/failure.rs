//! Failures of commands, which print one paragraph on standard error and end with an exit code.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use pir::core::error::Error;

/// Why a command ends early.
#[derive(Debug)]
pub enum Failure {
    /// Input that cannot be used: file, key, value and remedy. Exit code 2.
    Input(String),
    /// A run that went wrong. Exit code 1.
    Result(String),
    /// Everything was printed already; exit with this code.
    Printed(u8),
    /// The reader of standard output has gone.
    Closed,
}

/// The result of a command.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// Prints the paragraph and returns the exit code.
    pub fn report(self) -> ExitCode {
        let (text, code) = match self {
            Failure::Input(text) => (text, 2),
            Failure::Result(text) => (text, 1),
            Failure::Printed(code) => return ExitCode::from(code),
            Failure::Closed => return ExitCode::SUCCESS,
        };
        // If standard error is closed, the exit code must suffice.
        let _ = writeln!(std::io::stderr(), "pirlab: {}", shortened(text));
        ExitCode::from(code)
    }

    pub fn text(&self) -> String {
        match self {
            Failure::Input(text) | Failure::Result(text) => text.clone(),
            Failure::Printed(_) => "ended early".into(),
            Failure::Closed => "standard output was closed".into(),
        }
    }

    /// A file that could not be read, written or created.
    pub fn io(path: &Path, action: &'static str, source: std::io::Error) -> Self {
        Error::io(path, action, source).into()
    }
}

/// Letters of a message's beginning and end that are kept: a value that it quotes may be as long as a file.
const KEPT: (usize, usize) = (1500, 500);

/// A message without its middle, if it is very long.
pub fn shortened(text: String) -> String {
    let letters = text.chars().count();
    if letters <= KEPT.0 + KEPT.1 {
        return text;
    }
    let part = |from, count| text.chars().skip(from).take(count).collect::<String>();
    format!("{} ... ({letters} letters) ... {}", part(0, KEPT.0), part(letters - KEPT.1, KEPT.1))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Input(match &error {
            // The standard library's word for a text file that is not UTF-8.
            Error::Io { path, action, source } if source.kind() == ErrorKind::InvalidData => format!(
                "{path}: {action} failed: it is not UTF-8 text. Save the file as UTF-8 (not as UTF-16 or Latin-1)."
            ),
            _ => error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests;
