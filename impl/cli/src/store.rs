//! Files that are whole or not there: written beside their place, synced, renamed.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};

/// The folder of `path`, and a hidden name in it that is not used by others.
fn beside(path: &Path) -> Outcome<(PathBuf, PathBuf)> {
    let Some(name) = path.file_name() else {
        return Err(Failure::Input(format!("output {}: it names no file. Give --out a file name.", path.display())));
    };
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let part = folder.join(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
    Ok((folder, part))
}

fn refuse(path: &Path, problem: &str) -> Failure {
    Failure::Input(format!(
        "output {}: it cannot be written: {problem}. Give --out (in a group: the key `out`) a file in a folder you may write to.",
        path.display()
    ))
}

fn create(part: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(part)
}

/// Checks, before any work, that a file could be written there; makes its folder.
///
/// # Errors
/// It could not.
pub fn check_writable(path: &Path) -> Outcome<()> {
    let (folder, part) = beside(path)?;
    if path.is_dir() {
        return Err(refuse(path, "it is a folder"));
    }
    fs::create_dir_all(&folder).map_err(|e| refuse(path, &e.to_string()))?;
    create(&part).map_err(|e| refuse(path, &e.to_string()))?;
    fs::remove_file(&part).map_err(|e| refuse(path, &e.to_string()))
}

/// Writes a file atomically.
///
/// # Errors
/// It cannot be written; nothing of it is left then.
pub fn write(path: &Path, text: &str) -> Outcome<()> {
    let (folder, part) = beside(path)?;
    let written = || -> std::io::Result<()> {
        fs::create_dir_all(&folder)?;
        let mut file = create(&part)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&part, path)?;
        // Makes the new name last through a power failure, where folders can be synced.
        if let Ok(folder) = File::open(&folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    };
    written().map_err(|e| {
        let _ = fs::remove_file(&part);
        refuse(path, &e.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_whole_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/r.json");
        check_writable(&path).unwrap();
        assert!(!path.exists());
        write(&path, "one").unwrap();
        write(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(check_writable(folder.path()).is_err());
        assert!(check_writable(&path.join("below a file")).is_err());
        assert!(write(&path.join("below a file"), "x").is_err());
    }
}
