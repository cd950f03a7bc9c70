//! How a command ends when it does not end well: one paragraph on standard error and an exit code.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Why a command ends early.
#[derive(Debug)]
pub enum Failure {
    /// Input that cannot be used: file, key, value and remedy. Exit code 2.
    Input(String),
    /// A run that went wrong. Exit code 1.
    Result(String),
    /// Everything was said already; exit with this code.
    Printed(u8),
    /// Nobody reads standard output any more.
    Closed,
}

/// What a command returns.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// Prints the paragraph and gives the exit code.
    pub fn report(self) -> ExitCode {
        let (text, code) = match self {
            Failure::Input(text) => (text, 2),
            Failure::Result(text) => (text, 1),
            Failure::Printed(code) => return ExitCode::from(code),
            Failure::Closed => return ExitCode::SUCCESS,
        };
        // Where standard error is closed, the exit code has to do.
        let _ = writeln!(std::io::stderr(), "pirlab: {text}");
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
        pir::core::error::Error::io(path, action, source).into()
    }
}

impl From<pir::core::error::Error> for Failure {
    fn from(error: pir::core::error::Error) -> Self {
        Failure::Input(error.to_string())
    }
}

#[cfg(test)]
mod tests;
