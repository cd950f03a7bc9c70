//! The one error type of this crate. Every message names what is wrong, its value and the remedy.

use std::path::Path;

/// What can go wrong between a parameter file and a record.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read, written or mapped.
    #[error("{path}: {action} failed: {source}. Check that the path exists and that its permissions allow it.")]
    Io {
        /// The file.
        path: String,
        /// What failed, as a noun: "reading", "writing".
        action: &'static str,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// A parameter file does not parse or a value is out of its range.
    #[error("parameter file {file}: {problem}")]
    Parameters {
        /// The file.
        file: String,
        /// Key, value, bound and remedy.
        problem: String,
    },
    /// A value of the parameter set is out of range (before the file's name is known).
    #[error("key `{key}`: {problem}")]
    Value {
        /// The key, dotted from the top of the file.
        key: String,
        /// Value, bound and remedy.
        problem: String,
    },
    /// Records, record bits, queries or the database file do not fit together, the parameter set or this machine.
    #[error("{0}")]
    Workload(String),
    /// A message is truncated, corrupted, or not the one expected.
    #[error("message `{message}`: {problem}")]
    Message {
        /// Name of the message.
        message: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// An answer came as it should, and yet the client cannot tell a record from it. Its request is closed.
    #[error("record {index} cannot be had: {problem}")]
    Record {
        /// The record.
        index: u64,
        /// Why, and the remedy.
        problem: String,
    },
}

/// An error of the layers below: missing memory, an unsupported kernel path, or a defect of this program.
macro_rules! from_below {
    ($($error:ty),*) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Error::Workload(error.to_string())
            }
        }
    )*};
}
from_below!(
    lattice::LatticeError,
    lattice::lwe::LweError,
    lattice::wire::WireError,
    bfv::BfvError,
    ring::KernelError,
    ring::MatrixError,
    ring::matrix::column::ResidueVectorError,
    ring::ModulusError,
    ring::PolyMatrixError,
    ring::ProductError,
    ring::RingError,
    ring::gaussian::StdDevError,
    ring::WordsError,
    ring::poly::AutomorphismError
);

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An [`Error::Io`] about `path`.
    pub fn io(path: &Path, action: &'static str, source: std::io::Error) -> Self {
        Error::Io { path: path.display().to_string(), action, source }
    }

    /// An [`Error::Value`] about `key`.
    pub fn value(key: &str, problem: impl Into<String>) -> Self {
        Error::Value { key: key.into(), problem: problem.into() }
    }

    /// An [`Error::Message`] about the message `name`.
    pub fn message(name: &str, problem: impl Into<String>) -> Self {
        Error::Message { message: name.into(), problem: problem.into() }
    }

    /// An error of a layer below, reported as an error of the message `name`.
    pub fn in_message<E: std::fmt::Display>(name: &str) -> impl Fn(E) -> Self + Copy {
        move |error| Error::message(name, error.to_string())
    }

    /// The error of a protocol that is asked to stream its database but cannot.
    pub fn cannot_stream(protocol: &str) -> Self {
        Error::Workload(format!(
            "{protocol} cannot stream its database: leave out --streamed and give fewer records, or take a machine with more memory."
        ))
    }

    /// The same error with the parameter file's name, where the error is about one of its values.
    pub fn in_file(self, file: &str) -> Self {
        match self {
            Error::Value { .. } => Error::Parameters { file: file.into(), problem: self.to_string() },
            other => other,
        }
    }
}
