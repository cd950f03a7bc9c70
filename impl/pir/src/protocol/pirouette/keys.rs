//! A client's secrets, the keys made of them on the wire, and the expanded keys of the server.

use std::sync::Arc;

use lattice::convert::{ConverterKeys, Extraction, RgswConverter};
use lattice::functional::Bootstrapper;
use lattice::lwe::{LweKey, LweSwitcher, SeededLweSwitchKey};
use lattice::rotate::{BlindRotationKey, SeededBlindRotationKey};
use lattice::{LatticeError, Masks, Rlwe, RlweKey, RlwePrime, SeededRlwePrime};
use rand::RngCore;
use ring::{Coefficient, Modulus, Ring};

use super::encrypted;
use super::query::QueryForm;
use super::set::Set;
use super::switching::KeySwitching;
use crate::core::seed::fresh_seed;
use crate::core::{Context, Error, FINGERPRINT_BYTES, Frame, Result};
use crate::parts::folding::{Layout, Responder, ResponseKey};

/// Name of the message that carries the seed of all of a client's queries.
pub(super) const SEED: &str = "query_seed";

/// Names of the messages, in the order in which they are sent.
pub(super) const ROTATION: &str = "blind_rotation_key";
pub(super) const AUTOMORPHISMS: &str = "automorphism_keys";
pub(super) const SQUARING: &str = "squaring_key";
pub(super) const SWITCHING: &str = "key_switching_key";
pub(super) const RESPONSE: &str = "ring_switching_key";
/// The message that distinguishes these keys from another set's.
pub(super) const FINGERPRINT: &str = "fingerprint";

/// The client's secrets.
pub struct Secrets {
    /// The ring key s.
    pub ring: RlweKey<u32>,
    /// The coefficients of s.
    pub large: LweKey,
    /// The small key z.
    pub small: LweKey,
    /// The key s1 of responses.
    pub response: ResponseKey,
}

/// The server's expanded keys of one client.
pub struct ServerKeys {
    rotations: Rotations,
    /// LWE to RGSW.
    pub converter: RgswConverter<u32>,
    /// The key that switches to the ring of responses.
    pub response: RlwePrime<u32>,
    /// The client's own database, if it is encrypted: one ciphertext for each column.
    pub cells: Vec<Rlwe<u32, Coefficient>>,
}

/// Blind rotations, with the switch to their small key if the protocol has one.
enum Rotations {
    Alone(BlindRotationKey<u32>),
    Switched(Box<Bootstrapper<u32>>),
}

impl Secrets {
    pub fn sample<F: QueryForm>(
        params: &Set<F>,
        ring: &Arc<Ring<u32>>,
        responder: &Responder,
        rng: &mut impl RngCore,
    ) -> Result<Self> {
        let key = RlweKey::sample(ring, &params.rlwe.secret.distribution(), rng)?;
        let small = LweKey::sample(&params.lwe.secret.distribution(), params.lwe.dimension, rng);
        Ok(Self {
            large: key.to_lwe(),
            ring: key,
            small: small?,
            response: responder.sample(&params.response.secret.distribution(), rng)?,
        })
    }

    /// Fresh keys for the server: seeds and bodies.
    pub fn messages<F: QueryForm>(
        &self,
        params: &Set<F>,
        responder: &Responder,
        context: &mut Context,
    ) -> Result<Vec<(&'static str, Frame)>> {
        let ring = self.ring.ring();
        let rng = &mut context.rng;
        let error = params.rlwe.error.sampler()?;
        let mut masks = Masks::new(fresh_seed(rng));
        let (shape, rotating) = (params.shape(), params.blind_rotation.gadget().of(ring)?);
        let rotation = SeededBlindRotationKey::new(shape, &self.small, &self.ring, &rotating, &error, &mut masks, rng);
        let rotation = rotation?.to_bytes(ring);
        let (tracing, squaring) = (params.automorphism.of(ring)?, params.squaring.of(ring)?);
        let converting = ConverterKeys::new(&self.ring, &tracing, &squaring, &error, &mut masks, rng);
        let ConverterKeys { trace, squaring } = converting?;
        let trace: Vec<u8> = trace.iter().flat_map(|key| key.to_bytes(ring)).collect();
        let response_error = params.response.error.sampler()?;
        // These masks have another modulus and need another seed.
        let mut masks = Masks::new(fresh_seed(rng));
        let response = responder.switching_key(&self.ring, &self.response, &response_error, &mut masks, rng)?;
        let mut keys = vec![
            (ROTATION, rotation),
            (AUTOMORPHISMS, trace),
            (SQUARING, squaring.to_bytes(ring)),
            (RESPONSE, response.to_bytes(responder.gadget().ring())),
        ];
        if let Some(switching) = params.query.switching() {
            let (gadget, error) = (switching.decomposition(context.kernel)?, switching.error.sampler()?);
            let seed = fresh_seed(rng);
            let key = SeededLweSwitchKey::new(&self.large, &self.small, gadget.as_ref(), &error, seed, rng);
            keys.push((SWITCHING, key?.to_bytes()));
        }
        keys.push((FINGERPRINT, params.fingerprint()?.to_vec()));
        Ok(keys.into_iter().map(|(name, bytes)| (name, Frame::of(F::NAME, name, &bytes))).collect())
    }
}

/// Payload bytes of every key, by name.
pub(super) fn wire_bytes<F: QueryForm>(
    params: &Set<F>,
    layout: &Layout,
    ring: &Ring<u32>,
    responder: &Responder,
) -> Result<Vec<(&'static str, u64)>> {
    let rows = |length| SeededRlwePrime::wire_bytes(ring, length) as u64;
    let levels = u64::from(ring.n().ilog2());
    let large = responder.gadget().ring();
    let mut all = vec![
        (
            ROTATION,
            SeededBlindRotationKey::wire_bytes(ring, params.shape(), params.length(params.blind_rotation.gadget()))
                as u64,
        ),
        (AUTOMORPHISMS, levels * rows(params.length(params.automorphism))),
        (SQUARING, rows(params.length(params.squaring))),
        (RESPONSE, SeededRlwePrime::wire_bytes(large, responder.length()) as u64),
    ];
    if let Some(switching) = params.query.switching() {
        let bytes = SeededLweSwitchKey::wire_bytes(lwe_modulus(switching)?, ring.n(), switching.length());
        all.push((SWITCHING, bytes as u64));
    }
    all.push((FINGERPRINT, FINGERPRINT_BYTES as u64));
    if params.database.encrypted {
        all.push((encrypted::DATABASE, encrypted::wire_bytes(layout, ring)));
    }
    Ok(all)
}

pub(super) fn lwe_modulus(switching: &KeySwitching) -> Result<Modulus<u64>> {
    Modulus::new(switching.modulus()).map_err(Error::from)
}

impl ServerKeys {
    /// Bytes in memory of each key, and of an encrypted database.
    pub fn held(&self) -> (Vec<(&'static str, usize)>, usize) {
        let (rotation, switching) = match &self.rotations {
            Rotations::Alone(rotation) => (rotation.bytes(), None),
            Rotations::Switched(bootstrapper) => {
                let [rotation, switching] = bootstrapper.key_bytes();
                (rotation, Some(("key switching key", switching)))
            }
        };
        let [trace, squaring] = self.converter.key_bytes();
        let always = [
            ("blind rotation key", rotation),
            ("automorphism keys", trace),
            ("squaring key", squaring),
            ("ring switching key", self.response.bytes()),
        ];
        let cells = self.cells.iter().map(|cell| cell.a.bytes() + cell.b.bytes()).sum();
        (always.into_iter().chain(switching).collect(), cells)
    }

    /// The blind rotation.
    pub fn rotation(&self) -> &BlindRotationKey<u32> {
        match &self.rotations {
            Rotations::Alone(rotation) => rotation,
            Rotations::Switched(bootstrapper) => bootstrapper.rotation(),
        }
    }

    /// The ring.
    pub fn ring(&self) -> &Arc<Ring<u32>> {
        self.converter.output().ring()
    }

    /// Functions of LWE ciphertexts under the ring key.
    pub fn bootstrapper(&self) -> Result<&Bootstrapper<u32>> {
        match &self.rotations {
            Rotations::Switched(bootstrapper) => Ok(bootstrapper),
            Rotations::Alone(_) => Err(Error::message(SWITCHING, "it is missing.")),
        }
    }

    /// Expands a client's keys, given in the order of [`wire_bytes`].
    pub fn receive<F: QueryForm>(
        params: &Set<F>,
        layout: &Layout,
        (ring, responder): (&Arc<Ring<u32>>, &Responder),
        messages: &[(&'static str, Frame)],
        context: &Context,
    ) -> Result<Self> {
        let expected = wire_bytes(params, layout, ring, responder)?;
        let payload = |wanted: &str| -> Result<Frame> {
            let bytes = expected.iter().find(|(name, _)| *name == wanted).map_or(0, |(_, bytes)| *bytes);
            let message = messages.iter().find(|(name, _)| *name == wanted);
            let (_, message) = message.ok_or_else(|| Error::message(wanted, "it is missing."))?;
            message.clone().check(F::NAME, wanted, bytes)
        };
        if payload(FINGERPRINT)?.payload() != params.fingerprint()? {
            return Err(Error::message(FINGERPRINT, "they were made with other parameters than the server's."));
        }
        let refuse = Error::in_message::<LatticeError>;
        let rotating = params.blind_rotation.gadget().of(ring)?;
        let rotation = {
            let message = payload(ROTATION)?;
            let seeded = SeededBlindRotationKey::from_bytes(params.shape(), &rotating, message.payload());
            BlindRotationKey::new(&rotating, &seeded.map_err(refuse(ROTATION))?).map_err(refuse(ROTATION))?
        };
        let (tracing, squaring) = (params.automorphism.of(ring)?, params.squaring.of(ring)?);
        let message = payload(AUTOMORPHISMS)?;
        let each = SeededRlwePrime::wire_bytes(ring, tracing.length());
        let trace = message.payload().chunks_exact(each).map(|bytes| SeededRlwePrime::from_bytes(&tracing, bytes));
        let keys = ConverterKeys {
            trace: trace.collect::<std::result::Result<_, _>>().map_err(refuse(AUTOMORPHISMS))?,
            squaring: SeededRlwePrime::from_bytes(&squaring, payload(SQUARING)?.payload()).map_err(refuse(SQUARING))?,
        };
        let converter = RgswConverter::new(
            &params.rgsw.gadget().of(ring)?,
            params.spacing(),
            Extraction::Tree,
            (&tracing, &squaring),
            &keys,
        );
        let response = SeededRlwePrime::from_bytes(responder.gadget(), payload(RESPONSE)?.payload());
        let switcher: Option<Result<LweSwitcher>> = params.query.switching().map(|switching| -> Result<LweSwitcher> {
            let gadget = switching.decomposition(context.kernel)?;
            let key = SeededLweSwitchKey::from_bytes(
                gadget.as_ref(),
                (ring.n(), params.lwe.dimension),
                payload(SWITCHING)?.payload(),
            );
            let key = key.and_then(|key| key.expand()).map_err(refuse(SWITCHING))?;
            LweSwitcher::new(key, gadget).map_err(Error::from)
        });
        let rotations = match switcher.transpose()? {
            None => Rotations::Alone(rotation),
            Some(switcher) => Rotations::Switched(Box::new(Bootstrapper::new(rotation, switcher)?)),
        };
        Ok(Self {
            rotations,
            converter: converter?,
            response: response.map_err(refuse(RESPONSE))?.expand(responder.gadget().ring()),
            cells: if params.database.encrypted {
                encrypted::expand(ring, payload(encrypted::DATABASE)?.payload(), context.threads)?
            } else {
                Vec::new()
            },
        })
    }
}
