//! The cost of pages of mapped files that are read from the disk.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use memmap2::Mmap;
use ring::Seed;
use rustix::fs::{Advice, fadvise};

use super::calibrator::{Calibrator, Failed};

/// A page that is read in less was in memory, where no disk is behind the folder.
const LEAST_SECONDS: f64 = 2e-6;

/// Pages far apart in a file beside the calibration's own, read in their order through a new map, as DEPIR's server reads its tables.
///
/// # Errors
/// A folder without room for the file, or in memory.
pub(super) fn reads(c: &mut Calibrator, beside: &Path) -> Result<(), Failed> {
    const SWEEPS: usize = 5;
    let (mebibytes, pages) = c.pick((512, 256), (16, 16));
    let folder = beside.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::tempfile_in(folder)?;
    let (prg, mut block) = (Seed(*b"pirlab calibrate").prg(), vec![0; 1 << 20]);
    for number in 0..mebibytes as u64 {
        prg.fill_at(number << 20, &mut block);
        file.write_all(&block)?;
    }
    file.sync_all()?;
    // Each sweep reads other pages: a host may keep those of the last one.
    let distance = (mebibytes << 20) / pages;
    let sweeps =
        (0..SWEEPS).map(|number| sweep(&file, (0..pages).map(|page| page * distance + number * distance / SWEEPS)));
    let mut samples = sweeps.collect::<Result<Vec<f64>, Failed>>()?;
    samples.sort_by(f64::total_cmp);
    let seconds = samples[SWEEPS / 2] / pages as f64;
    if seconds < LEAST_SECONDS {
        return Err(format!("{} lies in memory", folder.display()).into());
    }
    c.set("disk_reads", seconds);
    Ok(())
}

/// Seconds of reading at these places of a file that is not in any cache of the operating system.
fn sweep(file: &File, places: impl Iterator<Item = usize> + Clone) -> Result<f64, Failed> {
    fadvise(file, 0, None, Advice::DontNeed)?;
    // SAFETY: the map is read only, and the file has no name by which another process could shorten it.
    let map = unsafe { Mmap::map(file) }?;
    let begun = Instant::now();
    ring::read_pages(&map, places);
    Ok(begun.elapsed().as_secs_f64())
}
