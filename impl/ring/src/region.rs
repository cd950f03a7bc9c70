//! Zeroed, page- or cache-line-aligned memory for big tables, on huge pages where the system grants them.

use memmap2::MmapMut;

/// One cache line; the unit of the fallback allocation, so that it is as well aligned as the kernels like.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "only its bytes are used")] [u8; 64]);

enum Backing {
    Map(MmapMut),
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
        let backing = match MmapMut::map_anon(len.max(1)) {
            Ok(map) => {
                // Huge pages are a matter of speed only: a refusal changes nothing else.
                #[cfg(target_os = "linux")]
                let _ = map.advise(memmap2::Advice::HugePage);
                Backing::Map(map)
            }
            Err(_) => {
                let lines = len.div_ceil(64);
                let mut heap = Vec::new();
                heap.try_reserve_exact(lines).ok()?;
                heap.resize(lines, Line([0; 64]));
                Backing::Heap(heap)
            }
        };
        Some(Self { backing, len })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.backing {
            Backing::Map(map) => &map[..self.len],
            Backing::Heap(lines) => {
                // SAFETY: `Line` is 64 plain bytes without padding, and the vector holds at least `len` of them.
                unsafe { std::slice::from_raw_parts(lines.as_ptr().cast::<u8>(), self.len) }
            }
        }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.backing {
            Backing::Map(map) => &mut map[..self.len],
            Backing::Heap(lines) => {
                // SAFETY: as in `bytes`; the mutable borrow of `self` makes the view unique.
                unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<u8>(), self.len) }
            }
        }
    }
}
