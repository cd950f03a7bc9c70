//! LWE ciphertexts (first part of the lattice floor).

pub mod lwe;
