//! Run-time choice of the instruction set. One file per path, same functions, same bits.
//!
//! Everything here takes a [`Checked`] kernel, which only [`Kernel::check`] yields: holding one proves that the processor
//! has the instructions.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod scalar;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vaes;

use crate::bits::for_width;
use crate::matrix::{BLOCK_ROWS, GROUP_ROWS, Order, SLACK};
use std::fmt;
use std::str::FromStr;

/// An instruction set the kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kernel {
    /// Portable Rust; the reference for the others.
    Scalar,
    /// AVX2 (x86-64).
    Avx2,
    /// AVX-512 F, BW, VL, DQ, VBMI and VNNI together (x86-64; Ice Lake, Zen 4 and later).
    Avx512,
}

/// Why a kernel cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// The processor lacks instructions.
    #[error("kernel {kernel} needs {missing}, which this processor lacks")]
    Missing {
        /// The kernel asked for.
        kernel: Kernel,
        /// The features that are missing, comma-separated.
        missing: String,
    },
    /// Not the name of a kernel.
    #[error("no kernel is called {0:?}: they are scalar, avx2 and avx512")]
    Unknown(String),
}

impl Kernel {
    /// All kernels, from the slowest to the fastest.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Avx2, Self::Avx512];

    /// The kernels this processor can run.
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|kernel| kernel.missing().is_empty()).collect()
    }

    /// The fastest kernel this processor can run.
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|kernel| kernel.missing().is_empty()).unwrap_or(Self::Scalar)
    }

    /// The kernel itself if this processor can run it, else an error that names the missing features.
    pub fn check(self) -> Result<Self, KernelError> {
        let missing = self.missing();
        if missing.is_empty() {
            Ok(self)
        } else {
            Err(KernelError::Missing { kernel: self, missing: missing.join(", ") })
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn missing(self) -> Vec<&'static str> {
        macro_rules! lacking {
            ($($feature:tt)*) => {
                [$(($feature, is_x86_feature_detected!($feature))),*]
                    .into_iter().filter(|(_, present)| !present).map(|(name, _)| name).collect()
            };
        }
        match self {
            Self::Scalar => Vec::new(),
            Self::Avx2 => lacking!("avx2"),
            Self::Avx512 => lacking!("avx512f" "avx512bw" "avx512vl" "avx512dq" "avx512vbmi" "avx512vnni"),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn missing(self) -> Vec<&'static str> {
        if self == Self::Scalar { Vec::new() } else { vec!["an x86-64 processor"] }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        })
    }
}

impl FromStr for Kernel {
    type Err = KernelError;

    fn from_str(name: &str) -> Result<Self, KernelError> {
        Self::ALL.into_iter().find(|k| k.to_string() == name).ok_or_else(|| KernelError::Unknown(name.to_owned()))
    }
}

/// Kinds of processors with [`Kernel::Avx512`], which differ in how memory is best read.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processor {
    /// Intel's from Sapphire Rapids on, which alone have FP16.
    Intel,
    /// AMD's from Zen 5 on, which have VNNI for 256 bits without AVX-512, but not FP16.
    Zen,
    /// AMD's Zen 4, which alone has BF16 and neither of those.
    Zen4,
    /// Intel's before, from Ice Lake on.
    Older,
}

#[cfg(target_arch = "x86_64")]
impl Processor {
    /// That of this machine. Looked up in a cached word.
    pub(crate) fn here() -> Self {
        match (is_x86_feature_detected!("avx512fp16"), is_x86_feature_detected!("avx512bf16")) {
            (true, _) => Self::Intel,
            (false, true) if is_x86_feature_detected!("avxvnni") => Self::Zen,
            (false, true) => Self::Zen4,
            (false, false) => Self::Older,
        }
    }

    /// Whether what streams from memory is better asked for into the second-level cache than into the first: Zen 4 gave 1.5 to 2 times
    /// as much then. It waits for few lines at a time in the first level, which has no room to spare beside digits or queries.
    pub(crate) fn asks_for_second_level(self) -> bool {
        self == Self::Zen4
    }
}

/// Asks for the line at an address, which may be any: prefetches do not fault. Into the second-level cache with `SECOND`, else into the
/// first.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse")]
#[inline]
pub(crate) fn ask_for<const SECOND: bool, T>(at: *const T) {
    use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
    if SECOND { _mm_prefetch::<_MM_HINT_T1>(at.cast()) } else { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

/// A kernel the processor was seen to support.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked(Kernel);

impl Checked {
    /// The kernel that runs everywhere.
    pub(crate) const SCALAR: Self = Self(Kernel::Scalar);

    pub(crate) fn new(kernel: Kernel) -> Result<Self, KernelError> {
        kernel.check().map(Self)
    }

    /// Which kernel it is.
    pub(crate) fn kernel(self) -> Kernel {
        self.0
    }
}

/// Calls the function of that name on the path of `$kernel`.
macro_rules! dispatch {
    ($kernel:expr, $function:ident $(::<$constant:tt>)? ($($argument:expr),*)) => {
        match $kernel.0 {
            // SAFETY: a `Checked` kernel exists only if the processor has every feature its functions enable.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => unsafe { avx512::$function $(::<$constant>)? ($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => unsafe { avx2::$function $(::<$constant>)? ($($argument),*) },
            _ => scalar::$function $(::<$constant>)? ($($argument),*),
        }
    };
}

/// Half a chunk of a query or a quarter of a pair of rows of a panel: one register, one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [i16; 32]);

impl Lanes {
    pub(crate) const ZERO: Self = Self([0; 32]);
}

/// The products of one block of rows. `data`: its packed bytes, at least 64 more than it takes. `queries[k]`: per chunk the low
/// halves of 32 elements, then the high halves. `sums[k]` is set to the rows' sums modulo 2^32.
pub(crate) fn matvec(
    k: Checked,
    width: u32,
    data: &[u8],
    order: Order,
    queries: &[&[Lanes]],
    sums: &mut [[u32; BLOCK_ROWS]],
) {
    assert!(order.share == 4 * width as usize && order.groups * GROUP_ROWS <= BLOCK_ROWS);
    assert!(data.len() >= order.bytes() + SLACK && queries.len() == sums.len());
    assert!(queries.iter().all(|query| query.len() == order.chunks * 2));
    for_width!(width, W => dispatch!(k, matvec::<W>(data, order, queries, sums)));
}

/// Unpacks `chunks` consecutive chunks of one group of rows within a strip: row `r`, column `c` of them goes to `out[r * stride + c]`.
pub(crate) fn unpack(k: Checked, width: u32, data: &[u8], chunks: usize, out: &mut [i16], stride: usize) {
    assert!(data.len() >= chunks * 32 * width as usize + SLACK);
    assert!(stride >= chunks * 32 && out.len() >= 7 * stride + chunks * 32);
    for_width!(width, W => dispatch!(k, unpack::<W>(data, chunks, out, stride)));
}

/// Rows and columns of the tile of a matrix product that one call computes.
pub(crate) const TILE_ROWS: usize = 8;
pub(crate) const TILE_COLS: usize = 32;
/// Registers that 32 columns of a pair of rows take: (low, low) halves of the columns in two, (high, high) in two.
pub(crate) const LANES_PER_PAIR: usize = 4;

/// Adds D * A modulo 2^32 to a tile of 8 x 32 in `out`, whose rows are `out_stride` apart. `d`: 8 rows of `2 * pairs`
/// entries, `d_stride` apart. `panel`: for each pair of rows of A, 32 columns of (low, low) halves, then 32 of (high, high).
pub(crate) fn gemm(k: Checked, d: &[i16], d_stride: usize, panel: &[Lanes], out: &mut [u32], out_stride: usize) {
    let pairs = panel.len() / LANES_PER_PAIR;
    assert!(panel.len().is_multiple_of(LANES_PER_PAIR) && d.len() >= (TILE_ROWS - 1) * d_stride + 2 * pairs);
    assert!(out.len() >= (TILE_ROWS - 1) * out_stride + TILE_COLS && out_stride >= TILE_COLS);
    dispatch!(k, gemm(d, d_stride, panel, out, out_stride));
}

/// Inner product modulo 2^32 of two vectors of one length.
pub(crate) fn dot(k: Checked, a: &[u32], x: &[u32]) -> u32 {
    assert_eq!(a.len(), x.len());
    dispatch!(k, dot(a, x))
}

/// Rows that one call of [`accumulate`] adds.
pub(crate) const ACCUMULATED_ROWS: usize = 8;

/// For each of `D` rows `out[d]` (`out_stride` apart): adds the sum over i of `coefficients[d][i] * rows[i]` modulo 2^32, over
/// `cols` columns, where the eight rows are `stride` apart.
pub(crate) fn accumulate<const D: usize>(
    k: Checked,
    coefficients: &[[u32; ACCUMULATED_ROWS]; D],
    (rows, stride): (&[u32], usize),
    cols: usize,
    (out, out_stride): (&mut [u32], usize),
) {
    assert!(rows.len() >= (ACCUMULATED_ROWS - 1) * stride + cols && out.len() >= (D - 1) * out_stride + cols);
    dispatch!(k, accumulate::<D>(coefficients, rows, stride, cols, out, out_stride));
}

/// Sum modulo 2^64 of the 64-bit words of `streams` equal parts of `bytes`, read side by side with the widest loads, `ahead`
/// bytes prefetched (0: none). `bytes.len()` is a multiple of `streams * 1024`.
pub(crate) fn read_sum(k: Checked, bytes: &[u8], streams: usize, ahead: usize) -> u64 {
    assert!(matches!(streams, 1 | 2 | 4 | 8) && bytes.len().is_multiple_of(streams * 1024));
    match streams {
        1 => dispatch!(k, read_sum::<1>(bytes, ahead)),
        2 => dispatch!(k, read_sum::<2>(bytes, ahead)),
        4 => dispatch!(k, read_sum::<4>(bytes, ahead)),
        _ => dispatch!(k, read_sum::<8>(bytes, ahead)),
    }
}
