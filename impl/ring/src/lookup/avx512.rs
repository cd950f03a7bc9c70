//! The AVX-512 path: the plain loops compiled with its vectors.

use super::Small;
use super::scalar::{self, recompile};

recompile!("avx512f,avx512bw,avx512vl,avx512dq");
