//! Big buffers of words on huge pages.

use crate::region::{PAGE_BYTES, Region};
use crate::residues::Word;
use std::hint::black_box;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A fixed number of words, zero at first, on huge pages where the system grants them: for hints, keys and other tables that are
/// read as streams. From a `Vec`, whose pages are small, the same products read memory up to a third more slowly.
pub struct Buffer<W> {
    region: Region,
    len: usize,
    word: PhantomData<W>,
}

/// A [`Buffer`] of `u32`.
pub type Words = Buffer<u32>;

/// The system refused the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory for {0} words")]
pub struct WordsError(pub usize);

impl<W: Word> Buffer<W> {
    /// Allocates `len` zero words.
    pub fn zeroed(len: usize) -> Result<Self, WordsError> {
        let bytes =
            len.checked_mul(size_of::<W>()).filter(|bytes| *bytes <= isize::MAX as usize).ok_or(WordsError(len))?;
        Ok(Self { region: Region::zeroed(bytes).ok_or(WordsError(len))?, len, word: PhantomData })
    }

    /// The bytes of the words, in the order of memory.
    pub fn bytes(&self) -> &[u8] {
        self.region.bytes()
    }

    /// The same, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.region.bytes_mut()
    }

    /// Reads a byte of each page. The host of a virtual machine may trap the first access to a page that was left alone for seconds, which takes
    /// microseconds.
    pub fn touch(&self) {
        black_box(self.bytes().iter().step_by(PAGE_BYTES).fold(0, |sum, byte| sum ^ byte));
    }
}

impl<W: Word> Deref for Buffer<W> {
    type Target = [W];

    fn deref(&self) -> &[W] {
        // SAFETY: the region is aligned to 64 and holds `len` initialised words; any bytes are a word.
        unsafe { std::slice::from_raw_parts(self.region.bytes().as_ptr().cast(), self.len) }
    }
}

impl<W: Word> DerefMut for Buffer<W> {
    fn deref_mut(&mut self) -> &mut [W] {
        // SAFETY: as in `deref`; the mutable borrow of `self` makes the view unique.
        unsafe { std::slice::from_raw_parts_mut(self.region.bytes_mut().as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests;
