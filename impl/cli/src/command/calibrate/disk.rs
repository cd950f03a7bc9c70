//! The cost of pages of mapped files that are read from the disk.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use memmap2::Mmap;
use rustix::fs::{Advice, fadvise};

use super::calibrator::{Calibrator, Failed};

const PAGE: usize = 4096;

/// Pages far apart in a file beside the calibration's own, read in their order through a new map, as DEPIR's server reads its tables.
pub(super) fn reads(c: &mut Calibrator, beside: &Path) -> Result<(), Failed> {
    let (mebibytes, pages) = c.pick((512, 256), (16, 16));
    let folder = beside.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::tempfile_in(folder)?;
    let block = vec![1; 1 << 20];
    (0..mebibytes).try_for_each(|_| file.write_all(&block))?;
    file.sync_all()?;
    let mut samples = Vec::new();
    for _ in 0..5 {
        samples.push(sweep(&file, (mebibytes << 20) / pages, pages)?);
    }
    samples.sort_by(f64::total_cmp);
    c.set("disk_reads", samples[samples.len() / 2] / pages as f64);
    Ok(())
}

/// Seconds of a sweep over a file that is in no cache of the operating system.
fn sweep(file: &File, distance: usize, pages: usize) -> Result<f64, Failed> {
    fadvise(file, 0, None, Advice::DontNeed)?;
    // SAFETY: the map is read only, and the file has no name by which another process could shorten it.
    let map = unsafe { Mmap::map(file) }?;
    let begun = Instant::now();
    for page in 0..pages {
        black_box(map[page * distance + PAGE / 2]);
    }
    Ok(begun.elapsed().as_secs_f64())
}
