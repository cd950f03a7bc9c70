//! What several protocols are made of.

pub mod buckets;
pub mod digits;
pub mod folding;
pub mod lwe_matrix;
pub mod ring_matrix;
