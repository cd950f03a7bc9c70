//! A client's state as bytes and as a file: a client that restarts loses nothing that it read of the database.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use ring::Seed;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::client::{Client, Public};
use super::hints::Entries;
use super::layout::Layout;
use super::set::Set;
use super::window::Window;
use crate::core::protocol::Client as _;
use crate::core::seed::SEED_BYTES;
use crate::core::{Context, Error, Result, Shape};

/// The first bytes of a state.
const MAGIC: &[u8] = b"pirlab/piano/1\n";
/// Bytes of a digest.
const DIGEST_BYTES: usize = 32;

fn refused(problem: &str) -> Error {
    Error::message("state", problem)
}

/// What a state belongs to: the set and the shape.
fn owner(set: &Set, shape: Shape) -> Result<[u8; DIGEST_BYTES]> {
    let text = serde_json::to_vec(&(set, shape)).map_err(|error| refused(&error.to_string()))?;
    Ok(Sha256::digest(text).into())
}

impl Client {
    /// Everything that the client keeps, with keys that are as secret as its queries. A client that saves it before each request leaves
    /// and after each answer never asks with a hint twice, whenever it stops: while a request is under way, a hint lacks its entry, so that the
    /// window in use is given up.
    pub fn state(&self) -> Result<Zeroizing<Vec<u8>>> {
        let public = self.public.as_ref().ok_or_else(|| refused("there is none before the offline exchange."))?;
        let mut out = Writer::default();
        [MAGIC, &owner(&self.set, self.layout.shape)?, &public.seed.0].iter().for_each(|bytes| out.bytes(bytes));
        out.words([public.epoch.into(), self.requests]);
        let window = self.window.as_ref().filter(|_| self.unanswered == 0);
        let next = self.next.as_ref().filter(|next| next.parts == self.layout.parts());
        for window in [window, next] {
            out.words([window.is_some().into()]);
            window.into_iter().for_each(|window| out.window(window));
        }
        let digest = Sha256::digest(&out.0[..]);
        out.bytes(&digest);
        Ok(out.0)
    }

    /// The client of a state, for the set and the database that it was made for. That the server has that database still is known when its
    /// first message comes.
    pub fn of_state(set: &Set, shape: Shape, state: &[u8], context: &mut Context) -> Result<Self> {
        let (content, digest) = state.split_last_chunk::<DIGEST_BYTES>().ok_or_else(|| refused("it is truncated."))?;
        if !content.starts_with(MAGIC) {
            return Err(refused("it is no state of a Piano client."));
        }
        if Sha256::digest(content)[..] != digest[..] {
            return Err(refused("it is truncated or was changed."));
        }
        let mut client = Self::new(set, shape, context)?;
        let layout = client.layout;
        let mut input = Reader(&content[MAGIC.len()..]);
        if input.take(DIGEST_BYTES)? != owner(set, shape)? {
            return Err(refused("it is of another parameter set or of a database of another shape."));
        }
        let seed = input.seed()?;
        client.public = Some(Public::new(seed, &layout, input.word()? as u16));
        client.requests = input.word()?;
        for window in [&mut client.window, &mut client.next] {
            *window = if input.word()? == 1 { Some(input.window(&layout)?) } else { None };
        }
        Ok(client)
    }

    /// Writes the state to a file that only its owner can read, whole or not at all, and so that it outlasts a power cut.
    pub fn save(&self, path: &Path) -> Result<()> {
        replace(path, &self.state()?).map_err(|error| Error::io(path, "writing", error))
    }

    /// The client of a file that [`Self::save`] wrote.
    pub fn load(set: &Set, shape: Shape, path: &Path, context: &mut Context) -> Result<Self> {
        let state = Zeroizing::new(std::fs::read(path).map_err(|error| Error::io(path, "reading", error))?);
        Self::of_state(set, shape, &state, context)
    }
}

/// Puts a file with that content in the place of another.
fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}

/// Writes little-endian numbers.
#[derive(Default)]
struct Writer(Zeroizing<Vec<u8>>);

impl Writer {
    fn bytes(&mut self, bytes: &[u8]) {
        let length = self.0.len() + bytes.len();
        if length > self.0.capacity() {
            // A vector that grows by itself leaves its bytes behind.
            let mut longer = Zeroizing::new(Vec::<u8>::with_capacity(2 * length));
            longer.extend_from_slice(&self.0);
            self.0 = longer;
        }
        self.0.extend_from_slice(bytes);
    }

    fn words(&mut self, words: impl IntoIterator<Item = u64>) {
        words.into_iter().for_each(|word| self.bytes(&word.to_le_bytes()));
    }

    fn halves(&mut self, halves: &[u32]) {
        halves.iter().for_each(|half| self.bytes(&half.to_le_bytes()));
    }

    /// By position, so that equal states are equal bytes.
    fn entries(&mut self, entries: &Entries) {
        self.words([entries.len() as u64]);
        for position in entries.positions() {
            self.words([u64::from(position)]);
            self.words(entries.get(position).unwrap_or_default().iter().copied());
        }
    }

    fn window(&mut self, window: &Window) {
        self.bytes(&window.key.0);
        self.words([window.asked]);
        for halves in [&window.tags, &window.programmed, &window.replacement_places, &window.used] {
            self.halves(halves);
        }
        for sums in [&window.sums, &window.replacements] {
            self.words(sums.words().iter().copied());
        }
        self.entries(&window.unhit);
        self.entries(&window.known);
    }
}

/// Reads what [`Writer`] wrote.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or_else(|| refused("it is truncated."))?;
        self.0 = rest;
        Ok(taken)
    }

    fn seed(&mut self) -> Result<Seed> {
        let mut seed = Seed([0; SEED_BYTES]);
        seed.0.copy_from_slice(self.take(SEED_BYTES)?);
        Ok(seed)
    }

    fn word(&mut self) -> Result<u64> {
        Ok(self.words(1)?[0])
    }

    fn words(&mut self, count: usize) -> Result<Vec<u64>> {
        Ok(super::client::words(self.take(8 * count)?))
    }

    fn read_words(&mut self, out: &mut [u64]) -> Result<()> {
        out.copy_from_slice(&self.words(out.len())?);
        Ok(())
    }

    fn read_halves(&mut self, out: &mut [u32]) -> Result<()> {
        let bytes = self.take(4 * out.len())?;
        out.iter_mut().zip(bytes.as_chunks().0).for_each(|(half, bytes)| *half = u32::from_le_bytes(*bytes));
        Ok(())
    }

    fn read_entries(&mut self, layout: &Layout, out: &mut Entries) -> Result<()> {
        for _ in 0..self.word()? {
            out.insert(self.word()? as u32, &self.words(layout.entry_words)?);
        }
        Ok(())
    }

    fn window(&mut self, layout: &Layout) -> Result<Window> {
        let mut window = Window::of_key(layout, self.seed()?);
        window.asked = self.word()?;
        window.parts = layout.parts();
        let Window { tags, programmed, replacement_places, used, .. } = &mut window;
        for halves in [tags, programmed, replacement_places, used] {
            self.read_halves(halves)?;
        }
        for sums in [&mut window.sums, &mut window.replacements] {
            self.read_words(sums.words_mut())?;
        }
        self.read_entries(layout, &mut window.unhit)?;
        self.read_entries(layout, &mut window.known)?;
        Ok(window)
    }
}
