//! Tables in files, a folder of them for a database: a server that starts again, or that was killed, makes only those that are missing.
//!
//! A file has a header, which says of what polynomial and layout the table is, and the table's bytes. It gets its name when it is whole.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use ring::Buffer;
use sha2::{Digest, Sha256};

use super::set::Set;
use super::table::{Bytes, Layout, Table};
use crate::core::{Error, Result};

const MAGIC: &[u8; 8] = b"PIRDEPT1";
/// Bytes of a header: the format, eight numbers of 32 bits, a digest, two checksums, and room.
const HEADER: usize = 128;
/// What the numbers of a header say.
const FIELDS: [&str; 6] =
    ["variables", "degree", "plaintext modulus", "prime", "bytes of a value", "bytes of a record"];

/// Takes the next bytes of a table.
pub type Pass<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// The files of a server's tables.
pub struct Files {
    folder: PathBuf,
    set: [u32; 3],
    /// SHA-256 of the coefficients of all columns, which the database determines.
    polynomials: [u8; 32],
}

fn refuse<T>(path: &Path, problem: &str) -> Result<T> {
    Err(Error::Workload(format!(
        "table file {}: {problem} Delete it, and it is made again, or give another tables.folder.",
        path.display()
    )))
}

fn path_of(folder: &Path, layout: &Layout) -> PathBuf {
    folder.join(format!("table-{}", layout.prime.value()))
}

/// The file of a table that is being written.
fn part_of(path: &Path) -> PathBuf {
    path.with_extension("part")
}

/// Refuses tables that do not fit on the disk, before any is made; makes the folder. Existing files count as made. The space of unfinished
/// files counts as free, because they are overwritten.
pub fn check_room(folder: &Path, layouts: &[Layout]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "making the folder of tables", e))?;
    let missing = layouts.iter().map(|layout| (layout, path_of(folder, layout))).filter(|(_, path)| !path.exists());
    let (needed, unfinished) = missing.fold((0u64, 0u64), |(needed, unfinished), (layout, path)| {
        let part = part_of(&path).metadata().map_or(0, |part| part.len());
        (needed.saturating_add(layout.bytes() + HEADER as u64), unfinished.saturating_add(part))
    });
    room(folder, needed, free(folder)?.saturating_add(unfinished))
}

fn room(folder: &Path, needed: u64, free: u64) -> Result<()> {
    if needed <= free {
        return Ok(());
    }
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    Err(Error::Workload(format!(
        "tables.folder = {}: the tables that are missing there take {:.2} GiB, and its disk has {:.2} GiB free. Give a folder on a larger disk, or \
         tables.disk_mib less where the set allows.",
        folder.display(),
        gib(needed),
        gib(free)
    )))
}

/// Free bytes of the disk of a folder.
#[cfg(unix)]
fn free(folder: &Path) -> Result<u64> {
    let disk = rustix::fs::statvfs(folder).map_err(|e| Error::io(folder, "asking for the free disk", e.into()))?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Other systems say it when the disk is full.
#[cfg(not(unix))]
fn free(_: &Path) -> Result<u64> {
    Ok(u64::MAX)
}

impl Files {
    /// The files of the polynomials of a set.
    pub fn new(folder: &Path, set: &Set, polynomials: &[Vec<i64>]) -> Self {
        let mut hash = Sha256::new();
        let coefficients = polynomials.iter().flatten();
        coefficients.for_each(|coefficient| hash.update(coefficient.to_le_bytes()));
        let set = [set.variables as u32, set.degree as u32, set.ring.plaintext_modulus as u32];
        Self { folder: folder.into(), set, polynomials: hash.finalize().into() }
    }

    /// Removes the files of some tables, because the database changed.
    pub fn remove(&self, layouts: &[Layout]) -> Result<()> {
        for path in layouts.iter().map(|layout| path_of(&self.folder, layout)).filter(|path| path.exists()) {
            std::fs::remove_file(&path).map_err(|e| Error::io(&path, "removing", e))?;
        }
        Ok(())
    }

    fn numbers(&self, layout: &Layout) -> [u32; 6] {
        let [variables, degree, t] = self.set;
        [variables, degree, t, layout.prime.value(), layout.value as u32, layout.stride as u32]
    }

    fn header(&self, layout: &Layout, checksum: u32) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(MAGIC);
        let numbers = self.numbers(layout);
        header[8..32].chunks_exact_mut(4).zip(numbers).for_each(|(out, x)| out.copy_from_slice(&x.to_le_bytes()));
        header[32..64].copy_from_slice(&self.polynomials);
        header[64..68].copy_from_slice(&checksum.to_le_bytes());
        let own = crc32fast::hash(&header[..68]);
        header[68..72].copy_from_slice(&own.to_le_bytes());
        header
    }

    /// The table in its file, which is made first if it does not exist.
    pub fn take(&self, layout: &Layout, make: impl FnOnce(Pass) -> Result<()>) -> Result<Table> {
        if let Some(table) = self.open(layout)? {
            return Ok(table);
        }
        self.write(layout, make)?;
        let path = path_of(&self.folder, layout);
        self.open(layout)?.map_or_else(|| refuse(&path, "it vanished."), Ok)
    }

    /// Writes the table that `make` passes on part by part.
    fn write(&self, layout: &Layout, make: impl FnOnce(Pass) -> Result<()>) -> Result<()> {
        let path = path_of(&self.folder, layout);
        let (part, mut checksum) = (part_of(&path), crc32fast::Hasher::new());
        let io = |e| Error::io(&part, "writing", e);
        let mut file = File::create(&part).map_err(io)?;
        file.write_all(&[0; HEADER]).map_err(io)?;
        make(&mut |bytes| {
            checksum.update(bytes);
            file.write_all(bytes).map_err(io)
        })?;
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        file.write_all(&self.header(layout, checksum.finalize())).map_err(io)?;
        file.sync_all().map_err(io)?;
        std::fs::rename(&part, &path).map_err(io)
    }

    /// The table in its file; None if there is no file.
    ///
    /// # Errors
    /// A file that is truncated or corrupted, or of another layout or database.
    fn open(&self, layout: &Layout) -> Result<Option<Table>> {
        let path = path_of(&self.folder, layout);
        if !path.exists() {
            return Ok(None);
        }
        let io = |e| Error::io(&path, "reading", e);
        let mut file = File::open(&path).map_err(io)?;
        let (length, expected) = (file.metadata().map_err(io)?.len(), layout.bytes() + HEADER as u64);
        let mut header = [0; HEADER];
        if length < HEADER as u64 {
            return refuse(&path, &format!("it is truncated: {length} bytes, and a header has {HEADER}."));
        }
        file.read_exact(&mut header).map_err(io)?;
        self.check_header(&path, layout, &header)?;
        if length != expected {
            let how = if length < expected { "truncated" } else { "too long" };
            return refuse(&path, &format!("it is {how}: {length} bytes instead of {expected}."));
        }
        let bytes = if layout.mapped {
            // SAFETY: the map is read only. A process that truncates the file meanwhile makes reads fault, as with any map; docs/depir.md says so.
            Bytes::Mapped(unsafe { Mmap::map(&file) }.map_err(|e| Error::io(&path, "mapping", e))?, HEADER)
        } else {
            let mut buffer = Buffer::zeroed((layout.bytes() / 4) as usize)?;
            file.read_exact(&mut buffer.bytes_mut()[..layout.bytes() as usize]).map_err(io)?;
            Bytes::Memory(buffer)
        };
        let table = Table::new(*layout, bytes);
        let checksum = crc32fast::hash(&table.bytes()[..layout.bytes() as usize]);
        if self.header(layout, checksum) != header {
            return refuse(&path, "it is corrupted: its bytes do not have the checksum of its header.");
        }
        Ok(Some(table))
    }

    fn check_header(&self, path: &Path, layout: &Layout, header: &[u8; HEADER]) -> Result<()> {
        if &header[..8] != MAGIC {
            return refuse(path, "it is not a table file of this version.");
        }
        if header[68..72] != crc32fast::hash(&header[..68]).to_le_bytes() {
            return refuse(path, "it is corrupted: its header does not have its checksum.");
        }
        let found = header[8..32].chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        for ((name, wanted), found) in FIELDS.iter().zip(self.numbers(layout)).zip(found) {
            if wanted != found {
                return refuse(path, &format!("it is of another plan: {name} {found} instead of {wanted}."));
            }
        }
        if header[32..64] != self.polynomials {
            return refuse(path, "it is of another database: its polynomials are others than those of these records.");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_refused_with_both_sizes() {
        let said = room(Path::new("tables"), 3 << 30, 1 << 30).unwrap_err().to_string();
        assert!(said.contains("tables.folder") && said.contains("3.00 GiB") && said.contains("1.00 GiB"), "{said}");
        room(Path::new("tables"), 3 << 30, 3 << 30).unwrap();
        assert!(free(Path::new(".")).unwrap() > 0);
    }
}
