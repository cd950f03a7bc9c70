//! Buffers of words that begin at cache lines: the vector kernels then load whole lines, never parts of two.

use crate::word::Word;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Bytes of a cache line.
const LINE: usize = 64;

/// A fixed number of words, aligned to 64 bytes.
///
/// The vector is a little longer than they are and they begin at its first cache line: an allocator asked for such an alignment leaves a
/// hole beside each buffer that is freed, and what thousands of polynomials take grows by a quarter.
pub(super) struct Aligned<W> {
    words: Vec<u64>,
    start: usize,
    len: usize,
    word: PhantomData<W>,
}

impl<W: Word> Aligned<W> {
    pub(super) fn zeroed(len: usize) -> Self {
        let words = vec![0u64; (len * size_of::<W>() + LINE).div_ceil(size_of::<u64>()) - 1];
        let start = (words.as_ptr().addr().next_multiple_of(LINE) - words.as_ptr().addr()) / size_of::<u64>();
        Self { words, start, len, word: PhantomData }
    }
}

impl<W: Word> Clone for Aligned<W> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl<W: Word> Deref for Aligned<W> {
    type Target = [W];

    fn deref(&self) -> &[W] {
        &bytemuck::cast_slice(&self.words[self.start..])[..self.len]
    }
}

impl<W: Word> DerefMut for Aligned<W> {
    fn deref_mut(&mut self) -> &mut [W] {
        &mut bytemuck::cast_slice_mut(&mut self.words[self.start..])[..self.len]
    }
}

impl<W: Word> fmt::Debug for Aligned<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<W: Word> PartialEq for Aligned<W> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<W: Word> Eq for Aligned<W> {}

impl<W: Word> Hash for Aligned<W> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
