//! From bits in LWE ciphertexts to selectors of a database.
//!
//! LWE to RGSW (circuit bootstrapping: Chillotti, Gama, Georgieva, Izabachène, ASIACRYPT 2016; with the trace and a squaring key:
//! Wang et al., EUROCRYPT 2024; Pirouette, Algorithm 15 as mended in docs/bootstrapping.md):
//!
//! 1. one blind rotation turns a table that holds every weight of the output gadget ([`RgswConverter::table`]): the accumulator
//!    then carries -(-1)^bit g_t / 2 at coefficient t `spacing`;
//! 2. [`RingGadget::coefficients`](crate::RingGadget::coefficients) takes these apart into ciphertexts of constants, adding g_t / 2
//!    gives RLWE(bit g_t);
//! 3. the squaring key turns each into RLWE(-s bit g_t).
//!
//! From there, [`selector_tree`] expands v RGSW bits to 2^v ciphertexts, of which the one at the index they spell is one.

mod coefficients;
mod rgsw;
mod selector;
mod squaring;

pub use coefficients::{CoefficientTree, Extraction, GadgetLevels, Levels, extraction_automorphisms, tree_work};
pub use rgsw::{ConverterKeys, RgswConverter, rgsw_work};
pub use selector::{SelectorTree, selector_subtrees, selector_tree};
pub use squaring::{mask_row_ntts, squaring_key};
