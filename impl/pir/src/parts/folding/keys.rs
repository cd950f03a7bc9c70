//! Keys of expansion and conversion, read from a client's message one after the other.

use std::ops::RangeInclusive;

use lattice::wire::WireError;
use lattice::{LatticeError, Rgsw, RingGadget, SeededRgsw, SeededRlwePrime, TraceKeys};

use crate::core::{Error, Result};

/// The error about bytes that are not keys.
fn refused(error: LatticeError) -> Error {
    match error {
        LatticeError::Wire(WireError::Length { .. }) => error.into(),
        error => {
            Error::message("keys", format!("{error}. The sender uses other parameters, or the keys are corrupted."))
        }
    }
}

/// The next RLWE' key of a message.
pub fn next_prime(gadget: &RingGadget<u32>, rest: &mut &[u8]) -> Result<SeededRlwePrime<u32>> {
    let bytes = rest.split_off(..SeededRlwePrime::wire_bytes(gadget.ring(), gadget.length())).unwrap_or_default();
    SeededRlwePrime::from_bytes(gadget, bytes).map_err(refused)
}

/// The next automorphism keys, one for each level.
pub fn next_traces(gadget: &RingGadget<u32>, levels: RangeInclusive<u32>, rest: &mut &[u8]) -> Result<TraceKeys<u32>> {
    let first = *levels.start();
    let keys: Vec<_> = levels.map(|_| next_prime(gadget, rest)).collect::<Result<_>>()?;
    TraceKeys::new(gadget.ring(), first, &keys).map_err(Error::from)
}

/// The next RGSW encryption.
pub fn next_rgsw(gadget: &RingGadget<u32>, rest: &mut &[u8]) -> Result<Rgsw<u32>> {
    let ring = gadget.ring();
    let bytes = rest.split_off(..SeededRgsw::wire_bytes(ring, gadget.length())).unwrap_or_default();
    Ok(SeededRgsw::from_bytes(gadget, bytes).map_err(refused)?.expand(ring))
}
