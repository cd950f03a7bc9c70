//! Indices in LWE encryptions: a seed of masks and rounded bodies travel, in Pirouette one for an index, in Pirouette^H one for each bit.

use lattice::lwe::{Lwe, LweKey};
use lattice::wire::{Reader, Writer};
use rand::RngCore;
use ring::DiscreteGaussian;

use super::carrier::{Carried, Carrier};
use super::convert::{Selectors, convert};
use super::form::{Asked, Selecting};
use super::keys::{SEED, Secrets, ServerKeys};
use super::query::{Bits, Encryption, Index, QueryForm, QuerySeed, SeedUse};
use super::set::Set;
use super::trace::Trace;
use crate::core::{Context, Error, Frame, Group, Messages, Request, Result, only};
use crate::parts::folding::Place;

/// Queries of one seed: their numbers travel in the two bytes of a frame's sequence.
const QUERIES_OF_A_SEED: u64 = 1 << 16;

/// Indices in LWE encryptions.
#[derive(Debug)]
pub struct Bodies;

/// The key of these encryptions.
pub trait Keyed: QueryForm {
    /// The encryptions.
    fn lwe(params: &Set<Self>) -> Result<Encryption> {
        params.encryption().ok_or_else(|| Error::Workload("a query of this set is not an LWE encryption.".into()))
    }

    /// The key of the encryptions.
    fn key(secrets: &Secrets) -> &LweKey;

    /// Dimension of the encryptions.
    fn dimension(degree: usize, small: usize) -> usize;
}

impl Keyed for Index {
    fn key(secrets: &Secrets) -> &LweKey {
        &secrets.large
    }

    fn dimension(degree: usize, _: usize) -> usize {
        degree
    }
}

impl Keyed for Bits {
    fn key(secrets: &Secrets) -> &LweKey {
        &secrets.small
    }

    fn dimension(_: usize, small: usize) -> usize {
        small
    }
}

/// Masks and bodies of a client.
pub struct Asker {
    error: DiscreteGaussian,
    /// The seed of all queries, if they share one, and the number of queries it has served.
    pub(super) seed: Option<(QuerySeed, u64)>,
}

impl<F: Keyed> Carrier<F> for Bodies {
    type Asker = Asker;
    /// The seed of all of a client's queries, if they share one.
    type Reader = Option<QuerySeed>;
    type Asked = Vec<Lwe>;

    fn asker(params: &Set<F>, context: &mut Context) -> Result<Asker> {
        let Encryption { seed, error, .. } = F::lwe(params)?;
        let seed = match seed {
            SeedUse::PerQuery => None,
            SeedUse::PerClient => Some((fresh(context), 0)),
        };
        Ok(Asker { error: error.sampler()?, seed })
    }

    fn introduce(_: &Set<F>, asker: &Asker, _: &Secrets, _: &mut Context) -> Result<Messages> {
        Ok(asker.seed.iter().map(|(seed, _)| (SEED, Frame::of(F::NAME, SEED, seed))).collect())
    }

    fn reader(params: &Set<F>, _: &ServerKeys, messages: &Messages) -> Result<Option<QuerySeed>> {
        match F::lwe(params)?.seed {
            SeedUse::PerQuery => Ok(None),
            SeedUse::PerClient => {
                let message = messages.iter().find(|(name, _)| *name == SEED);
                let (_, message) = message.ok_or_else(|| Error::message(SEED, "it is missing."))?;
                let message = message.clone().check(F::NAME, SEED, size_of::<QuerySeed>() as u64)?;
                Ok(QuerySeed::try_from(message.payload()).ok())
            }
        }
    }

    /// A seed and the bodies of each index's encryptions.
    fn ask(
        params: &Set<F>,
        asker: &mut Asker,
        secrets: &Secrets,
        (places, bits): (&[Place], u32),
        context: &mut Context,
    ) -> Result<Messages> {
        let encryption = F::lwe(params)?;
        encryption.check_queries(places.len() as u64)?;
        let (mut seed, first) = match &mut asker.seed {
            None => (fresh(context), 0),
            Some((seed, served)) => {
                let first = *served;
                *served += places.len() as u64;
                if *served > QUERIES_OF_A_SEED {
                    return Err(Error::Workload(format!(
                        "a seed serves {QUERIES_OF_A_SEED} queries, so that no mask is used twice: set up a new client."
                    )));
                }
                (*seed, first)
            }
        };
        let bodies = loop {
            if let Some(bodies) = bodies(params, asker, secrets, (&seed, first), (places, bits), context)? {
                break bodies;
            }
            seed = fresh(context);
        };
        let payload = [&seed[..encryption.seed_bytes()], &bodies].concat();
        let query = Frame::of(F::NAME, "query", &payload).in_sequence(first as u16);
        Ok(vec![("query", query)])
    }

    fn read(params: &Set<F>, seed: &Option<QuerySeed>, request: &Request, bits: u32) -> Result<Vec<Vec<Lwe>>> {
        let message = only("query", &request.messages)?;
        let bodies = params.messages(0, bits)?.len();
        let encryption = F::lwe(params)?;
        let bytes = encryption.bytes(request.queries.saturating_mul(bodies as u64));
        let message = message.clone().check(F::NAME, "query", bytes)?;
        let (own_seed, payload) = message.payload().split_at(encryption.seed_bytes());
        let (seed, first) = match encryption.seed {
            SeedUse::PerQuery => (QuerySeed::try_from(own_seed).ok(), 0),
            // A transport's sequence number: no payload.
            SeedUse::PerClient => (*seed, u64::from(message.sequence())),
        };
        let seed = seed.ok_or_else(|| Error::message("query", "its seed is missing."))?;
        let dimension = F::dimension(params.rlwe.degree, params.lwe.dimension);
        let mut reader = Reader::of(payload);
        let query = |k| encryption.read(encryption.masks(&seed, first + k, bodies, dimension), &mut reader);
        Ok((0..request.queries).map(query).collect())
    }
}

/// The bodies of a request from its query number `first` on, under that seed; `None` if the seed does not suit them.
fn bodies<F: Keyed>(
    params: &Set<F>,
    asker: &Asker,
    secrets: &Secrets,
    (seed, first): (&QuerySeed, u64),
    (places, bits): (&[Place], u32),
    context: &mut Context,
) -> Result<Option<Vec<u8>>> {
    let encryption = F::lwe(params)?;
    let dimension = F::dimension(params.rlwe.degree, params.lwe.dimension);
    let mut bodies = Writer::default();
    for (number, place) in (first..).zip(places) {
        let messages = params.messages(place.item, bits)?;
        let masks = encryption.masks(seed, number, messages.len(), dimension);
        let noise = (&asker.error, &mut context.rng);
        if !encryption.encrypt(F::key(secrets), &masks, &messages, noise, &mut bodies) {
            return Ok(None);
        }
    }
    Ok(Some(bodies.finish()))
}

fn fresh(context: &mut Context) -> QuerySeed {
    let mut seed = [0; 32];
    context.rng.fill_bytes(&mut seed);
    seed
}

impl Carried for Index {
    type Carrier = Bodies;
}

impl Carried for Bits {
    type Carrier = Bodies;
}

impl Selecting for Bits {
    fn selectors(
        &self,
        queries: Vec<Asked<Self>>,
        _: u32,
        trace: Option<&mut Trace<Self>>,
        context: &Context,
    ) -> Result<Vec<Selectors>> {
        // The query's ciphertexts are converted as they are.
        if let (Some(trace), [(session, bits), ..]) = (trace, &queries[..]) {
            trace.bits(bits, &session.keys)?;
        }
        context.clock.time("answer_rgsw", Group::Online, || {
            queries.iter().map(|(session, bits)| convert(&session.keys, bits, context.threads)).collect()
        })
    }
}
