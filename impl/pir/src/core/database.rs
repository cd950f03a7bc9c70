//! Databases: records of a fixed number of bits, back to back in one bit string, least significant bit first.
//!
//! Record i is bits [i w, (i+1) w) of that string. A file of byte-sized records is therefore simply their concatenation; records
//! of 7 bits are packed without gaps. A record in memory is ceil(w/8) bytes, its unused high bits zero.

mod keys;

pub use keys::Keys;

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use ring::{Prg, Seed};
use sha2::{Digest, Sha256};

use crate::core::error::{Error, Result};
use crate::core::set_file::hex;
use crate::core::workload::Shape;

/// One record: ceil(record_bits / 8) bytes, unused high bits zero.
pub type Record = Vec<u8>;

enum Source {
    /// The bit string is the output of a PRG: nothing is stored.
    Seeded { prg: Box<Prg>, seed: [u8; 16] },
    /// Read from a file as needed.
    File { file: File, path: PathBuf },
    /// Mapped into memory.
    Mapped { map: Mmap, path: PathBuf },
    /// Every byte is the same.
    Constant(u8),
    /// Records of another database.
    Selected { whole: Database, from: Box<SelectRecord> },
}

/// Maps record i of this database to a record of another one; `None` stands for a record of zeros.
type SelectRecord = dyn Fn(u64) -> Option<u64> + Send + Sync;

/// A database that can be read in any order; changed records are kept aside. Clones share the source.
#[derive(Clone)]
pub struct Database {
    shape: Shape,
    source: Arc<Source>,
    changed: HashMap<u64, Record>,
    keys: Option<(Arc<Keys>, Option<PathBuf>)>,
}

/// What is between a source and the file of its keys.
const KEYS: &str = ",keys=";

impl Database {
    /// The database whose bit string is the stream of the PRG with this seed.
    pub fn seeded(seed: [u8; 16], shape: Shape) -> Self {
        Self::with(shape, Source::Seeded { prg: Box::new(Seed(seed).derive("database").prg()), seed })
    }

    /// Every byte of the bit string is `byte`: all-zero and all-one databases.
    pub fn constant(byte: u8, shape: Shape) -> Self {
        Self::with(shape, Source::Constant(byte))
    }

    /// A database whose record i is record `from(i)` of this one, or zero. A later change of one is not seen in the other.
    pub fn selected(&self, shape: Shape, from: impl Fn(u64) -> Option<u64> + Send + Sync + 'static) -> Self {
        Self::with(shape, Source::Selected { whole: self.clone(), from: Box::new(from) })
    }

    fn with(shape: Shape, source: Source) -> Self {
        Self { shape, source: Arc::new(source), changed: HashMap::new(), keys: None }
    }

    /// The same database, whose records are asked for by these keys, one a record.
    pub fn keyed(mut self, keys: Keys) -> Result<Self> {
        if keys.list().len() as u64 != self.shape.records {
            let problem = format!("{} keys for {} records.", keys.list().len(), self.shape.records);
            return Err(Error::Workload(problem));
        }
        self.keys = Some((Arc::new(keys), None));
        Ok(self)
    }

    /// The keys of its records, if they are asked for by key.
    pub fn keys(&self) -> Option<&Arc<Keys>> {
        self.keys.as_ref().map(|(keys, _)| keys)
    }

    /// What a record is asked for by: its key, or its number.
    pub fn name(&self, index: u64) -> u64 {
        self.keys().and_then(|keys| keys.of(index)).unwrap_or(index)
    }

    /// The number of the record that is asked for by that name; none if no record has that key.
    pub fn find(&self, name: u64) -> Option<u64> {
        self.keys().map_or(Some(name), |keys| keys.find(name))
    }

    /// Opens `seeded:<up to 32 hex digits>`, `constant:<2 hex digits>`, `file:<path>` or `mmap:<path>`, after which may come
    /// `,keys=<path>`.
    pub fn open(source: &str, shape: Shape) -> Result<Self> {
        if let Some((source, path)) = source.split_once(KEYS) {
            let mut database = Self::open(source, shape)?.keyed(Keys::read(Path::new(path), shape.records)?)?;
            database.keys = database.keys.map(|(keys, _)| (keys, Some(path.into())));
            return Ok(database);
        }
        let unknown = |why: &str| {
            Error::Workload(format!(
                "database `{source}`: {why}. Give seeded:<hex seed>, constant:<hex byte>, file:<path> or mmap:<path>."
            ))
        };
        let (kind, rest) = source.split_once(':').ok_or_else(|| unknown("it has no kind before a colon"))?;
        match kind {
            "seeded" => {
                let seed = hex_digits(rest, 32).and_then(|digits| u128::from_str_radix(digits, 16).ok());
                let seed = seed.ok_or_else(|| unknown("the seed is not 1 to 32 hexadecimal digits"))?;
                Ok(Self::seeded(seed.to_be_bytes(), shape))
            }
            "constant" => {
                let byte = hex_digits(rest, 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let byte = byte.ok_or_else(|| unknown("the byte is not one or two hexadecimal digits"))?;
                Ok(Self::constant(byte, shape))
            }
            "file" | "mmap" => Self::from_file(Path::new(rest), kind == "mmap", shape),
            _ => Err(unknown("its kind is unknown")),
        }
    }

    fn from_file(path: &Path, map: bool, shape: Shape) -> Result<Self> {
        let length = file_length(path)?;
        let file = File::open(path).map_err(|e| Error::io(path, "opening the database", e))?;
        let needed = shape.database_bytes();
        if length < needed {
            return Err(Error::Workload(format!(
                "database file {}: {length} bytes, but {} records of {} bits need {needed}. Give a longer file, fewer records or \
                 fewer bits.",
                path.display(),
                shape.records,
                shape.record_bits
            )));
        }
        let path = path.to_path_buf();
        let source = if map {
            // SAFETY: the map is read only. If another process truncates the file meanwhile, reads fault; that cannot be avoided with a map and documented under `mmap:`.
            let map = unsafe { Mmap::map(&file) }.map_err(|e| Error::io(&path, "mapping the database", e))?;
            Source::Mapped { map, path }
        } else {
            Source::File { file, path }
        };
        Ok(Self::with(shape, source))
    }

    /// Number and length of the records.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The source in the form [`Self::open`] takes.
    pub fn source(&self) -> String {
        let keys = self.keys.as_ref().and_then(|(_, path)| path.as_ref());
        self.records_source() + &keys.map_or_else(String::new, |path| format!("{KEYS}{}", path.display()))
    }

    fn records_source(&self) -> String {
        match &*self.source {
            Source::Seeded { seed, .. } => format!("seeded:{}", hex(seed)),
            Source::Constant(byte) => format!("constant:{byte:02x}"),
            Source::File { path, .. } => format!("file:{}", path.display()),
            Source::Mapped { path, .. } => format!("mmap:{}", path.display()),
            Source::Selected { whole, .. } => whole.records_source(),
        }
    }

    /// SHA-256 of the bit string, hexadecimal, if it comes from a file: nothing else tells which records these were.
    pub fn sha256(&self) -> Result<Option<String>> {
        if !matches!(&*self.source, Source::File { .. } | Source::Mapped { .. }) {
            return Ok(None);
        }
        let mut hash = Sha256::new();
        let mut part = vec![0; 1 << 20];
        let total = self.shape.database_bytes();
        for first in (0..total).step_by(part.len()) {
            let bytes = (total - first).min(part.len() as u64) as usize;
            self.read_bytes(first, &mut part[..bytes])?;
            hash.update(&part[..bytes]);
        }
        Ok(Some(hex(&hash.finalize())))
    }

    /// Fills `out` with the bytes of the bit string from byte `first` on; bytes past the last record are zero. Changed
    /// records appear with their old bits.
    pub fn read_bytes(&self, first: u64, out: &mut [u8]) -> Result<()> {
        let total = self.shape.database_bytes();
        let have = total.saturating_sub(first).min(out.len() as u64) as usize;
        let (wanted, past) = out.split_at_mut(have);
        past.fill(0);
        if wanted.is_empty() {
            return Ok(());
        }
        match &*self.source {
            Source::Seeded { prg, .. } => prg.fill_at(first, wanted),
            Source::Constant(byte) => wanted.fill(*byte),
            Source::Mapped { map, .. } => wanted.copy_from_slice(&map[first as usize..first as usize + have]),
            Source::File { file, path } => read_at(file, first, wanted).map_err(|e| Error::io(path, "reading", e))?,
            Source::Selected { whole, from } => self.gather(whole, from, first, wanted)?,
        }
        let last_bits = (self.shape.database_bits() % 8) as u32;
        if last_bits != 0 && first + have as u64 == total {
            wanted[have - 1] &= (1 << last_bits) - 1;
        }
        Ok(())
    }

    /// Bytes of records of another database.
    fn gather(&self, whole: &Self, from: &SelectRecord, first: u64, out: &mut [u8]) -> Result<()> {
        let (width, start) = (self.shape.record_bits, 8 * first);
        let end = (start + 8 * out.len() as u64).min(self.shape.records * width);
        out.fill(0);
        for index in start / width..end.div_ceil(width) {
            let Some(chosen) = from(index) else { continue };
            let record = whole.record(chosen)?;
            let here = (index * width).max(start)..((index + 1) * width).min(end);
            put_bits(&record, here.start - index * width, here.end - here.start, out, here.start - start);
        }
        Ok(())
    }

    /// Fills `out` with `bits` bits from bit `first` on, shifted down to bit 0; the rest of `out` is zero. `out` must hold
    /// `bits` bits; `scratch` is overwritten.
    pub fn read_bits(&self, first: u64, bits: usize, scratch: &mut Vec<u8>, out: &mut [u8]) -> Result<()> {
        let shift = (first % 8) as u32;
        scratch.clear();
        scratch.resize((shift as usize + bits).div_ceil(8), 0);
        self.read_bytes(first / 8, scratch)?;
        copy_bits(scratch, shift, bits, out);
        Ok(())
    }

    /// Record `index`, with its changes.
    pub fn record(&self, index: u64) -> Result<Record> {
        self.shape.check_index(index)?;
        if let Some(record) = self.changed.get(&index) {
            return Ok(record.clone());
        }
        let mut record = vec![0; self.shape.record_bytes()];
        let bits = self.shape.record_bits;
        self.read_bits(index * bits, bits as usize, &mut Vec::new(), &mut record)?;
        Ok(record)
    }

    /// Record `index` with every bit changed.
    pub fn complement(&self, index: u64) -> Result<Record> {
        let mut record = self.record(index)?;
        record.iter_mut().for_each(|byte| *byte = !*byte);
        if let (Some(last), used @ 1..) = (record.last_mut(), self.shape.record_bits % 8) {
            *last &= (1 << used) - 1;
        }
        Ok(record)
    }

    /// Replaces record `index`.
    pub fn change(&mut self, index: u64, record: Record) -> Result<()> {
        check_change(self.shape, index, &record)?;
        self.changed.insert(index, record);
        Ok(())
    }
}

/// The file behind a `file:` or `mmap:` source.
pub fn database_file(source: &str) -> Option<&Path> {
    let source = source.split_once(KEYS).map_or(source, |(source, _)| source);
    source.strip_prefix("file:").or_else(|| source.strip_prefix("mmap:")).map(Path::new)
}

/// Bytes of a database file. Only regular files are opened: opening a pipe could block for ever.
fn file_length(path: &Path) -> Result<u64> {
    let facts = std::fs::metadata(path).map_err(|e| Error::io(path, "opening the database", e))?;
    if facts.is_file() {
        return Ok(facts.len());
    }
    let kind = if facts.is_dir() { "a folder" } else { "a pipe, a socket or a device" };
    Err(Error::Workload(format!(
        "database file {}: it is not a regular file but {kind}, and records are read from any place in it. Copy its bytes into a regular \
         file first.",
        path.display()
    )))
}

/// The number of records of that length in a database file. Padding bits of its last byte do not count as a remainder.
pub fn records_in_file(path: &Path, record_bits: u64) -> Result<u64> {
    // Checks the record.
    Shape::new(1, record_bits)?;
    let length = file_length(path)?;
    let bits = u128::from(length) * 8;
    let (records, rest) = (bits / u128::from(record_bits), bits % u128::from(record_bits));
    let refuse = |problem: String| Err(Error::Workload(format!("database file {}: {problem}", path.display())));
    if length == 0 {
        return refuse("0 bytes hold no record. Give a file with records in it.".into());
    }
    if rest >= 8 {
        let left = if rest % 8 == 0 { format!("{} bytes", rest / 8) } else { format!("{rest} bits") };
        let remedy = if records == 0 { String::new() } else { format!(", or --records {records} to leave these out") };
        return refuse(format!(
            "{length} bytes are {records} x {record_bits} bits, and {left} remain. Give the --record-bits that the file was \
             written with{remedy}."
        ));
    }
    u64::try_from(records).or_else(|_| refuse(format!("{records} records are too many. Give --records.")))
}

/// `text`, if it consists of one to `most` hexadecimal digits.
fn hex_digits(text: &str, most: usize) -> Option<&str> {
    let fits = (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then_some(text)
}

/// Checks that `record` can replace record `index`: it has that length, and no bits beyond it.
pub fn check_change(shape: Shape, index: u64, record: &[u8]) -> Result<()> {
    shape.check_index(index)?;
    let spare = (8 * shape.record_bytes() as u64 - shape.record_bits) as u32;
    if record.len() != shape.record_bytes() || record.last().is_some_and(|&last| last.leading_zeros() < spare) {
        return Err(Error::Workload(format!(
            "update of record {index}: {} bytes given; a record has {} bits in {} bytes with its unused high bits zero.",
            record.len(),
            shape.record_bits,
            shape.record_bytes()
        )));
    }
    Ok(())
}

/// Copies `bits` bits of `from`, starting at bit `shift` (below 8), to bit 0 of `to`; the rest of `to` becomes zero.
pub fn copy_bits(from: &[u8], shift: u32, bits: usize, to: &mut [u8]) {
    let bytes = bits.div_ceil(8);
    if shift == 0 {
        to[..bytes].copy_from_slice(&from[..bytes]);
    } else {
        for (i, byte) in to[..bytes].iter_mut().enumerate() {
            let high = from.get(i + 1).map_or(0, |&next| u16::from(next) << 8);
            *byte = ((u16::from(from[i]) | high) >> shift) as u8;
        }
    }
    if !bits.is_multiple_of(8) {
        to[bytes - 1] &= (1 << (bits % 8)) - 1;
    }
    to[bytes..].fill(0);
}

/// Overwrites `bits` bits of `to` from bit `at` on with those of `from` from bit `first` on.
pub fn put_bits(from: &[u8], first: u64, bits: u64, to: &mut [u8], at: u64) {
    let [first, bits, at] = [first, bits, at].map(|number| number as usize);
    if (first | bits | at).is_multiple_of(8) {
        to[at / 8..][..bits / 8].copy_from_slice(&from[first / 8..][..bits / 8]);
        return;
    }
    for (from_bit, to_bit) in (first..first + bits).zip(at..) {
        let (bit, byte) = (from[from_bit / 8] >> (from_bit % 8) & 1, &mut to[to_bit / 8]);
        *byte = *byte & !(1 << (to_bit % 8)) | bit << (to_bit % 8);
    }
}

#[cfg(unix)]
fn read_at(file: &File, first: u64, out: &mut [u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, first)
}

#[cfg(not(unix))]
fn read_at(file: &File, first: u64, out: &mut [u8]) -> std::io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::Start(first))?;
    file.read_exact(out)
}

#[cfg(test)]
mod tests;
