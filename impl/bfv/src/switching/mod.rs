//! Key switching: automorphisms, rotations of slots, relinearisation.
//!
//! A mask is cut into digits of its residues, without composing them, or of its coefficients as integers, which are fewer where the lowest
//! are dropped; a key's rows weigh them. The digits of one mask serve many
//! keys (hoisting), and the two halves of a key are used apart, so that what depends on masks alone can be done ahead.

mod chain;
mod digits;
mod gadget;
mod key;
mod levels;
mod switch;

pub use chain::{ChainKeys, RotationChain};
pub use digits::Digits;
pub use gadget::{RnsGadget, SwitchShape};
pub use key::{KeyHalf, SeededKey, SwitchingKey};
pub use levels::{LevelKeys, expansion_exponents};
