//! Run-time choice of the instruction set. Each operation has one file per path, with the same functions and results, and [`dispatch!`] calls that of
//! a [`Checked`] kernel.

use std::fmt;
use std::str::FromStr;

/// An instruction set the kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kernel {
    /// Portable Rust; the reference for the others.
    Scalar,
    /// AVX2 and FMA (x86-64; Haswell, Zen and later).
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
        /// The requested kernel.
        kernel: Kernel,
        /// The features that are missing, comma-separated.
        missing: String,
    },
    /// No kernel has this name.
    #[error("unknown kernel {0:?}: the kernels are scalar, avx2 and avx512")]
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
            Self::Avx2 => lacking!("avx2" "fma"),
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
    /// Earlier Intel processors, from Ice Lake on.
    Older,
}

#[cfg(target_arch = "x86_64")]
impl Processor {
    /// The kind of this machine, looked up in a cached word.
    pub(crate) fn here() -> Self {
        match (is_x86_feature_detected!("avx512fp16"), is_x86_feature_detected!("avx512bf16")) {
            (true, _) => Self::Intel,
            (false, true) if is_x86_feature_detected!("avxvnni") => Self::Zen,
            (false, true) => Self::Zen4,
            (false, false) => Self::Older,
        }
    }

    /// Whether streamed memory is better prefetched into the second-level cache than into the first: Zen 4 then reads 1.5 to 2 times
    /// as fast. Its first level waits for few lines at a time, and has no room to spare beside digits or queries.
    pub(crate) fn asks_for_second_level(self) -> bool {
        self == Self::Zen4
    }
}

/// A kernel that was checked: its existence proves that the processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub struct Checked(Kernel);

impl Checked {
    /// The kernel that runs everywhere.
    pub const SCALAR: Self = Self(Kernel::Scalar);

    /// Checks a kernel.
    ///
    /// # Errors
    /// The processor lacks instructions.
    pub fn new(kernel: Kernel) -> Result<Self, KernelError> {
        kernel.check().map(Self)
    }

    /// Which kernel it is.
    pub fn kernel(self) -> Kernel {
        self.0
    }
}

/// Calls the function of that name in the module `scalar`, `avx2` or `avx512` of the caller, by a [`Checked`] kernel.
#[macro_export]
macro_rules! dispatch {
    ($kernel:expr, $function:ident $(::<$($constant:tt),*>)? ($($argument:expr),* $(,)?)) => {
        match $crate::kernel::Checked::kernel($kernel) {
            // SAFETY: a `Checked` kernel exists only if the processor has every feature that its functions enable.
            #[cfg(target_arch = "x86_64")]
            $crate::Kernel::Avx512 => unsafe { avx512::$function $(::<$($constant),*>)? ($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            $crate::Kernel::Avx2 => unsafe { avx2::$function $(::<$($constant),*>)? ($($argument),*) },
            _ => scalar::$function $(::<$($constant),*>)? ($($argument),*),
        }
    };
}
pub use dispatch;
