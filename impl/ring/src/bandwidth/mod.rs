//! The yardstick of memory-bound kernels: the rate at which one core can read memory.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::kernel::{Checked, Kernel, KernelError, dispatch};
use crate::region::Region;
use std::hint::black_box;
use std::time::Instant;

/// Bytes of a buffer that measures memory: several times the usual last-level cache. A larger cache would only make the probed rate
/// higher. Writing the buffer takes most of a probe, and a group of rows probes twice.
pub const PROBE_BYTES: usize = 256 << 20;

/// Streams read side by side and bytes prefetched ahead: different machines favour different ones, and a probe that misses
/// the best would flatter the kernels compared with it.
const VARIANTS: [(usize, usize); 14] = [
    (1, 0),
    (2, 0),
    (4, 0),
    (8, 0),
    (1, 1024),
    (2, 1024),
    (4, 1024),
    (8, 1024),
    (1, 4096),
    (2, 4096),
    (4, 4096),
    (8, 2048),
    (1, 16384),
    (2, 8192),
];

/// Reasons why the bandwidth could not be probed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// The kernel cannot run here.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The system refused the buffer.
    #[error("no memory for a probe buffer of {0} bytes")]
    Memory(usize),
}

/// A buffer to probe with, written once because untouched pages would all be one page of zeros, which fits a cache.
pub struct Probe {
    buffer: Region,
    kernel: Checked,
}

/// The fastest way to read that a probe found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// Streams read side by side.
    pub streams: usize,
    /// Bytes prefetched ahead by software; 0 for none.
    pub ahead: usize,
}

impl Probe {
    /// Allocates and writes `bytes` bytes, rounded down to a multiple of 8 KiB and up to at least that; give
    /// [`PROBE_BYTES`] or more. Reads with the loads of the given kernel.
    pub fn new(kernel: Kernel, bytes: usize) -> Result<Self, ProbeError> {
        let kernel = Checked::new(kernel)?;
        let bytes = (bytes / 8192 * 8192).max(8192);
        let mut buffer = Region::zeroed(bytes).ok_or(ProbeError::Memory(bytes))?;
        for (i, page) in buffer.bytes_mut().chunks_mut(4096).enumerate() {
            page.fill(i as u8 | 1);
        }
        Ok(Self { buffer, kernel })
    }

    /// Bytes a second of one pass with the given streams (1, 2, 4 or 8) and prefetch distance.
    pub fn once(&self, streams: usize, ahead: usize) -> f64 {
        self.part(usize::MAX, streams, ahead)
    }

    /// The same over the first `bytes` bytes, rounded down to a multiple of 8 KiB, or over all if there are fewer.
    pub fn part(&self, bytes: usize, streams: usize, ahead: usize) -> f64 {
        self.read(&self.buffer.bytes()[..self.bytes().min(bytes / 8192 * 8192)], streams, ahead)
    }

    /// Bytes of the buffer.
    pub fn bytes(&self) -> usize {
        self.buffer.bytes().len()
    }

    fn read(&self, bytes: &[u8], streams: usize, ahead: usize) -> f64 {
        let start = Instant::now();
        black_box(read_sum(self.kernel, black_box(bytes), streams, ahead));
        bytes.len() as f64 / start.elapsed().as_secs_f64()
    }

    /// The fastest way to read, tried on parts of the buffer: one pass in all, in which no part finds another's bytes in a cache.
    pub fn fastest(&self) -> Reading {
        let part = self.buffer.bytes().len() / VARIANTS.len() / 8192 * 8192;
        let parts = self.buffer.bytes().chunks_exact(part.max(8192));
        let readings = parts.zip(VARIANTS).map(|(part, (streams, ahead))| Reading {
            bytes_per_second: self.read(part, streams, ahead),
            streams,
            ahead,
        });
        let first = Reading { bytes_per_second: 0.0, streams: 1, ahead: 0 };
        readings.fold(first, |best, each| if each.bytes_per_second > best.bytes_per_second { each } else { best })
    }
}

/// Sum modulo 2^64 of the 64-bit words of `streams` equal parts of `bytes`, read side by side with the widest loads, `ahead`
/// bytes prefetched (0: none). `bytes.len()` is a multiple of `streams * 1024`.
fn read_sum(k: Checked, bytes: &[u8], streams: usize, ahead: usize) -> u64 {
    assert!(matches!(streams, 1 | 2 | 4 | 8) && bytes.len().is_multiple_of(streams * 1024));
    match streams {
        1 => dispatch!(k, read_sum::<1>(bytes, ahead)),
        2 => dispatch!(k, read_sum::<2>(bytes, ahead)),
        4 => dispatch!(k, read_sum::<4>(bytes, ahead)),
        _ => dispatch!(k, read_sum::<8>(bytes, ahead)),
    }
}

#[cfg(test)]
mod tests;
