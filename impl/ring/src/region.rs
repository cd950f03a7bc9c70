//! Zeroed, page- or cache-line-aligned memory for big tables, on huge pages where the system grants them.

use std::sync::{Arc, Mutex, PoisonError};

use memmap2::{MmapMut, MmapRaw};

/// Bytes of a mapping that tables share, of which only touched pages take memory.
const SHARED_BYTES: usize = 256 << 20;
/// Blocks from this length on have their own mapping: for them a partial huge page at the end matters little.
const SHARED_BELOW: usize = 32 << 20;
/// A page of x86-64, on which shared blocks begin.
pub(crate) const PAGE_BYTES: usize = 4096;
/// A huge page of x86-64, and the alignment of blocks that consist of whole ones.
const HUGE_PAGE_BYTES: u64 = 2 << 20;
const WHOLE_FROM_BYTES: u64 = HUGE_PAGE_BYTES / 16;

/// Memory that [`Region::zeroed_on_whole_pages`] takes for `len` bytes once it is touched.
pub(crate) const fn whole_pages_bytes(len: u64) -> u64 {
    if len < WHOLE_FROM_BYTES {
        len
    } else {
        len.saturating_add(HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES
    }
}

/// The mapping of the next shared block, and the place where it begins.
static SHARED: Mutex<Option<(Arc<MmapRaw>, usize)>> = Mutex::new(None);

/// One cache line; the unit of the fallback allocation, so that it is as well aligned as the kernels like.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "only its bytes are used")] [u8; 64]);

enum Backing {
    Map(MmapMut),
    /// The bytes of the mapping from this one on, which no other block uses.
    Shared(Arc<MmapRaw>, usize),
    Heap(Vec<Line>),
}

/// A fixed-length block of zeroed bytes, aligned to at least 64.
pub(crate) struct Region {
    backing: Backing,
    len: usize,
}

impl Region {
    /// Allocates `len` zeroed bytes; `None` when the system refuses.
    pub(crate) fn zeroed(len: usize) -> Option<Self> {
        let backing = match map(len.max(1)) {
            Some(map) => Backing::Map(map),
            None => {
                let lines = len.div_ceil(64);
                let mut heap = Vec::new();
                heap.try_reserve_exact(lines).ok()?;
                heap.resize(lines, Line([0; 64]));
                Backing::Heap(heap)
            }
        };
        Some(Self { backing, len })
    }

    /// Like [`Self::zeroed`], for one table that is read again and again and may be short: from an eighth of a megabyte on it gets
    /// whole huge pages, including the last one. With small pages, a table of two megabytes took a fifth longer to read.
    pub(crate) fn zeroed_on_whole_pages(len: usize) -> Option<Self> {
        let mapping = usize::try_from(whole_pages_bytes(len as u64)).ok().and_then(|bytes| map(bytes.max(1)));
        mapping.map(|mapping| Self { backing: Backing::Map(mapping), len }).or_else(|| Self::zeroed(len))
    }

    /// Like [`Self::zeroed`], for one of many tables that live long: blocks of less than some megabytes share mappings, because one
    /// alone seldom covers a whole huge page, and memory on small pages is read more slowly.
    pub(crate) fn zeroed_among_others(len: usize) -> Option<Self> {
        let take = || {
            let bytes = len.max(1).next_multiple_of(PAGE_BYTES);
            let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            let (mapping, start) = match shared.take() {
                Some((mapping, start)) if start + bytes <= SHARED_BYTES => (mapping, start),
                _ => (Arc::new(MmapRaw::from(map(SHARED_BYTES)?)), 0),
            };
            *shared = Some((Arc::clone(&mapping), start + bytes));
            Some(Self { backing: Backing::Shared(mapping, start), len })
        };
        (len < SHARED_BELOW).then(take).flatten().or_else(|| Self::zeroed(len))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.backing {
            Backing::Map(map) => &map[..self.len],
            // SAFETY: `len` bytes from `start` on are mapped, zeroed at first, and of this region alone.
            Backing::Shared(map, start) => unsafe { std::slice::from_raw_parts(map.as_ptr().add(*start), self.len) },
            Backing::Heap(lines) => {
                // SAFETY: `Line` is 64 plain bytes without padding, and the vector holds at least `len` of them.
                unsafe { std::slice::from_raw_parts(lines.as_ptr().cast::<u8>(), self.len) }
            }
        }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.backing {
            Backing::Map(map) => &mut map[..self.len],
            // SAFETY: as in `bytes`; the mutable borrow of `self` makes the view unique.
            Backing::Shared(map, start) => unsafe {
                std::slice::from_raw_parts_mut(map.as_mut_ptr().add(*start), self.len)
            },
            Backing::Heap(lines) => {
                // SAFETY: as in `bytes`; the mutable borrow of `self` makes the view unique.
                unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<u8>(), self.len) }
            }
        }
    }
}

impl Drop for Region {
    /// Returns the memory of a block whose mapping others still use, if pages are known to be no larger than the alignment of blocks: a
    /// larger page would hold bytes of its neighbours. Otherwise the memory is returned with the mapping.
    fn drop(&mut self) {
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        if let Backing::Shared(map, start) = &self.backing {
            // SAFETY: the pages hold this block alone, and nothing reads it any more. A refusal only keeps the memory.
            let _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, *start, self.len) };
        }
    }
}

/// A private mapping of `len` zeroed bytes, at least one.
fn map(len: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(len).ok()?;
    // Huge pages are a matter of speed only: a refusal changes nothing else.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

#[cfg(test)]
mod tests;
