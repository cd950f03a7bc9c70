//! Big buffers of 32-bit words on huge pages.

use crate::region::Region;
use std::ops::{Deref, DerefMut};

/// A fixed number of `u32`, zero at first, on huge pages where the system grants them: for hints and other tables that are
/// streamed through. From a `Vec`, whose pages are small, the same products read memory up to a third slower.
pub struct Words {
    region: Region,
    len: usize,
}

/// The system refused the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory for {0} words of 32 bits")]
pub struct WordsError(pub usize);

impl Words {
    /// Allocates `len` zero words.
    pub fn zeroed(len: usize) -> Result<Self, WordsError> {
        let bytes = len.checked_mul(4).filter(|bytes| *bytes <= isize::MAX as usize).ok_or(WordsError(len))?;
        Ok(Self { region: Region::zeroed(bytes).ok_or(WordsError(len))?, len })
    }
}

impl Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        // SAFETY: the region is aligned to 64 and holds `4 * len` initialised bytes; any bytes are a `u32`.
        unsafe { std::slice::from_raw_parts(self.region.bytes().as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Words {
    fn deref_mut(&mut self) -> &mut [u32] {
        // SAFETY: as in `deref`; the mutable borrow of `self` makes the view unique.
        unsafe { std::slice::from_raw_parts_mut(self.region.bytes_mut().as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_zero_writable_and_bounded() {
        let mut words = Words::zeroed(1000).unwrap();
        assert!(words.iter().all(|word| *word == 0));
        words[999] = 7;
        assert_eq!(words.iter().sum::<u32>(), 7);
        assert_eq!(Words::zeroed(0).unwrap().len(), 0);
        assert_eq!(Words::zeroed(usize::MAX).err(), Some(WordsError(usize::MAX)));
    }
}
