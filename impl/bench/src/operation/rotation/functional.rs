//! The operations of `rotation` that switch to the small key: the switch itself, floors, bits.

use gadget::Gadget;
use lattice::lwe::{Lwe, LweKey, LweSwitchKey, SeededLweSwitchKey};
use lattice::{BlindRotationKey, DigitLayout};
use ring::{Kernel, Modulus, Word};
use serde_json::json;

use super::settings::{Operation, Rotation};
use crate::in_ring::Shared;
use crate::lab::{Lab, Tally, scaled_error};
use crate::primitive::{Described, Failed};
use crate::setting::required;
use crate::settings::Refusal;
use crate::switch_setting::{SwitchSetting, Switched};

/// Checks the settings of a switch and of digits, if the operation has them.
pub fn check(own: &Rotation, shared: &Shared) -> Result<(), Refusal> {
    let Some(switch) = own.operation.switch() else { return Ok(()) };
    gadget(switch, shared, Kernel::Scalar)?;
    switch.error()?;
    let n = shared.setting.n;
    if n.ilog2() < layout(switch)?.bits() {
        return Err(Refusal::new("digit_bits", format!("windows of digits need 2^digit_bits <= n = {n}.")));
    }
    Ok(())
}

/// Blind rotations of an operation.
pub fn rotations(own: &Rotation) -> Result<usize, Refusal> {
    Ok(match &own.operation {
        Operation::BlindRotation {} | Operation::Bits(_) => 1,
        Operation::ToSmall(_) => 0,
        Operation::Floor(switch) => layout(switch)?.floor_rotations() as usize,
    })
}

/// Adds the description of the switch; returns the bytes of its expanded key.
pub fn describe(own: &Rotation, shared: &Shared, described: &mut Described) -> Result<usize, Refusal> {
    let Some(switch) = own.operation.switch() else { return Ok(0) };
    let gadget = gadget(switch, shared, Kernel::Scalar)?;
    let modulus = Modulus::new(gadget.modulus()).map_err(Refusal::of("switch_modulus"))?;
    described.settings.insert("switch_length".into(), json!(gadget.length()));
    let bytes = LweSwitchKey::bytes(modulus, shared.setting.n, own.common.dimension, gadget.length());
    let wire = SeededLweSwitchKey::wire_bytes(modulus, shared.setting.n, gadget.length());
    described.counts([("switch_key_bytes", wire), ("expanded_switch_key_bytes", bytes)]);
    Ok(bytes)
}

fn layout(switch: &SwitchSetting) -> Result<DigitLayout, Refusal> {
    let log_modulus = required(&switch.log_modulus, "log_modulus")?;
    DigitLayout::try_new(log_modulus, switch.low, switch.digit_bits, switch.digits).map_err(Refusal::of("digits"))
}

fn gadget(switch: &SwitchSetting, shared: &Shared, kernel: Kernel) -> Result<Box<dyn Gadget<u64>>, Refusal> {
    switch.gadget(shared.family()?, 2..=1 << 61, kernel)
}

/// Measures under one pair of keys.
pub fn run<W: Word>(
    own: &Rotation,
    switch: &SwitchSetting,
    shared: &Shared,
    lab: &mut Lab<W>,
    keys: (LweKey, BlindRotationKey<W>),
) -> Result<Tally, Failed> {
    let gadget = gadget(switch, shared, lab.ring.kernel())?;
    let masks = lab.seed("rotation: key switch");
    let switched = Switched::new(lab, keys, (gadget, &switch.error()?), masks, layout(switch)?)?;
    let together = own.common.together;
    let mut tally = Tally::default();
    for _ in 0..own.groups(shared) {
        match own.operation {
            Operation::ToSmall(_) => to_small(&switched, together, lab, &mut tally)?,
            Operation::Floor(_) => floor(&switched, lab, &mut tally)?,
            Operation::Bits(_) => bits(&switched, together, lab, &mut tally)?,
            Operation::BlindRotation {} => {}
        }
    }
    Ok(tally)
}

fn to_small<W: Word>(
    switched: &Switched<W>,
    together: usize,
    lab: &mut Lab<W>,
    tally: &mut Tally,
) -> Result<(), Failed> {
    let Switched { key, small, bootstrapper, layout } = switched;
    let modulus = layout.modulus()?;
    let inputs: Vec<Lwe> = (0..together)
        .map(|_| {
            let message = ring::secret::uniform_below(&mut lab.rng, modulus.value());
            key.encrypt(modulus, message, &lab.error, &mut lab.rng)
        })
        .collect();
    let outputs = tally.operate(|| bootstrapper.to_small(&inputs, &mut lab.workspace))?;
    let order = 2.0 * lab.ring.n() as f64;
    for (input, output) in inputs.iter().zip(&outputs) {
        let (found, known) = (small.phase(output)? as f64, key.phase(input)? as f64);
        tally.add("added", &[scaled_error(found, known, (modulus.value() as f64, order))]);
    }
    Ok(())
}

fn floor<W: Word>(switched: &Switched<W>, lab: &mut Lab<W>, tally: &mut Tally) -> Result<(), Failed> {
    let Switched { key, bootstrapper, layout, .. } = switched;
    let (input, message) = switched.input(&lab.error, &mut lab.rng)?;
    let output = tally.operate_calls(1, || bootstrapper.floor(layout, &input, 0, &mut lab.workspace))?;
    let known = input.modulus.sub(key.phase(&input)?, switched.lowest(message) << layout.low());
    let error = input.modulus.centred(input.modulus.sub(key.phase(&output)?, known));
    tally.add("added", &[error as f64]);
    Ok(())
}

fn bits<W: Word>(switched: &Switched<W>, together: usize, lab: &mut Lab<W>, tally: &mut Tally) -> Result<(), Failed> {
    let Switched { key, bootstrapper, layout, .. } = switched;
    let (mut digits, mut messages) = (Vec::new(), Vec::new());
    for _ in 0..together {
        let (input, message) = switched.input(&lab.error, &mut lab.rng)?;
        digits.push(bootstrapper.digit(layout, &input, 0)?);
        messages.push(message);
    }
    let bits = tally.operate_calls(1, || bootstrapper.bits(layout, &digits, &mut lab.workspace))?;
    let q = bootstrapper.modulus();
    for (bits, message) in bits.iter().zip(messages) {
        for (k, bit) in bits.iter().enumerate() {
            let known = if message >> k & 1 == 1 { q.value() / 2 } else { 0 };
            tally.add(&format!("bit-{k}"), &[q.centred(q.sub(key.phase(bit)?, known)) as f64]);
        }
    }
    Ok(())
}
