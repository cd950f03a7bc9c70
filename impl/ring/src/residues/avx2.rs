//! The AVX2 path: the plain loops of [`super::scalar`] compiled with its vectors. Every function enables
//! the features of that kernel and is called only through [`super::Vectors`], which exist only where they were found.

use super::scalar::{self, recompile};
use crate::modulus::Modulus;
use crate::word::Residue;

pub(super) use super::sums::avx2::{combine, sum_products_u32, sum_tiles_u32, tensor};

recompile!("avx2");
recompile! { "avx2": permute<W>(slots: &[u32], a: &[W], out: &mut [W]); }
