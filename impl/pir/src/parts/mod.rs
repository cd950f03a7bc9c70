//! Building blocks that several protocols share.

pub mod bfv;
pub mod buckets;
pub mod constant_weight;
pub mod digits;
pub mod folding;
pub mod items;
pub mod lwe_matrix;
pub mod permutation;
pub mod ring_matrix;
pub mod selection;
pub mod slots;
