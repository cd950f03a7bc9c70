//! The operations of `rotation` that switch to the small key: the switch itself, floors, bits.

use std::sync::Arc;

use gadget::Gadget;
use lattice::lwe::{Lwe, LweKey, LweSwitchKey, SeededLweSwitchKey};
use lattice::{BlindRotationKey, Bootstrapper, DigitLayout};
use ring::{DiscreteGaussian, Kernel, Modulus, Word};
use serde_json::json;

use super::settings::{Operation, Rotation};
use crate::in_ring::Shared;
use crate::lab::{Lab, Tally, scaled_error};
use crate::primitive::{Described, Failed};
use crate::setting::required;
use crate::settings::Refusal;
use crate::switch_setting::SwitchSetting;

/// What these operations need beside the blind-rotation key.
pub struct Functional {
    gadget: Arc<dyn Gadget<u64>>,
    error: DiscreteGaussian,
    layout: DigitLayout,
}

/// Checks the settings of a switch and of digits, where the operation takes them.
pub fn check(own: &Rotation, shared: &Shared) -> Result<(), Refusal> {
    let n = shared.setting.n;
    match Functional::new(own, shared, Kernel::Scalar)? {
        Some(functional) if n.ilog2() < functional.layout.bits() => {
            Err(Refusal::new("digit_bits", format!("windows of digits need 2^digit_bits <= n = {n}.")))
        }
        _ => Ok(()),
    }
}

/// Blind rotations of an operation.
pub fn rotations(own: &Rotation) -> Result<usize, Refusal> {
    Ok(match &own.operation {
        Operation::BlindRotation {} | Operation::Bits(_) => 1,
        Operation::ToSmall(_) => 0,
        Operation::Floor(switch) => layout(switch)?.floor_rotations() as usize,
    })
}

/// Adds what the settings of the switch mean; bytes of its expanded key.
pub fn describe(own: &Rotation, shared: &Shared, described: &mut Described) -> Result<usize, Refusal> {
    let Some(functional) = Functional::new(own, shared, Kernel::Scalar)? else { return Ok(0) };
    let (gadget, modulus) = (&functional.gadget, functional.modulus()?);
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

impl Functional {
    /// None for blind rotations alone.
    pub fn new(own: &Rotation, shared: &Shared, kernel: Kernel) -> Result<Option<Self>, Refusal> {
        let Some(switch) = own.operation.switch() else { return Ok(None) };
        let gadget = switch.gadget(shared.family()?, 2..=1 << 61, kernel)?.into();
        Ok(Some(Self { gadget, error: switch.error()?, layout: layout(switch)? }))
    }

    fn modulus(&self) -> Result<Modulus<u64>, Refusal> {
        Modulus::new(self.gadget.modulus()).map_err(Refusal::of("switch_modulus"))
    }

    /// Measures under one pair of keys.
    pub fn run<W: Word>(
        &self,
        own: &Rotation,
        groups: u64,
        lab: &mut Lab<W>,
        small: &LweKey,
        rotation: BlindRotationKey<W>,
    ) -> Result<Tally, Failed> {
        let (switch, masks) = ((self.gadget.clone(), &self.error), lab.seed("rotation: key switch"));
        let bootstrapper = lab.bootstrapper(rotation, small, switch, masks)?;
        let keys = Keys { key: lab.key.to_lwe(), small, bootstrapper };
        let mut tally = Tally::default();
        for _ in 0..groups {
            match own.operation {
                Operation::ToSmall(_) => self.to_small(own.common.together, lab, &keys, &mut tally)?,
                Operation::Floor(_) => self.floor(lab, &keys, &mut tally)?,
                Operation::Bits(_) => self.bits(own.common.together, lab, &keys, &mut tally)?,
                Operation::BlindRotation {} => {}
            }
        }
        Ok(tally)
    }

    fn to_small<W: Word>(
        &self,
        together: usize,
        lab: &mut Lab<W>,
        keys: &Keys<'_, W>,
        tally: &mut Tally,
    ) -> Result<(), Failed> {
        let modulus = self.layout.modulus()?;
        let message = |lab: &mut Lab<W>| ring::secret::uniform_below(&mut lab.rng, modulus.value());
        let inputs: Vec<Lwe> = (0..together)
            .map(|_| {
                let message = message(lab);
                keys.key.encrypt(modulus, message, &lab.error, &mut lab.rng)
            })
            .collect();
        let outputs = tally.operate(|| keys.bootstrapper.to_small(&inputs, &mut lab.workspace))?;
        let order = 2.0 * lab.ring.n() as f64;
        for (input, output) in inputs.iter().zip(&outputs) {
            let found = keys.small.phase(output)? as f64;
            let known = keys.key.phase(input)? as f64;
            tally.add("added", &[scaled_error(found, known, (modulus.value() as f64, order))]);
        }
        Ok(())
    }

    /// A ciphertext of uniform digits, and its lowest.
    fn digits<W: Word>(&self, lab: &mut Lab<W>, keys: &Keys<'_, W>) -> Result<(Lwe, u64), Failed> {
        let modulus = self.layout.modulus()?;
        let message = lab.below(1 << (self.layout.bits() * self.layout.digits())) as u64;
        let input = keys.key.encrypt(modulus, message << self.layout.low(), &lab.error, &mut lab.rng);
        Ok((input, message & ((1 << self.layout.bits()) - 1)))
    }

    fn floor<W: Word>(&self, lab: &mut Lab<W>, keys: &Keys<'_, W>, tally: &mut Tally) -> Result<(), Failed> {
        let (input, digit) = self.digits(lab, keys)?;
        let floor = || keys.bootstrapper.floor(&self.layout, &input, 0, &mut lab.workspace);
        let output = tally.operate_calls(1, floor)?;
        let known = keys.key.phase(&input)?;
        let known = input.modulus.sub(known, digit << self.layout.low());
        let found = keys.key.phase(&output)?;
        tally.add("added", &[input.modulus.centred(input.modulus.sub(found, known)) as f64]);
        Ok(())
    }

    fn bits<W: Word>(
        &self,
        together: usize,
        lab: &mut Lab<W>,
        keys: &Keys<'_, W>,
        tally: &mut Tally,
    ) -> Result<(), Failed> {
        let made: Vec<(Lwe, u64)> = (0..together)
            .map(|_| {
                let (input, digit) = self.digits(lab, keys)?;
                let lowest = keys.bootstrapper.digit(&self.layout, &input, 0)?;
                Ok((lowest, digit))
            })
            .collect::<Result<_, Failed>>()?;
        let digits: Vec<Lwe> = made.iter().map(|(lwe, _)| lwe.clone()).collect();
        let bits = tally.operate_calls(1, || keys.bootstrapper.bits(&self.layout, &digits, &mut lab.workspace))?;
        let q = keys.bootstrapper.modulus();
        for (bits, (_, digit)) in bits.iter().zip(&made) {
            for (k, bit) in bits.iter().enumerate() {
                let known = if digit >> k & 1 == 1 { q.value() / 2 } else { 0 };
                let found = keys.key.phase(bit)?;
                tally.add(&format!("bit-{k}"), &[q.centred(q.sub(found, known)) as f64]);
            }
        }
        Ok(())
    }
}

/// A ring key's coefficients, a small key, and what leads from one to the other.
struct Keys<'a, W: Word> {
    key: LweKey,
    small: &'a LweKey,
    bootstrapper: Bootstrapper<W>,
}
