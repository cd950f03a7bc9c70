//! The AVX2 path: the plain loops compiled with its vectors.

use super::Small;
use super::scalar::{self, recompile};

recompile!("avx2");
