//! Pages of mapped files, read from the disk many at a time.

use std::hint::black_box;

use memmap2::Mmap;

/// Pages that are asked for ahead of the one that is waited for: a disk serves as many at once.
const AHEAD: usize = 64;

/// Brings the pages at these places of a map into memory, in this order; those AHEAD are asked for meanwhile.
pub fn read_pages(map: &Mmap, places: impl Iterator<Item = usize> + Clone) {
    let mut ahead = places.clone();
    ahead.by_ref().take(AHEAD).for_each(|place| ask(map, place));
    for place in places {
        if let Some(next) = ahead.next() {
            ask(map, next);
        }
        black_box(map[place]);
    }
}

/// A hint: where the system does not take it, the page is read when it is touched.
#[cfg(unix)]
fn ask(map: &Mmap, place: usize) {
    let _ = map.advise_range(memmap2::Advice::WillNeed, place, 1);
}

#[cfg(not(unix))]
fn ask(_: &Mmap, _: usize) {}
