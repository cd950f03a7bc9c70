//! One run of an operation, and the collection of its errors.

use lattice::Rlwe;
use ring::{Coefficient, Poly, Word};

use crate::lab::{Lab, Tally};
use crate::primitive::Failed;

/// One run of an operation.
pub type Once<'a, W> = Box<dyn FnMut(&mut Lab<W>, &mut Tally) -> Result<(), Failed> + 'a>;

/// The errors of a ciphertext against its exact message.
pub fn output<W: Word>(
    lab: &Lab<W>,
    tally: &mut Tally,
    ciphertext: &Rlwe<W, Coefficient>,
    known: &Poly<W, Coefficient>,
) -> Result<(), Failed> {
    tally.add("output", &lab.errors(&lab.key.phase_coefficient(ciphertext), known)?);
    Ok(())
}

/// The errors against the exact result on messages, and on the phases of the inputs.
pub fn both<W: Word>(
    lab: &Lab<W>,
    tally: &mut Tally,
    ciphertext: &Rlwe<W, Coefficient>,
    on_messages: &Poly<W, Coefficient>,
    on_phases: &Poly<W, Coefficient>,
) -> Result<(), Failed> {
    output(lab, tally, ciphertext, on_messages)?;
    tally.add("added", &lab.errors(&lab.key.phase_coefficient(ciphertext), on_phases)?);
    Ok(())
}
