//! Writes results: a regular file appears whole or not at all (it is written beside its place, synced and renamed); other outputs are written into.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Result as IoResult, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use pir::core::set_file::ParameterFile;

use crate::failure::{Failure, Outcome};
use crate::output::print;

/// The name that stands for standard output.
const STANDARD: &str = "-";
/// Most links that are followed to an output, as in Linux.
const MOST_LINKS: usize = 40;

/// A file that a command reads, and its role.
pub struct Input {
    /// Its name in a sentence: `the database`.
    pub role: &'static str,
    /// The file.
    pub path: PathBuf,
}

impl Input {
    /// The input in that role.
    pub fn new(role: &'static str, path: &Path) -> Self {
        Self { role, path: path.to_path_buf() }
    }
}

/// The real destination of an output.
enum Place {
    /// Standard output, by its name or by one of its files.
    Standard,
    /// A device or a pipe.
    Special(PathBuf),
    /// A regular file, which may not exist yet; not a link.
    File(PathBuf),
}

fn refuse(path: &Path, problem: &str) -> Failure {
    Failure::Input(format!(
        "output {}: it cannot be written: {problem}. Give --out (in a group: the key `out`) a file in a folder you may write to, or - for \
         standard output.",
        path.display()
    ))
}

/// The identity of a file, whatever its names.
fn identity(facts: &Metadata) -> (u64, u64) {
    (facts.dev(), facts.ino())
}

/// The facts of standard output.
fn standard() -> Option<Metadata> {
    let descriptor = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
    File::from(descriptor).metadata().ok()
}

/// Whether an output is standard output: `-`, or a name of the file, pipe or device that it is.
pub fn is_standard(path: &Path) -> bool {
    let same = || {
        let (there, standard) = (fs::metadata(path).ok()?, standard()?);
        Some(identity(&there) == identity(&standard))
    };
    path == Path::new(STANDARD) || same().unwrap_or(false)
}

/// The kind of a destination that is neither a regular file nor a folder and cannot be written to.
fn unwritable(facts: &Metadata) -> Option<&'static str> {
    let kind = facts.file_type();
    if kind.is_block_device() {
        return Some("it is a block device: a result would destroy what is on it");
    }
    kind.is_socket().then_some("it is a socket")
}

/// Follows an output to its destination.
fn place(path: &Path) -> Outcome<Place> {
    if is_standard(path) {
        return Ok(Place::Standard);
    }
    let said = |e: std::io::Error| refuse(path, &e.to_string());
    match fs::metadata(path) {
        Ok(facts) if facts.is_dir() => Err(refuse(path, "it is a folder")),
        Ok(facts) if facts.is_file() => fs::canonicalize(path).map(Place::File).map_err(said),
        Ok(facts) => {
            unwritable(&facts).map_or_else(|| Ok(Place::Special(path.to_path_buf())), |p| Err(refuse(path, p)))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => linked(path).map(Place::File),
        Err(error) => Err(said(error)),
    }
}

/// The file that does not exist yet, behind the links that lead to it.
fn linked(path: &Path) -> Outcome<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if target.file_name().is_none() {
            return Err(refuse(path, "it names no file"));
        }
        match fs::read_link(&target) {
            Ok(next) => target = folder(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(refuse(path, "it is a link that leads through too many others"))
}

/// The folder that a file lies in.
fn folder(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The files below a folder whose names have this ending, in order.
pub fn files_below(root: &Path, ending: &str, action: &'static str) -> Outcome<Vec<PathBuf>> {
    let unreadable = |e| Failure::io(root, action, e);
    let mut files = Vec::new();
    for entry in fs::read_dir(root).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            files.extend(files_below(&path, ending, action)?);
        } else if path.extension().is_some_and(|end| end == ending) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A new file beside `file`, with an unpredictable name, which is removed when dropped.
fn beside(file: &Path) -> IoResult<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pirlab-").suffix(".part").permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder(file))
}

/// Checks, before any work, that each output can be written and is neither an input nor a parameter set nor another output; makes their
/// folders. A failure comes with the index of its output.
pub fn check_all(outputs: &[&Path], inputs: &[Input]) -> Result<(), (usize, Failure)> {
    let mut taken: Vec<PathBuf> = Vec::new();
    for (i, path) in outputs.iter().enumerate() {
        let file = check(path, inputs).map_err(|failure| (i, failure))?;
        if let Some(twin) = file.as_ref().and_then(|file| taken.iter().position(|other| other == file)) {
            let twin = outputs[twin].display();
            return Err((i, refuse(path, &format!("it is the same file as the output {twin}"))));
        }
        taken.push(file.unwrap_or_default());
    }
    Ok(())
}

/// Checks one output, and returns the canonical name of its regular file.
pub fn check(path: &Path, inputs: &[Input]) -> Outcome<Option<PathBuf>> {
    let place = place(path)?;
    let facts = if matches!(place, Place::Standard) { standard() } else { fs::metadata(path).ok() };
    let own = facts.filter(Metadata::is_file).map(|facts| identity(&facts));
    let same = |input: &&Input| own.is_some() && own == fs::metadata(&input.path).ok().map(|facts| identity(&facts));
    if let Some(Input { role, path: read }) = inputs.iter().find(same) {
        let problem = format!("it is {role} {}, which would be destroyed", read.display());
        return Err(refuse(path, &problem));
    }
    let Place::File(file) = place else { return Ok(None) };
    // A set that another one extends is read, though no argument names it.
    if [path, file.as_path()].into_iter().any(|set| ParameterFile::read(set).is_ok()) {
        return Err(refuse(path, "it is a parameter set, which would be destroyed"));
    }
    let named = || -> IoResult<PathBuf> {
        if file.exists() {
            OpenOptions::new().write(true).open(&file)?;
        }
        fs::create_dir_all(folder(&file))?;
        beside(&file)?;
        Ok(fs::canonicalize(folder(&file))?.join(file.file_name().unwrap_or_default()))
    };
    named().map(Some).map_err(|e| refuse(path, &e.to_string()))
}

/// Writes an output: atomically to a regular file or the target of a link, with its old permissions; directly into a device or a pipe. If
/// that fails, no part of a regular file is left.
pub fn write(path: &Path, text: &str) -> Outcome<()> {
    let written = match place(path)? {
        Place::Standard => return print(text),
        Place::Special(path) => {
            OpenOptions::new().write(true).open(path).and_then(|mut to| to.write_all(text.as_bytes()))
        }
        Place::File(file) => replace(&file, text),
    };
    written.map_err(|e| refuse(path, &e.to_string()))
}

fn replace(file: &Path, text: &str) -> IoResult<()> {
    fs::create_dir_all(folder(file))?;
    let mut part = beside(file)?;
    part.write_all(text.as_bytes())?;
    if let Ok(facts) = fs::metadata(file) {
        part.as_file().set_permissions(facts.permissions())?;
    }
    part.as_file().sync_all()?;
    part.persist(file)?;
    // Makes the new name survive a power failure, if folders can be synced.
    if let Ok(folder) = File::open(folder(file)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
