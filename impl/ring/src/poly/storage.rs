//! Buffers of words that begin at cache lines: the vector kernels then load whole lines, never parts of two.

use crate::residues::Word;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use zeroize::Zeroize;

#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// A fixed number of words, aligned to 64 bytes.
#[derive(Clone)]
pub(super) struct Aligned<W> {
    lines: Vec<Line>,
    len: usize,
    word: PhantomData<W>,
}

impl<W> Zeroize for Aligned<W> {
    fn zeroize(&mut self) {
        self.lines.iter_mut().for_each(|line| line.0.zeroize());
    }
}

impl<W: Word> Aligned<W> {
    pub(super) fn zeroed(len: usize) -> Self {
        let lines = vec![Line([0; 8]); (len * size_of::<W>()).div_ceil(size_of::<Line>())];
        Self { lines, len, word: PhantomData }
    }
}

impl<W: Word> Deref for Aligned<W> {
    type Target = [W];

    fn deref(&self) -> &[W] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl<W: Word> DerefMut for Aligned<W> {
    fn deref_mut(&mut self) -> &mut [W] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
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
